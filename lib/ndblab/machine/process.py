"""Processes: the only module that starts, waits for and ends them.

In: an argv, a log file, a cluster's folder. Out: running processes that carry the mark of their
cluster in their environment, so that all of them can be found and ended whatever became of us.
It knows nothing of NDB.
"""

from __future__ import annotations

import contextlib
import os
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import psutil

from ndblab.error import LabError

MARK = "NDBLAB_CLUSTER"
POLL_S = 0.05
KILL_ROUNDS = 20
YOUNG_S = 5


def start(
    argv: list[str], log: Path, cluster_dir: Path, env: Mapping[str, str] | None = None
) -> subprocess.Popen:
    """Start a process in a session of its own, its output appended to `log`.

    Raises
    ------
    LabError
        If the program is missing or cannot be executed.
    """
    with log.open("ab") as output:
        try:
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
        [sys.executable, "-m", "ndblab.cluster.watchdog", str(cluster_dir)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        start_new_session=True,
        pass_fds=(lock_fd,),
    )


def marked(cluster_dir: Path) -> list[psutil.Process]:
    """Find all living processes that carry the mark of this cluster.

    A process that is just becoming another program shows no environment for a moment (execve(2)
    empties it before it fills it): a young one without any is looked at again.
    """
    found, unclear = [], []
    for process in psutil.process_iter():
        mark = _mark(process)
        if mark == str(cluster_dir):
            found.append(process)
        elif mark is None and _age_s(process) < YOUNG_S:
            unclear.append(process)
    if unclear:
        time.sleep(POLL_S)
        found += [process for process in unclear if _mark(process) == str(cluster_dir)]
    return found


def _mark(process: psutil.Process) -> str | None:
    """Mark of a process: empty if it has none or has ended, None if it shows no environment."""
    try:
        environment = process.environ()
        ended = process.status() == psutil.STATUS_ZOMBIE
    except (psutil.Error, OSError):
        return ""
    return None if not environment and not ended else environment.get(MARK, "")


def _age_s(process: psutil.Process) -> float:
    try:
        return time.time() - process.create_time()
    except psutil.Error:
        return float("inf")


def end(processes: Iterable[psutil.Process | subprocess.Popen], patience_s: float) -> None:
    """Ask processes to end, wait, then kill those that stay."""
    processes = list(processes)
    for process in processes:
        _signal(process, "terminate")
    _wait_ended(processes, patience_s)
    for process in processes:
        _signal(process, "kill")
    _wait_ended(processes, 10)


def end_marked(cluster_dir: Path) -> set[int]:
    """Kill every process that carries the mark of this cluster and give their ids.

    Looked for again until none is found, since one may have been starting another.

    Raises
    ------
    LabError
        If one cannot be killed.
    """
    ended: set[int] = set()
    for _ in range(KILL_ROUNDS):
        found = [p for p in marked(cluster_dir) if p.pid != os.getpid()]
        if not found:
            return ended
        ended |= {p.pid for p in found}
        end(found, 0)
    raise LabError(
        "Some processes of the cluster cannot be ended",
        found=", ".join(f"{name(p)} (process {p.pid})" for p in found),
        expected="processes that end when they are killed",
        next_step="Look at their state with ps; a disk that does not answer holds them.",
    )


def remove_segments(creators: set[int]) -> None:
    """Remove the System V memory segments that these dead processes made and nobody uses.

    Source: proc_sysvipc(5); columns shmid, cpid and nattch of /proc/sysvipc/shm.
    """
    table = Path("/proc/sysvipc/shm")
    for line in table.read_text().splitlines()[1:] if creators and table.exists() else ():
        _, shmid, _, _, cpid, _, nattch, *_ = line.split()
        if int(cpid) in creators and nattch == "0":
            subprocess.run(["ipcrm", "-m", shmid], capture_output=True, check=False)


def allow_open_files(needed: int) -> None:
    """Let this process and its children open this many files, as far as the hard limit goes.

    Raises
    ------
    LabError
        If the hard limit is lower.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise LabError(
            "This process may not open enough files for so many clients",
            found=f"a hard limit of {hard}",
            expected=f"{needed}",
            next_step="Raise it (ulimit -n, or nofile in /etc/security/limits.conf), or ask for "
            "fewer --clients.",
        )
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def wait_until(
    observed: Callable[[], bool], timeout_s: float, what: str, poll_s: float = POLL_S
) -> None:
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
        time.sleep(poll_s)


def name(found: psutil.Process) -> str:
    """Name of a process, empty if it has just ended."""
    try:
        return found.name()
    except psutil.Error:
        return ""


def check_ports(ports: list[int]) -> None:
    """Make sure that nobody listens on these ports of loopback.

    Raises
    ------
    LabError
        If somebody does, with who it is.
    """
    for port in ports:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError as error:
                raise LabError(
                    f"Port {port} is taken",
                    found=f"{error.strerror}: {listener(port)}",
                    expected="these ports free: " + ", ".join(map(str, ports)),
                    next_step="Stop what listens there, or give another --base-port.",
                ) from error


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


def ending(code: int) -> str:
    """Say how a process ended, by its exit status as `subprocess` gives it."""
    return f"killed by signal {-code}" if code < 0 else f"exit status {code}"
