"""One injection executed: the fault, then everything that must hold after it.

In: an injection and a sandbox. Out: each check with what it found, empty where all is well. After
a failure the evidence is saved; the sandbox is left clean for the next injection.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil

from campaign import checks, small_disk, target
from campaign.injection import LOAD_S, Injection
from campaign.sandbox import Sandbox
from campaign.target import INTERRUPTED, MEASURED, REPORTED, Ended, Job
from ndblab.error import LabError
from ndblab.machine.local import LOCAL
from ndblab.workloads.checked_writes import client

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
whole, and resumed; nothing left of the cluster; the next measurement there works."""
BEFORE_S = 1
"""How long clients write before the first moment at which a node may fail."""
POLL_S = 0.02
_STATUSES = {"SIGKILL": (-9,), "SIGTERM": (-15, MEASURED), "SIGINT": (INTERRUPTED, -2, MEASURED)}
"""Exit statuses a signal may cause. Python itself ends by SIGINT while it starts; a lab that is
about to end may finish before it notices the signal."""


@dataclass(frozen=True)
class Outcome:
    """What each check found, empty where all is well; or why the injection was skipped."""

    checks: dict[str, str] = field(default_factory=dict)
    skipped: str = ""
    injected: bool = False
    ended: str = ""

    @property
    def sound(self) -> bool:
        """Whether no check found anything."""
        return not any(self.checks.values())


def execute(injection: Injection, sandbox: Sandbox, evidence: Path) -> Outcome:
    """Inject and check; what may explain a failure is saved in `evidence`."""
    shutil.rmtree(evidence, ignore_errors=True)
    with contextlib.ExitStack() as stack:
        if injection.kind == "disk-full":
            try:
                stack.enter_context(sandbox.on_small_disk(injection.disk))
            except LabError as error:
                return Outcome(skipped=f"{error.what}: {error.found}")
        sandbox.clear()
        sound = False
        try:
            outcome = _execute(injection, sandbox, evidence)
            sound = outcome.sound
        finally:
            if not sound:
                sandbox.stop_cluster()
            sandbox.clear()
    return outcome


def _execute(injection: Injection, sandbox: Sandbox, evidence: Path) -> Outcome:
    segments = checks.orphaned_segments()
    job = job_for(injection, sandbox)
    ended = sandbox.run(job, "injected", lambda child: _inject(injection, sandbox, child))
    found = {"message": complaint(injection, ended)}
    if not (injection.watchdog and ended.injected):
        found |= checks.leaks(sandbox.cluster, sandbox.port, segments)
    complete: dict[str, str] = {}
    if injection.writes_are_checked:
        found["writes"] = checks.lost_writes(sandbox.runs)
        found["dataset"] = checks.unfinished(sandbox.runs, complete, job.repeats)
    else:
        found["dataset"] = checks.damaged(sandbox.runs)
        complete = checks.complete_runs(sandbox.runs)
    if any(found.values()):
        sandbox.save(evidence / "injected")
    if injection.writes_are_checked:
        sandbox.clear()
    sandbox.free_disk()
    repeats = 1 if injection.writes_are_checked else job.repeats
    plain = sandbox.job(job.budget, repeats=repeats, duration_s=job.duration_s)
    again = sandbox.run(plain, "again")
    found["next start"] = "" if again.code == MEASURED else again.words
    found["dataset"] = found["dataset"] or checks.unfinished(sandbox.runs, complete, repeats)
    for name, left in checks.leaks(sandbox.cluster, sandbox.port, segments).items():
        found[name] = found.get(name) or (f"after the next start: {left}" if left else "")
    if any(found.values()):
        sandbox.save(evidence / "again")
    return Outcome(found, injected=ended.injected, ended=ended.words)


def job_for(injection: Injection, sandbox: Sandbox) -> Job:
    """Return the job of the target that the fault is injected into."""
    job = sandbox.job(injection.budget, repeats=injection.repeats)
    if injection.writes_are_checked:
        lasts_s = LOAD_S if injection.load else BEFORE_S
        return replace(job, checked_writes=True, duration_s=lasts_s, actions=actions(injection))
    if injection.load:
        return replace(job, duration_s=LOAD_S)
    if not injection.failpoint:
        return job
    return replace(
        job,
        fault=target.FULL if injection.disk else injection.signal,
        failpoint=injection.failpoint,
        call=injection.call,
        after=injection.after,
        watchdog=injection.watchdog,
        disk=str(sandbox.disk),
    )


def actions(injection: Injection) -> tuple[tuple[float, str, str, int], ...]:
    """Return what is done to a node under checked writes: seconds, action, role and number."""
    node, at_s = (injection.role, injection.node), injection.moment_s
    if injection.kind == "node-killed":
        return (at_s, "kill", *node), (at_s, "start", *node), (at_s, "wait", *node)
    if injection.kind == "node-frozen":
        ends_s = round(at_s + injection.pause_s, 2)
        return (at_s, "freeze", *node), (ends_s, "thaw", *node), (ends_s, "wait", *node)
    return ()


def complaint(injection: Injection, ended: Ended) -> str:
    """Say how a target ended, unless it ended as it should: no traceback, no hang."""
    allowed: tuple[int, ...] = (MEASURED,)
    if ended.injected and injection.signal:
        allowed = _STATUSES[injection.signal]
    elif ended.injected and injection.disk:
        allowed = (MEASURED, REPORTED)
    if ended.code not in allowed:
        return ended.words
    missed = injection.writes_are_checked and not ended.injected
    return "the fault was not injected" if missed else ""


def _inject(injection: Injection, sandbox: Sandbox, child: subprocess.Popen) -> dict[str, object]:
    """Inject from outside, at the moment drawn; return when, or nothing if it came too late."""
    if injection.load:
        return _stop_load(injection, sandbox, child)
    if injection.failpoint or injection.writes_are_checked:
        return {}
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(injection.moment_s)
        return {}
    if injection.disk:
        small_disk.fill(sandbox.disk)
    else:
        if injection.watchdog:
            with contextlib.suppress(psutil.Error):
                target.kill_watchdogs(child.pid)
        child.send_signal(signal.Signals[injection.signal])
    return {"injected": f"at {injection.moment_s} s"}


def _stop_load(injection: Injection, sandbox: Sandbox, child: subprocess.Popen) -> dict:
    """Stop the load for a while, some time after it began."""
    while child.poll() is None:
        for load in _loads(sandbox.cluster, injection.load):
            time.sleep(injection.moment_s)
            with contextlib.suppress(psutil.Error):
                load.suspend()
                try:
                    time.sleep(injection.pause_s)
                finally:
                    load.resume()
                return {"injected": f"{injection.moment_s} s after the load began"}
        time.sleep(POLL_S)
    return {}


def _loads(folder: Path, load: str) -> Iterator[psutil.Process]:
    """Find the running load of a cluster; what fills the tables is not part of it."""
    for running in LOCAL.marked(folder):
        is_client = load == "client" and client.__name__ in running.argv
        is_sysbench = load == running.program == "sysbench" and running.argv[-1:] == ("run",)
        if is_client or is_sysbench:
            with contextlib.suppress(psutil.Error):
                yield psutil.Process(running.pid)
