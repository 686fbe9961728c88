"""The cluster that the user named, and sessions on its MySQL servers."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass

import pymysql

from ndblab.attach import endpoint as endpoints
from ndblab.attach import login
from ndblab.attach.endpoint import Endpoint
from ndblab.attach.login import Login
from ndblab.cluster.cluster import ANSWER_TIMEOUT_S
from ndblab.error import LabError
from ndblab.machine import speed

SCHEMA_PREFIX = "ndblab_"
"""Prefix of the lab's own schemas: an account needs all rights on them, and must read ndbinfo."""
_REFUSED, _DENIED = (2002, 2003), (1045, 1130, 1698, 1251)
_NO_RIGHT = (1044, 1142, 1143, 1227, 1370)
_NO_TLS, _CIPHER = 2026, "SHOW SESSION STATUS LIKE 'Ssl_cipher'"


@dataclass(frozen=True)
class Session:
    """A session on the MySQL server of an endpoint."""

    endpoint: str
    connection: pymysql.Connection

    def run(self, statement: str, *values: object) -> list[tuple]:
        """Run a statement and return its rows; LabError names the missing right or the failure."""
        try:
            return _rows(self.connection, statement, *values)
        except pymysql.Error as error:
            raise self._failed(error) from None

    def _failed(self, error: pymysql.Error) -> LabError:
        code, said = (*error.args, "", "")[:2]
        if code not in _NO_RIGHT:
            return LabError(
                f"{self.endpoint} refuses a statement of the lab",
                found=said or type(error).__name__,
                expected="rows of ndbinfo, and a schema of the lab's own",
                next_step="Look at the server's error log and its ndbinfo_offline, or name another "
                "server.",
            )
        [(account,)] = _rows(self.connection, "SELECT CURRENT_USER()")
        return LabError(
            f"The account {account} lacks rights on {self.endpoint}",
            found=said,
            expected=f"all rights on schemas named {SCHEMA_PREFIX}*, and SELECT on ndbinfo",
            next_step=f"Let an administrator type: {grants(account)}.",
        )


@dataclass(frozen=True)
class Target:
    """What the user named: a cluster, its MySQL servers, and the account to log in with."""

    connectstring: str
    endpoints: tuple[Endpoint, ...]
    login: Login

    def open(self, number: int, answer_s: float = ANSWER_TIMEOUT_S) -> pymysql.Connection:
        """Open a session on the server of the `number`-th endpoint; `answer_s` is its timeout.

        Over TCP, the account's `mode` decides on encryption: by default, it is used if the server
        supports it.
        """
        place = self.endpoints[number - 1]
        if place.socket:
            return self._open(answer_s, unix_socket=place.socket, ssl_disabled=True)
        host = "127.0.0.1" if place.host == "localhost" else place.host
        plain = {"host": host, "port": place.port, "ssl_disabled": True}
        if (context := self.login.tls()) is None:
            return self._open(answer_s, **plain)
        try:
            connection = self._open(answer_s, host=host, port=place.port, ssl=context)
        except pymysql.OperationalError as error:
            if error.args[0] != _NO_TLS or self.login.mode != login.PREFERRED:
                raise
            return self._open(answer_s, **plain)
        # Older releases of PyMySQL fall back to plain text if the server has no TLS.
        if self.login.mode != login.PREFERRED and not _rows(connection, _CIPHER)[0][1]:
            connection.close()
            raise pymysql.OperationalError(_NO_TLS, "the server does not support it")
        return connection

    def _open(self, answer_s: float, **address: object) -> pymysql.Connection:
        timeout_s = speed.timeout_s(answer_s)
        return pymysql.connect(
            **address,
            user=os.fsencode(self.login.user),
            password=os.fsencode(self.login.password),
            autocommit=True,
            connect_timeout=timeout_s,
            read_timeout=timeout_s,
            program_name="scale-up lab",
        )

    @contextlib.contextmanager
    def session(self, *numbers: int) -> Iterator[Session]:
        """Open a session on the first of these endpoints that accepts it; LabError if none."""
        failed: LabError | None = None
        for number in numbers:
            try:
                connection = self.open(number)
            except (pymysql.Error, OSError, RuntimeError) as error:
                failed = _closed(self.endpoints[number - 1], self.login, error)
                continue
            with contextlib.closing(connection):
                yield Session(str(self.endpoints[number - 1]), connection)
            return
        assert failed
        raise failed


def target(connectstring: str | None, named: str | None) -> Target:
    """Return the target that the options --attach and --endpoints name; LabError if they do not."""
    if not connectstring:
        raise LabError(
            "--attach needs the connect string of the cluster's management node",
            found=f"--endpoints {named} alone" if named else "no --attach",
            expected="--attach with its host, or with host:port",
            next_step="Try: --attach 127.0.0.1:1186",
        )
    if not named:
        raise LabError(
            "--attach needs the MySQL servers to load",
            found=f"--attach {connectstring} alone",
            expected="--endpoints with their sockets, or with host:port of each",
            next_step="Try: --endpoints /var/run/mysqld/mysqld.sock",
        )
    places, user = endpoints.parse(named)
    return Target(connectstring, places, login.find(user))


def grants(account: str) -> str:
    """Return the GRANT statements that an account, in the form of CURRENT_USER(), needs."""
    user, _, host = account.rpartition("@")
    named = f"'{user}'@'{host}'"
    pattern = SCHEMA_PREFIX.replace("_", r"\_") + "%"
    return (
        f"GRANT ALL ON `{pattern}`.* TO {named}; GRANT SELECT ON `ndbinfo`.* TO {named}; on each "
        "of the MySQL servers"
    )


def _rows(connection: pymysql.Connection, statement: str, *values: object) -> list[tuple]:
    cursor = connection.cursor()
    cursor.execute(statement, values or None)
    return list(cursor.fetchall())


def _closed(place: Endpoint, account: Login, error: Exception) -> LabError:
    """Return the error that says why a MySQL server cannot be logged in to."""
    code = error.args[0] if isinstance(error, pymysql.Error) and error.args else 0
    said = str(error.args[-1]) if error.args else type(error).__name__
    if code in _DENIED or isinstance(error, RuntimeError):
        with_it = "with the password found" if account.password else "without a password"
        return LabError(
            f"{place} does not let {account.user} in",
            found=f"{said} ({with_it})",
            expected="an account of that server",
            next_step=f"Name the user as user@{place}, and put its password into the group "
            f"[{login.GROUP}] of ~/.my.cnf, or into the environment as {login.PASSWORD}.",
        )
    if code == _NO_TLS or "CERTIFICATE_VERIFY_FAILED" in said:
        signed = f"a certificate that {account.authority or 'an authority of this host'} signs"
        of_host = f" and that names {place.host}" if account.mode == login.VERIFY_IDENTITY else ""
        return LabError(
            f"{place} cannot be entered with ssl-mode={account.mode}",
            found=said,
            expected="TLS" if code == _NO_TLS else f"{signed}{of_host}",
            next_step=f"Correct ssl-ca or ssl-mode in the group [{login.GROUP}] of ~/.my.cnf, or "
            "enable TLS on the server.",
        )
    what = "refuses connections" if code in _REFUSED else "does not answer as a MySQL server"
    return LabError(
        f"{place} {what}",
        found=said,
        expected="a running MySQL server",
        next_step="Correct --endpoints, or start the server.",
    )
