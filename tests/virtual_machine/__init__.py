"""Hosts of another kind: Debian in a virtual machine with systemd, cgroup v2 and two NUMA nodes.

In: the lab's checkout, environment and installation. Out: what commands print and leave there. The
machine is emulated, 10 to 20 times slower than this one: tests judge whether the lab works on it,
never how fast.
"""
