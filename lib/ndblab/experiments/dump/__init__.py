"""Dumps: the load generator that dumps the tables of sysbench, compressed or not."""

DUMP = "dump"
UNCOMPRESSED, ZSTD, GZIP = COMPRESSIONS = ("none", "zstd", "gzip")
MYSQLDUMP, MYSQL_SHELL = "mysqldump", "mysqlsh"
"""Programs that dump."""
