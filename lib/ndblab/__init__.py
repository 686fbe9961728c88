"""The scale-up lab for MySQL NDB Cluster: a benchmark's published figures, measured again anywhere.

`lib/README.md` is the map of this library. Importing this package costs nothing.
"""
