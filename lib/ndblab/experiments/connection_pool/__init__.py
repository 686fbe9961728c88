"""Connections of a MySQL server to the cluster."""
