"""The 22 queries of TPC-H on NDB, each checked against InnoDB in the same MySQL server."""

TPC_H = "tpc_h_q"
"""Prefix of the name of a TPC-H query as a workload: "tpc_h_q05"."""
WRONG_RESULT = "another result than InnoDB"
"""Part of the status of a run whose query gave a wrong result."""
DATABASE, REFERENCE = "tpch", "tpch_innodb"
"""Databases of NDB's tables and of InnoDB's."""
ANSWERS = "answers.json"
"""File with what InnoDB answers to each query, and the scale factor."""


def of_query(number: int) -> str:
    """Return the workload that executes a query of TPC-H.

    >>> of_query(5)
    'tpc_h_q05'
    """
    return f"{TPC_H}{number:02d}"


def query_number(name: str) -> int:
    """Return the number of the query that a workload executes.

    >>> query_number("tpc_h_q05")
    5
    """
    return int(name.removeprefix(TPC_H))
