"""A lane of the campaign: folders and ports of its own, in which one trial at a time is made.

In: orders for victims. Out: how each of them ended. It judges nothing; what it made it removes.
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
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ndblab.campaign import aftermath, disk
from ndblab.campaign.victim import CRASHED, INTERRUPTED, MEASURED, TOLD, Order
from ndblab.cluster import datadir, lifecycle
from ndblab.error import LabError
from ndblab.machine import commands

PORT = 14160
"""Of the first lane; far from the lab's own and from those of other benchmarks and tests."""
PORTS_EACH, MOST_LANES = 20, 40
LIMIT_S = 300
"""A victim that takes longer hangs: what the lab waits for, it waits for 240 s at most."""
PATIENCE_S = LIMIT_S + 30
SMALL_BYTES = {"runs": 64 << 20, "cluster": 6 << 30}
"""A disk for datasets, and one that satisfies the plan of a small cluster; both empty."""
KEPT_LOGS = ("*.out", "*.log", "state.json", "config.ini", "my.cnf")


class Abandoned(Exception):
    """The campaign was stopped: what is under way is not finished, and not judged."""


@dataclass(frozen=True)
class Ended:
    """How a victim ended: its exit status (None if it hung) and what it told of itself."""

    code: int | None
    facts: dict[str, object] = field(default_factory=dict)
    said: str = ""

    @property
    def struck(self) -> bool:
        """Whether the blow fell."""
        return "struck" in self.facts

    @property
    def words(self) -> str:
        """The ending in a line."""
        if self.code is None:
            return f"hung: killed after {LIMIT_S} s"
        told = {MEASURED: "measured", TOLD: "told", INTERRUPTED: "interrupted", CRASHED: "crashed"}
        how = told.get(self.code, commands.exit_reason(self.code))
        last = [*str(self.facts.get("text") or self.said).strip().splitlines(), ""]
        text = " / ".join(line.strip() for line in last if line)
        return f"{how}: {text[-600:]}" if text else how


@dataclass
class Lane:
    """Folders and ports; `cluster` and `runs` lie on a small disk while one is mounted."""

    home: Path
    port: int
    lock: int
    small: str = ""
    _child: subprocess.Popen | None = field(default=None, init=False, repr=False)
    _abandoned: bool = field(default=False, init=False, repr=False)

    @property
    def disk(self) -> Path:
        """Where a small disk is mounted."""
        return self.home / "disk"

    @property
    def cluster(self) -> Path:
        """The folder of the victim's cluster."""
        return (self.disk if self.small == "cluster" else self.home) / "cluster"

    @property
    def runs(self) -> Path:
        """The folder of the victim's datasets."""
        return (self.disk if self.small == "runs" else self.home) / "runs"

    def run(
        self, order: Order, name: str, during: Callable[[subprocess.Popen], dict] | None = None
    ) -> Ended:
        """Run a victim to its end; `during` may do it harm from outside and tells what it did.

        Raises
        ------
        Abandoned
            If the campaign was stopped.
        """
        out, err = (self.home / f"victim.{name}.{what}" for what in ("out", "err"))
        told: dict[str, object] = {}
        if self._abandoned:
            raise Abandoned
        with out.open("wb") as stdout, err.open("wb") as stderr:
            child = subprocess.Popen(
                [sys.executable, "-m", "ndblab.campaign.victim", order.to_json()],
                stdin=subprocess.PIPE,
                stdout=stdout,
                stderr=stderr,
                cwd=self.home,
                env={**os.environ, "NDBLAB_CLUSTER_DIR": str(self.cluster)},
                start_new_session=True,
                pass_fds=(self.lock,),
            )
        self._child = child
        alarm = threading.Timer(LIMIT_S, child.kill)
        alarm.start()
        began = time.monotonic()
        try:
            if during is not None:
                told |= during(child)
            code: int | None = child.wait()
        finally:
            alarm.cancel()
            child.kill()
            child.wait()
            child.stdin.close()
        if self._abandoned:
            raise Abandoned
        if code == -signal.SIGKILL and time.monotonic() - began >= LIMIT_S:
            code = None
        for line in out.read_text(errors="replace").splitlines():
            with contextlib.suppress(ValueError):
                told |= json.loads(line)
        return Ended(code, told, err.read_text(errors="replace"))

    def warmed_up(self) -> Lane:
        """Measure once unharmed: what is made once is there then, and it is known to work.

        Raises
        ------
        LabError
            If it does not: no fault would tell anything.
        """
        ended = self.run(Order(str(self.runs), self.port), "unharmed")
        self.clear()
        if ended.code != MEASURED:
            raise LabError(
                "The lab cannot measure here even unharmed",
                found=ended.words,
                expected="a tiny measurement",
                next_step="`./lab reproduce --figure 6 --profile smoke` tells more.",
            )
        return self

    def abandon(self) -> None:
        """Kill the victim that runs, and let no other begin."""
        self._abandoned = True
        if self._child is not None:
            self._child.kill()

    @contextlib.contextmanager
    def on_small_disk(self, what: str) -> Iterator[None]:
        """Keep the runs or the cluster on a small disk for the length of a `with` block.

        Raises
        ------
        LabError
            If none can be mounted.
        """
        disk.mount(self.disk, SMALL_BYTES[what])
        try:
            templates = list(self.cluster.glob(f"{datadir.TEMPLATE}-*"))
            self.small = what
            if what == "cluster":
                self.cluster.mkdir(mode=0o700)
                (self.cluster / "lock").touch(0o600)
                for template in templates:
                    datadir.copy(template, self.cluster / template.name)
            yield
        finally:
            self.sweep_out()
            self.small = ""
            disk.unmount(self.disk)

    def free_disk(self) -> None:
        """Give a small disk space again, if there is one."""
        if self.small:
            disk.widen(self.disk, SMALL_BYTES[self.small])

    def clear(self) -> None:
        """Remove what a trial made, for the next one."""
        shutil.rmtree(self.runs, ignore_errors=True)
        for file in self.home.glob("victim.*"):
            file.unlink()

    def keep(self, folder: Path) -> None:
        """Keep what may explain a failure: what the victim said, its datasets, the logs."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for file in self.home.glob("victim.*"):
            shutil.copy(file, folder)
        if self.runs.exists():
            shutil.copytree(self.runs, folder / "runs")
        for pattern in KEPT_LOGS:
            for file in self.cluster.rglob(pattern):
                if not any(part.startswith(datadir.TEMPLATE) for part in file.parts):
                    kept = folder / "cluster" / file.relative_to(self.cluster)
                    kept.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(file, kept)

    def sweep_out(self) -> None:
        """End whatever a failed trial left behind, so that the next one begins with nothing."""
        lifecycle.stop(self.cluster)


@contextlib.contextmanager
def opened(number: int) -> Iterator[Lane]:
    """Hold the `number`-th lane, counted from 0, for the length of a `with` block.

    Raises
    ------
    LabError
        If another campaign, or a victim that outlived one, does not let go of it.
    """
    home = lifecycle.home().with_name(f"{lifecycle.home().name}-faults-{number}")
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    lock = os.open(home / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _wait_for(lock, home)
        with _ports(home) as first:
            lane = Lane(home, first, lock)
            lane.clear()
            disk.unmount(lane.disk)
            try:
                yield lane
            finally:
                lane.sweep_out()
                lane.clear()
    finally:
        os.close(lock)


@contextlib.contextmanager
def _ports(home: Path) -> Iterator[int]:
    """Give the first of some ports that are free, and no other lane's for as long as it lasts.

    A lane holds the last one of its ports, so that campaigns in other folders take others.
    """
    for first in range(PORT, PORT + MOST_LANES * PORTS_EACH, PORTS_EACH):
        with socket.socket() as held:
            try:
                held.bind(("127.0.0.1", first + PORTS_EACH - 1))
            except OSError:
                continue
            if aftermath.ports(home / "cluster", first):
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
