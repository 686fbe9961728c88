"""What is read from a cluster that the lab did not start."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from ndblab.attach.endpoint import Endpoint
from ndblab.attach.target import Session, Target
from ndblab.cluster import management_client, variables
from ndblab.cluster.management_client import DEACTIVATED, Shown
from ndblab.error import LabError

if TYPE_CHECKING:
    from ndblab.install import Binaries

VARIABLES = (
    "version", "version_comment", "hostname", "server_uuid", "port", "socket", "log_bin",
    "max_connections", "max_prepared_stmt_count", "require_secure_transport",
    "ndb_cluster_connection_pool", "ndb_connectstring", "ndb_data_node_neighbour",
    "ndb_optimized_node_selection", "ndb_read_backup", "ndb_fully_replicated", "ndb_batch_size",
    "ndb_autoincrement_prefetch_sz", "ndb_index_stat_enable", "ndb_join_pushdown",
    "ndb_recv_thread_activation_threshold", "ndb_recv_thread_cpu_mask", "thread_cache_size",
    "transaction_isolation", "performance_schema", "autocommit",
)  # fmt: skip
"""Variables read from each MySQL server, for the manifest and for checks."""
_STATUS = ("Ndb_cluster_node_id", "Ndb_config_from_port", "Threads_connected")


@dataclass(frozen=True)
class Process:
    """A process of the cluster as ndbinfo.processes shows it; `pid` is that on its own host."""

    node_id: int
    kind: str
    pid: int
    name: str
    uri: str

    @property
    def ports(self) -> list[int]:
        """The port of its service; none if its URI has none."""
        return [int(port) for port in re.findall(r"://.*:(\d+)", self.uri)]


@dataclass(frozen=True)
class Server:
    """What a MySQL server says of itself, and of the cluster that it is connected to."""

    endpoint: Endpoint
    node_id: int
    data_nodes: tuple[int, ...]
    management_port: int
    variables: Mapping[str, str]
    connections: int = 0
    """Connections that others have."""

    @property
    def version(self) -> str:
        """Its MySQL version, three numbers."""
        number = re.match(r"\d+\.\d+\.\d+", self.variables.get("version", ""))
        return number[0] if number else ""


@dataclass(frozen=True)
class Facts:
    """What was read from an attached cluster.

    `management` is the host and port of the management node that answered. A link is a data node,
    the other node and a transporter ("SHM", "TCP", or empty where ndbinfo does not show it).
    `config` has the parameters of each data node; `memory`, its bytes of data memory in use and in
    total; `threads`, the number of threads of each kind in the first data node.
    """

    connectstring: str
    management: tuple[str, int]
    nodes: tuple[Shown, ...]
    servers: tuple[Server, ...]
    processes: tuple[Process, ...] = ()
    links: tuple[tuple[int, int, str], ...] = ()
    config: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    memory: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    threads: Mapping[str, int] = field(default_factory=dict)

    def of_kind(self, kind: str) -> tuple[Shown, ...]:
        """Return the nodes of a kind, "MGM", "NDB" or "API", without those deactivated."""
        return tuple(n for n in self.nodes if n.kind == kind and n.state != DEACTIVATED)

    @property
    def deactivated(self) -> tuple[Shown, ...]:
        """Nodes of any kind that take no part until RonDB is told to activate them."""
        return tuple(node for node in self.nodes if node.state == DEACTIVATED)

    @property
    def ndb_version(self) -> str:
        """Version of the data nodes; empty if it cannot be read."""
        return ndb_version(self.of_kind("NDB")[0].version)

    @property
    def transporter(self) -> str:
        """Return "shm" if every link of every endpoint's server is one, otherwise "tcp"."""
        ids = {number for server in self.servers for number in self.connections_of(server)}
        kinds = {kind for _, other, kind in self.links if other in ids}
        if "" in kinds:
            use = {values.get("UseShm", "0") for values in self.config.values()}
            kinds = {"SHM"} if use == {"1"} else {"TCP"}
        return "shm" if kinds == {"SHM"} else "tcp"

    def connections_of(self, server: Server) -> tuple[int, ...]:
        """Return the node ids of a server's connections to the cluster, its own first."""
        mine = {(p.pid, p.uri) for p in self.processes if p.node_id == server.node_id}
        pool = {p.node_id for p in self.processes if p.kind == "API" and (p.pid, p.uri) in mine}
        return (server.node_id, *sorted(pool - {server.node_id}))

    def to_dict(self) -> dict[str, object]:
        """Return what belongs in a manifest, as plain data; parameters have a file of their own."""
        known = asdict(self)
        for name in ("config", "processes"):
            known.pop(name)
        known["servers"] = [
            {**described, "endpoint": str(server.endpoint)}
            for described, server in zip(known["servers"], self.servers, strict=True)
        ]
        return {**known, "memory": {str(node): used for node, used in self.memory.items()}}

    def identity(self) -> dict[str, object]:
        """Return what two attached clusters must share to count as the same measurement."""
        config = json.dumps({str(node): own for node, own in self.config.items()}, sort_keys=True)
        return {
            "connectstring": self.connectstring,
            "nodes": [
                [n.node_id, n.kind, n.address, n.version] for n in self.nodes if n.kind != "API"
            ],
            "endpoints": [str(server.endpoint) for server in self.servers],
            "servers": [[s.node_id, s.variables.get("server_uuid", "")] for s in self.servers],
            "config": hashlib.sha256(config.encode()).hexdigest()[:12],
        }


def ndb_version(shown: str) -> str:
    """Read NDB's version from what the management client shows of a node.

    >>> ndb_version("mysql-9.7.4 ndb-9.7.4"), ndb_version("RonDB-21.04.9"), ndb_version("?")
    ('9.7.4', '21.4.9', '')
    """
    number = re.search(r"\b(?:ndb|i?RonDB)-(\d+)\.(\d+)\.(\d+)", shown)
    return ".".join(str(int(part)) for part in number.groups()) if number else ""


def read(target: Target, binaries: Binaries) -> Facts:
    """Read everything about a cluster that the lab needs; LabError if something does not answer."""
    management, nodes = management_client.ask(binaries.ndb_mgm, target.connectstring)
    servers = tuple(_server(target, number) for number in range(1, len(target.endpoints) + 1))
    with target.session(1) as session:
        processes = session.run(
            "SELECT node_id, node_type, process_id, process_name, service_URI"
            " FROM ndbinfo.processes ORDER BY node_id"
        )
        memory = session.run(
            "SELECT node_id, used, total FROM ndbinfo.memoryusage WHERE memory_type = 'Data memory'"
        )
        threads = session.run(
            "SELECT thread_name, COUNT(*) FROM ndbinfo.threads WHERE node_id ="
            " (SELECT MIN(node_id) FROM ndbinfo.threads) GROUP BY thread_name"
        )
        return Facts(
            target.connectstring,
            management,
            nodes,
            servers,
            tuple(
                Process(int(node), kind, int(pid or 0), name or "", uri or "")
                for node, kind, pid, name, uri in processes
            ),
            _links(session),
            variables.parameters_shown(session.run),
            {int(node): (int(used), int(total)) for node, used, total in memory},
            {kind: int(number) for kind, number in threads},
        )


def _server(target: Target, number: int) -> Server:
    place = target.endpoints[number - 1]
    with target.session(number) as session:

        def named(what: str, names: Sequence[str]) -> dict[str, str]:
            listed = ", ".join(f"'{name}'" for name in names)
            rows = session.run(f"SHOW GLOBAL {what} WHERE Variable_name IN ({listed})")
            return {str(name): str(value) for name, value in rows}

        status = named("STATUS", _STATUS)
        node_id = int(status.get("Ndb_cluster_node_id", 0))
        if not node_id:
            raise LabError(
                f"{place} is not a MySQL server of an NDB Cluster",
                found="no node id in its status"
                if "Ndb_cluster_node_id" not in status
                else "a server that is not connected to its cluster",
                expected="a mysqld with --ndbcluster, connected",
                next_step="Correct --endpoints, or look at the server's error log.",
            )
        rows = session.run("SELECT node_id FROM ndbinfo.config_nodes WHERE node_type = 'NDB'")
        return Server(
            place,
            node_id,
            tuple(sorted(int(node) for (node,) in rows)),
            int(status.get("Ndb_config_from_port", 0)),
            named("VARIABLES", VARIABLES),
            int(status.get("Threads_connected", 0)),
        )


def _links(session: Session) -> tuple[tuple[int, int, str], ...]:
    """Read the connected links; before 9.0 ndbinfo.transporter_details has no column `type`."""
    statement = "SELECT node_id, remote_node_id, {} FROM ndbinfo.{} WHERE status = 'CONNECTED'"
    try:
        links = session.run(statement.format("type", "transporter_details"))
    except LabError:
        links = session.run(statement.format("''", "transporters"))
    return tuple(sorted((int(node), int(other), str(kind)) for node, other, kind in links))
