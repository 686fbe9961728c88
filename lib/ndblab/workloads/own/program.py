"""A load generator of the user's own: a program that prints a line of JSON a second.

Its command line has placeholders: `{socket}`, or `{host}` and `{port}`, `{seconds}`, `{clients}`,
`{user}` and `{database}`; `{sockets}` and `{ports}` are those of several servers, separated by
commas. Every line reports on the second that it ends, such as
{"queries": 1234, "latency_p95_ms": 2.1, "errors": 0}; only `queries` is needed. The first line ends
the first second, so that connecting is not measured. The program is given one second more than the
lab measures, and must not end early.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import shlex
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ndblab.error import LabError
from ndblab.install.binaries import sha256
from ndblab.machine import speed
from ndblab.machine.commands import error_lines, exit_reason
from ndblab.planning import workload
from ndblab.workloads import sysbench
from ndblab.workloads.execution import connect_s
from ndblab.workloads.load_generator import OK, Command, Job, Report, spawned
from ndblab.workloads.sysbench_output import INTERVAL_COLUMNS

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.machine import Process

ROLE = workload.CLIENT
FIRST_LINE_S, END_S = 30, 10
"""Time for the first line, on top of connecting, and time to end after the last second."""
TOLERATED = 0.001
"""Share of queries that may fail. With more, the load is no longer the one that was asked for."""
WORDS = ("socket", "sockets", "host", "port", "ports", "seconds", "clients", "user", "database")
_WORD = re.compile(r"\{(\w+)\}")
_LINE = '{"queries": 1234, "latency_p95_ms": 2.1, "errors": 0} every second'


@dataclass(frozen=True)
class CommandLine:
    """The user's command line, and the sha256 of what it names."""

    argv: tuple[str, ...]
    sha256: str


def read(line: str) -> CommandLine:
    """Read a command line.

    LabError if its program does not exist, or it does not say where to connect and for how long.
    """
    try:
        argv = tuple(shlex.split(line))
    except ValueError as error:
        raise LabError("The command line of the load cannot be read", found=f"{line}: {error}",
                       next_step="Close its quotes.") from None  # fmt: skip
    used = set(_WORD.findall(line))
    if strange := sorted(used - set(WORDS)):
        raise LabError(
            "The command line of the load has an unknown placeholder",
            found=", ".join(f"{{{word}}}" for word in strange),
            expected=", ".join(f"{{{word}}}" for word in WORDS),
            next_step="Correct it; docs/workloads.md explains each.",
        )
    if "seconds" not in used or not used & {"socket", "sockets", "port", "ports"}:
        raise LabError(
            "The command line of the load does not say where to connect, or for how long",
            found=line,
            expected="{seconds}, and {socket} or {host} and {port}",
            next_step="Try: 'PROGRAM --socket={socket} --time={seconds} --threads={clients}'",
        )
    program = shutil.which(argv[0])
    if program is None:
        raise LabError(
            f"The program of the load does not exist: {argv[0]}",
            found="no such program that can be executed",
            next_step="Give its path, or make it executable with: chmod +x",
        )
    digest = hashlib.sha256(line.encode())
    for file in (Path(program), *map(Path, argv[1:])):
        if file.is_file():
            digest.update(sha256(file).encode())
    # Nodes and load generators may run in another folder.
    whole = [str(Path(program).absolute())]
    whole += [str(Path(w).absolute()) if Path(w).is_file() else w for w in argv[1:]]
    return CommandLine(tuple(whole), digest.hexdigest())


def command(line: CommandLine, job: Job, seconds: float) -> Command:
    """Return the command of a run; LabError if the line cannot name the servers of the job."""
    servers = job.servers
    used = set(_WORD.findall(" ".join(line.argv)))
    if len(servers) > 1 and not used & {"sockets", "ports"}:
        raise LabError(
            "The program of the load connects to one MySQL server",
            found=f"{len(servers)} servers",
            expected="{sockets} or {ports} in its command line, which list them all",
            next_step="Use --servers 1, or a program that takes several.",
        )
    if used & {"port", "ports"} and not all(node.port for node in servers):
        raise LabError(
            "The MySQL servers of this cluster listen at sockets only",
            found="{port} in the command line of the load",
            expected="{socket}",
            next_step="Use {socket} instead.",
        )
    values = {
        "socket": servers[0].socket,
        "sockets": ",".join(node.socket for node in servers),
        "host": servers[0].endpoint,
        "port": str(servers[0].port),
        "ports": ",".join(str(node.port) for node in servers),
        "seconds": str(math.ceil(seconds) + 1),
        "clients": str(job.point.clients),
        "user": job.user,
        "database": job.database or sysbench.DATABASE,
    }
    argv = [_WORD.sub(lambda m: values.get(m[1], m[0]), word) for word in line.argv]
    return Command(argv, host=job.host)


@contextmanager
def running(cluster: Cluster, command: Command, job: Job) -> Iterator[Load]:
    """Run the program for the length of a `with` block at most."""
    machine = (cluster.site(job.host) if job.host else cluster.load_site).machine
    with spawned(cluster, command) as child:
        yield Load(child, job, lambda: machine.kill(child, session=True))


class Load:
    """The program at work."""

    def __init__(self, child: Process, job: Job, kill: Callable[[], None]) -> None:
        self._child, self._kill, self._seconds = child, kill, job.profile.duration_s
        self._start_s = speed.timeout_s(FIRST_LINE_S + connect_s(job))
        self._clients = job.point.clients
        self.pids = (child.pid,)
        self._rows: list[tuple[float, float, float, float]] = []
        self._garbage, self._errors = "", ""
        self._came = threading.Event()
        self._readers = [threading.Thread(target=read) for read in (self._read, self._read_errors)]
        for reader in self._readers:
            reader.start()

    def wait_began(self, timeout_s: float) -> list[float | None]:
        """Return when its first second began, once that has ended; None if no line comes."""
        self._came.wait(timeout_s)
        return [self._rows[0][0] - 1 if self._rows else None]

    def finish(self) -> Report:
        """Wait until it ends, and return its report."""
        status = self._ended()
        began = self._rows[0][0] - 1 if self._rows else time.monotonic() - self._seconds
        table, ended_s = self._intervals(began)
        queries, failed = (sum(row[place] for row in self._rows) for place in (1, 3))
        lasted_s = ended_s[-1] if ended_s else float(self._seconds)
        if status == OK:
            status = _status(int(queries), int(failed))
        good = {"queries": int(queries), "errors": int(failed), "reconnects": 0}
        good["qps"] = round(queries / lasted_s, 2)
        return Report(
            status=status,
            began=began,
            lasted_s=lasted_s,
            warmup_s=0,
            metrics=good if status == OK else {},
            intervals=table,
            ended_s=ended_s,
            logs={"program.txt": self._errors},
        )

    def _ended(self) -> str:
        """Wait for the end; return "ok", or what went wrong."""
        self._came.wait(self._start_s)
        late = self._start_s
        code: int | None = None
        if self._came.is_set():
            late = speed.timeout_s(self._seconds + END_S)
            try:
                code = self._child.wait(late)
            except subprocess.TimeoutExpired:
                code = None
        if code is None:
            self._kill()
        for reader in self._readers:
            reader.join()
        said = error_lines(self._errors, most=1)
        tail = f": {said}" if said else ""
        if self._garbage:
            return f"the load printed {self._garbage!r}, not {_LINE}{tail}"
        if code:
            return f"the load ended with {exit_reason(code)}{tail}"
        if not self._rows:
            when = f"in {late:.0f} s" if code is None else "before it ended"
            return f"the load printed nothing {when}{tail}"
        if code is None:
            return f"the load did not end in {late:.0f} s{tail}"
        if len(self._rows) < self._seconds:
            return f"the load ended after {len(self._rows)} s of {self._seconds:g} s{tail}"
        return OK

    def _intervals(self, began: float) -> tuple[pd.DataFrame, tuple[float, ...]]:
        ended_s = tuple(round(row[0] - began, 4) for row in self._rows)
        lasted_s = np.diff(ended_s, prepend=0.0).clip(min=1e-3)
        rows = [
            (number, self._clients, queries / own_s, p95, failed / own_s, 0.0)
            for number, ((_, queries, p95, failed), own_s) in enumerate(
                zip(self._rows, lasted_s, strict=True), 1
            )
        ]
        table = pd.DataFrame(rows, columns=list(INTERVAL_COLUMNS), dtype=float)
        return table.astype({"clients": "int64"}), ended_s

    def _read(self) -> None:
        for line in self._child.stdout:
            if not line.strip():
                continue
            if (row := _numbers(line)) is None:
                self._garbage = self._garbage or line.strip()[:80]
                self._kill()
            else:
                self._rows.append((time.monotonic(), *row))
            self._came.set()
        self._came.set()

    def _read_errors(self) -> None:
        for line in self._child.stderr:
            # What matters is at the end.
            self._errors = (self._errors + line)[-10_000:]


def _status(queries: int, errors: int) -> str:
    """Return "ok", or why a load with this many queries and errors is void.

    >>> _status(10_000, 10), _status(10_000, 11)
    ('ok', 'errors: 11 of 10000 queries, more than 0.1 %')
    """
    if not queries:
        return "no query was answered"
    if errors > TOLERATED * queries:
        return f"errors: {errors} of {queries} queries, more than {100 * TOLERATED:g} %"
    return OK


def _numbers(line: str) -> tuple[float, float, float] | None:
    """Return queries, p95 in milliseconds, and errors of a line; None if it is no such line."""
    try:
        read = json.loads(line)
        queries = float(read["queries"])
        p95, failed = _optional(read, "latency_p95_ms"), _optional(read, "errors")
    except (ValueError, TypeError, KeyError):
        return None
    failed = 0.0 if math.isnan(failed) else failed
    usable = 0 <= queries < math.inf and 0 <= failed < math.inf and not p95 < 0
    return (queries, p95, failed) if usable else None


def _optional(read: dict, name: str) -> float:
    value = read.get(name)
    return math.nan if value is None else float(value)
