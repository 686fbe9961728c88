"""Whether the lab withstands a trial: the blow, then everything that must be true after it.

In: a trial and the lane to make it in. Out: each check with what it found, empty where all is well.
What a failure may be explained by is kept; the lane is clean again for the next trial.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from ndblab.campaign import aftermath, disk, victim
from ndblab.campaign.lane import Ended, Lane
from ndblab.campaign.trial import LOAD_S, Trial
from ndblab.campaign.victim import INTERRUPTED, MEASURED, TOLD, Order
from ndblab.error import LabError
from ndblab.machine import host
from ndblab.machine.local import LOCAL

CHECKS = (
    "writes",
    "message",
    "dataset",
    "processes",
    "ports",
    "segments",
    "groups",
    "next start",
)
"""No acknowledged write lost; the lab ended by the signal, well, or with one message; datasets
whole, and gone on with; nothing left of the cluster; the next measurement there works."""
STOPPED_LOAD_S = LOAD_S
BEFORE_S = 1
"""How long clients write before the first moment at which a node may be struck."""
POLL_S = 0.02
_SIGNALS = {"SIGKILL": (-9,), "SIGTERM": (-15, MEASURED), "SIGINT": (INTERRUPTED, -2, MEASURED)}
"""How a lab may end that gets one. Python itself ends by SIGINT while it starts; a lab that is just
ending may be done before it notices."""


@dataclass(frozen=True)
class Judgement:
    """What each check found, empty where all is well; or why the trial was passed over."""

    checks: dict[str, str] = field(default_factory=dict)
    skipped: str = ""
    struck: bool = False
    ended: str = ""

    @property
    def sound(self) -> bool:
        """Whether no check found anything."""
        return not any(self.checks.values())


def judge(trial: Trial, lane: Lane, evidence: Path) -> Judgement:
    """Make a trial; what may explain a failure is kept in `evidence`."""
    shutil.rmtree(evidence, ignore_errors=True)
    with contextlib.ExitStack() as stack:
        if trial.kind == "disk-full":
            try:
                stack.enter_context(lane.on_small_disk(trial.disk))
            except LabError as error:
                return Judgement(skipped=f"{error.what}: {error.found}")
        lane.clear()
        sound = False
        try:
            judgement = _judge(trial, lane, evidence)
            sound = judgement.sound
        finally:
            if not sound:
                lane.sweep_out()
            lane.clear()
    return judgement


def _judge(trial: Trial, lane: Lane, evidence: Path) -> Judgement:
    before = aftermath.orphaned_segments()
    order = ordered(trial, lane)
    ended = lane.run(order, "struck", lambda child: _harm(trial, lane, child))
    checks = {"message": complaint(trial, ended)}
    if not (trial.watcher and ended.struck):
        checks |= aftermath.leaks(lane.cluster, lane.port, before)
    kept: dict[str, str] = {}
    if trial.checked:
        checks["writes"] = aftermath.lost_writes(lane.runs)
        checks["dataset"] = aftermath.unfinished(lane.runs, kept, order.repeats)
    else:
        checks["dataset"] = aftermath.damaged(lane.runs)
        kept = aftermath.whole_runs(lane.runs)
    if any(checks.values()):
        lane.keep(evidence / "struck")
    if trial.checked:
        lane.clear()
    lane.free_disk()
    repeats = 1 if trial.checked else order.repeats
    plain = Order(str(lane.runs), lane.port, order.budget, repeats, order.duration_s)
    again = lane.run(plain, "again")
    checks["next start"] = "" if again.code == MEASURED else again.words
    checks["dataset"] = checks["dataset"] or aftermath.unfinished(lane.runs, kept, repeats)
    for name, found in aftermath.leaks(lane.cluster, lane.port, before).items():
        checks[name] = checks.get(name) or (f"after the next start: {found}" if found else "")
    if any(checks.values()):
        lane.keep(evidence / "again")
    return Judgement(checks, struck=ended.struck, ended=ended.words)


def ordered(trial: Trial, lane: Lane) -> Order:
    """Say what the victim of a trial does, on a host that may not be able to limit CPUs."""
    limits = host.read().cpu_controller.kind in ("cgroup1", "cgroup2")
    order = {
        "runs": str(lane.runs),
        "port": lane.port,
        "budget": trial.budget if limits else "shared",
        "repeats": trial.repeats,
    }
    if trial.checked:
        lasts_s = STOPPED_LOAD_S if trial.load else BEFORE_S
        return Order(**order, checked=True, duration_s=lasts_s, actions=actions(trial))
    if trial.load:
        return Order(**order, duration_s=STOPPED_LOAD_S)
    if not trial.step:
        return Order(**order)
    return Order(
        **order,
        blow=victim.FULL if trial.disk else trial.signal,
        step=trial.step,
        call=trial.call,
        after=trial.after,
        watcher=trial.watcher,
        disk=str(lane.disk),
    )


def actions(trial: Trial) -> tuple[tuple[float, str, str, int], ...]:
    """Give what is done to a node under checked writes: seconds, what, role and number."""
    node, at_s = (trial.role, trial.node), trial.moment_s
    if trial.kind == "node-killed":
        return (at_s, "kill", *node), (at_s, "start", *node), (at_s, "wait", *node)
    if trial.kind == "node-frozen":
        ends_s = round(at_s + trial.pause_s, 2)
        return (at_s, "freeze", *node), (ends_s, "thaw", *node), (ends_s, "wait", *node)
    return ()


def complaint(trial: Trial, ended: Ended) -> str:
    """Say how a victim ended, unless it ended as it should; never a traceback, never in a hang."""
    allowed: tuple[int, ...] = (MEASURED,)
    if ended.struck and trial.signal:
        allowed = _SIGNALS[trial.signal]
    elif ended.struck and trial.disk:
        allowed = (MEASURED, TOLD)
    if ended.code not in allowed:
        return ended.words
    return "the fault did not happen" if trial.checked and not ended.struck else ""


def _harm(trial: Trial, lane: Lane, child: subprocess.Popen) -> dict[str, object]:
    """Do harm from outside, at the trial's moment; tell when, or nothing if it came too late."""
    if trial.load:
        return _stop_load(trial, lane, child)
    if trial.step or trial.checked or not _lives_for(child, trial.moment_s):
        return {}
    if trial.disk:
        disk.fill(lane.disk)
    else:
        if trial.watcher:
            with contextlib.suppress(psutil.Error):
                victim.end_watchers(child.pid)
        child.send_signal(signal.Signals[trial.signal])
    return {"struck": f"at {trial.moment_s} s"}


def _stop_load(trial: Trial, lane: Lane, child: subprocess.Popen) -> dict[str, object]:
    """Stop the load for a while, some time after it began."""
    while child.poll() is None:
        for load in _loads(lane.cluster, trial.load):
            time.sleep(trial.moment_s)
            with contextlib.suppress(psutil.Error):
                load.suspend()
                try:
                    time.sleep(trial.pause_s)
                finally:
                    load.resume()
                return {"struck": f"{trial.moment_s} s after the load began"}
        time.sleep(POLL_S)
    return {}


def _loads(folder: Path, load: str) -> Iterator[psutil.Process]:
    """Find the running load of a cluster; what fills the tables is none."""
    for found in LOCAL.marked(folder):
        with contextlib.suppress(psutil.Error):
            if load == "client" and "ndblab.workloads.checked_writes.client" in found.argv:
                yield psutil.Process(found.pid)
            if load == found.program == "sysbench" and found.argv[-1:] == ("run",):
                yield psutil.Process(found.pid)


def _lives_for(child: subprocess.Popen, seconds: float) -> bool:
    """Wait, and say whether a child still runs then."""
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        return True
    return False
