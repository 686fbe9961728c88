"""The plan that stands for a cluster that the lab did not start, and reasons to refuse a cluster.

Such a plan has no shares, folders or commands.
"""

from __future__ import annotations

from collections.abc import Iterable

from ndblab.attach.facts import Facts, Server, ndb_version
from ndblab.error import LabError
from ndblab.install.binaries import is_at_least, rondb_series
from ndblab.planning.cpu_budget import ATTACHED, Budget, Share
from ndblab.planning.data_node import MIB, Memory, Threads
from ndblab.planning.deployment import Node, Plan
from ndblab.planning.profile import Profile
from ndblab.planning.shape import Places

OLDEST_NDB = "8.0.0"
"""Older releases lack what the lab reads from ndbinfo."""
ROW_BYTES, PAGE_BYTES, PAGES_OF_FRAGMENT = 1024, 32_768, 4
"""Data memory of a sysbench row (845 bytes observed) and of a page, and last pages of each fragment
of a table: one each for its rows, its hash index and its two ordered indexes."""
LEFT_TO_OTHERS = 0.1
"""Share of the data memory that the lab never takes."""
SPARE_CONNECTIONS = 10


def plan(facts: Facts, places: Places, max_clients: int) -> Plan:
    """Return the plan that stands for an attached cluster."""
    management = facts.of_kind("MGM")[0]
    data_nodes = facts.of_kind("NDB")
    reason = (
        f"{facts.connectstring} with {len(data_nodes)} data nodes, by the endpoints "
        f"{', '.join(str(server.endpoint) for server in facts.servers)}, which the lab did not "
        "start; "
        "how their CPUs are divided is not known"
    )
    return Plan(
        budget=Budget(ATTACHED, reason),
        places=places,
        management_node=Node(
            "ndb_mgmd", 1, management.node_id, "", Share(), facts.management[1],
            address=facts.management[0],
        ),
        data_nodes=tuple(
            Node("ndbmtd", number, node.node_id, "", Share(), address=node.address)
            for number, node in enumerate(data_nodes, 1)
        ),
        servers=tuple(
            Node(
                "mysqld", number, server.node_id, "", Share(), server.endpoint.port or None,
                server.endpoint.socket, facts.connections_of(server)[1:], facts.transporter,
                address=server.endpoint.host or "localhost",
            )
            for number, server in enumerate(facts.servers, 1)
        ),
        sysbench=Share(),
        sql_side=Share(),
        threads=_threads(facts),
        memory=_memory(facts),
        max_clients=max_clients,
    )  # fmt: skip


def check(facts: Facts) -> None:
    """Refuse a cluster or endpoints that the lab cannot measure.

    All data nodes must be started. Management and data nodes must have the same version, one that
    the lab knows, and the MySQL servers must have the same version. Each endpoint must be another
    server of this cluster. Over TCP it must accept plain text. LabError if one of these fails; it
    names the nodes or the endpoints.
    """
    data_nodes = facts.of_kind("NDB")
    down = [n for n in data_nodes if not n.version or n.state not in ("", "started")]
    if not data_nodes or down:
        raise LabError(
            "The attached cluster is not complete",
            found=", ".join(f"node {n.node_id} {n.state or 'not connected'}" for n in down)
            or "no data node",
            expected="data nodes that are all started",
            next_step="Wait until `ndb_mgm -e 'all status'` shows every data node as started.",
        )
    _check_versions(facts)
    connected = {node.node_id for node in facts.of_kind("API") if node.version}
    ids, idle = ({node.node_id for node in nodes} for nodes in (data_nodes, facts.deactivated))
    ports = {port for process in facts.processes if process.kind == "MGM" for port in process.ports}
    seen: dict[object, Server] = {}
    for server in facts.servers:
        there = server.node_id in connected and set(server.data_nodes) - idle == ids
        known = ports | {server.management_port}
        if not there or facts.management[1] not in known:
            raise LabError(
                f"{server.endpoint} belongs to another cluster than {facts.connectstring}",
                found=f"node {server.node_id} of a cluster with data nodes "
                f"{_listed(server.data_nodes)}, managed at port {_listed(known)}",
                expected=f"one of the nodes {_listed(connected)}, data nodes {_listed(ids)}, "
                f"port {facts.management[1]}",
                next_step="Correct --attach or --endpoints.",
            )
        for key in (server.node_id, server.variables.get("server_uuid")):
            if key and key in seen:
                raise LabError(
                    "Two endpoints are the same MySQL server",
                    found=f"{seen[key].endpoint} and {server.endpoint}, node {server.node_id}",
                    expected="an endpoint for each server",
                    next_step="Drop one of them from --endpoints.",
                )
            seen[key] = server
        if server.endpoint.host and server.variables.get("require_secure_transport") == "ON":
            raise LabError(
                f"{server.endpoint} accepts encrypted connections only",
                found="require_secure_transport=ON",
                expected="a server that sysbench can reach: it speaks plain text over TCP",
                next_step="Name the server's Unix socket, on its own host, in --endpoints.",
            )


def check_room(facts: Facts, size: Profile) -> None:
    """Refuse rows that do not fit the data memory, and clients that a server does not accept."""
    # A deactivated node leaves its share of the rows to its replicas, not to all others.
    data_nodes = sum(node.kind == "NDB" for node in facts.nodes)
    replicas = int(_parameter(facts, "NoOfReplicas", 2))
    ldm = max(1, facts.threads.get("ldm", 1))
    pages = size.tables * data_nodes * ldm * PAGES_OF_FRAGMENT * PAGE_BYTES
    needed = (size.rows * ROW_BYTES + pages) * replicas // data_nodes
    for node, (used, total) in facts.memory.items():
        free = int((1 - LEFT_TO_OTHERS) * total) - used
        if needed > free:
            raise LabError(
                f"Data node {node} has too little data memory for the rows",
                found=f"{max(0, free) / MIB:.0f} MiB of {total / MIB:.0f} MiB, less a tenth that "
                "is left to others",
                expected=f"{needed / MIB:.0f} MiB for {size.tables} tables of {size.table_size} "
                "rows",
                next_step="Use a smaller --table-size or fewer --tables.",
            )
    clients, spare = max(size.clients), SPARE_CONNECTIONS
    for server in facts.servers:
        free = int(server.variables.get("max_connections", 0)) - server.connections
        if clients + spare > free:
            fewer = ",".join(str(n) for n in size.clients if n + spare <= free)
            raise LabError(
                f"{server.endpoint} accepts too few connections",
                found=f"{free} left of max_connections={server.variables.get('max_connections')}",
                expected=f"{clients + spare} for {clients} clients, who may all meet on it",
                next_step=f"Use fewer --clients: {fewer or max(1, free - spare)}.",
            )


def _check_versions(facts: Facts) -> None:
    nodes = [node for node in facts.nodes if node.version and node.kind != "API"]
    versions = {node.node_id: ndb_version(node.version) for node in nodes}
    shown = ", ".join(f"node {n.node_id} {n.version}" for n in nodes)
    if any(not v or not (rondb_series(v) or is_at_least(v, OLDEST_NDB)) for v in versions.values()):
        raise LabError(
            "The lab does not know this version of NDB",
            found=shown,
            expected=f"NDB Cluster {OLDEST_NDB} or newer, or RonDB",
            next_step="Attach to a cluster of such a version.",
        )
    own = {server.version for server in facts.servers}
    if len(set(versions.values())) > 1 or len(own) > 1:
        raise LabError(
            "The nodes of the attached cluster have different versions",
            found=shown + "; MySQL servers " + ", ".join(sorted(own)),
            expected="one version, so that the numbers say something of it",
            next_step="Wait until its upgrade is over.",
        )


def _threads(facts: Facts) -> Threads:
    automatic = _parameter(facts, "AutomaticThreadConfig", 0) and _parameter(facts, "NumCPUs", 0)
    kinds = ("ldm", "query", "recover", "tc", "send", "recv")
    counts = {kind: facts.threads.get(kind, 0) for kind in kinds}
    spin_us = _parameter(facts, "SchedulerSpinTimer", 0)
    return Threads(automatic_cpus=automatic or None, spin_us=spin_us, **counts)


def _memory(facts: Facts) -> Memory:
    return Memory(
        data_bytes=_parameter(facts, "DataMemory", 0),
        shared_global_bytes=_parameter(facts, "SharedGlobalMemory", 0),
        redo_buffer_bytes=_parameter(facts, "RedoBuffer", 0),
        disk_page_buffer_bytes=_parameter(facts, "DiskPageBufferMemory", 0),
        long_message_buffer_bytes=_parameter(facts, "LongMessageBuffer", 0),
        fragment_log_parts=_parameter(facts, "NoOfFragmentLogParts", 0),
        fragment_log_files=_parameter(facts, "NoOfFragmentLogFiles", 0),
        fragment_log_file_bytes=_parameter(facts, "FragmentLogFileSize", 0),
        server_bytes=0,
        client_bytes=0,
        lock_pages=bool(_parameter(facts, "LockPagesInMainMemory", 0)),
    )


def _parameter(facts: Facts, name: str, otherwise: int) -> int:
    values = (parameters.get(name, "") for parameters in facts.config.values())
    return next((int(value) for value in values if value.isdigit()), otherwise)


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(numbers))) or "none"
