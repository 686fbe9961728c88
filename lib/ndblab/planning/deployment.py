"""Who gets which CPUs, memory, ports and folders.

In: a `Host` and a `Shape` (what is wanted). Out: a `Plan`, plain data from which the configuration
and the commands follow. Pure: it touches no file and starts nothing.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from ndblab.error import LabError
from ndblab.machine.host import Host
from ndblab.planning import cpu_budget, memory
from ndblab.planning.cpu_budget import BRIEF_CPUS, BRIEF_DATA_NODE_CPUS, Budget, Share
from ndblab.planning.memory import GIB, MIB, Memory
from ndblab.planning.profile import FIRST_SERVER_NODE_ID, LAST_SERVER_NODE_ID

API_NODE_IDS = tuple(range(LAST_SERVER_NODE_ID + 1, 255))
FIRST_SQL_PORT = 10
"""Ports of MySQL servers come so much after the management node's, where they have any."""
_KINDS = ("ldm", "query", "recover", "tc", "send", "recv")


@dataclass(frozen=True)
class Places:
    """Folders, sockets and ports of a cluster; `brief` places are the published ones."""

    cluster_dir: str = ""
    socket_dir: str = ""
    base_port: int = 11860
    brief: bool = False

    @property
    def management_port(self) -> int:
        """Port of the management node; 1186 is NDB's own."""
        return 1186 if self.brief else self.base_port

    def data_dir(self, name: str, number: int) -> str:
        """Folder of the `number`-th node called `name`.

        The brief names /nvme/1 for the management node, /nvme/1 and /nvme/2 for the data nodes and
        /nvme/3 and /nvme/4 for the first two servers; later ones follow odd and even.
        """
        if not self.brief:
            return f"{self.cluster_dir}/{name}.{number}"
        disk = {"ndb_mgmd": 1, "ndbd": number}.get(name, 3 if number % 2 else 4)
        return f"/nvme/{disk}/{name}.{number}"

    def socket(self, number: int) -> str:
        """Unix socket of the `number`-th MySQL server."""
        folder = "/tmp" if self.brief else self.socket_dir
        return f"{folder}/mysql.{number}.sock"


@dataclass(frozen=True)
class Shape:
    """What is wanted of a cluster.

    `tcp_servers` of the servers, the last ones, are connected to the data nodes by TCP, the others
    by shared memory. `networking` lets clients come over TCP/IP on loopback too. `small_redo` takes
    a redo log just large enough to load the rows. Spinning, in microseconds: of a MySQL server that
    waits for shared memory (ShmSpintime), and of the tc and ldm threads of the data nodes.
    `balanced_threads` takes the threads of a data node that the capacity model finds best balanced.
    """

    servers: int
    rows: int
    max_clients: int
    budget: str = "auto"
    tcp_servers: int = 0
    connection_pool: int = 1
    networking: bool = False
    small_redo: bool = False
    shm_spin_us: int = 0
    thread_spin_us: int = 0
    balanced_threads: bool = False
    places: Places = Places()


@dataclass(frozen=True)
class Node:
    """One process of the cluster."""

    role: str
    number: int
    node_id: int
    data_dir: str
    share: Share
    port: int | None = None
    socket: str = ""
    pool_node_ids: tuple[int, ...] = ()
    transporter: str = ""

    @property
    def name(self) -> str:
        """Role and number, as in the brief's folders: "mysqld.3"."""
        return f"{self.role}.{self.number}"


@dataclass(frozen=True)
class Threads:
    """Threads of a data node by kind; `automatic_cpus` leaves the choice to NDB instead."""

    automatic_cpus: int | None = None
    ldm: int = 2
    query: int = 2
    recover: int = 2
    tc: int = 1
    send: int = 1
    recv: int = 1
    spin_us: int = 0

    @property
    def config(self) -> str:
        """The value of ThreadConfig."""
        words = [f"count={getattr(self, kind)}" for kind in _KINDS]
        if self.spin_us:
            spinning = f",spintime={self.spin_us}"
            words = [
                w + spinning * (kind in ("tc", "ldm"))
                for kind, w in zip(_KINDS, words, strict=True)
            ]
        threads = (f"{kind}={{{w}}}" for kind, w in zip(_KINDS, words, strict=True))
        return "main,rep," + ",".join(threads)

    @property
    def ldm_threads(self) -> int:
        """Number of ldm threads; NDB's own choice is a quarter of its CPUs (seen for 32)."""
        return self.ldm if self.automatic_cpus is None else self.automatic_cpus // 4


@dataclass(frozen=True)
class Plan:
    """A cluster on a host, decided."""

    budget: Budget
    places: Places
    management_node: Node
    data_nodes: tuple[Node, ...]
    servers: tuple[Node, ...]
    sysbench: Share
    sql_side: Share
    threads: Threads
    memory: Memory
    max_clients: int
    shm_spin_us: int = 0

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All processes, in the order in which they start."""
        return (self.management_node, *self.data_nodes, *self.servers)

    @property
    def shm(self) -> bool:
        """Whether every MySQL server is connected by shared memory."""
        return all(node.transporter == "shm" for node in self.servers)

    def servers_by(self, transporter: str) -> tuple[Node, ...]:
        """Give the MySQL servers that are connected by "shm" or "tcp"."""
        return tuple(node for node in self.servers if node.transporter == transporter)

    @property
    def memory_bytes(self) -> int:
        """What the whole cluster takes of the host's memory."""
        servers = len(self.servers) * self.memory.server_bytes
        clients = self.max_clients * self.memory.client_bytes
        return len(self.data_nodes) * self.memory.data_node_bytes + servers + clients + GIB // 2

    @property
    def disk_bytes(self) -> int:
        """What the whole cluster writes at most: rows, two checkpoints, redo log, data folders."""
        checkpoints = 3 * self.memory.data_bytes // 2
        redo = min(self.memory.redo_bytes, 4 * self.memory.data_bytes)
        return len(self.data_nodes) * (checkpoints + redo) + len(self.servers) * 100 * MIB

    def to_dict(self) -> dict[str, object]:
        """Give the plan as plain data for JSON."""
        return dataclasses.asdict(self)

    def identity(self) -> dict[str, object]:
        """Give what two plans must share for their measurements to be comparable.

        Folders and ports do not matter to a measurement; all the rest does.
        """
        data = self.to_dict()
        del data["places"]
        for node in (data["management_node"], *data["data_nodes"], *data["servers"]):
            del node["data_dir"], node["socket"], node["port"]
        return data

    def check(self, host: Host, disk_free_bytes: int) -> None:
        """Refuse a plan that this host cannot hold.

        Raises
        ------
        LabError
            If memory or disk do not suffice; it says by how much.
        """
        for what, needed, there in (
            ("memory", self.memory_bytes, host.memory_available_bytes),
            ("disk space", self.disk_bytes, disk_free_bytes),
        ):
            if needed > there:
                raise LabError(
                    f"This host has too little {what} for the plan",
                    found=f"{there / GIB:.1f} GiB available",
                    expected=f"{needed / GIB:.1f} GiB, {(needed - there) / GIB:.1f} GiB more",
                    next_step="Use --profile quick, a smaller --table-size or fewer --servers.",
                )


def make(host: Host, shape: Shape) -> Plan:
    """Decide how the cluster of `shape` lives on `host`.

    Raises
    ------
    LabError
        If the budget is unknown or impossible here, or there are more servers than node ids.
    """
    chosen = cpu_budget.choose(host, shape.budget)
    ids = FIRST_SERVER_NODE_ID + shape.servers * shape.connection_pool - 1
    if shape.servers < 1 or ids > LAST_SERVER_NODE_ID:
        raise LabError(
            "The servers do not fit the node ids",
            found=f"{shape.servers} servers with {shape.connection_pool} connection(s) each",
            expected=f"1 to {LAST_SERVER_NODE_ID - FIRST_SERVER_NODE_ID + 1} in all",
            next_step="Ask for fewer servers or a smaller connection pool.",
        )
    shares = cpu_budget.shares(host, chosen.kind)
    threads = _threads(host, chosen.kind, shares.data_nodes[0], shape)
    places = shape.places
    return Plan(
        budget=chosen,
        places=places,
        management_node=Node(
            "ndb_mgmd", 1, 1, places.data_dir("ndb_mgmd", 1), shares.management_node,
            places.management_port,
        ),
        data_nodes=tuple(
            Node(
                "ndbmtd", n, n + 1, places.data_dir("ndbd", n), shares.data_nodes[n - 1],
                None if places.brief else places.base_port + n,
            )
            for n in (1, 2)
        ),
        servers=tuple(
            _server(shape, n, shares.servers[(n - 1) % 2]) for n in range(1, shape.servers + 1)
        ),
        sysbench=dataclasses.replace(shares.sql_side, quota_cpus=None),
        sql_side=shares.sql_side,
        threads=threads,
        memory=memory.of_rows(
            shape.rows, threads.ldm_threads, host.memlock_bytes, shape.small_redo
        ),
        max_clients=shape.max_clients,
        shm_spin_us=shape.shm_spin_us,
    )  # fmt: skip


def _server(shape: Shape, number: int, share: Share) -> Node:
    """The `number`-th MySQL server; the brief's listen on 3306 and on."""
    places, pool = shape.places, shape.connection_pool - 1
    port = 3305 + number if places.brief else None
    if shape.networking and not places.brief:
        port = places.base_port + FIRST_SQL_PORT + number
    first_more = FIRST_SERVER_NODE_ID + shape.servers + (number - 1) * pool
    return Node(
        "mysqld",
        number,
        FIRST_SERVER_NODE_ID + number - 1,
        places.data_dir("mysqld", number),
        share,
        port,
        places.socket(number),
        tuple(range(first_more, first_more + pool)),
        "tcp" if number > shape.servers - shape.tcp_servers else "shm",
    )


def _threads(host: Host, kind: str, data_share: Share, shape: Shape) -> Threads:
    """Threads of a data node: NDB's own choice where it has CPUs, else the brief's proportions.

    In the brief 32 CPUs give 8 ldm, 8 query, 4 tc, 3 send, 3 recv. A quarter of that is the least
    that keeps the proportions. Balanced threads are as many in all.
    """
    cpus = {
        "pinned": len(data_share.cpus),
        "scaled": data_share.quota_cpus or 0,
        "shared": host.usable_cpus * BRIEF_DATA_NODE_CPUS / BRIEF_CPUS,
    }[kind]
    spin_us = shape.thread_spin_us
    if shape.balanced_threads:
        return dataclasses.replace(_balanced(cpus), spin_us=spin_us)
    if cpus >= 8:
        return Threads(automatic_cpus=int(cpus), spin_us=spin_us)
    return Threads(spin_us=spin_us)


def _balanced(cpus: float) -> Threads:
    """Give fewer ldm and query and more tc and recv threads (brief, "Going Above 1.7M QPS").

    Of 26 that 32 CPUs leave for queries the capacity model gives 6 ldm, 6 query, 7 tc, 3 send and 4
    recv; where there are fewer CPUs, as many as there are by default.
    """
    if cpus < 8:
        return Threads(ldm=1, query=1, recover=1, tc=2, send=1, recv=2)
    ldm = max(1, round(6 * cpus / 32))
    tc, send, recv = (max(1, round(n * cpus / 32)) for n in (7, 3, 4))
    return Threads(None, ldm, ldm, ldm, tc, send, recv)
