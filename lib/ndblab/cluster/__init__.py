"""A real NDB Cluster, from nothing to ready and back to nothing.

It plans nothing and measures nothing.
"""
