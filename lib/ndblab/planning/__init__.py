"""From a host and a request to a planned cluster: CPUs, memory, ports, folders, configuration.

Pure: it reads no file but its own templates, and starts nothing.
"""
