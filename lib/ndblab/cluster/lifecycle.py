"""A real NDB Cluster on this host, from nothing to ready and back to nothing.

In: a `Plan` and the binaries. Out: `with running(plan, binaries) as cluster:` a management node,
two data nodes and the MySQL servers, ready to serve; afterwards no process, port, socket, segment.
It decides nothing and measures nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pymysql

from ndblab.cluster import datadir, lease, node_log, readiness
from ndblab.error import LabError
from ndblab.machine import cgroups, host, process
from ndblab.planning import config
from ndblab.planning.deployment import Node, Places, Plan

if TYPE_CHECKING:
    from ndblab.install import Binaries

STOP_PATIENCE_S = 20
LAST_BASE_PORT = 65000
LONGEST_SOCKET_PATH = 107
"""Bytes of a Unix socket's path (unix(7): 108 with the closing zero)."""


def home() -> Path:
    """Folder of the lab's own cluster: `$NDBLAB_CLUSTER_DIR`, else below the user's cache."""
    if given := os.environ.get("NDBLAB_CLUSTER_DIR"):
        return Path(given).resolve()
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache).resolve() / "ndblab" / "cluster"


def places(folder: Path, base_port: int | str | None = None) -> Places:
    """Lay out a cluster in a folder; sockets go to /tmp where the folder's path is too long.

    Raises
    ------
    LabError
        If the port is not one that an ordinary process may use.
    """
    socket_dir = folder
    if len(str(folder / "mysql.236.sock").encode()) > LONGEST_SOCKET_PATH:
        socket_dir = Path(f"/tmp/{groups_name(folder)}-{os.getuid()}")
    if base_port is None:
        return Places(str(folder), str(socket_dir))
    if not str(base_port).isdigit() or not 1024 <= int(base_port) <= LAST_BASE_PORT:
        raise LabError(
            "--base-port is not usable",
            found=repr(base_port),
            expected=f"a number from 1024 to {LAST_BASE_PORT}",
            next_step="The ports that follow it must be free too.",
        )
    return Places(str(folder), str(socket_dir), int(base_port))


def groups_name(folder: Path) -> str:
    """Name that a cluster's control groups have, the same for the same folder."""
    return f"ndblab-{hashlib.sha256(str(folder).encode()).hexdigest()[:10]}"


@dataclass
class Cluster:
    """A running cluster: what a workload and a monitor need of it."""

    plan: Plan
    binaries: Binaries
    folder: Path
    groups: cgroups.Groups | None = None
    processes: dict[str, subprocess.Popen] = field(default_factory=dict)
    timings: dict[str, float] = field(default_factory=dict)
    limited: bool = False

    def servers(self, count: int, transporter: str = "shm") -> tuple[Node, ...]:
        """The first `count` MySQL servers that have this transporter."""
        return self.plan.servers_by(transporter)[:count]

    def log(self) -> str:
        """What the management node has told of the cluster so far."""
        node = self.plan.management_node
        return _text(Path(node.data_dir) / f"ndb_{node.node_id}_cluster.log")

    def connect(self, server: int = 1) -> pymysql.Connection:
        """Open an SQL connection to the `server`-th MySQL server."""
        socket_path = self.plan.servers[server - 1].socket
        return pymysql.connect(
            unix_socket=socket_path,
            user="root",
            autocommit=True,
            ssl_disabled=True,
            connect_timeout=readiness.ANSWER_TIMEOUT_S,
            read_timeout=readiness.ANSWER_TIMEOUT_S,
        )

    def query(self, sql: str, server: int = 1) -> list[tuple]:
        """Run one statement on the `server`-th MySQL server and give its rows."""
        with contextlib.closing(self.connect(server)) as connection:
            cursor = connection.cursor()
            cursor.execute(sql)
            return list(cursor.fetchall())

    def pids(self) -> list[tuple[str, int, int]]:
        """Role, node id and process id of every node."""
        return [(n.role, n.node_id, self.processes[n.name].pid) for n in self.plan.nodes]

    def runs(self, node: Node) -> bool:
        """Say whether a node was started and has not ended."""
        started = self.processes.get(node.name)
        return started is not None and started.poll() is None

    def check_alive(self, *nodes: Node) -> None:
        """Make sure that these nodes, or all, still run if they were started.

        Raises
        ------
        LabError
            If one has ended, with the reason from its own log.
        """
        for node in nodes or self.plan.nodes:
            started = self.processes.get(node.name)
            if started and (code := started.poll()) is not None:
                raise LabError(
                    f"{node.name} (node {node.node_id}) ended by itself, {process.ending(code)}",
                    found=_reason(node, self.folder),
                    expected="a node that keeps running",
                    next_step=f"Its logs are in {node.data_dir} and {self.folder}/logs.",
                )

    def limit(self) -> None:
        """Put every node under the CPU limits of a `scaled` plan; other plans have none."""
        if self.groups is None:
            return
        self.groups.create("sql", self.plan.sql_side.quota_cpus)
        self.groups.create("sql/sysbench", None)
        for node in (*self.plan.data_nodes, *self.plan.servers):
            self.groups.create(_group(node), node.share.quota_cpus)
            self.groups.place(_group(node), self.processes[node.name].pid)
        self.limited = True

    def start_again(self, node: Node) -> None:
        """Start a node that has ended, with the data it has, under the limit it had."""
        _spawn(self, node, config.restart_argv(self.plan, node, self.binaries))
        if self.limited and node.role != "ndb_mgmd":
            self.groups.place(_group(node), self.processes[node.name].pid)

    def client_prefix(self) -> list[str]:
        """Command prefix that gives a load generator its share of the plan, once `limit` is called."""
        if self.groups is not None:
            return self.groups.shell_entry("sql/sysbench") if self.limited else []
        return config.binding(self.plan.sysbench)

    def spawn_client(
        self, argv: Sequence[str], env: Mapping[str, str] | None = None, **streams
    ) -> subprocess.Popen:
        """Start a process of a load generator with its share of the plan and the cluster's mark.

        `env` is added to the lab's environment; `streams` are the stream options of
        `subprocess.Popen` (stdin, stdout, stderr, text, errors).

        Raises
        ------
        OSError
            If the program cannot be executed.
        """
        return process.opener(self.folder)([*self.client_prefix(), *argv], env, **streams)


@contextlib.contextmanager
def running(plan: Plan, binaries: Binaries, progress: bool = True) -> Iterator[Cluster]:
    """Run a cluster for the length of a `with` block, whatever way the block is left.

    Raises
    ------
    LabError
        If another cluster runs in its folder, ports are taken, or a node does not come up.
    """
    folder = Path(plan.places.cluster_dir)
    with lease.hold(folder) as lock_fd:
        guard = process.guard(folder, lock_fd)
        try:
            yield _start(plan, binaries, progress, by_hand=False)
            stop(folder)
        finally:
            clean(folder)
            guard.communicate(b"done")


def start(plan: Plan, binaries: Binaries, progress: bool = True) -> Cluster:
    """Start a cluster that outlives this process, until `stop`."""
    folder = Path(plan.places.cluster_dir)
    with lease.hold(folder):
        try:
            cluster = _start(plan, binaries, progress, by_hand=True)
            cluster.limit()
        except BaseException:
            clean(folder)
            raise
    return cluster


def stop(folder: Path) -> int:
    """End whatever runs in a cluster's folder, servers first, and give the number of processes."""
    found = process.marked(folder)
    if groups := _groups(folder):
        groups.lift()
    for name in ("sysbench", "mysqld", "ndbmtd"):
        process.end([p for p in found if process.name(p) == name], STOP_PATIENCE_S)
    clean(folder)
    return len(found)


def status(folder: Path) -> list[dict[str, object]]:
    """Tell which processes of a folder's cluster run: name, node, pid, memory in bytes."""
    rows = []
    for found in process.marked(folder):
        with contextlib.suppress(psutil.Error), found.oneshot():
            told = [a for a in found.cmdline() if "nodeid=" in a or "group-suffix=" in a]
            node = told[0].partition("=")[2].lstrip(".") if told else ""
            row = {"process": found.name(), "node": node, "pid": found.pid}
            rows.append({**row, "rss_bytes": found.memory_info().rss})
    return rows


def clean(folder: Path) -> None:
    """Kill what is left of a cluster; remove its control groups, sockets and memory segments.

    NDB marks a shared-memory segment for removal once both sides are attached, and it goes with
    them: only a data node killed before that leaves one.
    """
    process.remove_segments(process.end_marked(folder))
    if groups := _groups(folder):
        groups.remove()
    socket_dir = Path(lease.read(folder).get("socket_dir", folder))
    if socket_dir == folder:
        for path in folder.glob("mysql.*.sock*"):
            path.unlink(missing_ok=True)
    else:
        shutil.rmtree(socket_dir, ignore_errors=True)


def _start(plan: Plan, binaries: Binaries, progress: bool, by_hand: bool) -> Cluster:
    from tqdm import tqdm

    began = time.monotonic()
    folder = Path(plan.places.cluster_dir)
    # What a dead lab and its watcher left is known no more once our own record is written.
    clean(folder)
    process.check_ports([node.port for node in plan.nodes if node.port])
    cluster = Cluster(plan, binaries, folder)
    if plan.budget.kind == "scaled":
        cluster.groups = cgroups.groups(host.read().cpu_controller, groups_name(folder))
    process.allow_open_files(2 * plan.max_clients + 1024)
    record = {
        "by_hand": by_hand,
        "started_utc": datetime.now(UTC).isoformat(timespec="seconds"),
        "socket_dir": plan.places.socket_dir,
        "servers": len(plan.servers),
        "budget": plan.budget.kind,
    }
    if cluster.groups:
        record["groups"] = {"kind": cluster.groups.kind, "base": str(cluster.groups.base)}
    lease.write(folder, record)
    datadir.lay_out(plan, binaries, folder)
    bar = tqdm(total=len(plan.nodes), desc="starting", unit="node", disable=not progress)
    with bar:
        argv = config.management_argv(plan, binaries, str(folder))
        _spawn(cluster, plan.management_node, argv)
        readiness.wait_management(cluster)
        bar.update()
        for node in plan.data_nodes:
            _spawn(cluster, node, config.data_node_argv(plan, node, binaries))
        for node in plan.servers:
            datadir.copy(datadir.template(binaries, folder), Path(node.data_dir))
            _spawn(cluster, node, config.server_argv(node, binaries, str(folder)))
        readiness.wait_data_nodes(cluster, bar)
        cluster.timings["data_nodes_s"] = round(time.monotonic() - began, 2)
        readiness.wait_servers(cluster, bar)
    readiness.check_transporters(cluster)
    cluster.timings["cluster_start_s"] = round(time.monotonic() - began, 2)
    return cluster


def _spawn(cluster: Cluster, node: Node, argv: list[str]) -> None:
    log = cluster.folder / "logs" / f"{node.name}.out"
    cluster.processes[node.name] = process.start(argv, log, cluster.folder)


def _group(node: Node) -> str:
    """Control group of a node: those of the servers share one."""
    return f"sql/{node.name}" if node.role == "mysqld" else node.name


def _groups(folder: Path) -> cgroups.Groups | None:
    known = lease.read(folder).get("groups")
    return cgroups.Groups(known["kind"], Path(known["base"])) if known else None


def _reason(node: Node, folder: Path) -> str:
    own = {"ndbmtd": f"ndb_{node.node_id}_error.log", "mysqld": "error.log"}
    own_log = _text(Path(node.data_dir) / own[node.role]) if node.role in own else ""
    return node_log.reason(node.role, own_log, _text(folder / "logs" / f"{node.name}.out"))


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
