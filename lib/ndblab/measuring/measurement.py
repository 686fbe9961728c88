"""A measurement, from this host to a dataset: plan, install, clusters, sweep, contrasts.

It resumes an interrupted measurement, and continues a complete one on request.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ndblab.design import time_needed
from ndblab.design.experiment import Experiment
from ndblab.formatting import count, duration
from ndblab.machine import host
from ndblab.measuring import feasible, manifest, performing
from ndblab.measuring.deciding import Judging, disturbed
from ndblab.measuring.manifest import ROOT
from ndblab.measuring.request import Request
from ndblab.planning.deployment import Plan
from ndblab.planning.point import DEFAULT_VARIANT

if TYPE_CHECKING:
    from ndblab import dataset as datasets
    from ndblab.hosts import connected
    from ndblab.measuring.clusters import Clusters
    from ndblab.planning.profile import Profile

RUNS = ROOT / "data/runs"
RECORDED = ROOT / "data/recorded"


def plan_for(
    experiment: Experiment, size: Profile, budget: str, port: int | str | None = None
) -> tuple[host.Host, Plan]:
    """Plan the cluster of an experiment's default variant on this host."""
    from ndblab.cluster import start_stop

    machine = host.read()
    places = start_stop.places(start_stop.home(), port)
    return machine, experiment.plans(size, budget, machine, places)[DEFAULT_VARIANT]


def measure(experiment: Experiment, request: Request) -> datasets.Dataset:
    """Measure an experiment on this host, resuming an interrupted measurement.

    LabError if the measurement is impossible here, or a cluster fails during it; completed runs are
    saved.
    """
    if request.hosts is None and not experiment.hosts:
        return _measure(experiment, request)
    from ndblab import install
    from ndblab.hosts import connected, roles

    given = request.hosts or roles.NAMESPACES
    connected.refuse_unsuitable(experiment, given)
    binaries = install.ensure(progress=request.progress)
    plain = request.insecure_network or request.hosts is None
    with connected.opened(given, binaries, experiment.hosts, plain) as there:
        return _measure(experiment, request, there)


def _measure(
    experiment: Experiment, request: Request, there: connected.Connected | None = None
) -> datasets.Dataset:
    """Measure on this host, or over the hosts that are connected."""
    from ndblab import install
    from ndblab.install.engines import both
    from ndblab.measuring.clusters import Clusters

    engines, progress = request.engines, request.progress
    experiment.check_engines(engines)
    wanted = experiment.size(request.size, request.overrides)
    machine = there.data_host if there else host.read()
    plans = _plans(experiment, request, wanted, machine, there)
    plan = plans[DEFAULT_VARIANT]
    _announce(experiment, request, wanted, plan, (there or machine).describe())
    named = both(engines, progress) if engines else (install.ensure(progress=progress), None)
    binaries, second = named

    described, identity = manifest.describe(
        experiment, wanted, request.budget, machine, binaries, request.overrides, second,
        there and there.hosts,
    )  # fmt: skip
    if there:
        described["hosts"] = there.to_dict()
        described["namespaces"] = there.network is not None
        described["links_encrypted"] = plan.tls

    def clusters_of(writer: datasets.Writer) -> Clusters:
        return Clusters(
            experiment, wanted, plans, binaries, writer, progress, second,
            there.sites if there else {}, machine, there and there.network,
        )  # fmt: skip

    return carry_out(experiment, request, wanted, described, identity, clusters_of)


def _plans(
    experiment: Experiment,
    request: Request,
    wanted: Profile,
    machine: host.Host,
    there: connected.Connected | None,
) -> Mapping[str, Plan]:
    """Plan the cluster of each variant, and refuse those that its hosts cannot run."""
    from ndblab.cluster import start_stop

    places = start_stop.places(start_stop.home(), request.port)
    plans = experiment.plans(wanted, request.budget, machine, places, there and there.hosts)
    if there is None:
        feasible.check(machine, *plans.values(), engines=request.engines)
        return plans
    there.check(*plans.values())
    # Namespaces share the memory of this machine.
    for plan in plans.values() if there.network else ():
        feasible.check_size(host.read(), plan)
    return plans


def _announce(
    experiment: Experiment, request: Request, wanted: Profile, plan: Plan, where: str
) -> None:
    """Say what is measured, where, for how long, and what must be installed first."""
    from ndblab import install

    request.say(f"{experiment.name}: {experiment.question}")
    request.say(where)
    request.say(expected(experiment, wanted, request.minutes))
    request.say(f"budget {plan.budget.kind}: {plan.budget.reason}")
    if wanted.repeats == 1 and len(experiment.sweep(wanted)) > 1 and not experiment.contrasts:
        request.say("verdicts need at least two repeats: --repeats 2")
    if request.engines is None and install.find() is None:
        more = duration(install.usual_s())
        request.say(f"one-time install of NDB Cluster and sysbench: about {more} more")


def carry_out(
    experiment: Experiment,
    request: Request,
    wanted: Profile,
    described: Mapping[str, object],
    identity: Mapping[str, object],
    clusters_of: Callable[[datasets.Writer], Clusters],
) -> datasets.Dataset:
    """Measure what was described, on the clusters that `clusters_of` gives for its dataset."""
    from ndblab import dataset as datasets
    from ndblab.measuring.deciding import contrasts
    from ndblab.measuring.measured_run import now_utc

    minutes, progress = request.minutes, request.progress
    todo, sweep_s = experiment.sweep(wanted), time_needed.sweep_s(experiment, wanted)
    limit_s = limit_of_s(experiment, wanted, minutes)
    began_s = time.monotonic()
    known = None if request.again else datasets.complete(RUNS, experiment.name, identity)
    judging = request.judging or contrasts.published(experiment, request.command(experiment))
    if known:
        data = datasets.read(known)
        left = _left_to_do(data, judging)
        if minutes is None or not left:
            decided = ", and no claim waits for more" if minutes else ""
            request.say(f"already measured{decided} (--again repeats it): {known.name}")
            return data
        request.say(f"going on with {left} for {minutes} min: {known.name}")
    opened = (
        datasets.Writer.reopen(known, described)
        if known
        else datasets.Writer.open(RUNS, experiment.name, identity, described, RECORDED)
    )
    with opened as writer, contextlib.closing(clusters_of(writer)) as clusters:
        again_ids = []
        if known:
            # No more than fit the time: minutes are not enough to repeat an hour.
            fit = math.floor(limit_s * len(todo) / sweep_s)
            again_ids = disturbed.runs(writer.snapshot().runs, writer.manifest)[:fit]
        if not known or again_ids:
            performing.perform(todo, clusters, progress, again_ids)
        if not known and "swept_utc" not in writer.manifest:
            writer.note(swept_utc=now_utc())
        if experiment.contrasts:
            until_s = None if _once(wanted, minutes) else began_s + limit_s
            contrasts.decide(clusters, judging, until_s, progress)
        clusters.close()
        return writer.finish()


def _left_to_do(data: datasets.Dataset, judging: Judging) -> str:
    """Say what is left to measure for a complete dataset; empty if nothing is."""
    from ndblab.measuring.deciding import contrasts

    spoilt = disturbed.described(data, contrasts.noted(data.manifest))
    first = f"the {spoilt} that others on the host disturbed" if spoilt else ""
    then = "its open claims" if contrasts.is_open(data, judging) else ""
    return ", then with ".join(filter(None, (first, then)))


def limit_of_s(experiment: Experiment, wanted: Profile, minutes: int | None) -> float:
    """Return the seconds after which a measurement ends even if claims are open."""
    sweep_s = time_needed.sweep_s(experiment, wanted)
    own_s = time_needed.own_s(experiment, wanted)
    return 60 * minutes if minutes else time_needed.limit_s(sweep_s, wanted, own_s)


def expected(experiment: Experiment, wanted: Profile, minutes: int | None) -> str:
    """Say how much is to be measured, and how long it takes."""
    sweep_s = time_needed.sweep_s(experiment, wanted)
    limit_s = limit_of_s(experiment, wanted, minutes)
    words = f"{count(len(experiment.sweep(wanted)), 'run')}, about {duration(sweep_s)}"
    if experiment.contrasts and _once(wanted, minutes):
        return words + "; then a block of each contrast"
    if experiment.contrasts and limit_s > sweep_s:
        words += f"; then contrasts until all claims are decided, {duration(limit_s)} at most"
    return words


def _once(wanted: Profile, minutes: int | None) -> bool:
    """Return whether each contrast gets a single block."""
    return wanted.name == "smoke" and not minutes
