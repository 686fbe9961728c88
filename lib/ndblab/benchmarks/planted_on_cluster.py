"""Comparisons of planted truths on a real cluster, and of equal twins.

The truth is planted by CPU quotas: MySQL servers and clients together may use a share of the CPUs,
of which one side has a known part less, while the data nodes have plenty. Queries take the same CPU
time on both sides, so throughput differs by that part. Each comparison is measured and judged as
`./lab compare` does, and is one line of a file; a run that is cut goes on after it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import io
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab import dataset, install
from ndblab.benchmarks import planted
from ndblab.benchmarks.commands import PORT
from ndblab.benchmarks.trials import EQUAL, OF_TWINS, PLANTED, Trials
from ndblab.cluster import start_stop
from ndblab.comparing import answer, choice, judged, knobs, made, sides
from ndblab.comparing.choice import Choice
from ndblab.design import time_needed
from ndblab.design.contrast import TWINS, Contrast
from ndblab.design.variant import NO_QUOTAS, Variant
from ndblab.error import LabError
from ndblab.formatting import count, duration
from ndblab.machine import host
from ndblab.measuring import blocks, feasible, manifest
from ndblab.measuring.clusters import Clusters
from ndblab.measuring.deciding.board import Board
from ndblab.measuring.deciding.loop import Loop
from ndblab.planning.point import DEFAULT_VARIANT, DEFAULT_WORKLOAD

if TYPE_CHECKING:
    from ndblab.benchmarks.row import Row
    from ndblab.design.experiment import Experiment
    from ndblab.install import Binaries
    from ndblab.machine.host import Host
    from ndblab.planning.deployment import Plan
    from ndblab.planning.profile import Profile

FILE = manifest.ROOT / "out/bench/compare.csv"
TRUTHS = (0.95, 1.05)
"""True ratios of B over A, planted in turn."""
SHARE = 0.5
"""Of all CPUs, what MySQL servers and clients together have on the faster side. Data nodes need a
third of that (0.23 of the CPU time of a point read is theirs), so they never limit."""
MINUTES, ATTEMPTS = 3, 3
_WHOLE, _SAME = "whole", "same"
_SPLIT = ("data_nodes=25%", "data_nodes=50%")
"""How CPUs are divided is compared by the design that suits quotas."""


@dataclass(frozen=True)
class Bench:
    """What is measured on: one design, its clusters, and the host."""

    experiment: Experiment
    size: Profile
    plans: Mapping[str, Plan]
    machine: Host
    binaries: Binaries

    @property
    def contrast(self) -> Contrast:
        """The comparison as `./lab compare` would make it."""
        [contrast] = self.experiment.contrasts(self.experiment, self.size, None)
        return contrast

    @property
    def block_s(self) -> float:
        """Expected seconds of a block."""
        return time_needed.block_s(self.contrast, self.experiment, self.size)

    @contextlib.contextmanager
    def writer(self) -> Iterator[dataset.Writer]:
        """Open a dataset that is removed afterwards."""
        described, identity = manifest.describe(
            self.experiment, self.size, "auto", self.machine, self.binaries
        )
        with (
            tempfile.TemporaryDirectory(prefix="ndblab-bench-") as scratch,
            dataset.Writer.open(scratch, made.NAME, identity, described) as writer,
        ):
            yield writer

    @contextlib.contextmanager
    def clusters(self) -> Iterator[Clusters]:
        """Give its clusters, none of which runs yet; all are stopped afterwards."""
        with (
            self.writer() as writer,
            contextlib.closing(
                Clusters(self.experiment, self.size, self.plans, self.binaries, writer, False)
            ) as clusters,
        ):
            yield clusters


def real(number: int, limit_min: int = MINUTES, file: Path = FILE) -> list[Row]:
    """Make so many planted comparisons, of equal sides, and of equal twins; those in a file count.

    Parameters
    ----------
    limit_min : minutes after which a comparison is left open.

    Raises
    ------
    LabError
        If the host cannot limit CPUs, or clusters fail several times in a row; the file has all
        comparisons until then.
    """
    machine, binaries = host.read(), install.ensure()
    in_turn, twins = _in_turn(machine, binaries), _of_twins(machine, binaries)
    feasible.check(machine, *in_turn.plans.values())
    trials = Trials(file, machine.describe(), binaries.ndb_version, limit_min)
    todo = {kind: trials.missing(kind, number) for kind in (PLANTED, EQUAL, OF_TWINS)}
    if no_twins := _no_twins(twins):
        _say(f"no equal twins: {no_twins}")
        todo[OF_TWINS] = range(0)
    _say(f"{_expected(todo, limit_min, in_turn, twins)}; each is in {file} at once")
    order = sorted((each, kind) for kind in (PLANTED, EQUAL) for each in todo[kind])
    if order:
        with in_turn.clusters() as clusters:
            for each, kind in order:
                one = functools.partial(_compare, in_turn, kind, each, limit_min)
                trials.append(_tried(one, clusters))
    if todo[OF_TWINS]:
        with twins.clusters() as clusters:
            for each in todo[OF_TWINS]:
                trials.append(_tried(functools.partial(_start_twins, twins, each), clusters))
    return trials.table()


def _in_turn(machine: Host, binaries: Binaries) -> Bench:
    """Return what compares CPU quotas, by the design that `./lab compare` chooses for them."""
    variants = [Variant(quotas=NO_QUOTAS), Variant(_SAME, quotas=NO_QUOTAS), _limited(_WHOLE, 1.0)]
    # Neither side has more than the whole share, so that data nodes always have the rest.
    variants += [_limited(_limited_for(truth), min(truth, 1 / truth)) for truth in TRUTHS]
    chosen = choice.choose(sides.parse(_SPLIT), one_load=True)
    return _bench(chosen, variants, "scaled", machine, binaries)


def _of_twins(machine: Host, binaries: Binaries) -> Bench:
    """Return what compares two clusters that are equal."""
    variants = [Variant(), Variant(made.B_VARIANT)]
    return _bench(Choice(TWINS, knobs.SYSTEM, ()), variants, "shared", machine, binaries)


def _limited_for(truth: float) -> str:
    return f"limited-{round(100 * truth)}"


def _limited(name: str, part: float) -> Variant:
    return Variant(name, quotas={**NO_QUOTAS, "sql": SHARE * part})


def _bench(
    chosen: Choice, variants: list[Variant], budget: str, machine: Host, binaries: Binaries
) -> Bench:
    parsed = sides.parse(_SPLIT)
    load = made.load(parsed, DEFAULT_WORKLOAD, 1, None, machine.usable_cpus)
    first = made.point(parsed, "a", load)
    experiment = dataclasses.replace(
        made.experiment(parsed, chosen, load), grid=lambda made, size: (first,),
        variants=tuple(variants), budget=budget, asked={},
    )  # fmt: skip
    size = experiment.size("quick", {"servers": [load.servers], "clients": [load.clients]})
    places = start_stop.places(start_stop.home(), PORT)
    plans = experiment.plans(size, "auto", machine, places)
    return Bench(experiment, size, plans, machine, binaries)


def _no_twins(bench: Bench) -> str:
    """Return why this host has no room for two clusters; empty if it has."""
    plan = bench.plans[DEFAULT_VARIANT]
    free = feasible.disk_free_bytes(plan)
    return choice.no_twins(bench.machine, (plan, plan), ((), ()), free)


def _compare(
    bench: Bench, kind: str, number: int, limit_min: int, clusters: Clusters
) -> dict[str, object]:
    """Make one comparison on the running cluster, until it is decided or the time is over."""
    truth, variants = planted.EQUAL, (DEFAULT_VARIANT, _SAME)
    if kind == PLANTED:
        truth = TRUTHS[number % len(TRUTHS)]
        limited = _limited_for(truth)
        variants = (_WHOLE, limited) if truth < 1 else (limited, _WHOLE)
    contrast = _between(bench.contrast, *variants)
    clusters.ready(contrast.a.point)
    until_s = time.monotonic() + 60 * limit_min
    with bench.writer() as writer:
        Loop(
            (contrast,),
            writer,
            lambda of, block: blocks.measure(of, block, clusters, writer, number, _say),
            judged.findings,
            {contrast.name: bench.block_s},
            Board((contrast,), judged.claims(), io.StringIO()),
        ).decide(until_s)
        return _line(kind, number, contrast.design, truth, writer.snapshot())


def _between(contrast: Contrast, a: str, b: str) -> Contrast:
    """Return a comparison of the same loads between two variants."""
    assert contrast.b
    first, second = (
        dataclasses.replace(side, point=dataclasses.replace(side.point, variant=variant))
        for side, variant in ((contrast.a, a), (contrast.b, b))
    )
    return dataclasses.replace(contrast, a=first, b=second)


def _start_twins(bench: Bench, number: int, clusters: Clusters) -> dict[str, object]:
    """Start two equal clusters at the same moment, and compare them in one block."""
    with bench.writer() as writer:
        blocks.measure(bench.contrast, number, clusters, writer, bench.size.seed, _say)
        return _line(OF_TWINS, number, TWINS, planted.EQUAL, writer.snapshot())


def _line(
    kind: str, number: int, design: str, truth: float, data: dataset.Dataset
) -> dict[str, object]:
    """Judge a comparison, say how it went, and return its line; LabError without a block."""
    found = judged.judge(data)
    if not found.blocks:
        status = data.slices["status"].astype(str)
        raise LabError(
            "A comparison has no whole block",
            found=status.iloc[-1] if len(status) else "no slice",
            expected="a host that nothing else uses",
            next_step="Type the same command again: it goes on.",
        )
    logs = judged.blocks(data)[0]
    text = answer.headline(found)
    if kind == OF_TWINS:
        text = f"B over A {found.throughput.value:.4f}."
    _say(f"{kind} {number}, true ratio {truth:g}: {text} {found.minutes:.1f} min")
    value, low, high = found.throughput
    return {
        "kind": kind, "number": number, "design": design, "truth": truth,
        "outcome": found.outcome, "ratio": value, "low": low, "high": high,
        "cpu_ratio": found.cpu.value, "blocks": found.blocks, "minutes": round(found.minutes, 2),
        "logs": " ".join(f"{log:.5f}" for log in logs),
    }  # fmt: skip


def _tried(measure: Callable[[Clusters], dict[str, object]], clusters: Clusters) -> dict:
    """Measure, anew with other clusters where it fails, but not for ever."""
    for _ in range(ATTEMPTS - 1):
        try:
            return measure(clusters)
        except LabError as error:
            clusters.close()
            _say(f"{error}\nIt is tried again.")
    return measure(clusters)


def _expected(todo: Mapping[str, range], limit_min: int, in_turn: Bench, twins: Bench) -> str:
    """Say how much is to be measured, and how long it takes at most."""
    compared, starts = len(todo[PLANTED]) + len(todo[EQUAL]), len(todo[OF_TWINS])
    start_s = time_needed.start_s(in_turn.experiment, in_turn.size) if compared else 0.0
    seconds = start_s + compared * 60 * limit_min + starts * twins.block_s
    return (
        f"{count(compared, 'comparison')} and {count(starts, 'start')} of equal twins to go, "
        f"{duration(seconds)} at most"
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
