"""One injection executed: the fault, then everything that must hold after it.

In: an injection and a sandbox. Out: each check with what it found, empty where all is well. After
a failure the evidence is saved; the sandbox is left clean for the next injection.
"""

from __future__ import annotations

import contextlib
import functools
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil

from campaign import checks, small_disk, target
from campaign.injection import LOAD_S, NODES, ON_NETWORK, Injection
from campaign.sandbox import Sandbox
from campaign.target import INTERRUPTED, LIMIT_S, MEASURED, REPORTED, Ended, Job
from ndblab.error import LabError
from ndblab.experiments.availability import client
from ndblab.machine.local import LOCAL

CHECKS = (
    "writes",
    "message",
    "dataset",
    "processes",
    "ports",
    "segments",
    "groups",
    "files",
    "next start",
)
"""No acknowledged write lost; the lab ended by the signal, well, or with one message; datasets
whole, and resumed; nothing left of the cluster, on any host; the next measurement there works."""
BEFORE_S = 1
"""How long clients write before the first moment at which a node may fail."""
POLL_S = 0.02
LIMIT_EACH_S = 60
"""How much longer a target may take for each fault that it injects."""
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
    [outcome] = _cleanly(sandbox, evidence, lambda: [_execute(injection, sandbox, evidence)])
    return outcome


def _cleanly(
    sandbox: Sandbox, evidence: Path, inject: Callable[[], list[Outcome]]
) -> list[Outcome]:
    """Inject with nothing there from before, and leave nothing, whatever happens."""
    shutil.rmtree(evidence, ignore_errors=True)
    sandbox.clear()
    sound = False
    try:
        outcomes = inject()
        sound = all(outcome.sound for outcome in outcomes)
    finally:
        if not sound:
            sandbox.stop_cluster()
        sandbox.clear()
    return outcomes


def _execute(injection: Injection, sandbox: Sandbox, evidence: Path) -> Outcome:
    segments = checks.orphaned_segments()
    job = job_for(injection, sandbox)
    ended = sandbox.run(job, "injected", lambda child: _inject(injection, sandbox, child))
    wrong = {"message": complaint(injection, ended)}
    if not (injection.watchdog and ended.injected):
        wrong |= checks.leaks(sandbox.cluster, sandbox.port, segments)
    complete: dict[str, str] = {}
    if injection.writes_are_checked:
        wrong["writes"] = checks.lost_writes(sandbox.runs)
        wrong["dataset"] = checks.unfinished(sandbox.runs, complete, job.repeats)
    else:
        wrong["dataset"] = checks.damaged(sandbox.runs)
        complete = checks.complete_runs(sandbox.runs)
    if any(wrong.values()):
        sandbox.save(evidence / "injected")
    if injection.writes_are_checked:
        sandbox.clear()
    repeats = 1 if injection.writes_are_checked else job.repeats
    plain = sandbox.job(job.budget, repeats=repeats, duration_s=job.duration_s)
    again = sandbox.run(plain, "again")
    wrong["next start"] = "" if again.code == MEASURED else again.words
    wrong["dataset"] = wrong["dataset"] or checks.unfinished(sandbox.runs, complete, repeats)
    for name, left in checks.leaks(sandbox.cluster, sandbox.port, segments).items():
        wrong[name] = wrong.get(name) or (f"after the next start: {left}" if left else "")
    if any(wrong.values()):
        sandbox.save(evidence / "again")
    return Outcome(wrong, injected=ended.injected, ended=ended.words)


def execute_in_turn(group: Sequence[Injection], sandbox: Sandbox, evidence: Path) -> list[Outcome]:
    """Inject faults into a lab that is started again after each, and check each.

    Each lab resumes what the one before has left; the next start works or does not work for all.
    Faults of a small disk share it: it has space again after each.
    """
    with contextlib.ExitStack() as stack:
        if disk := group[0].disk:
            try:
                stack.enter_context(sandbox.on_small_disk(disk))
            except LabError as error:
                return [Outcome(skipped=f"{error.what}: {error.found}") for _ in group]
        return _cleanly(sandbox, evidence, lambda: _execute_in_turn(group, sandbox, evidence))


def _execute_in_turn(group: Sequence[Injection], sandbox: Sandbox, evidence: Path) -> list[Outcome]:
    segments = checks.orphaned_segments()
    complete: dict[str, str] = {}
    outcomes = []
    for injection in group:
        during = functools.partial(_inject, injection, sandbox)
        ended = sandbox.run(job_for(injection, sandbox), "injected", during)
        wrong = {"message": complaint(injection, ended), **sandbox.leaks(segments)}
        wrong["dataset"] = checks.damaged(sandbox.runs)
        complete |= checks.complete_runs(sandbox.runs)
        if any(wrong.values()):
            sandbox.save(evidence / f"injected-{injection.number}")
            sandbox.stop_cluster()
        sandbox.free_disk()
        outcomes.append(Outcome(wrong, injected=ended.injected, ended=ended.words))
    repeats, duration_s = group[0].repeats, job_for(group[0], sandbox).duration_s
    plain = sandbox.job(group[0].budget, repeats=repeats, duration_s=duration_s)
    again = sandbox.run(plain, "again")
    shared = {"next start": "" if again.code == MEASURED else again.words}
    shared["dataset"] = checks.unfinished(sandbox.runs, complete, repeats)
    _share(outcomes, shared, sandbox.leaks(segments))
    if not all(outcome.sound for outcome in outcomes):
        sandbox.save(evidence / "again")
    return outcomes


def _share(outcomes: Sequence[Outcome], shared: dict[str, str], left: dict[str, str]) -> None:
    """Add what was found after the next start to all whose next start it was."""
    shared |= {name: f"after the next start: {now}" if now else "" for name, now in left.items()}
    for outcome in outcomes:
        own = outcome.checks
        own.update({name: own.get(name) or now for name, now in shared.items()})


def execute_together(group: Sequence[Injection], sandbox: Sandbox, evidence: Path) -> list[Outcome]:
    """Inject faults that leave the lab alive into one cluster, one after the other, and check.

    The writes of each are its own; what is left is looked for after the last of them, and the next
    start works or does not work for all of them.
    """
    over_hosts = group[0].kind in ON_NETWORK
    if over_hosts and sandbox.hosts is None:
        return [Outcome(skipped=sandbox.no_hosts) for _ in group]
    return _cleanly(
        sandbox, evidence, lambda: _execute_together(group, sandbox, evidence, over_hosts)
    )


def _execute_together(
    group: Sequence[Injection], sandbox: Sandbox, evidence: Path, over_hosts: bool
) -> list[Outcome]:
    segments = checks.orphaned_segments()
    faults = {name_of(injection): actions(injection) for injection in group}
    job = sandbox.writing(faults, BEFORE_S, over_hosts)
    if group[0].loses_lab:
        [cut] = group
        ended = sandbox.run(job, "injected", lambda child: _cut_off(cut, sandbox, child))
        before = checks.complete_runs(sandbox.runs)
    else:
        ended = sandbox.run(job, "injected", limit_s=LIMIT_S + LIMIT_EACH_S * len(group))
        before = {}
    left = sandbox.leaks(segments, over_hosts)
    runs, damaged = checks.runs_with_faults(sandbox.runs), checks.damaged(sandbox.runs)
    outcomes = []
    for injection in group:
        wrong: dict[str, str] = {**left, "dataset": damaged}
        if injection.loses_lab:
            well = ended.code in (MEASURED, REPORTED) if ended.injected else ended.code == MEASURED
            wrong["message"] = "" if well else ended.words
            outcomes.append(Outcome(wrong, injected=ended.injected, ended=ended.words))
            continue
        unread = checks.Checked(ended.words, "", "no writes were checked")
        run = runs.get(name_of(injection), unread)
        wrong["writes"] = run.writes
        missed = "" if run.injected else "the fault was not injected"
        wrong["message"] = run.status if run.status != "ok" else missed
        if not wrong["message"] and ended.code != MEASURED:
            wrong["message"] = ended.words
        outcomes.append(Outcome(wrong, injected=bool(run.injected), ended=ended.words))
    if not all(outcome.sound for outcome in outcomes):
        sandbox.save(evidence / "injected")
    if not group[0].loses_lab:
        sandbox.clear()
        plain = {"undisturbed": ()}
        job = sandbox.writing(plain, BEFORE_S, over_hosts) if over_hosts else sandbox.job("shared")
    again = sandbox.run(job, "again")
    shared = {"next start": "" if again.code == MEASURED else again.words}
    shared["dataset"] = checks.unfinished(sandbox.runs, before, 1)
    if group[0].loses_lab:
        written = checks.runs_with_faults(sandbox.runs).values()
        shared["writes"] = "; ".join(run.writes for run in written if run.writes)
    _share(outcomes, shared, sandbox.leaks(segments, over_hosts))
    if any(shared.values()):
        sandbox.save(evidence / "again")
    return outcomes


def name_of(injection: Injection) -> str:
    """Name the variant whose runs have this fault."""
    return f"{injection.kind}-{injection.number}"


def _cut_off(injection: Injection, sandbox: Sandbox, child: subprocess.Popen) -> dict[str, object]:
    """Cut a host off from the lab for a while, at the moment drawn."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(injection.moment_s)
        return {}
    name = sandbox.host_of(*injection.ends)
    sandbox.hosts.cut_from_lab(name)
    try:
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(injection.pause_s)
    finally:
        sandbox.hosts.restore()
    return {"injected": f"{name} at {injection.moment_s} s"}


def job_for(injection: Injection, sandbox: Sandbox) -> Job:
    """Return the job of the target that the fault is injected into."""
    job = sandbox.job(injection.budget, repeats=injection.repeats)
    if injection.writes_are_checked:
        return sandbox.writing({name_of(injection): ()}, LOAD_S)
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


def actions(injection: Injection) -> tuple[tuple, ...]:
    """Return what is done under checked writes: seconds, action, role and number or nodes."""
    if injection.kind in ON_NETWORK:
        return _network_actions(injection)
    node, at_s = (injection.role, injection.node), injection.moment_s
    if injection.kind == "node-killed":
        return (at_s, "kill", *node), (at_s, "start", *node), (at_s, "wait", *node)
    if injection.kind == "node-frozen":
        ends_s = round(at_s + injection.pause_s, 2)
        return (at_s, "freeze", *node), (ends_s, "thaw", *node), (ends_s, "wait", *node)
    return ()


def _network_actions(injection: Injection) -> tuple[tuple, ...]:
    at_s, ends = injection.moment_s, injection.ends
    if injection.loses_lab:
        return ()
    if injection.kind == "ssh-cut":
        return (at_s, "cut-off", ends), (round(at_s + injection.pause_s, 2), "heal", ())
    healed_s = round(at_s + target.CUT_S, 2)
    recovery = (
        *((healed_s, "start", "ndbmtd", number) for number in (1, 2)),
        *((healed_s, "wait", *node) for node in NODES),
    )
    if injection.kind == "host-lost":
        return (at_s, "power-off", ends), (healed_s, "power-on", ends), *recovery
    what = "drop" if injection.kind == "one-way-loss" else "cut"
    pairs = zip(ends[::2], ends[1::2], strict=True)
    return *((at_s, what, pair) for pair in pairs), (healed_s, "heal", ()), *recovery


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
