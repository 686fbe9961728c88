"""Two equal MySQL servers, compared: how far the phases of their CPU quotas set them apart.

It leaves nothing running.
"""

from __future__ import annotations

import math
import os
import statistics
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from ndblab import install
from ndblab.benchmarks.clusters import by_hand_qps
from ndblab.benchmarks.commands import PORT
from ndblab.benchmarks.row import Row, shown
from ndblab.cluster import start_stop
from ndblab.cluster.cluster import Cluster
from ndblab.design import catalogue
from ndblab.machine.cgroups import Groups
from ndblab.measuring import measurement
from ndblab.planning import profile
from ndblab.planning.point import Point
from ndblab.workloads import sysbench
from ndblab.workloads.load_generator import Job

DRAWINGS, CLIENTS = 12, 4
WARMUP_S, DURATION_S = 1, 3


def phases() -> list[Row]:
    """Load both servers at once, each in its own quota, with phases drawn anew each time.

    The kernel draws the phases when control groups are made. Periods are alternately equal and
    staggered. On a host without quotas, there is nothing to compare.
    """
    overrides = {"servers": 2, "warmup_s": WARMUP_S, "duration_s": DURATION_S}
    size, binaries = profile.get("quick", overrides), install.ensure()
    plan = measurement.plan_for(catalogue.find(figure=6), size, "auto", PORT)[1]
    if plan.budget.kind != "scaled":
        return []
    environment = {**os.environ, **binaries.sysbench_env}
    logs: dict[bool, list[float]] = {False: [], True: []}
    with start_stop.running(plan, binaries) as running:
        jobs = [Job(binaries, size, Point(1, CLIENTS), (server,)) for server in plan.servers]
        sysbench.prepare(running, jobs[0])
        running.limit()
        [(host, first)] = running.groups.items()
        for number in shown(range(2 * DRAWINGS), "phases"):
            running.plan = replace(plan, staggered=number % 2 == 1)
            _draw(running, host, replace(first, base=first.base / f"drawing-{number}"))
            for commands in zip(*map(sysbench.commands, jobs), strict=True):
                typed = [[*running.client_prefix(), *command.argv] for command in commands]
                with ThreadPoolExecutor(len(typed)) as pool:
                    one, other = pool.map(by_hand_qps, typed, [environment] * len(typed))
            logs[running.plan.staggered].append(math.log(one / other))
    apart, nearer = (statistics.stdev(logs[staggered]) for staggered in (False, True))
    what = "sd of log ratio, equal servers, {} periods"
    note = f"{DRAWINGS} drawings each; means {{:.3f}} and {{:.3f}}"
    return [
        Row(what.format("equal"), (apart,)),
        Row(what.format("staggered"), (nearer,)),
        Row(
            "staggered over equal", (nearer / apart,), at_most=0.75,
            note=note.format(*(statistics.mean(logs[staggered]) for staggered in (False, True))),
        ),
    ]  # fmt: skip


def _draw(running: Cluster, host: str, groups: Groups) -> None:
    """Draw new phases: move all nodes into newly made control groups."""
    before = running.groups[host]
    running.groups[host], running.limited = groups, False
    running.limit()
    if before.base != groups.base.parent:
        before.remove()
