"""Programs of the lab's own that run beside a cluster: modules of this package.

A program that fills tables prints an error that a user can read, or the number of rows.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.error import LabError
from ndblab.machine.commands import exit_reason, last_line
from ndblab.workloads import sysbench
from ndblab.workloads.load_generator import Command, Filled, spawned

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster

FILL_TIMEOUT_S = 6 * 3600


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
    began = time.monotonic()
    before = sysbench.data_memory_bytes(cluster)
    streams = dict(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    with spawned(cluster, command, **streams) as child:
        try:
            text, _ = child.communicate(timeout=FILL_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            text = f"not loaded in {FILL_TIMEOUT_S} s"
    cluster.check_alive()
    if child.returncode != 0:
        raise LabError(
            f"The tables of {tables} could not be filled",
            found=last_line(text) or exit_reason(child.returncode),
            expected=f"{rows} rows or about as many",
            next_step="See the logs in the cluster's folder; fewer or smaller tables may fit.",
        )
    taken = {n: used - before[n] for n, used in sysbench.data_memory_bytes(cluster).items()}
    return Filled(round(time.monotonic() - began, 2), int(last_line(text)), taken)
