"""The folders of a cluster, new for each start; servers' are copies of an initialised template."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.cluster import node_log
from ndblab.error import LabError, writing
from ndblab.machine import commands
from ndblab.machine.local import LOCAL
from ndblab.planning import config, twins

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster, Site
    from ndblab.machine import Machine, Process

TEMPLATE, OLD = "template", "old"
FILES_OF_NODES = ("mysqld.*", "ndb*.*", "logs")
WHILE_OPEN = "ibtmp1"
"""File that InnoDB removes only on a normal shutdown (manual, "Temporary Tablespaces"). A mysqld
that is told to end while it initialises a folder may leave half a folder, and report success."""
_MAKING = threading.Lock()
"""Twins use the same template, and are started at the same moment."""


def lay_out(cluster: Cluster) -> Process | None:
    """Make the cluster's folders and configuration, removing those of an earlier cluster.

    LabError if the sockets' folder is another user's, or the disk refuses.

    Returns
    -------
    The process that removes the earlier ones on this host, if there are any. A disk may take
    seconds for that, during which nodes already start. The process is one of the cluster's, and
    ends with it.
    """
    plan, removal = cluster.plan, None
    for host, site in cluster.every_site.items():
        machine, folder = site.machine, site.folder
        if machine is LOCAL:
            removal = _removal(folder)
        else:
            machine.remove(folder, *FILES_OF_NODES)
        sockets = folder if host else Path(plan.places.socket_dir)
        for path in (sockets, folder / "logs", folder / config.NO_TLS):
            machine.make_folder(path)
        config_ini = config.config_ini(plan, site.binaries.ndb_version)
        machine.put(folder / config.CONFIG_INI, config_ini)
        if cluster.account:
            machine.put(folder / config.ACCOUNTS, cluster.account.statements)
    configure_servers(cluster)
    for node in (plan.management_node, *plan.data_nodes):
        cluster.machine_of(node).make_folder(Path(node.data_dir))
    return removal


def _removal(folder: Path) -> Process | None:
    """Rename what nodes have left, and start to remove it, so that new nodes need not wait."""
    number = time.time_ns()
    with writing(folder):
        for path in [path for pattern in FILES_OF_NODES for path in folder.glob(pattern)]:
            path.rename(path.with_name(f"{OLD}.{number}.{path.name}"))
    old = [str(path) for path in folder.glob(f"{OLD}.*")]
    return LOCAL.spawn(["rm", "-rf", "--", *old], folder) if old else None


def configure_servers(cluster: Cluster) -> None:
    """Write my.cnf on each host of a cluster, for its plan."""
    for site in cluster.every_site.values():
        user = _mysqld_user(site.machine)
        text = config.my_cnf(cluster.plan, site.binaries.mysqld_version, user)
        site.machine.put(site.folder / config.MY_CNF, text)


def template_name(site: Site) -> str:
    """Name the initialised data folder for the mysqld of a host."""
    return f"{TEMPLATE}-{site.binaries.ndb_version}"


def template(cluster: Cluster, host: str) -> Path:
    """Return the initialised data folder for the mysqld of a host, made once for all starts.

    LabError if mysqld cannot make it.
    """
    with _MAKING:
        return _template(cluster, host)


def _template(cluster: Cluster, host: str) -> Path:
    machine, folder, binaries, _ = site = cluster.site(host)
    made = (folder.parent if folder.name in twins.FOLDERS else folder) / template_name(site)
    if _shell(machine, 'test ! -e "$1" || echo there', made):
        return made
    partial = folder / f"{TEMPLATE}.partial"
    machine.remove(folder, partial.name)
    log = folder / "logs" / "initialize.out"
    argv = config.template_argv(binaries, str(partial), _mysqld_user(machine))
    code = machine.spawn(argv, folder, log=log).wait()
    stopped = _shell(machine, 'test ! -e "$1" || echo there', partial / WHILE_OPEN)
    if code != 0 or stopped:
        why = commands.exit_reason(code) if code else "it was stopped before its end"
        raise LabError(
            f"mysqld could not initialise a data folder, {why}",
            found=node_log.tail(machine.get(log)),
            expected="an initialised data folder",
            next_step=f"See {node_log.kept(cluster, log, host)}.",
        )
    machine.remove(partial, "auto.cnf")
    _shell(machine, 'mv "$1" "$2"', partial, made)
    return made


def copy(made: Path, data_dir: Path, machine: Machine = LOCAL) -> None:
    """Copy a data folder; its empty pages, most of a fresh folder, become holes.

    LabError if the disk refuses.
    """
    larger = "set NDBLAB_CLUSTER_DIR to" if machine is LOCAL else "give that host a folder on"
    try:
        machine.run(
            ["cp", "-r", "--sparse=always", "--reflink=auto", str(made), str(data_dir)],
            what="The data folder of a MySQL server could not be made",
            next_step=f"Free disk space, or {larger} a larger disk.",
            timeout_s=None,
        )
    except commands.ChildFailed as failure:
        failure.expected = f"a disk that takes a copy of {made}"
        raise


def _mysqld_user(machine: Machine) -> str:
    return "root" if _shell(machine, "id -u") == "0" else ""


def _shell(machine: Machine, line: str, *paths: Path) -> str:
    argv = ["sh", "-c", line, "sh", *map(str, paths)]
    return machine.run(argv, what="The data folder of a MySQL server could not be made").strip()
