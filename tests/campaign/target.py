"""The lab process that faults are injected into: one tiny measurement, with the fault at a call.

In: a `Job` as JSON, the only argument. Out: lines of JSON: that the fault was injected, and how the
lab ended, as `./lab` would report it. The lab's code is not changed.
"""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import sys
import threading
import time
import traceback
from dataclasses import asdict, dataclass, field
from pathlib import Path

import psutil

from campaign import failpoints, hosts, small_disk
from campaign.injection import SILENCE_S
from ndblab.cluster import watchdog
from ndblab.design import catalogue
from ndblab.design.contrast import Length
from ndblab.design.variant import Variant
from ndblab.error import LabError
from ndblab.experiments.availability import CHECKED_WRITES, fault
from ndblab.hosts import connected, remote
from ndblab.machine import commands
from ndblab.measuring import blocks, measurement, performing
from ndblab.measuring.request import Request
from ndblab.planning.point import Point

MEASURED, REPORTED, INTERRUPTED, CRASHED = 0, 1, 130, 3
"""Exit statuses: success; one message, that of a LabError; as `./lab` after Ctrl-C; a traceback,
which no user should ever see."""
LIMIT_S = 300
"""A target that takes longer hangs: the lab waits at most 240 s for anything."""
FULL = "full"
TABLE_SIZE, CLIENTS = 1000, 2
SERVERS, WRITING_CLIENTS = 2, 8
SOONER = {"ndbd default": {"TimeBetweenGlobalCheckpoints": 100, "TimeBetweenEpochs": 50}}
"""A node that starts waits for several global checkpoints, one every 2 s by default."""
SOONER_OVER_HOSTS = {
    "ndbd default": {
        **SOONER["ndbd default"],
        "HeartbeatIntervalDbDb": 500,
        "ArbitrationTimeout": 1500,
    }
}
"""A data node is declared dead after five heartbeat intervals at most, of 5 s by default; one that
does not reach the arbitrator ends after this timeout, 7.5 s by default. Only waiting gets shorter.

HeartbeatIntervalDbApi keeps its 1.5 s: if a data node that starts is too slow for three heartbeats
just after it has connected, the management node gives its link up for good (seen with NDB 9.7.4)
and never reports it as started."""
CUT_S = 8
"""How long a link is cut or a host is off: longer than it takes until a data node is declared dead
or ends, and than the four heartbeats of 1.5 s after which a MySQL server is."""


@dataclass(frozen=True)
class Job:
    """What the target measures, and the fault that it injects into itself.

    `fault` is a signal, or "full" for the disk mounted at `disk`, at the `call`-th call of
    `failpoint`, before or `after` it. With `faults`, names and what is done, clients write under
    each in turn. `hosts` are described as by `campaign.hosts`. With `count` it reports how
    often each failpoint was called.
    """

    runs: str
    port: int
    budget: str = "shared"
    repeats: int = 1
    duration_s: int = 1
    fault: str = ""
    failpoint: str = ""
    call: int = 0
    after: bool = False
    watchdog: bool = False
    disk: str = ""
    faults: tuple[tuple[str, tuple[tuple, ...]], ...] = ()
    hosts: str = ""
    count: bool = False

    def to_json(self) -> str:
        """Return the job as the argument of a target."""
        return json.dumps(asdict(self))


@dataclass(frozen=True)
class Ended:
    """How a target ended: its exit status (None if it hung) and the facts it reported."""

    code: int | None
    facts: dict[str, object] = field(default_factory=dict)
    stderr: str = ""
    duration_s: float = 0.0

    @property
    def injected(self) -> bool:
        """Whether the fault was injected."""
        return "injected" in self.facts

    @property
    def words(self) -> str:
        """The ending in one line."""
        if self.code is None:
            return f"hung: killed after {LIMIT_S} s"
        names = {MEASURED: "measured", REPORTED: "reported an error"}
        names |= {INTERRUPTED: "interrupted", CRASHED: "crashed"}
        how = names.get(self.code, commands.exit_reason(self.code))
        lines = str(self.facts.get("text") or self.stderr).strip().splitlines()
        text = " / ".join(line.strip() for line in lines if line)
        return f"{how}: {text[-600:]}" if text else how


def main(job: Job) -> int:
    """Do the job and return the exit status."""
    # A shell that starts the campaign in the background makes its children ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    calls = failpoints.count_calls() if job.count else None
    if job.failpoint:
        failpoints.inject_at(job.failpoint, job.call, job.after, lambda: inject(job))
    status, text = _measured(job)
    sys.setprofile(None)
    _report(ended=status, text=text, **({"calls": calls} if calls else {}))
    return status


def end_with_campaign() -> None:
    """End as soon as standard input does: the campaign that holds its other end is gone."""

    def watch() -> None:
        os.read(sys.stdin.fileno(), 1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


def inject(job: Job) -> None:
    """Inject the fault into this process, or into its disk."""
    if job.watchdog:
        kill_watchdogs(os.getpid())
    _report(injected=job.failpoint, at_s=round(time.time(), 3))
    if job.fault == FULL:
        small_disk.fill(Path(job.disk))
    else:
        os.kill(os.getpid(), signal.Signals[job.fault])


def kill_watchdogs(pid: int) -> None:
    """Kill the watchdogs of a lab, as killing all processes of a user would."""
    for child in psutil.Process(pid).children():
        if watchdog.__name__ in child.cmdline():
            child.kill()


def measure(job: Job) -> None:
    """Measure one small point and a block of one contrast, as `./lab reproduce` does."""
    experiment = catalogue.find(figure=6)
    every = experiment.contrasts

    def one_contrast(*arguments):
        return every(*arguments)[:1]

    short = dataclasses.replace(
        experiment,
        variants=tuple(dataclasses.replace(v, config_ini=SOONER) for v in experiment.variants),
        contrasts=one_contrast,
        slices={"smoke": Length(0, 1)},
    )
    _measure(job, short, 1, CLIENTS)


def measure_checked_writes(job: Job) -> None:
    """Have clients write under each of the job's faults."""
    settings = SOONER_OVER_HOSTS if job.hosts else SOONER
    drawn = tuple(
        Variant(
            name,
            fault=fault.Fault(name, "Is an acknowledged write lost?", _actions(done), 0),
            config_ini=settings,
        )
        for name, done in job.faults
    )
    points = tuple(
        Point(SERVERS, WRITING_CLIENTS, workload=CHECKED_WRITES, variant=variant.name)
        for variant in drawn
    )
    experiment = dataclasses.replace(
        catalogue.find("network-faults" if job.hosts else "availability"),
        variants=(Variant(config_ini=settings), *drawn),
        grid=lambda experiment, size: points,
    )
    if job.hosts:
        remote.SILENCE_S = SILENCE_S
        connected.opened = lambda given, *chosen: hosts.opened(job.hosts, *chosen)
    _measure(job, experiment, SERVERS, WRITING_CLIENTS)


def _actions(done) -> tuple[fault.Action | fault.NetworkAction, ...]:
    return tuple(
        fault.NetworkAction(at_s, what, tuple(*rest))
        if what in fault.NETWORK_ACTIONS
        else fault.Action(at_s, what, *rest)
        for at_s, what, *rest in done
    )


def _measure(job, experiment, servers: int, clients: int):
    size = {
        "repeats": job.repeats,
        "warmup_s": 0,
        "duration_s": job.duration_s,
        "tables": 1,
        "table_size": TABLE_SIZE,
        "servers": (servers,),
        "clients": (clients,),
    }
    measurement.RUNS = Path(job.runs)
    # Other faults at the same time disturb a measurement, and its numbers do not matter.
    performing.ATTEMPTS = blocks.ATTEMPTS = 1
    request = Request("smoke", job.budget, size, job.port, progress=False)
    return measurement.measure(experiment, request)


def _measured(job: Job) -> tuple[int, str]:
    """Measure; return the exit status and the message that a user would see."""
    try:
        (measure_checked_writes if job.faults else measure)(job)
    except LabError as error:
        return REPORTED, str(error)
    except OSError as error:
        if error.filename is None:
            return CRASHED, traceback.format_exc()
        return REPORTED, f"{error.filename}: {error.strerror}."
    except KeyboardInterrupt:
        return INTERRUPTED, "interrupted"
    except BaseException:
        return CRASHED, traceback.format_exc()
    return MEASURED, ""


def _report(**facts: object) -> None:
    print(json.dumps(facts), flush=True)


if __name__ == "__main__":
    end_with_campaign()
    sys.exit(main(Job(**json.loads(sys.argv[1]))))
