"""Locking reads: statements that read an InnoDB table, and the locks that each of them takes."""

LOCKING_READS = "locking_reads"
READ_COMMITTED, REPEATABLE_READ = "READ COMMITTED", "REPEATABLE READ"
ISOLATIONS = (READ_COMMITTED, REPEATABLE_READ, "SERIALIZABLE")
SET_VARIABLE, CREATE_SELECT = "SET @v = (SELECT ...)", "CREATE TABLE ... SELECT"
PLAIN_SELECT, SELECT_INTO = "SELECT ...", "SELECT ... INTO @v"
RUNNING, HELD = "running", "held"
"""When the locks of a statement are read: while it reads its last row; after its end, before its
transaction ends."""
