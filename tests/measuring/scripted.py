"""A cluster that only answers, whose sysbench is a Python program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

from ndblab.machine import Machine
from ndblab.machine.local import LOCAL


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


def _server(folder: Path, number: int) -> SimpleNamespace:
    socket = f"{folder}/mysql.{number}.sock"
    return SimpleNamespace(socket=socket, role="mysqld", number=number, name=f"mysqld.{number}")
