"""Who gets which CPUs, memory, ports and folders.

In: a `Host` and a `Shape` (what is wanted). Out: a `Plan`, plain data from which the configuration
and the commands follow. Pure: it touches no file and starts nothing.

The shares are those of the brief ("Cluster-in-a-Box"): of 256 logical CPUs each data node has 32
and the MySQL servers with sysbench have the other 192; one mysqld was seen to use at most about 30
(Figure 4).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from ndblab.error import LabError
from ndblab.host import Host
from ndblab.profile import FIRST_SERVER_NODE_ID, LAST_SERVER_NODE_ID

BRIEF_CPUS = 256
BRIEF_DATA_NODE_CPUS = 32
BRIEF_SERVER_CPUS = 30
BRIEF_SQL_SIDE_CPUS = 192
BRIEF_ROWS = 80_000_000
ROW_BYTES = 750
"""A sysbench row with its indexes in NDB: the brief has about 60 GB for 80 million rows."""

GIB, MIB = 2**30, 2**20
BUDGETS = ("auto", "pinned", "scaled", "shared")
PINNED_FROM_CPUS = 80
"""Two servers at their own ceiling of 30 CPUs on three quarters of a host: 2 x 30 / 0.75. With
fewer, `pinned` would show the host's end before the first doubling."""

API_NODE_IDS = tuple(range(LAST_SERVER_NODE_ID + 1, 255))
LOG_PARTS = (4, 6, 8, 10, 12, 16, 20, 24, 32)
"""The values that NoOfFragmentLogParts takes (manual, "NDB Cluster Data Node Configuration")."""


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
    """What is wanted of a cluster."""

    servers: int
    rows: int
    max_clients: int
    budget: str = "auto"
    shm: bool = True
    connection_pool: int = 1
    places: Places = Places()


@dataclass(frozen=True)
class Budget:
    """How the host's CPUs are divided, and why so."""

    kind: str
    reason: str


@dataclass(frozen=True)
class Share:
    """What a process may use: CPUs by affinity, NUMA nodes for memory, bandwidth in CPUs.

    Empty tuples and `None` mean no limit of that kind.
    """

    cpus: tuple[int, ...] = ()
    memory_nodes: tuple[int, ...] = ()
    quota_cpus: float | None = None


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

    @property
    def config(self) -> str:
        """The value of ThreadConfig."""
        kinds = ("ldm", "query", "recover", "tc", "send", "recv")
        return "main,rep," + ",".join(f"{k}={{count={getattr(self, k)}}}" for k in kinds)


@dataclass(frozen=True)
class Memory:
    """Memory and redo log of one data node, memory of a MySQL server and of a client, in bytes."""

    data_bytes: int
    shared_global_bytes: int
    redo_buffer_bytes: int
    disk_page_buffer_bytes: int
    long_message_buffer_bytes: int
    fragment_log_parts: int
    fragment_log_files: int
    fragment_log_file_bytes: int
    server_bytes: int
    client_bytes: int
    lock_pages: bool

    @property
    def data_node_bytes(self) -> int:
        """What a data node takes: its configured pools and about 900 MiB of its own (as seen)."""
        pools = self.data_bytes + self.shared_global_bytes + self.disk_page_buffer_bytes
        buffers = self.long_message_buffer_bytes + self.redo_buffer_bytes * self.fragment_log_parts
        return pools + buffers + 900 * MIB

    @property
    def redo_bytes(self) -> int:
        """Redo log of one data node on disk (sparse until written)."""
        return self.fragment_log_parts * self.fragment_log_files * self.fragment_log_file_bytes


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
    shm: bool

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All processes, in the order in which they start."""
        return (self.management_node, *self.data_nodes, *self.servers)

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
    budget = _budget(host, shape.budget)
    ids = FIRST_SERVER_NODE_ID + shape.servers * shape.connection_pool - 1
    if shape.servers < 1 or ids > LAST_SERVER_NODE_ID:
        raise LabError(
            "The servers do not fit the node ids",
            found=f"{shape.servers} servers with {shape.connection_pool} connection(s) each",
            expected=f"1 to {LAST_SERVER_NODE_ID - FIRST_SERVER_NODE_ID + 1} in all",
            next_step="Ask for fewer servers or a smaller connection pool.",
        )
    data_shares, server_shares, sql_side, management = _shares(host, budget.kind)
    pool = shape.connection_pool - 1
    places = shape.places
    return Plan(
        budget=budget,
        places=places,
        management_node=Node(
            "ndb_mgmd", 1, 1, places.data_dir("ndb_mgmd", 1), management, places.management_port
        ),
        data_nodes=tuple(
            Node(
                "ndbmtd", n, n + 1, places.data_dir("ndbd", n), data_shares[n - 1],
                None if places.brief else places.base_port + n,
            )
            for n in (1, 2)
        ),
        servers=tuple(
            Node(
                "mysqld", n, FIRST_SERVER_NODE_ID + n - 1, places.data_dir("mysqld", n),
                server_shares[(n - 1) % 2], 3305 + n if places.brief else None, places.socket(n),
                tuple(
                    FIRST_SERVER_NODE_ID + shape.servers + (n - 1) * pool + i for i in range(pool)
                ),
            )
            for n in range(1, shape.servers + 1)
        ),
        sysbench=dataclasses.replace(sql_side, quota_cpus=None),
        sql_side=sql_side,
        threads=_threads(host, budget.kind, data_shares[0]),
        memory=_memory(host, shape, _threads(host, budget.kind, data_shares[0])),
        max_clients=shape.max_clients,
        shm=shape.shm,
    )  # fmt: skip


def _budget(host: Host, wanted: str) -> Budget:
    if wanted not in BUDGETS:
        raise LabError(
            "There is no such cpu budget",
            found=wanted,
            expected=", ".join(BUDGETS),
            next_step="Choose one with --budget.",
        )
    controller = host.cpu_controller
    can_scale = controller.kind in ("cgroup1", "cgroup2")
    can_pin = len(host.cores) >= 4
    if wanted == "pinned" and not can_pin:
        raise LabError(
            "This host cannot be divided by affinity",
            found=f"{len(host.cores)} core(s)",
            expected="at least 4: on each half, one for a data node and one for MySQL servers",
            next_step="Use --budget scaled or --budget shared.",
        )
    if wanted == "scaled" and not can_scale:
        raise LabError(
            "This host gives us no way to limit CPU bandwidth",
            found=controller.reason,
            expected="a writable cpu control group (v1 or v2) or a user manager of systemd",
            next_step="Run as root or inside `systemd-run --user --scope -p Delegate=yes`, or use "
            "--budget shared.",
        )
    if wanted != "auto":
        return Budget(wanted, "asked for")
    cpus = host.usable_cpus
    if cpus >= PINNED_FROM_CPUS:
        return Budget("pinned", f"{cpus:g} logical CPUs are enough to divide by affinity")
    if can_scale:
        return Budget(
            "scaled",
            f"{cpus:g} logical CPUs are fewer than {PINNED_FROM_CPUS}, and {controller.reason}",
        )
    return Budget("shared", f"{cpus:g} logical CPUs are too few to pin, and {controller.reason}")


def _shares(host: Host, kind: str) -> tuple[tuple[Share, Share], tuple[Share, Share], Share, Share]:
    """Shares of both data nodes, of odd and even servers, of the SQL side, of the management node.

    Source: the brief's numactl lines for `pinned`; its CPU counts as fractions for `scaled`.
    """
    anything = Share()
    if kind == "shared":
        return (anything, anything), (anything, anything), anything, anything
    if kind == "scaled":
        cpus = host.usable_cpus
        data, server, sql = (
            Share(quota_cpus=cpus * part / BRIEF_CPUS)
            for part in (BRIEF_DATA_NODE_CPUS, BRIEF_SERVER_CPUS, BRIEF_SQL_SIDE_CPUS)
        )
        return (data, data), (server, server), sql, anything
    cores = host.cores
    halves = (cores[: len(cores) // 2], cores[len(cores) // 2 :])
    data_shares, sql_shares, management = [], [], []
    for half in halves:
        split = max(1, round(len(half) * BRIEF_DATA_NODE_CPUS * 2 / BRIEF_CPUS))
        data_shares.append(_affinity(half[:split]))
        sql_shares.append(_affinity(half[split:]))
        management.extend(half[max(split, len(half) - 4) :])
    sql_side = Share(
        cpus=tuple(sorted(sql_shares[0].cpus + sql_shares[1].cpus)),
        memory_nodes=tuple(sorted({*sql_shares[0].memory_nodes, *sql_shares[1].memory_nodes})),
    )
    return tuple(data_shares), tuple(sql_shares), sql_side, _affinity(tuple(management))


def _affinity(cores: tuple) -> Share:
    return Share(
        cpus=tuple(sorted(cpu.id for core in cores for cpu in core)),
        memory_nodes=tuple(sorted({cpu.node for core in cores for cpu in core})),
    )


def _threads(host: Host, kind: str, data_share: Share) -> Threads:
    """Threads of a data node: NDB's own choice where it has CPUs, else the brief's proportions.

    In the brief 32 CPUs give 8 ldm, 8 query, 4 tc, 3 send, 3 recv. A quarter of that is the least
    that keeps the proportions.
    """
    cpus = {
        "pinned": len(data_share.cpus),
        "scaled": data_share.quota_cpus or 0,
        "shared": host.usable_cpus * BRIEF_DATA_NODE_CPUS / BRIEF_CPUS,
    }[kind]
    if cpus >= 8:
        return Threads(automatic_cpus=int(cpus))
    return Threads()


def _memory(host: Host, shape: Shape, threads: Threads) -> Memory:
    """Memory and redo log for the rows: the published values for the brief's own number of rows.

    Source: the brief's config.ini; 128 GiB of DataMemory for its 80 million rows is the ratio.
    """
    data = max(256 * MIB, shape.rows * 128 * GIB // BRIEF_ROWS)
    published = shape.rows >= BRIEF_ROWS
    parts = 8 if published else _log_parts(threads)
    file_bytes = GIB if published else 16 * MIB
    files = 256 if published else max(4, -(-4 * data // (parts * file_bytes)))
    needed = data + GIB
    return Memory(
        data_bytes=data,
        shared_global_bytes=(128 if published else 64) * MIB,
        redo_buffer_bytes=(256 if published else 32) * MIB,
        disk_page_buffer_bytes=(64 if published else 4) * MIB,
        long_message_buffer_bytes=(64 if published else 16) * MIB,
        fragment_log_parts=parts,
        fragment_log_files=files,
        fragment_log_file_bytes=file_bytes,
        server_bytes=256 * MIB,
        client_bytes=MIB,
        lock_pages=host.memlock_bytes is None or host.memlock_bytes >= needed,
    )


def _log_parts(threads: Threads) -> int:
    """Redo log parts, one for each ldm thread as in the brief (a quarter of NumCPUs is ldm)."""
    ldm = threads.ldm if threads.automatic_cpus is None else threads.automatic_cpus // 4
    return max(n for n in LOG_PARTS if n <= max(LOG_PARTS[0], ldm))
