"""Connections of the lab's own programs to a MySQL server.

It imports next to nothing, so that these programs start fast.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pymysql
from pymysql.cursors import Cursor


@contextlib.contextmanager
def connected(socket: str, **more: object) -> Iterator[Cursor]:
    """Yield a cursor of a new connection as root; `more` goes to `pymysql.connect`."""
    with contextlib.closing(
        pymysql.connect(unix_socket=socket, user="root", autocommit=True, ssl_disabled=True, **more)
    ) as connection:
        yield connection.cursor()
