"""From a host and a wish to a decided cluster: CPUs, memory, ports, folders, configuration.

In: a `Host`, a profile and the shape of a cluster. Out: a `Plan`, and from it the text of
config.ini and my.cnf and every command line. Pure: it reads no file and starts nothing.
"""
