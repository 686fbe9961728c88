"""Start and stop a cluster: `with running(plan, binaries) as cluster:`.

Inside the block a management node, the data nodes and the MySQL servers serve; afterwards no
process, port, socket or memory segment is left.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from ndblab.cluster import account, datadir, keys, lease, readiness, watchdog
from ndblab.cluster.cluster import Cluster, Site
from ndblab.error import LabError
from ndblab.machine import user
from ndblab.machine.cleanup import clean, recorded_groups
from ndblab.machine.local import LOCAL
from ndblab.planning import number, setting_value, twins
from ndblab.planning.deployment import Places, Plan

if TYPE_CHECKING:
    from ndblab.install import Binaries
    from ndblab.machine import Links
    from ndblab.machine.cgroups import Groups

STOP_PATIENCE_S = 20
LOGS = ("logs/*", "mysqld.*/error.log", "ndb*.*/ndb_*.log")
"""The nodes' log files, below a cluster's folder on a host."""
NODES = ("mysqld", "ndbmtd", "ndb_mgmd")
LAST_BASE_PORT = 64500
LONGEST_SOCKET_PATH = 107
"""Bytes of a Unix socket's path (unix(7): 108 with the terminating null byte)."""


def home() -> Path:
    """Locate the lab's own cluster: `$NDBLAB_CLUSTER_DIR`, else a folder below the user's cache."""
    if given := os.environ.get("NDBLAB_CLUSTER_DIR"):
        return Path(given).resolve()
    return user.cache().resolve() / "ndblab" / "cluster"


def places(folder: Path, base_port: int | str | None = None) -> Places:
    """Place a cluster in a folder; sockets go to /tmp where its path is too long, or has a comma.

    On sysbench's command line, commas separate sockets. LabError if the port is not one that an
    ordinary process may use, or NDB cannot use the folder.
    """
    if base_port is None:
        return _places(folder, Places.base_port)
    return _places(folder, number.whole("--base-port", base_port, 1024, LAST_BASE_PORT))


def places_together(first: Places, number: int = 2) -> list[Places]:
    """Place so many clusters, the first as it is; no two share a folder, port or socket."""
    beside = list(enumerate(twins.FOLDERS, 1))[: number - 1]
    folder, port = Path(first.cluster_dir), first.base_port
    return [first, *(_places(folder / name, port + n * twins.PORTS) for n, name in beside)]


def _places(folder: Path, port: int) -> Places:
    socket_dir = folder
    setting_value.ndb_path(str(folder / "ndb_mgmd.1"))
    if "," in str(folder) or len(os.fsencode(folder / "mysql.236.sock")) > LONGEST_SOCKET_PATH:
        socket_dir = Path(f"/tmp/{groups_name(folder)}-{os.getuid()}")
    return Places(str(folder), str(socket_dir), port)


def groups_name(folder: Path) -> str:
    """Name a cluster's control groups, always the same for the same folder."""
    return f"ndblab-{hashlib.sha256(str(folder).encode()).hexdigest()[:10]}"


@contextlib.contextmanager
def running(
    plan: Plan,
    binaries: Binaries,
    progress: bool = True,
    sites: Mapping[str, Site] = MappingProxyType({}),
    links: Links | None = None,
    weighed: bool = False,
) -> Iterator[Cluster]:
    """Run a cluster for the duration of a `with` block, and stop it however the block is left.

    LabError if another cluster runs in its folder, ports are taken, or a node does not come up.

    Parameters
    ----------
    sites : the hosts of a plan over several, by name.
    links : between these hosts, if they can be cut.
    weighed : run the whole cluster, clients included, in one control group of the usual weight, so
        that clusters share CPUs equally; where groups cannot be made, run it without one.
    """
    folder = Path(plan.places.cluster_dir)
    with lease.hold(folder) as lock_fd, contextlib.ExitStack() as stack:
        guard = watchdog.start(folder, lock_fd)
        stack.callback(guard.communicate, b"done")
        stack.callback(clean, folder)
        stack.callback(keys.remove, folder)
        for site in sites.values():
            stack.callback(_clean_elsewhere, site, plan.budget.kind)
        try:
            cluster = _start(plan, binaries, progress, by_hand=False, sites=sites, weighed=weighed)
            cluster.links = links
            yield cluster
        except LabError:
            _fetch_logs(sites, folder)
            raise
        if sites and not all(map(cluster.runs, cluster.plan.nodes)):
            _fetch_logs(sites, folder)
        _end_elsewhere(sites)
        stop(folder)


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


def restart_servers(cluster: Cluster, plan: Plan) -> None:
    """Restart the MySQL servers of a running cluster as another plan of its nodes describes them.

    LabError if a server does not come up, or is not connected as planned.
    """
    cluster.check_alive()
    running = [(node, cluster.processes.pop(node.name)) for node in cluster.plan.servers]
    for _, process in running:
        process.terminate()
    for node, process in running:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_PATIENCE_S)
        cluster.machine_of(node).kill(process)
    cluster.plan = plan
    datadir.configure_servers(cluster)
    for node in plan.servers:
        cluster.start_again(node)
    readiness.wait_rejoined(cluster, plan.servers)
    readiness.check_transporters(cluster)


def stop(folder: Path) -> int:
    """End whatever runs in a cluster's folder, clients first; return the number of processes."""
    if groups := recorded_groups(folder):
        groups.lift()
    clients = {process.program for process in LOCAL.marked(folder)} - {*NODES}
    # Nodes are killed: an orderly end takes seconds, and no later start reads what they would save.
    ended = LOCAL.end(folder, tuple(clients), STOP_PATIENCE_S)
    clean(folder)
    return ended


def status(folder: Path) -> list[dict[str, object]]:
    """List the processes of a folder's cluster: name, node, pid, memory in bytes."""
    rows = []
    for process in LOCAL.marked(folder):
        naming = [word for word in process.argv if "nodeid=" in word or "group-suffix=" in word]
        node = naming[0].partition("=")[2].lstrip(".") if naming else ""
        row = {"process": process.program, "node": node, "pid": process.pid}
        rows.append({**row, "rss_bytes": process.rss_bytes})
    return rows


def _end_elsewhere(sites: Mapping[str, Site]) -> None:
    """Kill the nodes on several hosts, all hosts at once."""
    with ThreadPoolExecutor(max(1, len(sites))) as pool:
        for site in sites.values():
            pool.submit(site.machine.end, site.folder)


def _fetch_logs(sites: Mapping[str, Site], folder: Path) -> None:
    """Copy the other hosts' logs to the cluster's folder here before they are removed there."""
    for name, site in sites.items():
        if site.machine is not LOCAL:
            LOCAL.remove(folder / "logs", name)
            with contextlib.suppress(LabError):
                site.machine.fetch_tree(site.folder, folder / "logs" / name, *LOGS)


def _clean_elsewhere(site: Site, budget: str) -> None:
    """Kill what is left of a cluster on another host; remove its control groups."""
    site.machine.end(site.folder)
    if budget == "scaled":
        site.machine.groups(groups_name(site.folder)).remove()


def _start(
    plan: Plan,
    binaries: Binaries,
    progress: bool,
    by_hand: bool,
    sites: Mapping[str, Site] = MappingProxyType({}),
    weighed: bool = False,
) -> Cluster:
    from tqdm import tqdm

    began = time.monotonic()
    folder = Path(plan.places.cluster_dir)
    # Clean up first: our own record replaces the one that names what a dead lab has left.
    clean(folder)
    of_hosts = {name: site._replace(plan=plan.of_host(name)) for name, site in sites.items()}
    cluster = Cluster(plan, binaries, folder, sites=of_hosts)
    if sites:
        cluster.account = account.Account()
    for host, site in cluster.every_site.items():
        ports = [node.port for node in plan.nodes if node.port and node.host == host]
        # Nodes on several hosts bind the address of theirs.
        own = [placed.address for placed in plan.hosts if placed.name == host]
        site.machine.check_ports(ports, *own)
        site.machine.allow_open_files(plan.open_files)
    record = {
        "by_hand": by_hand,
        "started_utc": datetime.now(UTC).isoformat(timespec="seconds"),
        "socket_dir": plan.places.socket_dir,
        "servers": len(plan.servers),
        "budget": plan.budget.kind,
    }
    lease.write(folder, record | _groups(cluster, weighed))
    removal = datadir.lay_out(cluster)
    if plan.tls:
        keys.give(cluster)
    bar = tqdm(total=len(plan.nodes), desc="starting", unit="node", disable=not progress)
    with bar:
        cluster.start_node(plan.management_node)
        readiness.wait_management(cluster)
        bar.update()
        for node in plan.data_nodes:
            cluster.start_node(node)
        for node in plan.servers:
            made = datadir.template(cluster, node.host)
            datadir.copy(made, Path(node.data_dir), cluster.machine_of(node))
        if cluster.account:
            account.give_certificates(cluster)
        for node in plan.servers:
            cluster.start_node(node)
        readiness.wait_data_nodes(cluster, bar)
        cluster.timings["data_nodes_s"] = round(time.monotonic() - began, 2)
        readiness.wait_servers(cluster, bar)
    readiness.check_transporters(cluster)
    if plan.tls:
        keys.check_encryption(cluster)
    if removal:
        removal.wait()
    cluster.timings["cluster_start_s"] = round(time.monotonic() - began, 2)
    return cluster


def _groups(cluster: Cluster, weighed: bool) -> dict[str, object]:
    """Name the control groups of a cluster; return what to record of them for cleaning up."""
    folder, recorded = cluster.folder, {}
    if cluster.plan.budget.kind == "scaled":
        for host, site in cluster.every_site.items():
            cluster.groups[host] = site.machine.groups(groups_name(site.folder))
            cluster.groups[host].claim()
            if site.machine is LOCAL:
                recorded = _record(cluster.groups[host])
    elif weighed:
        with contextlib.suppress(LabError):
            own = LOCAL.groups(groups_name(folder))
            recorded = _record(own)
            own.claim()
            own.weigh()
            cluster.weighed = own
    return recorded


def _record(groups: Groups) -> dict[str, object]:
    return {"groups": {"kind": groups.kind, "base": str(groups.base)}}
