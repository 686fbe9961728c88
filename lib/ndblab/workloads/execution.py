"""Executions of sysbench: started on a cluster, their output read as it comes, ended in time."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, TextIO

import pandas as pd

from ndblab.machine import speed
from ndblab.workloads import divided_load, sysbench_output
from ndblab.workloads.load_generator import Command, Job, Report, spawned
from ndblab.workloads.sysbench_output import Outcome

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.machine import Process

CONNECT_S_PER_CLIENT = 0.5
"""Generous bound on the time a client takes to connect, after which a run counts as stuck."""
HOPELESS_S = 2
"""How long past its time a run may go on if every transaction fails: it would never end."""


def connect_s(job: Job) -> float:
    """Return a generous bound on the time that the clients of a job take to connect."""
    return CONNECT_S_PER_CLIENT * job.point.clients


class Load:
    """A measured execution of sysbench, or several at the same time."""

    def __init__(self, executions: Sequence[Execution], job: Job) -> None:
        self._executions, self._profile = executions, job.profile
        self.pids = [execution.pid for execution in executions]

    def wait_began(self, timeout_s: float) -> list[float | None]:
        """Wait until all clients are connected, and return when they were, process by process.

        The times are those of `time.monotonic`; None if sysbench ended before that, or the time ran
        out.
        """
        until_s = time.monotonic() + timeout_s
        for execution in self._executions:
            execution.begun.wait(max(0.0, until_s - time.monotonic()))
        return [execution.began for execution in self._executions]

    def has_ended(self) -> bool:
        """Return whether a process ended before its clients were connected."""
        return any(e.begun.is_set() and e.began is None for e in self._executions)

    def finish(self) -> Report:
        """Wait until sysbench ends, and return its report."""
        reports = [self._report(execution) for execution in self._executions]
        asked_s = self._profile.duration_s
        return divided_load.joined(reports, asked_s) if len(reports) > 1 else reports[0]

    def _report(self, execution: Execution) -> Report:
        done = execution.wait()
        ended, result = time.monotonic(), done.result
        lasted_s = result.duration_s if result else self._profile.duration_s
        return Report(
            status=done.status,
            began=execution.began or ended - lasted_s,
            lasted_s=lasted_s,
            warmup_s=self._profile.warmup_s,
            metrics=result.metrics if result else {},
            intervals=result.intervals if result else pd.DataFrame(),
            ended_s=result.ended_s if result else (),
            logs={"sysbench.txt": done.text},
        )


class Execution:
    """One execution of sysbench, its output read as it comes.

    `began` is when all clients were connected and the measuring started, by `time.monotonic`;
    `begun` is set from then on, or when there is nothing to wait for.
    """

    def __init__(
        self,
        child: Process,
        timeout_s: float | None,
        asked_s: float | None = None,
        tolerated_errors: float = 0.0,
    ) -> None:
        self._child, self._timeout_s, self._asked_s = child, timeout_s, asked_s
        self._tolerated_errors = tolerated_errors
        self.pid = child.pid
        self.began: float | None = None
        self.begun = threading.Event()
        self._hopeless = False
        self._lines: dict[TextIO, list[str]] = {child.stdout: [], child.stderr: []}
        self._arrived: list[float] = []
        self._readers = [threading.Thread(target=self._read, args=(s,)) for s in self._lines]
        for reader in self._readers:
            reader.start()

    def wait(self) -> Outcome:
        """Wait until sysbench ends, at most for the time it may take, and return the outcome."""
        try:
            exit_status = self._child.wait(timeout=self._timeout_s)
        except subprocess.TimeoutExpired:
            exit_status = None
            self._child.kill()
        if self._hopeless:
            exit_status = None
        for reader in self._readers:
            reader.join()
        out, err = ("".join(lines) for lines in self._lines.values())
        arrived_s = [at - self.began for at in self._arrived] if self.began else []
        return sysbench_output.outcome(
            exit_status, out, err, self._timeout_s, arrived_s, self._asked_s,
            self._tolerated_errors,
        )  # fmt: skip

    def _read(self, stream: TextIO) -> None:
        for line in stream:
            self._lines[stream].append(line)
            if stream is self._child.stdout:
                self._arrived.append(time.monotonic())
            if line.startswith("Threads started"):
                self.began = time.monotonic()
                self.begun.set()
            if self._asked_s and self.began and not self._hopeless:
                self._end_if_hopeless(stream)
        if stream is self._child.stdout:
            self.begun.set()

    def _end_if_hopeless(self, stream: TextIO) -> None:
        """Kill sysbench if its time is up and it has reported nothing but errors."""
        until_s = self._asked_s + HOPELESS_S
        late = time.monotonic() - self.began > until_s - 1
        if late and sysbench_output.only_errors("".join(self._lines[stream]), until_s):
            self._hopeless = True
            self._child.kill()


@contextmanager
def executing(
    cluster: Cluster,
    command: Command,
    timeout_s: float | None = None,
    asked_s: float | None = None,
    tolerated_errors: float = 0.0,
) -> Iterator[Execution]:
    """Execute sysbench against a cluster; nothing of it outlives the `with` block."""
    with spawned(cluster, command) as child:
        yield Execution(child, timeout_s, asked_s, tolerated_errors)


@contextmanager
def executing_all(
    cluster: Cluster, several: Sequence[Command], job: Job, asked_s: float
) -> Iterator[list[Execution]]:
    """Execute several commands at the same time, each as `executing` does."""
    timeout_s = speed.timeout_s(2 * asked_s + 30 + connect_s(job))
    with ExitStack() as stack:
        yield [
            stack.enter_context(
                executing(cluster, command, timeout_s, asked_s, job.tolerated_errors)
            )
            for command in several
        ]
