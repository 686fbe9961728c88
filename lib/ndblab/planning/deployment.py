"""A cluster on a host: which process gets which CPUs, memory, address, ports and folders.

Pure: it touches no file and starts nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ndblab.error import LabError
from ndblab.machine.host import Host
from ndblab.planning import cpu_budget, data_node
from ndblab.planning.cpu_budget import BRIEF_CPUS, BRIEF_DATA_NODE_CPUS, Budget, Share
from ndblab.planning.data_node import GIB, MIB, Memory, Threads
from ndblab.planning.node import (
    ADDED,
    FIRST_DATA_NODE_ID,
    FIRST_SERVER_NODE_ID,
    LOAD,
    MANAGEMENT_NODE_ID,
    NEVER,
    HostPlan,
    Node,
    domain,
)
from ndblab.planning.shape import Overlay, Places, Shape


@dataclass(frozen=True)
class Plan:
    """A planned cluster, on a host or, where `hosts` are named, over several.

    With `tls` every node has a key, and NDB's own links that use TCP are encrypted. If `staggered`,
    the periods of the nodes' CPU quotas differ in length (`machine.cgroups`).
    """

    budget: Budget
    places: Places = field(metadata=NEVER)
    management_node: Node
    data_nodes: tuple[Node, ...]
    servers: tuple[Node, ...]
    sysbench: Share
    sql_side: Share
    threads: Threads
    memory: Memory
    max_clients: int
    overlay: Overlay = field(default=Overlay(), metadata=ADDED)
    hosts: tuple[HostPlan, ...] = field(default=(), metadata=ADDED)
    tls: bool = field(default=False, metadata=ADDED)
    staggered: bool = field(default=False, metadata=ADDED)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All processes, in the order in which they start."""
        return (self.management_node, *self.data_nodes, *self.servers)

    @property
    def shm_everywhere(self) -> bool:
        """Whether NDB may choose shared memory for all nodes of a host (UseShm).

        With TLS, each shared-memory link has a section of its own: a data node listens separately
        for links that need no TLS, and cannot listen for both at the same address and port.
        """
        return not self.tls and all(node.transporter == "shm" for node in self.servers)

    def own_data_node(self, server: Node) -> Node:
        """Return the data node that a MySQL server shares a host with, or would on one host."""
        there = [node for node in self.data_nodes if node.host == server.host] or self.data_nodes
        return there[(server.number - 1) % len(there)]

    def of_host(self, name: str) -> Plan:
        """Return the part of a plan that is on one of several hosts.

        The management node stays in it, without a share of the CPUs if it is elsewhere.
        """
        [part] = [host for host in self.hosts if host.name == name]
        management = self.management_node
        if management.host != name:
            management = dataclasses.replace(management, share=Share())
        return dataclasses.replace(
            self,
            management_node=management,
            data_nodes=tuple(node for node in self.data_nodes if node.host == name),
            servers=tuple(node for node in self.servers if node.host == name),
            sysbench=part.sysbench,
            sql_side=part.sql_side,
            max_clients=self.max_clients if LOAD in part.roles else 0,
            hosts=(part,),
        )

    def config_dir(self, node: Node) -> str:
        """Return the folder of config.ini and my.cnf on a node's host; the brief names none."""
        folders = {host.name: host.folder for host in self.hosts}
        return folders.get(node.host, self.places.cluster_dir or ".")

    @property
    def load_host(self) -> str:
        """Name of the host that load generators run on; empty if there is one host."""
        return next((host.name for host in self.hosts if LOAD in host.roles), "")

    def near(self, server: Node) -> tuple[Node, ...]:
        """Return the data nodes near a MySQL server: those of its location domain, or its own."""
        own = self.own_data_node(server)
        if not own.domain:
            return (own,)
        return tuple(node for node in self.data_nodes if node.domain == own.domain)

    def servers_by(
        self,
        transporter: str,
        connections: int = 0,
        options: Mapping[str, object] = MappingProxyType({}),
    ) -> tuple[Node, ...]:
        """Return the MySQL servers connected by "shm" or "tcp" with these options of their own.

        With `connections`, return only those with so many connections in their pool.
        """
        return tuple(
            node
            for node in self.servers
            if node.transporter == transporter
            and connections in (0, len(node.node_ids))
            and dict(node.options) == options
        )

    @property
    def memory_bytes(self) -> int:
        """Memory of the host that the whole cluster takes."""
        servers = len(self.servers) * self.memory.server_bytes
        clients = self.max_clients * self.memory.client_bytes
        data_node = self.memory.data_node_bytes + self.threads.more_bytes
        return len(self.data_nodes) * data_node + servers + clients + GIB // 2

    @property
    def open_files(self) -> int:
        """Most files and sockets that one process of the lab or of the cluster opens."""
        return 2 * self.max_clients + 1024

    @property
    def disk_bytes(self) -> int:
        """Most that the whole cluster writes: rows, two checkpoints, redo log, data folders."""
        checkpoints = 3 * self.memory.data_bytes // 2
        redo = min(self.memory.redo_bytes, 4 * self.memory.data_bytes)
        return len(self.data_nodes) * (checkpoints + redo) + len(self.servers) * 100 * MIB

    def identity(self) -> dict[str, object]:
        """Return what two plans must share for their measurements to be comparable, as plain data.

        Folders, sockets and ports do not count; fields added since datasets were recorded count
        only if they are set.
        """
        # Recorded identities have this field, which the overlay has since replaced.
        return {**_identity(self), "shm_spin_us": 0}

    def check(self, host: Host, disk_free_bytes: float) -> None:
        """Refuse a plan that does not fit this host.

        LabError if there is too little memory or disk; it says how much is missing.
        """
        for what, needed, there in (
            ("memory", self.memory_bytes, host.memory_available_bytes),
            ("disk space", self.disk_bytes, disk_free_bytes),
        ):
            if needed > there:
                raise LabError(
                    f"This host has too little {what} for the plan",
                    found=f"{there / GIB:.1f} GiB available",
                    expected=f"{needed / GIB:.1f} GiB ({(needed - there) / GIB:.1f} GiB short)",
                    next_step="Use --profile quick, a smaller --table-size or fewer --servers.",
                )


def make(host: Host, shape: Shape) -> Plan:
    """Plan the cluster of `shape` on `host`.

    LabError if the budget is unknown or impossible here, or there are more servers than node ids.
    """
    budget = cpu_budget.choose(host, shape.budget)
    shape.check_node_ids()
    shares = cpu_budget.shares(host, budget.kind, shape.node_groups)
    data_node_cpus = {
        "pinned": len(shares.data_nodes[0].cpus),
        "scaled": shares.data_nodes[0].quota_cpus or 0,
        "shared": host.usable_cpus * BRIEF_DATA_NODE_CPUS / BRIEF_CPUS / shape.node_groups,
    }[budget.kind]
    threads = data_node.threads_for(
        shape.num_cpus or data_node_cpus, shape.balanced_threads, shape.thread_spin_us
    )
    places = shape.places
    return Plan(
        budget=budget,
        places=places,
        management_node=Node(
            "ndb_mgmd", 1, MANAGEMENT_NODE_ID, places.data_dir("ndb_mgmd", 1),
            shares.management_node, places.port("ndb_mgmd", 1),
        ),
        data_nodes=tuple(
            Node(
                "ndbmtd", n, FIRST_DATA_NODE_ID + n - 1, places.data_dir("ndbd", n),
                share, places.port("ndbmtd", n), domain=domain(n) if shape.domains else 0,
            )
            for n, share in enumerate(shares.data_nodes, start=1)
        ),
        servers=tuple(
            _server(shape, n, shares.servers[(n - 1) % 2]) for n in range(1, shape.servers + 1)
        ),
        sysbench=dataclasses.replace(shares.sql_side, quota_cpus=None),
        sql_side=shares.sql_side,
        threads=threads,
        memory=data_node.memory_of(
            shape.rows, threads.ldm_threads, host.memlock_bytes, shape.small_redo,
            shape.row_bytes,
        ),
        max_clients=shape.max_clients,
        overlay=shape.overlay,
        tls=shape.tls,
        staggered=budget.kind == "scaled",
    )  # fmt: skip


def turned(plan: Plan) -> Plan:
    """Return the plan with transporters, pools and options assigned to servers in reverse order.

    Equal servers of one cluster start differ in throughput, so what belongs to a server is compared
    fairly only over starts that give it to different servers. Where each half of a host has every
    other server, an even number of them exchange halves too.
    """
    servers = tuple(
        dataclasses.replace(
            node,
            transporter=other.transporter,
            pool_node_ids=other.pool_node_ids,
            options=other.options,
        )
        for node, other in zip(plan.servers, reversed(plan.servers), strict=True)
    )
    return dataclasses.replace(plan, servers=servers)


def alike_but_for_options(one: Plan, other: Plan) -> bool:
    """Return whether the clusters of two plans differ at most in options of single servers."""

    def without(plan: Plan) -> Plan:
        servers = tuple(dataclasses.replace(node, options=()) for node in plan.servers)
        return dataclasses.replace(plan, servers=servers)

    return without(one) == without(other)


def _server(shape: Shape, number: int, share: Share) -> Node:
    """Plan the `number`-th MySQL server; ids of more connections follow those of all servers."""
    more = [pool - 1 for pool in shape.pools]
    first_more = FIRST_SERVER_NODE_ID + shape.servers + sum(more[: number - 1])
    return Node(
        "mysqld",
        number,
        FIRST_SERVER_NODE_ID + number - 1,
        shape.places.data_dir("mysqld", number),
        share,
        shape.places.port("mysqld", number, shape.networking),
        shape.places.socket(number),
        tuple(range(first_more, first_more + more[number - 1])),
        "tcp" if number > shape.servers - shape.tcp_servers else shape.transporter,
        domain=domain(number) if shape.domains else 0,
        options=shape.options(number),
    )


def _identity(value: object) -> object:
    """Turn a dataclass into plain data, leaving out the fields that do not count."""
    if isinstance(value, tuple):
        return [_identity(item) for item in value]
    if not dataclasses.is_dataclass(value):
        return value
    counting: dict[str, object] = {}
    for attribute in dataclasses.fields(value):
        own, rule = getattr(value, attribute.name), attribute.metadata.get("identity")
        if rule != "never" and (rule != "unless default" or own != attribute.default):
            counting[attribute.name] = _identity(own)
    return counting
