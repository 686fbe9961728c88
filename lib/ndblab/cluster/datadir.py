"""The folders of a cluster: laid out anew for each start, servers' from one initialised template.

In: a plan, the binaries and the cluster's folder. Out: folders and configuration on disk.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.cluster import node_log
from ndblab.error import LabError, writing
from ndblab.machine import process
from ndblab.planning import config
from ndblab.planning.deployment import Plan

if TYPE_CHECKING:
    from ndblab.install import Binaries

TEMPLATE = "template"


def lay_out(plan: Plan, binaries: Binaries, folder: Path) -> None:
    """Make the cluster's folders anew; whatever an earlier cluster left in them is removed.

    Raises
    ------
    LabError
        If the folder of the sockets is another user's, or the disk refuses.
    """
    for left in (*folder.glob("mysqld.*"), *folder.glob("ndb*.*"), folder / "logs"):
        shutil.rmtree(left, ignore_errors=True)
    socket_dir = Path(plan.places.socket_dir)
    socket_dir.mkdir(mode=0o700, exist_ok=True)
    if socket_dir.stat().st_uid != os.getuid():
        raise LabError(
            "The folder for the sockets belongs to somebody else",
            found=str(socket_dir),
            expected=f"a folder of user {os.getuid()}",
            next_step="Set NDBLAB_CLUSTER_DIR to a shorter path of your own.",
        )
    for node in (plan.management_node, *plan.data_nodes):
        Path(node.data_dir).mkdir()
    (folder / "logs").mkdir()
    (folder / config.NO_TLS).mkdir(exist_ok=True)
    texts = {
        config.CONFIG_INI: config.config_ini(plan),
        config.MY_CNF: config.my_cnf(plan, binaries.mysqld_version, _mysqld_user()),
    }
    for name, text in texts.items():
        with writing(folder / name):
            (folder / name).write_text(text)


def template(binaries: Binaries, folder: Path) -> Path:
    """Give the initialised data folder for this mysqld, made once and kept with the cluster.

    Raises
    ------
    LabError
        If mysqld cannot make it.
    """
    made = folder / f"{TEMPLATE}-{binaries.mysqld_version}"
    if made.exists():
        return made
    partial = folder / f"{TEMPLATE}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    log = folder / "logs" / "initialize.out"
    argv = config.template_argv(binaries, str(partial), _mysqld_user())
    code = process.start(argv, log, folder).wait()
    if code != 0:
        raise LabError(
            f"mysqld could not initialise a data folder, {process.ending(code)}",
            found=node_log.tail(log.read_text(errors="replace")),
            expected="an initialised data folder",
            next_step=f"See {log}.",
        )
    (partial / "auto.cnf").unlink(missing_ok=True)
    partial.rename(made)
    return made


def copy(made: Path, data_dir: Path) -> None:
    """Copy a data folder, holes for zeros: most of a fresh one is empty pages.

    Raises
    ------
    LabError
        If the disk refuses.
    """
    argv = ["cp", "-r", "--sparse=always", "--reflink=auto", str(made), str(data_dir)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError(
            "The data folder of a MySQL server could not be made",
            found=done.stderr.strip().splitlines()[-1],
            expected=f"a copy of {made} at {data_dir}",
            next_step="Free disk space, or set NDBLAB_CLUSTER_DIR to a larger disk.",
        )


def _mysqld_user() -> str:
    return "root" if os.getuid() == 0 else ""
