"""What is wanted of a cluster: its size, its settings, and where its files and ports are."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field

from ndblab.error import LabError
from ndblab.planning.node import MAX_SERVERS
from ndblab.planning.point import DEFAULT_TRANSPORTER


@dataclass(frozen=True)
class Places:
    """Folders, sockets and ports of a cluster; `brief` places are the published ones."""

    cluster_dir: str = ""
    socket_dir: str = ""
    base_port: int = 11860
    brief: bool = False

    def data_dir(self, name: str, number: int) -> str:
        """Return the folder of the `number`-th node called `name`.

        The brief names /nvme/1 for the management node, /nvme/1 and /nvme/2 for the data nodes,
        /nvme/3 and /nvme/4 for the first two servers; the others follow, odd and even.
        """
        if not self.brief:
            return f"{self.cluster_dir}/{name}.{number}"
        disk = {"ndb_mgmd": 1, "ndbd": number}.get(name, 3 if number % 2 else 4)
        return f"/nvme/{disk}/{name}.{number}"

    def socket(self, number: int) -> str:
        """Return the Unix socket of the `number`-th MySQL server."""
        folder = "/tmp" if self.brief else self.socket_dir
        return f"{folder}/mysql.{number}.sock"

    def port(self, role: str, number: int, networking: bool = False) -> int | None:
        """Return the port of the `number`-th node of a role; None if it has none or NDB picks it.

        The brief uses NDB's default, 1186, for the management node and 3306 onwards for the
        servers. Elsewhere servers listen only with `networking`.
        """
        if self.brief:
            return {"ndb_mgmd": 1186, "mysqld": 3305 + number}.get(role)
        if role == "mysqld":
            return self.base_port + 10 + number if networking else None
        return self.base_port + (number if role == "ndbmtd" else 0)


@dataclass(frozen=True)
class Overlay:
    """Parameters that replace or extend those of a plan; a value of None removes one.

    `config_ini` is by section, such as "ndbd default"; `my_cnf` is for all MySQL servers.
    """

    config_ini: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    my_cnf: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Shape:
    """What is wanted of a cluster.

    The last `tcp_servers` of the servers reach the data nodes by TCP, the others by `transporter`.
    `connection_pools` has a server's number of connections to the cluster, and `server_options` its
    own options of my.cnf; the servers take the entries of both in turn.
    With `networking` servers also listen for TCP/IP on their node's address. `small_redo` takes a
    redo log just large enough to load the rows. `thread_spin_us` is how long tc and ldm threads
    spin before they sleep, in microseconds. Data memory is `row_bytes` for each row, or the brief's
    share. `balanced_threads` takes the split of a data node's threads that the capacity model
    balances best. With `num_cpus`, data nodes choose their threads for that many CPUs, regardless
    of how many they have. Each of the `node_groups` has two data nodes; with `domains` they are in
    two location domains, and each server in that of its own data node. With `tls` NDB's own links
    that use TCP are encrypted.
    """

    servers: int
    rows: int
    max_clients: int
    budget: str = "auto"
    tcp_servers: int = 0
    connection_pools: tuple[int, ...] = (1,)
    server_options: tuple[Mapping[str, object], ...] = ({},)
    networking: bool = False
    small_redo: bool = False
    thread_spin_us: int = 0
    row_bytes: int = 0
    balanced_threads: bool = False
    num_cpus: int = 0
    node_groups: int = 1
    domains: bool = False
    tls: bool = False
    transporter: str = DEFAULT_TRANSPORTER
    places: Places = Places()
    overlay: Overlay = Overlay()

    @property
    def pools(self) -> tuple[int, ...]:
        """Connections to the cluster of each server."""
        return tuple(itertools.islice(itertools.cycle(self.connection_pools), self.servers))

    def options(self, number: int) -> tuple[tuple[str, object], ...]:
        """Return the `number`-th server's own options of my.cnf."""
        return tuple(self.server_options[(number - 1) % len(self.server_options)].items())

    def check_node_ids(self) -> None:
        """Refuse more connections than there are node ids; LabError says how many there are."""
        if not 1 <= sum(self.pools) <= MAX_SERVERS:
            raise LabError(
                "The servers do not fit the node ids",
                found=f"{self.servers} servers with {sum(self.pools)} connections in all",
                expected=f"1 to {MAX_SERVERS} connections in all",
                next_step="Use fewer servers or a smaller connection pool.",
            )
