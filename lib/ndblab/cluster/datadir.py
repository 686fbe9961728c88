"""The folders of a cluster, made anew for each start; servers' from one initialised template.

In: a plan, the binaries, the cluster's folder and its machine. Out: folders and configuration.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.cluster import node_log
from ndblab.error import LabError
from ndblab.machine import Machine, commands
from ndblab.machine.local import LOCAL
from ndblab.planning import config

if TYPE_CHECKING:
    from ndblab.install import Binaries
    from ndblab.planning.deployment import Plan

TEMPLATE = "template"


def lay_out(plan: Plan, binaries: Binaries, folder: Path, machine: Machine = LOCAL) -> None:
    """Make the cluster's folders and configuration, removing those of an earlier cluster.

    Raises
    ------
    LabError
        If the sockets' folder is another user's, or the disk refuses.
    """
    machine.remove(folder, "mysqld.*", "ndb*.*", "logs")
    nodes = (plan.management_node, *plan.data_nodes)
    for path in (plan.places.socket_dir, *(node.data_dir for node in nodes)):
        machine.make_folder(Path(path))
    for name in ("logs", config.NO_TLS):
        machine.make_folder(folder / name)
    machine.put(folder / config.CONFIG_INI, config.config_ini(plan))
    machine.put(
        folder / config.MY_CNF, config.my_cnf(plan, binaries.mysqld_version, _mysqld_user())
    )


def template(binaries: Binaries, folder: Path, machine: Machine = LOCAL) -> Path:
    """Return the initialised data folder for this mysqld, made once and kept with the cluster.

    Raises
    ------
    LabError
        If mysqld cannot make it.
    """
    made = folder / f"{TEMPLATE}-{binaries.mysqld_version}"
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
    argv = ["cp", "-r", "--sparse=always", "--reflink=auto", str(made), str(data_dir)]
    try:
        machine.run(argv, what="The copy failed", timeout_s=None)
    except LabError as failure:
        raise LabError(
            "The data folder of a MySQL server could not be made",
            found=failure.found,
            expected=f"a copy of {made} at {data_dir}",
            next_step="Free disk space, or set NDBLAB_CLUSTER_DIR to a larger disk.",
        ) from failure


def _mysqld_user() -> str:
    return "root" if os.getuid() == 0 else ""
