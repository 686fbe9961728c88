"""The parts of a planned cluster: processes with their ids, and the purpose of each host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ndblab.planning.cpu_budget import Share

MANAGEMENT_NODE_ID, FIRST_DATA_NODE_ID = 1, 2
FIRST_SERVER_NODE_ID, LAST_SERVER_NODE_ID = 11, 246
API_NODE_IDS = tuple(range(LAST_SERVER_NODE_ID + 1, 255))
REPLICAS = 2
"""Data nodes that hold the same rows: those of a node group."""
MAX_SERVERS = LAST_SERVER_NODE_ID - FIRST_SERVER_NODE_ID + 1
"""Node ids 11 to 246 are for MySQL servers: the brief's files keep 247 to 254 for tools, and an
NDB node id is at most 255 (manual, "NDB Cluster Management Node Configuration")."""
LOAD = "load"
"""Role of the host that load generators run on."""
NEVER, ADDED = {"identity": "never"}, {"identity": "unless default"}
"""How a field counts for a plan's identity: not at all, since it does not affect a measurement; or
only if it is set, as for every field added after datasets were recorded."""


def domain(number: int) -> int:
    """Return the location domain of the `number`-th data node or server, of two.

    NDB forms node groups of data nodes with consecutive ids, so each group has one in each domain.
    """
    return 1 + (number - 1) % REPLICAS


@dataclass(frozen=True)
class Node:
    """One process of the cluster.

    `address` is the name or IP address of its host, `domain` its location domain, 0 for none.
    `host` names its host where there are several. `options` of my.cnf are a MySQL server's own.
    """

    role: str
    number: int
    node_id: int
    data_dir: str = field(metadata=NEVER)
    share: Share
    port: int | None = field(default=None, metadata=NEVER)
    socket: str = field(default="", metadata=NEVER)
    pool_node_ids: tuple[int, ...] = ()
    transporter: str = ""
    address: str = field(default="localhost", metadata=ADDED)
    domain: int = field(default=0, metadata=ADDED)
    host: str = field(default="", metadata=ADDED)
    options: tuple[tuple[str, object], ...] = field(default=(), metadata=ADDED)

    @property
    def name(self) -> str:
        """Role and number, as in the brief's folders: "mysqld.3"."""
        return f"{self.role}.{self.number}"

    @property
    def node_ids(self) -> tuple[int, ...]:
        """Node ids of all connections of this process to the cluster."""
        return (self.node_id, *self.pool_node_ids)

    @property
    def endpoint(self) -> str:
        """Address to bind and connect to: "localhost" might be ::1, where nothing listens."""
        return "127.0.0.1" if self.address == "localhost" else self.address


def is_grid(servers: Sequence[Node]) -> bool:
    """Return whether there is a server on each of these ports at each of these addresses.

    sysbench connects to every port at every address that it is given (its drv_mysql.c).
    """
    addresses = {node.endpoint for node in servers}
    return len(servers) == len(addresses) * len({node.port for node in servers})


@dataclass(frozen=True)
class HostPlan:
    """What one of several hosts is for, and what its MySQL servers and load generators may use.

    The lab keeps the files of its nodes in `folder`.
    """

    name: str
    address: str
    roles: tuple[str, ...]
    folder: str = field(metadata=NEVER)
    sql_side: Share
    sysbench: Share
