"""The account with which clients on other hosts use the MySQL servers of a cluster.

In: a cluster whose servers are about to be started. Out: a name, a random password, and one set of
certificates for all servers and clients. The password is on no command line and in no dataset.
"""

from __future__ import annotations

import secrets
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.planning import config

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.planning.deployment import Node

USER = "ndblab"
AUTHORITY = "ca.pem"
_SERVERS = (AUTHORITY, "server-cert.pem", "server-key.pem")
_CLIENTS = {AUTHORITY: "cacert.pem", "client-cert.pem": "client-cert.pem"}
_CLIENTS["client-key.pem"] = "client-key.pem"
"""What mysqld makes in a new data folder (manual, "Creating SSL and RSA Certificates and Keys"),
and the names by which sysbench expects it in its working folder (its drv_mysql.c)."""


@dataclass
class Account:
    """Name and password; `authority` has the certificate that signs those of the servers."""

    password: str = field(repr=False)
    authority: str = ""

    @property
    def statements(self) -> str:
        """SQL that a server executes at each of its starts: no login without TLS."""
        return (
            f"CREATE USER IF NOT EXISTS {USER}@'%' IDENTIFIED BY '{self.password}' REQUIRE SSL;\n"
            f"GRANT ALL ON *.* TO {USER}@'%' WITH GRANT OPTION;\n"
        )

    @property
    def sysbench_options(self) -> str:
        """Text of the options file with which sysbench connects."""
        return f"mysql-user={USER}\nmysql-password={self.password}\nmysql-ssl=on\n"

    def connection(self, node: Node) -> dict[str, object]:
        """Return the options with which PyMySQL connects to a MySQL server.

        A server's own certificate has no host name in it: its authority is what is checked.
        """
        context = ssl.create_default_context(cadata=self.authority)
        context.check_hostname = False
        where = {"host": node.endpoint, "port": node.port}
        return {**where, "user": USER, "password": self.password, "ssl": context}


def new() -> Account:
    """Return an account with a random password."""
    return Account(secrets.token_urlsafe(24))


def give_certificates(cluster: Cluster) -> None:
    """Give all servers the certificates of the first, and clients theirs, by the hosts' folders."""
    first, *others = cluster.plan.servers
    get = cluster.machine_of(first).get
    for node in others:
        for name in _SERVERS:
            text = get(Path(first.data_dir) / name)
            cluster.machine_of(node).put(Path(node.data_dir) / name, text)
    load = cluster.load_site
    for made, name in _CLIENTS.items():
        load.machine.put(load.folder / name, get(Path(first.data_dir) / made))
    load.machine.put(load.folder / config.ACCOUNT_FILE, cluster.account.sysbench_options)
    cluster.account.authority = get(Path(first.data_dir) / AUTHORITY)
