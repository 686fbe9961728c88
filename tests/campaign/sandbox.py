"""A sandbox of the campaign: folders and ports for one injection at a time.

In: jobs for targets. Out: how each target ended. It checks nothing and removes what it created.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from campaign import checks, small_disk, target
from campaign.hosts import Hosts
from campaign.target import LIMIT_S, MEASURED, Ended, Job
from ndblab.cluster import datadir, start_stop
from ndblab.error import LabError
from ndblab.hosts.roles import DATA, MANAGEMENT, SQL, usual_roles
from ndblab.machine import host

TESTS = Path(__file__).parents[1]
PORT = 14160
"""Of the first sandbox; far from the lab's own and from those of benchmarks and other tests."""
PORTS_EACH, MOST_SANDBOXES = 20, 40
PATIENCE_S = LIMIT_S + 30
SMALL_BYTES = {"runs": 64 << 20, "cluster": 6 << 30}
"""A disk for datasets, and one that is large enough for the plan of a small cluster."""
ROLE_NAMES = {"ndb_mgmd": MANAGEMENT, "ndbmtd": DATA, "mysqld": SQL}
LOGS = ("*.out", "*.log", "state.json", "config.ini", "my.cnf")


class Abandoned(Exception):
    """The campaign was stopped: the current injection is neither finished nor checked."""


@dataclass
class Sandbox:
    """Folders and ports; `cluster` and `runs` lie on a small disk while one is mounted.

    `hosts` are those that faults of a network take; without any, `no_hosts` says why.
    `calls`, by CPU budget, and `duration_s` are those of undisturbed measurements by `warm_up`.
    """

    home: Path
    port: int
    lock: int
    small: str = ""
    hosts: Hosts | None = None
    no_hosts: str = "no hosts"
    calls: dict[str, dict[str, int]] = field(default_factory=dict)
    duration_s: float = 0.0
    _child: subprocess.Popen | None = field(default=None, init=False, repr=False)
    _abandoned: bool = field(default=False, init=False, repr=False)

    @property
    def disk(self) -> Path:
        """Where a small disk is mounted."""
        return self.home / "disk"

    @property
    def cluster(self) -> Path:
        """The folder of the target's cluster."""
        return (self.disk if self.small == "cluster" else self.home) / "cluster"

    @property
    def runs(self) -> Path:
        """The folder of the target's datasets."""
        return (self.disk if self.small == "runs" else self.home) / "runs"

    def run(
        self,
        job: Job,
        name: str,
        during: Callable[[subprocess.Popen], dict] | None = None,
        limit_s: float = LIMIT_S,
    ) -> Ended:
        """Run a target to its end; `during` may inject a fault from outside and returns facts.

        Abandoned if the campaign was stopped.
        """
        out, err = (self.home / f"target.{name}.{stream}" for stream in ("out", "err"))
        path = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
        if self._abandoned:
            raise Abandoned
        with out.open("wb") as stdout, err.open("wb") as stderr:
            child = subprocess.Popen(
                [sys.executable, "-m", target.__name__, job.to_json()],
                stdin=subprocess.PIPE,
                stdout=stdout,
                stderr=stderr,
                cwd=self.home,
                env=os.environ | {"NDBLAB_CLUSTER_DIR": str(self.cluster), "PYTHONPATH": path},
                start_new_session=True,
                pass_fds=(self.lock,),
            )
        self._child = child
        alarm = threading.Timer(limit_s, child.kill)
        alarm.start()
        began = time.monotonic()
        try:
            facts = dict(during(child)) if during is not None else {}
            code: int | None = child.wait()
        finally:
            alarm.cancel()
            child.kill()
            child.wait()
            child.stdin.close()
        duration_s = time.monotonic() - began
        if self._abandoned:
            raise Abandoned
        if code == -signal.SIGKILL and duration_s >= limit_s:
            code = None
        if job.hosts:
            self.hosts.restore()
        for line in out.read_text(errors="replace").splitlines():
            with contextlib.suppress(ValueError):
                facts |= json.loads(line)
        return Ended(code, facts, err.read_text(errors="replace"), duration_s)

    def warm_up(self) -> None:
        """Measure without a fault, to see that this works and how often each failpoint is called.

        LabError if it does not work: then no fault would show anything.
        """
        # The first measurement ever also makes what later ones reuse, such as mysqld's data folder.
        for budget in (*[""] * (not self._templates()), "shared", "scaled"):
            ended = self.run(self.job(budget, count=True), "undisturbed")
            self.clear()
            if ended.code != MEASURED:
                raise LabError(
                    "The lab cannot measure here even without a fault",
                    found=ended.words,
                    expected="a tiny measurement",
                    next_step="Run `./lab reproduce --figure 6 --profile smoke` to see why.",
                )
            self.calls[budget], self.duration_s = dict(ended.facts["calls"]), ended.duration_s

    def job(self, budget: str, **options) -> Job:
        """Return a job here; its budget is "scaled" only if this host can limit CPUs."""
        limits = host.read().cpu_controller.kind in ("cgroup1", "cgroup2")
        scaled = budget == "scaled" and limits
        return Job(str(self.runs), self.port, "scaled" if scaled else "shared", **options)

    def writing(
        self, faults: Mapping[str, Sequence], lasts_s: int, over_hosts: bool = False
    ) -> Job:
        """Return a job of checked writes under these faults, here or over the hosts."""
        named = tuple((name, tuple(done)) for name, done in faults.items())
        text = self.hosts.to_json() if over_hosts else ""
        return self.job("shared", duration_s=lasts_s, faults=named, hosts=text)

    def leaks(self, segments: set[int], over_hosts: bool = False) -> dict[str, str]:
        """Look for what a cluster has left here and, if it was there, on the hosts."""
        elsewhere = self.hosts.leaks if over_hosts else dict
        return checks.leaks(self.cluster, self.port, segments, elsewhere=elsewhere)

    def host_of(self, node: str) -> str:
        """Name the host that a node is planned on."""
        role, _, number = node.partition(".")
        places = [
            at
            for at, roles in enumerate(usual_roles(len(self.hosts.names)))
            if ROLE_NAMES[role] in roles
        ]
        return self.hosts.names[places[int(number) - 1]]

    def abandon(self) -> None:
        """Kill the target that runs, and start no other."""
        self._abandoned = True
        if self._child is not None:
            self._child.kill()

    @contextlib.contextmanager
    def on_small_disk(self, what: str) -> Iterator[None]:
        """Keep the runs or the cluster on a small disk for the length of a `with` block.

        LabError if none can be mounted.
        """
        small_disk.mount(self.disk, SMALL_BYTES[what])
        try:
            templates = self._templates()
            self.small = what
            if what == "cluster":
                self.cluster.mkdir(mode=0o700)
                (self.cluster / "lock").touch(0o600)
                for template in templates:
                    datadir.copy(template, self.cluster / template.name)
            yield
        finally:
            self.stop_cluster()
            self.small = ""
            small_disk.unmount(self.disk)

    def free_disk(self) -> None:
        """Give a small disk space again, if there is one."""
        if self.small:
            small_disk.widen(self.disk, SMALL_BYTES[self.small])

    def clear(self) -> None:
        """Remove datasets and outputs."""
        shutil.rmtree(self.runs, ignore_errors=True)
        for file in self.home.glob("target.*"):
            file.unlink()

    def save(self, folder: Path) -> None:
        """Save what may explain a failure: the target's output, its datasets, the logs."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for file in self.home.glob("target.*"):
            shutil.copy(file, folder)
        if self.runs.exists():
            shutil.copytree(self.runs, folder / "runs")
        for pattern in LOGS:
            for file in self.cluster.rglob(pattern):
                if not any(part.startswith(datadir.TEMPLATE) for part in file.parts):
                    copy = folder / "cluster" / file.relative_to(self.cluster)
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(file, copy)

    def stop_cluster(self) -> None:
        """End whatever a failed injection left running."""
        start_stop.stop(self.cluster)

    def _templates(self) -> list[Path]:
        return list(self.cluster.glob(f"{datadir.TEMPLATE}-*"))


@contextlib.contextmanager
def opened(number: int) -> Iterator[Sandbox]:
    """Hold the `number`-th sandbox, counted from 0, for the length of a `with` block.

    LabError if another campaign, or a target that outlived one, does not release it.
    """
    home = start_stop.home().with_name(f"{start_stop.home().name}-faults-{number}")
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    lock = os.open(home / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _wait_for(lock, home)
        with _ports(home) as first:
            sandbox = Sandbox(home, first, lock)
            sandbox.clear()
            small_disk.unmount(sandbox.disk)
            try:
                yield sandbox
            finally:
                sandbox.stop_cluster()
                sandbox.clear()
    finally:
        os.close(lock)


@contextlib.contextmanager
def _ports(home: Path) -> Iterator[int]:
    """Yield the first of a range of free ports that no other sandbox takes meanwhile.

    A sandbox binds the last one of its ports, so that campaigns in other folders take others.
    """
    for first in range(PORT, PORT + MOST_SANDBOXES * PORTS_EACH, PORTS_EACH):
        with socket.socket() as last:
            try:
                last.bind(("127.0.0.1", first + PORTS_EACH - 1))
            except OSError:
                continue
            if checks.ports(home / "cluster", first):
                continue
            yield first
            return
    raise LabError(
        "There are no free ports for a campaign",
        found=f"none from {PORT} to {first + PORTS_EACH - 1}",
        expected=f"{PORTS_EACH} free ones in a row",
        next_step="End other campaigns first.",
    )


def _wait_for(lock: int, home: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise LabError(
                    "Another campaign uses this folder",
                    found=str(home),
                    expected="one campaign at a time",
                    next_step="Wait for it, or set NDBLAB_CLUSTER_DIR to another folder.",
                ) from None
            time.sleep(1)
