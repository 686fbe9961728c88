"""NDB Cluster and sysbench from Debian's packages, in a folder of their own.

In: the package sources that this machine already uses. Out: programs that run from the lab's cache;
the data node is built from the source package of the same version. The system's own apt state is
never changed.
"""
