"""Comparisons of planted truths on a real cluster, and of equal twins.

Each comparison is measured and judged as by `./lab compare`, and is one line of a file; an
interrupted run resumes after the last line.
"""

from __future__ import annotations

import functools
import io
import itertools
import sys
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ndblab import dataset, install
from ndblab.benchmarks import planted
from ndblab.benchmarks.planted import KINDS, TRUTHS, Bench
from ndblab.benchmarks.trials import FILE, OF_TWINS, PLANTED, SAME, Trials, limit_min
from ndblab.comparing import answer, choice, judged
from ndblab.design.contrast import SWITCHED, TWINS, Contrast
from ndblab.error import LabError
from ndblab.formatting import count, duration
from ndblab.machine import host
from ndblab.measuring import blocks, feasible
from ndblab.measuring.clusters import Clusters
from ndblab.measuring.deciding.board import Board
from ndblab.measuring.deciding.loop import Loop
from ndblab.planning.point import DEFAULT_VARIANT

if TYPE_CHECKING:
    from pathlib import Path

    from ndblab.benchmarks.row import Row

ATTEMPTS, BATCH = 3, 5
"""Tries of a comparison that fails, and comparisons of one design in a row."""


def real(number: int, file: Path = FILE) -> list[Row]:
    """Make so many comparisons of each kind, planted and equal, by each design.

    Those already in the file count. LabError if the host cannot limit CPUs, or clusters fail
    several times in a row; the file has all comparisons made until then.
    """
    machine, binaries = host.read(), install.ensure()
    benches = {pair: planted.bench(*pair, machine, binaries) for pair in KINDS}
    feasible.check(machine, *benches[PLANTED, SWITCHED].plans.values())
    trials = Trials(file, machine.describe(), binaries.ndb_version)
    plan = benches[OF_TWINS, TWINS].plans[DEFAULT_VARIANT]
    free = feasible.disk_free_bytes(plan)
    no_twins = choice.no_twins(machine, (plan, plan), ((), ()), free)
    if no_twins:
        _say(f"no twins: {no_twins}")
    todo = [
        (nth, *pair)
        for pair in KINDS
        if not (no_twins and TWINS in pair)
        for nth in trials.missing(*pair, number)
    ]
    _say(f"{_expected(todo, benches)}; each is in {file} at once")
    todo.sort(key=lambda entry: ((entry[0] - 1) // BATCH, KINDS.index(entry[1:]), entry[0]))
    for pair, several in itertools.groupby(todo, key=lambda entry: entry[1:]):
        with benches[pair].clusters() as clusters:
            for nth, kind, _ in several:
                compared = functools.partial(_compare, benches[pair], kind, nth)
                trials.append(_tried(compared, clusters))
    return trials.table()


def _compare(bench: Bench, kind: str, number: int, clusters: Clusters) -> dict[str, object]:
    """Make one comparison, until it is decided or its time is over; one block for equal twins."""
    truth = TRUTHS[number % len(TRUTHS)] if kind == PLANTED else SAME
    contrast = bench.between(truth, 1)
    if contrast.design != TWINS:
        clusters.ready(contrast.a.point)
    with bench.writer() as writer:

        def measure(_: Contrast, block: int) -> str:
            # The number of a block decides the places of twins and servers.
            own = number if kind == OF_TWINS else block
            mine = bench.between(truth, own)
            return blocks.measure(mine, own, clusters, writer, number, _say)

        if kind == OF_TWINS:
            measure(contrast, 1)
        else:
            seconds = {contrast.name: bench.block_s}
            board = Board((contrast,), judged.claims(), io.StringIO())
            loop = Loop((contrast,), writer, measure, judged.findings, seconds, board)
            loop.decide(time.monotonic() + 60 * limit_min(kind, contrast.design))
        return _line(kind, number, contrast.design, truth, writer.snapshot())


def _line(
    kind: str, number: int, design: str, truth: float, data: dataset.Dataset
) -> dict[str, object]:
    """Judge a comparison, say how it went, and return its line; LabError without a block."""
    result = judged.judge(data)
    if not result.blocks:
        status = data.slices["status"].astype(str)
        raise LabError(
            "A comparison has no whole block",
            found=status.iloc[-1] if len(status) else "no slice",
            expected="a host that nothing else uses",
            next_step="Type the same command again: it goes on.",
        )
    halves = judged.block_logs(data.slices, "qps")
    logs = ("/".join(f"{log:.5f}" for log in block) for block in halves)
    text = answer.headline(result)
    if kind == OF_TWINS:
        text = f"B over A {result.throughput.value:.4f}."
    _say(f"{kind} {number}, {design}, true ratio {truth:g}: {text} {result.minutes:.1f} min")
    value, low, high = result.throughput
    return {
        "kind": kind, "number": number, "design": design, "truth": truth,
        "outcome": result.outcome, "ratio": value, "low": low, "high": high,
        "cpu_ratio": result.cpu.value, "blocks": result.blocks, "minutes": round(result.minutes, 2),
        "logs": " ".join(logs),
    }  # fmt: skip


def _tried(measure: Callable[[Clusters], dict[str, object]], clusters: Clusters) -> dict:
    """Measure; after a failure, try again with new clusters, up to `ATTEMPTS` times in all."""
    for _ in range(ATTEMPTS - 1):
        try:
            return measure(clusters)
        except LabError as error:
            clusters.close()
            _say(f"{error}\nIt is tried again.")
    return measure(clusters)


def _expected(todo: list[tuple[int, str, str]], benches: Mapping[tuple[str, str], Bench]) -> str:
    """Say how much is to be measured, and how long it takes at most."""
    seconds = 0.0
    for _, kind, design in todo:
        one_start = kind == OF_TWINS
        seconds += benches[kind, design].block_s if one_start else 60 * limit_min(kind, design)
    return f"{count(len(todo), 'comparison')} to go, {duration(seconds)} at most"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
