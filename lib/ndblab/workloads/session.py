"""Connections to the tables of TPC-H, and the names of what `loading` leaves.

It imports next to nothing, so that the client starts fast.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pymysql
from pymysql.cursors import Cursor

DATABASE, REFERENCE = "tpch", "tpch_innodb"
"""Databases of NDB's tables and of InnoDB's."""
ANSWERS = "answers.json"
"""File with what InnoDB answers to each query, and the scale factor."""


@contextlib.contextmanager
def connected(socket: str, **more: object) -> Iterator[Cursor]:
    """Yield a cursor of a new connection as root; `more` goes to `pymysql.connect`."""
    with contextlib.closing(
        pymysql.connect(unix_socket=socket, user="root", autocommit=True, ssl_disabled=True, **more)
    ) as connection:
        yield connection.cursor()
