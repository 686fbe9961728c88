"""TPC-C on NDB by go-tpc, with tables that the lab creates, fills and checks."""

TPC_C = "tpc_c"
TRANSACTIONS = ("new_order", "payment", "order_status", "delivery", "stock_level")
"""Kinds of transactions of TPC-C, as go-tpc names them."""
INCONSISTENT = "inconsistent rows, condition"
"""Prefix of the status of a run that left rows violating a condition of the specification."""
