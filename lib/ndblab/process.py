"""Processes: the only module that starts, waits for and ends them.

In: an argv, a log file, a cluster's folder. Out: running processes that carry the mark of their
cluster in their environment, so that all of them can be found and ended whatever became of us.
It knows nothing of NDB.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import psutil

from ndblab.error import LabError

MARK = "NDBLAB_CLUSTER"
POLL_S = 0.05


def start(
    argv: list[str], log: Path, cluster_dir: Path, env: Mapping[str, str] | None = None
) -> subprocess.Popen:
    """Start a process in a session of its own, its output appended to `log`.

    Raises
    ------
    LabError
        If the program is missing or cannot be executed.
    """
    try:
        with log.open("ab") as output:
            return opener(cluster_dir)(
                argv, env, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )
    except OSError as error:
        raise LabError(
            f"{argv[0]} could not be started",
            found=error.strerror,
            expected="an executable program",
            next_step="Run `./lab doctor` to see what this host lacks.",
        ) from error


def opener(cluster_dir: Path) -> Callable[..., subprocess.Popen]:
    """Give what starts processes as `subprocess.Popen` does, with the mark of the cluster added."""

    def popen(argv: list[str], env: Mapping[str, str] | None = None, **how) -> subprocess.Popen:
        environment = {**os.environ, **(env or {}), MARK: str(cluster_dir)}
        return subprocess.Popen(argv, env=environment, start_new_session=True, **how)

    return popen


def guard(cluster_dir: Path, lock_fd: int) -> subprocess.Popen:
    """Start a watcher that ends the cluster's processes as soon as this process is gone.

    It waits for the end of a pipe that only we hold, which the kernel closes even on SIGKILL. It
    shares the cluster's lock, so that nobody starts another one there while it cleans up.
    """
    return subprocess.Popen(
        [sys.executable, "-m", "ndblab.guard", str(cluster_dir)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        start_new_session=True,
        pass_fds=(lock_fd,),
    )


def marked(cluster_dir: Path) -> list[psutil.Process]:
    """Find all living processes that carry the mark of this cluster."""
    found = []
    for process in psutil.process_iter():
        try:
            mark = process.environ().get(MARK)
            if mark == str(cluster_dir) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


def end(processes: Iterable[psutil.Process | subprocess.Popen], patience_s: float) -> None:
    """Ask processes to end, wait, then kill those that stay."""
    processes = list(processes)
    for process in processes:
        _signal(process, "terminate")
    _wait_ended(processes, patience_s)
    for process in processes:
        _signal(process, "kill")
    _wait_ended(processes, 10)


def end_marked(cluster_dir: Path, patience_s: float = 0) -> int:
    """End every process that carries the mark of this cluster and give their number.

    Looked for again until none is found, since one may have been starting another.
    """
    ended = 0
    while found := [p for p in marked(cluster_dir) if p.pid != os.getpid()]:
        ended += len(found)
        end(found, patience_s)
    return ended


def wait_until(observed: Callable[[], bool], timeout_s: float, what: str) -> None:
    """Look again and again until `observed()` holds.

    Raises
    ------
    LabError
        If it does not hold within `timeout_s` seconds.
    """
    deadline = time.monotonic() + timeout_s
    while not observed():
        if time.monotonic() > deadline:
            raise LabError(
                f"Waited in vain for {what}",
                found=f"nothing after {timeout_s:.0f} s",
                expected="an answer sooner",
                next_step="Look at the logs in the cluster's folder (`./lab cluster.status`).",
            )
        time.sleep(POLL_S)


def name(found: psutil.Process) -> str:
    """Name of a process, empty if it has just ended."""
    try:
        return found.name()
    except psutil.Error:
        return ""


def listener(port: int) -> str:
    """Tell who listens on a port, as far as we may know."""
    for connection in psutil.net_connections(kind="tcp"):
        if connection.laddr and connection.laddr.port == port and connection.pid:
            return f"{psutil.Process(connection.pid).name()} (process {connection.pid})"
    return "a process of another user"


def _signal(process: psutil.Process | subprocess.Popen, how: str) -> None:
    with contextlib.suppress(psutil.Error, ProcessLookupError):
        getattr(process, how)()


def _wait_ended(processes: list, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    for process in processes:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except (psutil.Error, subprocess.TimeoutExpired):
            continue
