"""The folders of a cluster, new for each start; those of servers copy an initialised template.

In: a cluster that is about to be started. Out: its folders and configuration files.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.cluster import node_log
from ndblab.error import LabError
from ndblab.machine import commands
from ndblab.machine.local import LOCAL
from ndblab.planning import config

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.machine import Machine

TEMPLATE = "template"


def lay_out(cluster: Cluster) -> None:
    """Make the cluster's folders and configuration, removing those of an earlier cluster.

    Raises
    ------
    LabError
        If the sockets' folder is another user's, or the disk refuses.
    """
    plan, folder, machine = cluster.plan, cluster.folder, cluster.machine
    my_cnf = config.my_cnf(plan, cluster.binaries.mysqld_version, _mysqld_user())
    machine.remove(folder, "mysqld.*", "ndb*.*", "logs")
    for path in (Path(plan.places.socket_dir), folder / "logs", folder / config.NO_TLS):
        machine.make_folder(path)
    machine.put(folder / config.CONFIG_INI, config.config_ini(plan, cluster.binaries.ndb_version))
    machine.put(folder / config.MY_CNF, my_cnf)
    for node in (plan.management_node, *plan.data_nodes):
        cluster.machine_of(node).make_folder(Path(node.data_dir))


def template(cluster: Cluster) -> Path:
    """Return the initialised data folder for this mysqld, made once for all starts.

    Raises
    ------
    LabError
        If mysqld cannot make it.
    """
    binaries, folder, machine = cluster.binaries, cluster.folder, cluster.machine
    made = folder / f"{TEMPLATE}-{binaries.ndb_version}"
    if made.exists():
        return made
    partial = folder / f"{TEMPLATE}.partial"
    machine.remove(folder, partial.name)
    log = folder / "logs" / "initialize.out"
    argv = config.template_argv(binaries, str(partial), _mysqld_user())
    code = machine.spawn(argv, folder, log=log).wait()
    if code != 0:
        raise LabError(
            f"mysqld could not initialise a data folder, {commands.exit_reason(code)}",
            found=node_log.tail(machine.get(log)),
            expected="an initialised data folder",
            next_step=f"See {log}.",
        )
    machine.remove(partial, "auto.cnf")
    partial.rename(made)
    return made


def copy(made: Path, data_dir: Path, machine: Machine = LOCAL) -> None:
    """Copy a data folder; its empty pages become holes, and most of a fresh one is empty.

    Raises
    ------
    LabError
        If the disk refuses.
    """
    machine.run(
        ["cp", "-r", "--sparse=always", "--reflink=auto", str(made), str(data_dir)],
        what="The data folder of a MySQL server could not be made",
        next_step="Free disk space, or set NDBLAB_CLUSTER_DIR to a larger disk.",
        timeout_s=None,
    )


def _mysqld_user() -> str:
    return "root" if os.getuid() == 0 else ""
