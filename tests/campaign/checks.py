"""What is left after a fault: processes, ports, memory segments, control groups, datasets.

In: the folders and ports of a cluster, a folder of datasets. Out: what should not be there, in
words, empty where all is well. It looks and repairs nothing.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import psutil

from ndblab import dataset
from ndblab.analysis import write_history
from ndblab.cluster import lifecycle
from ndblab.error import LabError
from ndblab.machine import host
from ndblab.machine.local import LOCAL

PATIENCE_S = 15
"""How long a watcher may take to end what a dead lab left behind."""
PORTS = 4
"""The management node, two data nodes and one to spare."""
POLL_S = 0.25
SEGMENTS = Path("/proc/sysvipc/shm")


def leaks(folder: Path, port: int, before: set[int], patience_s: float = PATIENCE_S) -> dict:
    """Look for what a cluster left, again and again until nothing is found or time is up.

    Parameters
    ----------
    port : the first of the cluster's.
    before : ids of the orphaned memory segments that were there before.
    """
    looks: Mapping[str, Callable[[], str]] = {
        "processes": lambda: processes(folder),
        "ports": lambda: ports(folder, port),
        "segments": lambda: _listed("memory segment", orphaned_segments() - before),
        "groups": lambda: groups(folder),
    }
    deadline = time.monotonic() + patience_s
    while True:
        found = {name: look() for name, look in looks.items()}
        if not any(found.values()) or time.monotonic() > deadline:
            return found
        time.sleep(POLL_S)


def processes(folder: Path) -> str:
    """Name the processes of a cluster and the watchers of its folder."""
    found = [(p.program, p.pid) for p in LOCAL.marked(folder)]
    found += [("watchdog", p.pid) for p in watchers(folder)]
    return _listed("process", [f"{program} {pid}" for program, pid in found])


def watchers(folder: Path) -> list[psutil.Process]:
    """Find the watchers of a cluster's folder."""
    found = []
    for each in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if {"ndblab.cluster.watchdog", str(folder)} <= set(each.cmdline()):
                found.append(each)
    return found


def ports(folder: Path, first: int) -> str:
    """Name the ports that cannot be bound, and the sockets that are still there."""
    taken: list[object] = []
    for port in range(first, first + PORTS):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                taken.append(port)
    sockets = Path(lifecycle.places(folder, first).socket_dir)
    return _listed("port or socket", [*taken, *sorted(p.name for p in sockets.glob("*.sock"))])


def orphaned_segments(table: Path = SEGMENTS) -> set[int]:
    """Ids of the System V memory segments that nobody uses and whose maker is dead.

    Source: proc_sysvipc(5); columns shmid, cpid and nattch.
    """
    found = set()
    for line in table.read_text().splitlines()[1:] if table.exists() else ():
        _, shmid, _, _, maker, _, attached, *_ = line.split()
        if attached == "0" and not psutil.pid_exists(int(maker)):
            found.add(int(shmid))
    return found


def groups(folder: Path) -> str:
    """Name the control groups of a cluster."""
    controller = host.read().cpu_controller
    if controller.kind not in ("cgroup1", "cgroup2"):
        return ""
    left = Path(controller.path).glob(f"{lifecycle.groups_name(folder)}*")
    return _listed("control group", [path.name for path in left])


def whole_runs(runs: Path) -> dict[str, str]:
    """Give the runs of unfinished datasets that need not be repeated, with when they began."""
    kept: dict[str, str] = {}
    for folder in _folders(runs):
        with contextlib.suppress(LabError):
            data = dataset.read(folder)
            if not data.complete:
                sound = data.runs[data.runs["status"] == "ok"]
                kept |= dict(zip(sound["run_id"], sound["started_utc"], strict=True))
    return kept


def damaged(runs: Path) -> str:
    """Name the datasets that cannot be read, complete or not."""
    found = []
    for folder in _folders(runs):
        try:
            dataset.read(folder)
        except LabError as error:
            found.append(f"{folder.name}: {error.what} ({error.found})")
    return "; ".join(found)


def unfinished(runs: Path, kept: Mapping[str, str], repeats: int) -> str:
    """Say what is wrong after a measurement that went on to its end.

    Parameters
    ----------
    kept : `whole_runs` before it.
    repeats : the runs that it should have.
    """
    if wrong := damaged(runs):
        return wrong
    found = [dataset.read(folder) for folder in _folders(runs)]
    if not found:
        return "no dataset"
    if open_ := [data.id for data in found if not data.complete]:
        return f"not gone on with: {', '.join(open_)}"
    newest = max(found, key=lambda data: str(data.manifest["finished_utc"]))
    status = list(newest.runs["status"])
    if status != ["ok"] * repeats:
        return f"{newest.id} has runs {', '.join(status)} instead of {repeats} that are ok"
    there = {(str(r.run_id), str(r.started_utc)) for data in found for r in data.runs.itertuples()}
    if lost := [run_id for run_id, started in kept.items() if (run_id, started) not in there]:
        return f"whole runs lost: {', '.join(lost)}"
    litter = sorted(str(p.relative_to(runs)) for p in runs.rglob(".*"))
    return _listed("file half-written", litter)


def lost_writes(runs: Path) -> str:
    """Say what is wrong with the writes that clients were told of, in the datasets there are."""
    found, wrong = 0, []
    for folder in _folders(runs):
        with contextlib.suppress(LabError):
            data = dataset.read(folder)
            seed = data.manifest["profile"]["seed"]
            told = write_history.check(data.history, data.copies, data.counters, seed)
            found += 1
            wrong += [] if told.sound else [f"{data.id}: {told.words()}"]
    return "; ".join(wrong) if found else "no writes were checked"


def _folders(runs: Path) -> list[Path]:
    return sorted(p for p in runs.glob("*/*") if p.is_dir() and not p.name.startswith("."))


def _listed(noun: str, found) -> str:
    names = [str(each) for each in found]
    return f"{noun} left: {', '.join(names[:6])}" if names else ""
