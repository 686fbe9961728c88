"""The account with which clients on other hosts use the MySQL servers of a cluster.

It has a random password, which is on no command line and in no dataset. All servers and clients
share one set of certificates.
"""

from __future__ import annotations

import secrets
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.machine.local import LOCAL
from ndblab.planning import config

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.machine import Machine
    from ndblab.planning.deployment import Node

_USER = f"{config.ACCOUNT}@'%'"
_RIGHTS = (
    "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, INDEX, ALTER, REFERENCES, PROCESS, RELOAD, "
    "SYSTEM_VARIABLES_ADMIN"
)
"""Not ALL, which includes NDB_STORED_USER: a server that starts drops a user with that privilege
if the data nodes do not know the user yet."""
AUTHORITY = "ca.pem"
"""Name of the certificate that a server expects in its data folder, with `server-cert.pem` and
`server-key.pem` (manual, "Creating SSL and RSA Certificates and Keys"). sysbench calls it
`cacert.pem` and wants `client-cert.pem` and `client-key.pem` in its working folder (its
drv_mysql.c)."""
_DAYS = "30"


@dataclass
class Account:
    """A random password; `authority` is the CA certificate that signs those of the servers."""

    password: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    authority: str = ""

    @property
    def statements(self) -> str:
        """SQL that a server executes at each of its starts: no login without TLS."""
        return (
            f"CREATE USER IF NOT EXISTS {_USER} IDENTIFIED BY '{self.password}' REQUIRE SSL;\n"
            f"GRANT {_RIGHTS} ON *.* TO {_USER};\n"
        )

    @property
    def sysbench_options(self) -> str:
        """Text of the options file with which sysbench connects."""
        return f"mysql-password={self.password}\nmysql-ssl=on\n"

    def connection(self, node: Node) -> dict[str, object]:
        """Return the options with which PyMySQL connects to a MySQL server."""
        context = ssl.create_default_context(cadata=self.authority)
        # Python 3.13 is stricter than what old releases of OpenSSL make.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        where = {"host": node.endpoint, "port": node.port}
        return {**where, "user": config.ACCOUNT, "password": self.password, "ssl": context}


def give_certificates(cluster: Cluster) -> None:
    """Make an authority, and give each server and the clients a certificate that it signs.

    A server's certificate names the server's address, which clients check. LabError if this machine
    has no `openssl` program, or a host's disk refuses.
    """
    folder = cluster.folder / "certificates"
    LOCAL.make_folder(folder)
    authority, key = folder / AUTHORITY, folder / "ca-key.pem"
    _openssl(
        "req",
        "-x509",
        "-days",
        _DAYS,
        *_key(key),
        "-subj",
        f"/CN={config.ACCOUNT}",
        "-out",
        authority,
    )
    cluster.account.authority = authority.read_text()
    for address in {node.endpoint for node in cluster.plan.servers}:
        _sign(folder, address, address)
    for node in cluster.plan.servers:
        _put(cluster.machine_of(node), Path(node.data_dir), folder, node.endpoint, "server")
    _sign(folder, "clients", config.ACCOUNT)
    # Clients are on a host of their own, or beside their server.
    for host in {cluster.plan.load_host, *(node.host for node in cluster.plan.servers)}:
        site = cluster.site(host)
        _put(site.machine, site.folder, folder, "clients", "client")
        site.machine.put(site.folder / "cacert.pem", cluster.account.authority)
        site.machine.put(site.folder / config.ACCOUNT_FILE, cluster.account.sysbench_options)


def _sign(folder: Path, name: str, subject: str) -> None:
    """Make the key `name` and a certificate for it."""
    key, request = folder / f"{name}-key.pem", folder / f"{name}.csr"
    kind = "IP" if subject.replace(".", "").isdigit() or ":" in subject else "DNS"
    names = folder / f"{name}.cnf"
    names.write_text(f"subjectAltName={kind}:{subject}\n")
    _openssl("req", "-new", *_key(key), "-subj", f"/CN={subject}", "-out", request)
    _openssl(
        "x509", "-req", "-days", _DAYS, "-in", request, "-CA", folder / AUTHORITY, "-CAkey",
        folder / "ca-key.pem", "-CAcreateserial", "-extfile", names, "-out",
        folder / f"{name}-cert.pem",
    )  # fmt: skip


def _key(file: Path) -> list[object]:
    curve = ["-pkeyopt", "ec_paramgen_curve:prime256v1"]
    return ["-newkey", "ec", *curve, "-nodes", "-keyout", file]


def _put(machine: Machine, there: Path, folder: Path, name: str, role: str) -> None:
    """Put a key, its certificate and the authority into a folder of a host."""
    machine.put(there / AUTHORITY, (folder / AUTHORITY).read_text())
    for what in ("cert", "key"):
        machine.put(there / f"{role}-{what}.pem", (folder / f"{name}-{what}.pem").read_text())


def _openssl(*words: object) -> None:
    LOCAL.run(
        ["openssl", *map(str, words)],
        what="The certificates of a cluster over several hosts cannot be made",
        next_step="Install OpenSSL's program on this machine (Debian: openssl).",
    )
