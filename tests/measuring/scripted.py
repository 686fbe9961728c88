"""A cluster that only answers, whose sysbench is a Python program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pandas as pd

from ndblab.dataset import table
from ndblab.machine import Machine
from ndblab.machine.local import LOCAL
from ndblab.measuring.measured_run import Run
from ndblab.measuring.slice_tables import Asked
from ndblab.planning import profile
from ndblab.planning.point import Point
from ndblab.planning.profile import Profile
from ndblab.workloads.load_generator import Job

SIZE = profile.get("smoke", {"warmup_s": 1, "duration_s": 1})
POINT = Point(1, 8)


class Scripted:
    """A cluster of this process, whose sysbench is a Python program.

    Its MySQL servers see both data nodes, but first `ready_data_nodes`, from the last on.
    """

    def __init__(self, folder: Path, program: str) -> None:
        script = folder / "sysbench"
        script.write_text(f"#!{sys.executable}\nimport sys, time\n{program}\n")
        script.chmod(0o700)
        self.folder, self.alive_checks = folder, 0
        self.ready_data_nodes: list[int] = []
        self.processes: dict[str, subprocess.Popen] = {}
        nodes = tuple(_server(folder, number) for number in (1, 2))
        self.plan = SimpleNamespace(servers=nodes, data_nodes=(2, 3), load_host="")
        self.log = str
        self.machine = LOCAL
        self.load_site = SimpleNamespace(machine=LOCAL)
        self.binaries = SimpleNamespace(
            sysbench=script,
            sysbench_env={},
            sysbench_version="1.0.20",
            sysbench_script=lambda name: name,
        )

    @property
    def machines(self) -> dict[str, Machine]:
        return {"": self.machine}

    def pids(self) -> list[tuple[str, int, int, str]]:
        return [("mysqld", 11, os.getpid(), "")]

    def query(self, sql: str, server: int = 1) -> list[tuple]:
        if "Ndb_number_of_ready_data_nodes" not in sql:
            return []
        return [("", str(self.ready_data_nodes.pop() if self.ready_data_nodes else 2))]

    def spawn_client(self, argv: list[str], env=None, **streams) -> subprocess.Popen:
        return subprocess.Popen(argv, env={**os.environ, **(env or {})}, **streams)

    def check_alive(self, *nodes: SimpleNamespace) -> None:
        self.alive_checks += not nodes


def asked(
    cluster: Scripted,
    side: str,
    of: int,
    slot: int = 1,
    size: Profile = SIZE,
    point: Point = POINT,
    server: int = 1,
    processes: int = 1,
) -> Asked:
    """A slice to measure on one server, the first of a block of `of` unless it has a `slot`."""
    place = {"run_id": f"x_b001_{slot}{side}", "contrast": "x", "block": 1, "slot": slot}
    servers = [cluster.plan.servers[server - 1]]
    job = Job(cluster.binaries, size, point, servers, processes=processes)
    return Asked({**place, "side": side, "of": of, "start": 1}, job)


def rendered(runs: list[Run]) -> list[Run]:
    """Check every cell of the tables of runs, as a dataset does when it renders them."""
    for run in runs:
        for name, rows in run.tables.items():
            table.render(name, rows, name)
    return runs


def row(run: Run) -> pd.Series:
    """The row of a run in table `slices`."""
    return run.tables["slices"].iloc[0]


def _server(folder: Path, number: int) -> SimpleNamespace:
    socket = f"{folder}/mysql.{number}.sock"
    return SimpleNamespace(socket=socket, role="mysqld", number=number, name=f"mysqld.{number}")
