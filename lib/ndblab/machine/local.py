"""The machine that the lab runs on."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import psutil

from ndblab.error import LabError, writing
from ndblab.machine import (
    LOOPBACK,
    HostUse,
    Machine,
    Marked,
    ProcessUse,
    cgroups,
    commands,
    host,
    topology,
)
from ndblab.machine import interference as company

MARK = "NDBLAB_CLUSTER"
"""Environment variable that holds the folder of the cluster to which a process belongs."""
KILL_ROUNDS, KILL_TIMEOUT_S = 20, 10
YOUNG_S, CHECK_AGAIN_S = 5, 0.05
SEGMENTS = Path("/proc/sysvipc/shm")
_ONLINE = Path("/sys/devices/system/cpu/online")


class Local:
    """This machine."""

    run = staticmethod(commands.output)
    python = Path(sys.executable)

    def spawn(
        self,
        argv: Sequence[str],
        mark: Path | None = None,
        env: Mapping[str, str] | None = None,
        log: Path | None = None,
        **streams,
    ) -> subprocess.Popen:
        environment = {**os.environ, **(env or {}), **({MARK: str(mark)} if mark else {})}
        # libmariadb would send it for an account without a password, and be refused.
        environment.pop("MYSQL_PWD", None)
        with contextlib.ExitStack() as stack:
            if log is not None:
                output = stack.enter_context(log.open("ab"))
                streams = dict(stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
            try:
                return subprocess.Popen(argv, env=environment, start_new_session=True, **streams)
            except OSError as error:
                raise LabError(
                    f"{argv[0]} could not be started",
                    found=error.strerror,
                    expected="an executable program",
                    next_step="Run `./lab doctor` to see what this host lacks.",
                ) from error

    def put(self, path: Path, text: str) -> None:
        with writing(path):
            path.write_text(text)

    def get(self, path: Path) -> str:
        try:
            return path.read_text(errors="replace")
        except OSError:
            return ""

    def make_folder(self, path: Path) -> None:
        with writing(path):
            path.mkdir(mode=0o700, exist_ok=True)
        if path.stat().st_uid != os.getuid():
            raise LabError(
                "A folder of the cluster belongs to another user",
                found=str(path),
                expected=f"a folder of user {os.getuid()}",
                next_step="Set NDBLAB_CLUSTER_DIR to a folder of your own, with a short path.",
            )
        if path.stat().st_mode & 0o077:
            with writing(path):
                path.chmod(0o700)

    def remove(self, folder: Path, *patterns: str) -> None:
        for path in (path for pattern in patterns for path in folder.glob(pattern)):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

    def marked(self, mark: Path) -> list[Marked]:
        described = []
        for process in _marked(mark):
            with contextlib.suppress(psutil.Error), process.oneshot():
                argv, rss_bytes = tuple(process.cmdline()), process.memory_info().rss
                described.append(Marked(process.pid, process.name(), argv, rss_bytes))
        return described

    def end(self, mark: Path, order: Sequence[str] = (), patience_s: float = 0) -> int:
        alive, ended = _marked(mark), set()
        programs = {process: _name(process) for process in alive}
        for program in order:
            _end([process for process in alive if programs[process] == program], patience_s)
        # Look again until none is left, since one may have been starting another.
        for _ in range(KILL_ROUNDS):
            if not alive:
                return len(ended)
            _end(alive, 0)
            ended |= {process.pid for process in alive}
            _remove_segments(ended)
            alive = _marked(mark)
        raise LabError(
            "Some processes of the cluster cannot be ended",
            found=", ".join(f"{_name(process)} (process {process.pid})" for process in alive),
            expected="processes that end when they are killed",
            next_step="Look at their state with ps; a hung disk may be blocking them.",
        )

    def kill(self, process: subprocess.Popen, session: bool = False) -> None:
        if session and process.poll() is None:
            # It leads a session of its own, whose processes form one group.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        process.wait()
        _remove_segments({process.pid})

    def check_ports(self, ports: Iterable[int], address: str = LOOPBACK) -> None:
        ports = list(ports)
        for port in ports:
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind((address, port))
                except OSError as error:
                    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
                        raise LabError(
                            f"{address} is no address of this host",
                            found=", ".join(_addresses()),
                            expected="an address on which the cluster's nodes can listen",
                            next_step="Use one of those found.",
                        ) from error
                    raise LabError(
                        f"Port {port} is taken",
                        found=f"{error.strerror}: {_listener(port)}",
                        expected="these ports free: " + ", ".join(map(str, ports)),
                        next_step="Stop the process that listens there, or change --base-port.",
                    ) from error

    def allow_open_files(self, count: int) -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard != resource.RLIM_INFINITY and hard < count:
            raise LabError(
                "This process may not open enough files for so many clients",
                found=f"a hard limit of {hard}",
                expected=f"{count}",
                next_step="Raise it (ulimit -n, or nofile in /etc/security/limits.conf), or ask "
                "for fewer --clients.",
            )
        if soft != resource.RLIM_INFINITY and soft < count:
            resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))
        # A client is a thread, too: `Host.tasks_left` counts on the hard limit.
        _, most = resource.getrlimit(resource.RLIMIT_NPROC)
        resource.setrlimit(resource.RLIMIT_NPROC, (most, most))

    def groups(self, name: str) -> cgroups.Groups:
        return cgroups.groups(host.read().cpu_controller, name)

    def usable_cpus(self) -> frozenset[int]:
        return frozenset(os.sched_getaffinity(0))

    def process_use(self, pids: Iterable[int]) -> dict[int, ProcessUse]:
        use = {}
        for pid in pids:
            with contextlib.suppress(psutil.Error):
                process = psutil.Process(pid)
                with process.oneshot():
                    times, memory = process.cpu_times(), process.memory_info()
                use[pid] = ProcessUse(time.monotonic(), times.user + times.system, memory.rss)
        return use

    def host_use(self) -> HostUse:
        every = psutil.cpu_times(percpu=True)
        online = topology.parse_cpu_list(topology.read_text(_ONLINE))
        if len(online) == len(every):
            mine = self.usable_cpus()
            every = [use for cpu, use in zip(online, every) if cpu in mine]
        idle, steal = sum(c.idle + c.iowait for c in every), sum(c.steal for c in every)
        busy = sum(c.user + c.nice + c.system + c.irq + c.softirq for c in every)
        # A quota allows less than the time of these CPUs.
        total = (idle + steal + busy) * _usable_cpus() / len(every)
        return HostUse(time.monotonic(), busy, steal, total, os.getloadavg()[0])

    def company(self) -> company.Reading:
        return company.read(Path("/proc"), os.getpid(), _usable_cpus())


LOCAL: Machine = Local()


@functools.cache
def _usable_cpus() -> float:
    return host.read().usable_cpus


def _marked(mark: Path) -> list[psutil.Process]:
    """Find the living processes, other than this one, that carry a mark.

    A process that is just becoming another program shows no environment for a moment (execve(2)
    empties it before it fills it), so a young process without one is checked again.
    """
    carriers, unclear = [], []
    for process in psutil.process_iter():
        try:
            known = process.as_dict(["environ", "status", "create_time"])
        except (psutil.Error, OSError):
            continue
        environment, status, born_s = known["environ"], known["status"], known["create_time"]
        if environment and environment.get(MARK) == str(mark) and process.pid != os.getpid():
            carriers.append(process)
        alive = status != psutil.STATUS_ZOMBIE and environment is not None
        if alive and not environment and time.time() - born_s < YOUNG_S:
            unclear.append(process)
    if unclear:
        time.sleep(CHECK_AGAIN_S)
    for process in unclear:
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(MARK) == str(mark):
                carriers.append(process)
    return carriers


def _name(process: psutil.Process) -> str:
    """Return the name of a process, empty if it has just ended."""
    try:
        return process.name()
    except psutil.Error:
        return ""


def _end(processes: list[psutil.Process], patience_s: float) -> None:
    """Ask processes to end, wait, then kill those that stay."""
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.terminate()
    _, alive = psutil.wait_procs(processes, patience_s)
    for process in alive:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(alive, KILL_TIMEOUT_S)


def _remove_segments(creators: set[int]) -> None:
    """Remove the System V memory segments that these dead processes made and no process uses.

    Source: proc_sysvipc(5); columns shmid, cpid and nattch of /proc/sysvipc/shm.
    """
    for line in SEGMENTS.read_text().splitlines()[1:] if creators and SEGMENTS.exists() else ():
        _, shmid, _, _, creator, _, attached, *_ = line.split()
        if int(creator) in creators and attached == "0":
            subprocess.run(["ipcrm", "-m", shmid], capture_output=True, check=False)


def _addresses() -> list[str]:
    """Return the IPv4 addresses of this host."""
    known = psutil.net_if_addrs().values()
    return [place.address for these in known for place in these if place.family == socket.AF_INET]


def _listener(port: int) -> str:
    """Name the process that listens on a port, as far as we may know it."""
    for connection in psutil.net_connections(kind="tcp"):
        if connection.laddr and connection.laddr.port == port and connection.pid:
            return f"{psutil.Process(connection.pid).name()} (process {connection.pid})"
    return "a process of another user"
