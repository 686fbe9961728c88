"""A real cluster, measured: how fast it starts, what monitoring costs, what phases of quotas do.

It leaves nothing running.
"""

from __future__ import annotations

import math
import os
import statistics
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from ndblab import install
from ndblab.benchmarks.commands import PORT, check_ended
from ndblab.benchmarks.row import Row, shown
from ndblab.cluster import datadir, start_stop
from ndblab.cluster.cluster import Cluster
from ndblab.design import catalogue
from ndblab.error import LabError
from ndblab.machine.cgroups import Groups
from ndblab.measuring import measurement
from ndblab.planning import profile
from ndblab.planning.deployment import Plan
from ndblab.planning.point import Point
from ndblab.planning.workload import is_good
from ndblab.workloads import sysbench, sysbench_output
from ndblab.workloads.load_generator import Job

STARTED_SERVERS, STARTS = (1, 2, 4, 8, 16), 3
POINT, PAIRS = Point(servers=4, clients=32), 11
WARMUP_S, DURATION_S = 2, 8
DRAWINGS, CLIENTS, PHASES_S = 12, 4, 3


def start() -> list[Row]:
    """Time the start of clusters of 1 to 16 servers, until they are ready."""
    binaries = install.ensure()
    template = start_stop.home() / f"{datadir.TEMPLATE}-{binaries.ndb_version}"
    copied = "existed" if template.exists() else "was made by the first start"
    seconds: dict[int, list[float]] = {servers: [] for servers in STARTED_SERVERS}
    for servers in shown([*STARTED_SERVERS] * STARTS, "start"):
        plan = measurement.plan_for(catalogue.find(figure=6), _quick(servers), "auto", PORT)[1]
        began = time.perf_counter()
        with start_stop.running(plan, binaries, progress=False):
            seconds[servers].append(time.perf_counter() - began)
    rows = [
        Row(
            f"start of 2 data nodes and {servers} mysqld",
            tuple(values),
            "s",
            at_most=25 if servers == STARTED_SERVERS[-1] else None,
        )
        for servers, values in seconds.items()
    ]
    pairs = [(servers, value) for servers, values in seconds.items() for value in values]
    growth, fixed = statistics.linear_regression(*zip(*pairs, strict=True))
    note = f"least squares over {len(pairs)} starts: {fixed:.1f} s and this for each server; the "
    note += f"data folder that is copied {copied}"
    return [*rows, Row("start, each further mysqld", (growth,), "s", note=note)]


def overhead() -> list[Row]:
    """Compare runs in the lab with the same command typed by hand, in alternating pairs.

    Do so once with this host's plan and once without quotas. Quotas make single runs vary by 10 %;
    without them, on a saturated host, the lab takes its CPU time from the cluster.
    """
    size = _quick(POINT.servers, POINT.clients)
    experiment = catalogue.find(figure=6)
    plans = [measurement.plan_for(experiment, size, b, PORT)[1] for b in ("auto", "shared")]
    kinds = {plan.budget.kind: plan for plan in plans}
    return [_overhead(plan, size) for plan in kinds.values()]


def _overhead(plan: Plan, size: profile.Profile) -> Row:
    from ndblab.measuring import measured_run

    point, binaries = POINT, install.ensure()
    with start_stop.running(plan, binaries) as running:
        job = Job(binaries, size, point, running.plan.servers_by("shm")[: point.servers])
        sysbench.prepare(running, job)
        running.limit()
        typed = sysbench.commands(job)
        warm_up, command = ([*running.client_prefix(), *step.argv] for step in typed)
        unwarmed = job.lasting(size.duration_s)
        environment = {**os.environ, **binaries.sysbench_env}

        def in_the_lab() -> float:
            by_hand_qps(warm_up, environment)
            measured = measured_run.measure(running, unwarmed, 1)
            row = measured.tables["runs"].iloc[0]
            return _checked_qps(row["status"], row["qps"])

        def by_hand() -> float:
            by_hand_qps(warm_up, environment)
            return by_hand_qps(command, environment)

        pairs = []
        for number in shown(range(PAIRS), f"overhead, {plan.budget.kind}"):
            pairs.append(alternated(number, in_the_lab, by_hand))
    lab, hand = (statistics.median(side) for side in zip(*pairs, strict=True))
    quarter, _, three_quarters = statistics.quantiles(ratios(pairs), method="inclusive")
    note = f"{point.servers} mysqld, {point.clients} clients, {size.duration_s} s each, budget "
    note += f"{plan.budget.kind}; medians {lab:.0f} and {hand:.0f} queries/s; "
    note += f"half of the pairs from {quarter:.3f} to {three_quarters:.3f}"
    what = f"queries/s in the lab over by hand, {plan.budget.kind}"
    return Row(what, ratios(pairs), at_least=0.98, note=note)


def phases() -> list[Row]:
    """Load two equal servers at once, each in its own quota, with phases drawn anew each time.

    The kernel draws the phases when control groups are made. Periods are alternately equal and
    staggered. On a host without quotas, there is nothing to compare.
    """
    overrides = {"servers": 2, "warmup_s": 1, "duration_s": PHASES_S}
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


def alternated(
    number: int, first: Callable[[], float], second: Callable[[], float]
) -> tuple[float, float]:
    """Measure both, in this order in even pairs and in reverse in odd ones."""
    if number % 2 == 0:
        return first(), second()
    b = second()
    return first(), b


def ratios(pairs: Iterable[tuple[float, float]]) -> tuple[float, ...]:
    """Divide within each pair, so that the drift of the machine cancels."""
    return tuple(a / b for a, b in pairs)


def by_hand_qps(argv: Sequence[str], environment: dict[str, str]) -> float:
    """Run sysbench unmonitored, as in a shell, and return its throughput in queries/s."""
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    check_ended(argv, done.returncode, done.stderr or done.stdout)
    result = sysbench_output.parse(done.stdout)
    status = sysbench_output.status(done.returncode, done.stdout, result)
    return _checked_qps(status, result.metrics["qps"])


def _quick(servers: int, clients: int | None = None) -> profile.Profile:
    overrides = {"servers": servers, "clients": clients}
    return profile.get("quick", overrides | {"warmup_s": WARMUP_S, "duration_s": DURATION_S})


def _checked_qps(status: str, qps: float) -> float:
    if not is_good(status):
        raise LabError(
            "A run failed, so there is nothing to compare",
            found=status,
            expected="a run without errors",
            next_step="Try again; if it fails again, see the logs in the cluster's folder.",
        )
    return float(qps)
