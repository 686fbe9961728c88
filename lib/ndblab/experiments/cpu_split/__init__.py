"""A quarter of the CPUs for data nodes, compared with other shares."""
