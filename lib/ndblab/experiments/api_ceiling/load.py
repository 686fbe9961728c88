"""The load generator of key lookups through the NDB API: it runs flexAsynch.

The data nodes count the lookups, over a span in which all threads work. flexAsynch 9.7 also counts
each round of a thread, including those of the warm-up, and so reports too many.

Its table has a key of two integers and one column of as many bytes as sysbench's c. Reads are
committed reads, as those of a SELECT. The table is filled once in a cluster, when it is first
needed: the sweep may begin with a workload of sysbench.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd
import pymysql

from ndblab.error import LabError
from ndblab.experiments.api_ceiling import AT_ONCE, NDB_API
from ndblab.install import ndb_tools
from ndblab.machine.commands import error_lines, exit_reason
from ndblab.planning import workload
from ndblab.workloads import action, sysbench
from ndblab.workloads.load_generator import OK, Command, Job, Report, spawned

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.install import Binaries
    from ndblab.machine import Process

WORKLOADS = (NDB_API,)
ROLE = workload.CLIENT
FLEX_ASYNCH = "flexAsynch"
TOOL = ndb_tools.tool(FLEX_ASYNCH, "api-ceiling")
WARM_S, COOL_S = 1, 1
"""Seconds that flexAsynch works before the first reading of the counters, and after the last."""
END_TIMEOUT_S, FILL_TIMEOUT_S = 30, 6 * 3600
WORDS = 30
"""Size of the column that is read, in words of 4 bytes: 120 bytes, as sysbench's c."""
MOST_AT_ONCE = max(AT_ONCE.values())
READING = "Executing reads"
"""Begins the line that flexAsynch prints when its threads are about to read."""
_TOTAL = re.compile(r"^Total number of transactions is (\d+)", re.MULTILINE)
_ERRORS = re.compile(r"^NDBT: ErrorCode = (\d+) occurred (\d+) times", re.MULTILINE)
_COUNTED = "SELECT SUM(val) FROM ndbinfo.counters WHERE counter_name = 'READS'"
"""Keys that the transaction coordinators were asked to read since their start."""
_IS_THERE = (
    "SELECT COUNT(*) FROM ndbinfo.dict_obj_info WHERE fq_name IN"
    " ('TEST_DB/def/TAB0', 'TEST_DB/def/TAB0_0')"
)
"""Releases name the table differently."""

prepare_command, prepare = sysbench.prepare_command, sysbench.prepare
"""Those of sysbench, which the same cluster serves."""


def versions(binaries: Binaries) -> dict[str, str]:
    """Return the version of flexAsynch, which is that of NDB; LabError if it is missing."""
    own = {FLEX_ASYNCH: ndb_tools.version(binaries, FLEX_ASYNCH)}
    return sysbench.versions(binaries) | own


def commands(job: Job) -> list[Command]:
    """Return the one command of a run; it works for longer than the span that is counted."""
    times = ("-warmup_time", WARM_S, "-execution_time", job.profile.duration_s)
    at_once = int(job.options.get("at-once", 1))
    return [_command(job, job.point.clients, at_once,
                     "-read", *map(str, times), "-cooldown_time", str(COOL_S))]  # fmt: skip


def rows_per_thread(job: Job) -> int:
    """Return how many rows each thread has: together about as many as sysbench's tables."""
    batches = job.profile.rows // max(job.profile.clients) // MOST_AT_ONCE
    return max(1, batches) * MOST_AT_ONCE


@contextmanager
def running(cluster: Cluster, job: Job) -> Iterator[Load]:
    """Look up keys for the run's seconds, for the length of a `with` block at most.

    LabError if the table cannot be filled.
    """
    if not cluster.query(_IS_THERE)[0][0]:
        _fill(cluster, job)
    with (
        contextlib.closing(cluster.connect(len(cluster.plan.servers))) as connection,
        spawned(cluster, commands(job)[0], stderr=subprocess.STDOUT) as child,
    ):
        yield Load(child, job, connection)


def _fill(cluster: Cluster, job: Job) -> None:
    """Create and fill the table, with rows for the most threads."""
    threads = max(job.profile.clients)
    wanted = rows_per_thread(job) * threads
    for verb in ("-create_table", "-insert"):
        # It takes no option after its verb.
        command = _command(job, threads, MOST_AT_ONCE, verb)
        with action.running(cluster, command, FILL_TIMEOUT_S, lambda ended: ended) as filling:
            ended = filling.end()
        text, status = ended.output + ended.errors, ended.status
        if verb == "-insert" and status == OK:
            result = read(text, 0, FILL_TIMEOUT_S)
            status = result.status
            if status == OK and result.transactions != wanted:
                status = f"{result.transactions} rows"
        if status != OK:
            cluster.check_alive()
            raise LabError(
                "The table of flexAsynch could not be filled",
                found=status,
                expected=f"{wanted} rows",
                next_step="See the logs in the cluster's folder; a smaller --table-size may fit.",
            )


class Load:
    """flexAsynch at work; `connection` is to a MySQL server, and reads the data nodes' counters."""

    def __init__(self, child: Process, job: Job, connection: pymysql.Connection) -> None:
        self._child, self._seconds, self._connection = child, job.profile.duration_s, connection
        self.pids = (child.pid,)
        self._lines: list[str] = []
        self._first: Reading | None = None
        self._why = ""
        self._begun = threading.Event()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def wait_began(self, timeout_s: float) -> list[float | None]:
        """Wait until its warm-up has ended, and return when; None if its threads never read."""
        self._begun.wait(timeout_s)
        return [self._first.at_s if self._first else None]

    def finish(self) -> Report:
        """Wait until the run's seconds are over and it ends, and return its report."""
        timeout_s = WARM_S + self._seconds + COOL_S + END_TIMEOUT_S
        self._begun.wait(timeout_s)
        first = self._first
        last = self._last(first) if first else None
        try:
            code: int | None = self._child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self._child.kill()
            code = None
        self._reader.join()
        text = "".join(self._lines)
        status = read(text, code, timeout_s).status
        if status == OK:
            status = self._why or OK
        good: dict[str, float] = {}
        lasted_s = float(self._seconds)
        if status == OK and first and last:
            lasted_s, lookups = last.at_s - first.at_s, last.lookups - first.lookups
            good = {"queries": lookups, "errors": 0, "reconnects": 0}
            good["qps"] = round(lookups / lasted_s, 2)
        return Report(
            status=status,
            began=first.at_s if first else time.monotonic() - lasted_s,
            lasted_s=round(lasted_s, 4),
            warmup_s=WARM_S,
            metrics=good,
            intervals=pd.DataFrame(),
            logs={"flexAsynch.txt": text},
            whole=True,
        )

    def _last(self, first: Reading) -> Reading | None:
        time.sleep(max(0.0, first.at_s + self._seconds - time.monotonic()))
        last = self._counted()
        if self._child.poll() is not None:
            self._why = self._why or "flexAsynch ended before its time"
        elif last and last.lookups == first.lookups:
            self._why = "the data nodes counted no lookup"
        return last

    def _read(self) -> None:
        for line in self._child.stdout:
            self._lines.append(line)
            if line.startswith(READING):
                time.sleep(WARM_S)
                self._first = self._counted()
                self._begun.set()
        self._begun.set()

    def _counted(self) -> Reading | None:
        """Read the counters; the value is dated halfway between the query and its answer."""
        before_s = time.monotonic()
        try:
            with self._connection.cursor() as cursor:
                cursor.execute(_COUNTED)
                [(lookups,)] = cursor.fetchall()
        except pymysql.Error as error:
            self._why = f"the data nodes' counters cannot be read: {error}"
            return None
        return Reading((before_s + time.monotonic()) / 2, int(lookups))


class Reading(NamedTuple):
    """Lookups that the data nodes have counted, and when that was, by `time.monotonic`."""

    at_s: float
    lookups: int


class Result(NamedTuple):
    """Transactions, and "ok" or why they do not count."""

    status: str
    transactions: int = 0


def read(text: str, code: int | None, timeout_s: float) -> Result:
    """Read what flexAsynch printed; it exits with success even if operations failed.

    `code` is its exit status; None if it did not end in time.
    """
    if code is None:
        return Result(f"flexAsynch did not end within {timeout_s:g} s")
    if errors := _ERRORS.findall(text):
        counted = ", ".join(f"{times} of NDB error {number}" for number, times in errors)
        return Result(f"errors: {counted}")
    if code:
        return Result(f"flexAsynch: {exit_reason(code)}: {error_lines(text, most=1)}")
    total = _TOTAL.search(text)
    if total is None or not int(total[1]):
        return Result("flexAsynch reported no transaction")
    return Result(OK, int(total[1]))


def _command(job: Job, threads: int, at_once: int, *verb: str) -> Command:
    """Return a command; a thread reads the same rows, however many lookups it has at once."""
    program = ndb_tools.find(job.binaries, FLEX_ASYNCH)
    options = {"-t": threads, "-p": at_once, "-o": rows_per_thread(job) // at_once,
               "-a": 2, "-s": WORDS, "-l": 1}  # fmt: skip
    words = [word for name, value in options.items() for word in (name, str(value))]
    argv = [str(program), *words, "-n", "-ndbrecord", *verb]
    return Command(argv, {"NDB_CONNECTSTRING": job.connectstring})
