"""Programs of the lab's own that run beside a cluster: modules of this package.

A program that fills tables prints an error that a user can read, or the number of rows.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.error import LabError
from ndblab.machine.commands import exit_reason, last_line
from ndblab.workloads import sysbench
from ndblab.workloads.load_generator import Command, Filled, spawned

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster


def command(module: str, *arguments: str) -> Command:
    """Return the command that runs a module."""
    argv = [sys.executable, "-m", module, *arguments]
    return Command(argv, {"PYTHONPATH": str(Path(__file__).parents[2])})


def fill(cluster: Cluster, command: Command, tables: str, rows: int) -> Filled:
    """Fill tables with a program, and measure the data memory that they take in NDB.

    LabError if the program fails.

    Parameters
    ----------
    tables : what they are called, for the message.
    rows : about how many are expected.
    """
    filled = sysbench.filling(cluster)
    text, exit_status = ended(cluster, command)
    if exit_status != 0:
        raise LabError(
            f"The tables of {tables} could not be filled",
            found=last_line(text) or exit_reason(exit_status),
            expected=f"{rows} rows or about as many",
            next_step="See the logs in the cluster's folder; fewer or smaller tables may fit.",
        )
    return filled(int(last_line(text)))


def ended(cluster: Cluster, command: Command) -> tuple[str, int]:
    """Run a program that fills tables to its end; return its output and its exit status."""
    with spawned(cluster, command, stderr=subprocess.STDOUT) as child:
        try:
            text, _ = child.communicate(timeout=sysbench.PREPARE_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            text = f"not loaded in {sysbench.PREPARE_TIMEOUT_S} s"
    cluster.check_alive()
    return text, child.returncode
