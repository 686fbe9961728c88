"""What must hold after a fault: nothing left of the cluster, and datasets whole.

In: the folder and ports of a cluster, a folder of datasets. Out: what is wrong, in words, empty
where all is well. It changes nothing.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import psutil

from ndblab import dataset
from ndblab.cluster import start_stop, watchdog
from ndblab.error import LabError
from ndblab.experiments.availability import history
from ndblab.machine import host
from ndblab.machine.local import LOCAL
from ndblab.planning.workload import is_good

PATIENCE_S = 15
"""How long a watchdog may take to end what a dead lab left behind."""
PORTS = 4
"""The management node, two data nodes and one to spare."""
POLL_S = 0.25
SEGMENTS = Path("/proc/sysvipc/shm")


def leaks(
    folder: Path,
    port: int,
    before: set[int],
    patience_s: float = PATIENCE_S,
    elsewhere: Callable[[], Mapping[str, str]] = dict,
) -> dict:
    """Look for what a cluster left, repeatedly until nothing is found or time is up.

    Parameters
    ----------
    port : the first of the cluster's.
    before : ids of the orphaned memory segments that were there before.
    elsewhere : looks on other hosts, by the name of a check.
    """
    looks: Mapping[str, Callable[[], str]] = {
        "processes": lambda: processes(folder),
        "ports": lambda: ports(folder, port),
        "segments": lambda: left("memory segment", orphaned_segments() - before),
        "groups": lambda: groups(folder),
        "files": str,
    }
    deadline = time.monotonic() + patience_s
    while True:
        here, there = {name: look() for name, look in looks.items()}, elsewhere()
        leaked = {name: leak or there.get(name, "") for name, leak in here.items()}
        if not any(leaked.values()) or time.monotonic() > deadline:
            return leaked
        time.sleep(POLL_S)


def processes(folder: Path) -> str:
    """Name the processes of a cluster and the watchdogs of its folder."""
    nodes = [f"{process.program} {process.pid}" for process in LOCAL.marked(folder)]
    return left("process", [*nodes, *(f"watchdog {dog.pid}" for dog in watchdogs(folder))])


def watchdogs(folder: Path) -> list[psutil.Process]:
    """Find the watchdogs of a cluster's folder."""
    running = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if {watchdog.__name__, str(folder)} <= set(process.cmdline()):
                running.append(process)
    return running


def ports(folder: Path, first: int) -> str:
    """Name the ports that cannot be bound, and the sockets that still exist."""
    taken: list[object] = []
    for port in range(first, first + PORTS):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                taken.append(port)
    sockets = Path(start_stop.places(folder, first).socket_dir)
    return left("port or socket", [*taken, *sorted(p.name for p in sockets.glob("*.sock"))])


def orphaned_segments(table: Path = SEGMENTS) -> set[int]:
    """Ids of the System V memory segments that no process uses and whose creator is dead.

    Source: proc_sysvipc(5); columns shmid, cpid and nattch.
    """
    orphans = set()
    for line in table.read_text().splitlines()[1:] if table.exists() else ():
        _, shmid, _, _, creator, _, attached, *_ = line.split()
        if attached == "0" and not psutil.pid_exists(int(creator)):
            orphans.add(int(shmid))
    return orphans


def groups(folder: Path) -> str:
    """Name the control groups of a cluster."""
    controller = host.read().cpu_controller
    if controller.kind not in ("cgroup1", "cgroup2"):
        return ""
    paths = Path(controller.path).glob(f"{start_stop.groups_name(folder)}*")
    return left("control group", [path.name for path in paths])


def complete_runs(runs: Path) -> dict[str, str]:
    """Return the complete runs of unfinished datasets, with the time each began."""
    began: dict[str, str] = {}
    for data in _readable(runs):
        if not data.complete:
            sound = data.runs[data.runs["status"].map(is_good).astype(bool)]
            began |= dict(zip(sound["run_id"], sound["started_utc"], strict=True))
    return began


def damaged(runs: Path) -> str:
    """Name the datasets that cannot be read, complete or not."""
    unreadable = []
    for folder in _folders(runs):
        try:
            dataset.read(folder)
        except LabError as error:
            unreadable.append(f"{folder.name}: {error.what} ({error.found})")
    return "; ".join(unreadable)


def unfinished(runs: Path, before: Mapping[str, str], repeats: int) -> str:
    """Say what is wrong after a measurement that was resumed and ran to its end.

    Parameters
    ----------
    before : `complete_runs` before it was resumed; none of them may be repeated.
    repeats : the number of runs it should have.
    """
    if wrong := damaged(runs):
        return wrong
    datasets = list(_readable(runs))
    if not datasets:
        return "no dataset"
    if open_ := [data.id for data in datasets if not data.complete]:
        return f"not resumed: {', '.join(open_)}"
    newest = max(datasets, key=lambda data: str(data.manifest["finished_utc"]))
    status = list(newest.runs["status"])
    if [*map(is_good, status)] != [True] * repeats:
        return f"{newest.id} has runs {', '.join(status)} instead of {repeats} that are ok"
    there = {(str(r.run_id), str(r.started_utc)) for d in datasets for r in d.runs.itertuples()}
    if lost := [run_id for run_id, began in before.items() if (run_id, began) not in there]:
        return f"complete runs lost: {', '.join(lost)}"
    return left("temporary file", sorted(str(p.relative_to(runs)) for p in runs.rglob(".*")))


def lost_writes(runs: Path) -> str:
    """Say which acknowledged writes are lost or wrong in the datasets."""
    checked, wrong = 0, []
    for data in _readable(runs):
        seed = data.manifest["profile"]["seed"]
        findings = history.check(data.history, data.copies, data.counters, seed)
        checked += 1
        wrong += [] if findings.sound else [f"{data.id}: {findings.words()}"]
    return "; ".join(wrong) if checked else "no writes were checked"


class Checked(NamedTuple):
    """A run with a fault: its status, what the fault was, and what is wrong with its writes."""

    status: str
    injected: str
    writes: str


def runs_with_faults(runs: Path) -> dict[str, Checked]:
    """Check the writes of every run in the datasets, complete or not, by the name of its fault."""
    checked = {}
    for data in _readable(runs):
        seed = data.manifest["profile"]["seed"]
        writes = history.of_runs(data.history, data.copies, data.counters, seed)
        hurt = data.events[data.events["event"].astype(str) == "fault"]
        for run in data.runs.itertuples():
            own = writes.get(str(run.run_id))
            wrong = own.words() if own and not own.sound else ""
            texts = hurt.loc[hurt["run_id"].astype(str) == str(run.run_id), "text"]
            injected = ", ".join(map(str, texts))
            unread = "" if own and own.replicas else "no writes were checked"
            checked[str(run.variant)] = Checked(str(run.status), injected, wrong or unread)
    return checked


def _folders(runs: Path) -> list[Path]:
    return sorted(p for p in runs.glob("*/*") if p.is_dir() and not p.name.startswith("."))


def _readable(runs: Path) -> Iterator[dataset.Dataset]:
    for folder in _folders(runs):
        with contextlib.suppress(LabError):
            yield dataset.read(folder)


def left(noun: str, things: Iterable) -> str:
    """Name the first of the things that are left; empty if there are none."""
    names = [*map(str, things)]
    return f"{noun} left: {', '.join(names[:6])}" if names else ""
