"""From a host and a request to a planned cluster: CPUs, memory, ports, folders, configuration.

In: a `Host`, a profile and the shape of a cluster. Out: a `Plan`, and from it the text of
config.ini and my.cnf and every command line; faults, points and workloads as data. Pure: it reads
no file but its own templates, and starts nothing.
"""
