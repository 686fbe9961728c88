"""Read/write transactions, filters and IN lists."""

FILTERED, IN_LISTS = "oltp_read_write_filtered", "oltp_in_lists"
"""Scripts of the lab for sysbench: read/write whose range scans return about one row, and key
lookups by IN lists."""
TRANSACTION_QUERIES = 20
"""Statements of a read/write transaction, filtered or not, BEGIN and COMMIT included."""
IN_KEYS = {"in-1": 1, "in-10": 10, "in-100": 100}
"""Keys in each list of `IN_LISTS`, by the name of the variant."""
