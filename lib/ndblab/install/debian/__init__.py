"""NDB Cluster and sysbench from Debian's packages, in a folder of their own.

In: the package sources of this machine. Out: programs in the lab's cache; the data node is built
from the source package of the same version. It never changes the system's own apt state.
"""
