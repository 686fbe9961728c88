"""The account with which the lab logs in to MySQL servers that are not its own.

Like MySQL's own clients, it takes user, password, ssl-ca and ssl-mode from the group [client] of
~/.my.cnf, or of the file that NDBLAB_MY_CNF names. A password that is missing there comes from
MYSQL_PWD. A password is never on a command line, in a file of the lab, or in a message.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ndblab.attach import option_file
from ndblab.error import LabError
from ndblab.machine import user as os_user

FILE, PASSWORD = "NDBLAB_MY_CNF", "MYSQL_PWD"
"""Environment variables: the option file, and the password of MySQL's own clients."""
GROUP = "client"
_LONGEST = 230
"""Bytes of a password that sysbench reads from a line of its option file (256 in all)."""

DISABLED, PREFERRED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY = MODES = (
    "DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY",
)  # fmt: skip
"""Values of `ssl-mode` (manual, "Command Options for Encrypted Connections")."""


@dataclass(frozen=True)
class Login:
    """A user and a password, which may be empty, and how connections over TCP are protected.

    `authority` is the file of CA certificates that sign the servers' own; `mode` is one of MODES.
    """

    user: str
    password: str = field(default="", repr=False)
    authority: str = ""
    mode: str = PREFERRED

    def tls(self) -> ssl.SSLContext | None:
        """Return the TLS context for TCP, None without TLS; LabError if ssl-ca is unreadable."""
        if self.mode == DISABLED:
            return None
        try:
            context = ssl.create_default_context(cafile=self.authority or None)
        except OSError as error:
            raise LabError(
                f"ssl-ca={self.authority} cannot be read",
                found=error.strerror or str(error),
                expected="a file of certificates (PEM)",
                next_step=f"Correct it in the group [{GROUP}] of your option file.",
            ) from None
        # Python 3.13 is stricter than the certificates that MySQL servers make for themselves.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        context.check_hostname = self.mode == VERIFY_IDENTITY
        if self.mode not in (VERIFY_CA, VERIFY_IDENTITY):
            context.verify_mode = ssl.CERT_NONE
        return context

    def sysbench_options(self) -> bytes:
        """Return the text of an option file for sysbench; empty without a password.

        sysbench reads a quoted value up to the next quote of that kind, without escapes (its
        sb_options.c). LabError if the password cannot be written that way.
        """
        if not self.password:
            return b""
        quote = '"' if '"' not in self.password else "'"
        secret = os.fsencode(self.password)
        if quote in self.password or "\n" in self.password or len(secret) > _LONGEST:
            raise LabError(
                "sysbench cannot read this password",
                found=f"both kinds of quotes, an end of line, or more than {_LONGEST} bytes in it",
                expected="a password without them",
                next_step="Use a MySQL account of its own for the lab.",
            )
        return b"mysql-password=%b%b%b\n" % (quote.encode(), secret, quote.encode())


def find(user: str = "", environment: Mapping[str, str] = os.environ) -> Login:
    """Find the account: of the user named, else the option file's user, else this process's.

    LabError if the option file cannot be read, or has an unknown ssl-mode.
    """
    known = _of_file(environment)
    password = known.get("password", environment.get(PASSWORD, ""))
    authority = os.path.expanduser(known.get("ssl-ca", ""))
    mode = (known.get("ssl-mode") or (VERIFY_CA if authority else PREFERRED)).upper()
    if mode not in MODES:
        raise LabError(
            f"The group [{GROUP}] of your option file has an unknown ssl-mode",
            found=mode,
            expected=f"one of {', '.join(MODES)}",
            next_step="Correct it, or remove it.",
        )
    return Login(user or known.get("user") or os_user.name(), password, authority, mode)


def _of_file(environment: Mapping[str, str]) -> dict[str, str]:
    named = environment.get(FILE)
    file = Path(named or Path(environment.get("HOME", "/")) / ".my.cnf").expanduser()
    if not named and not file.exists():
        return {}
    try:
        return option_file.read(file, GROUP)
    except (OSError, ValueError) as error:
        raise LabError(
            f"The option file {file} cannot be read",
            found=f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else error,
            expected=f"a MySQL option file with a group [{GROUP}]",
            next_step=f"Correct it, or name another one with {FILE}.",
        ) from None
