"""The scale-up lab for MySQL NDB Cluster: importing it costs nothing, its modules do the work."""
