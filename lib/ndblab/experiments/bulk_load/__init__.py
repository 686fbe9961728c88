"""Bulk loads: the load generator that loads the same rows in several ways."""

BULK_LOAD = "bulk_load"
"""The rows that it loads count as its queries."""
LOAD_DATA, INSERTS, BY_SYSBENCH, NDB_IMPORT, LOAD_LOCAL = LOADERS = (
    "load-data", "inserts", "sysbench", "ndb-import", "load-data-local",
)  # fmt: skip
"""How rows are loaded: LOAD DATA, INSERT of many rows, `sysbench prepare`, ndb_import, LOAD DATA
LOCAL."""
