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
    """A cluster of this process, whose sysbench is a Python program."""

    def __init__(self, folder: Path, program: str) -> None:
        script = folder / "sysbench"
        script.write_text(f"#!{sys.executable}\nimport sys, time\n{program}\n")
        script.chmod(0o700)
        self.folder, self.alive_checks = folder, 0
        nodes = tuple(SimpleNamespace(socket=f"{folder}/mysql.{n}.sock") for n in (1, 2))
        self.plan = SimpleNamespace(servers=nodes, load_host="")
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
        return []

    def spawn_client(self, argv: list[str], env=None, **streams) -> subprocess.Popen:
        return subprocess.Popen(argv, env={**os.environ, **(env or {})}, **streams)

    def check_alive(self) -> None:
        self.alive_checks += 1
