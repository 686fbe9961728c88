"""What one more MySQL server costs, in words: each finding with its consequence, none a verdict."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence

import pandas as pd

from ndblab.dataset import Dataset
from ndblab.error import MissingData
from ndblab.experiments.costs import analysis
from ndblab.experiments.costs.experiment import AT_EACH, AT_TOTAL, FALLING, RISING
from ndblab.formatting import change, count, less_or_more, listed, plain
from ndblab.judging.answers import answers
from ndblab.judging.clauses import Advice, Disagreement, held, within_one_start
from ndblab.statistics.estimate import Estimate

_MOST_BUSY_PCT = 90
"""Percent of the host's CPUs: with so many busy on average, no whole CPU of ten is unused."""

_MUCH = ("fewer queries than", "more queries than")


@answers("costs")
def findings(dataset: Dataset, table: pd.DataFrame) -> Sequence[str]:
    """Say what one more server costs, at work and idle, and where one server stops gaining."""
    said: list[str] = []
    for say in (_more_servers, _parts, _idle, _published, _turning, _past):
        with contextlib.suppress(MissingData):
            said += say(dataset)
    if not said:
        raise MissingData("no contrast was measured, and no curve of one server")
    return said


def _more_servers(data: Dataset) -> Iterator[str]:
    """Say what the most servers do to the cost of a query and to throughput."""
    said = ""
    load = "point selects, {}" + " and undivided CPUs" * (data.budget == "shared")
    for name in (AT_TOTAL, AT_EACH):
        with contextlib.suppress(MissingData):
            ratios = analysis.ratios(data.slices, data.processes, name)
            cost, qps = ratios[analysis.ALL], ratios["qps"]
            means = _consequence(cost, qps)
            more, _, clients = analysis.sides(data.slices, name).partition(", ")
            servers, _, fewer = more.partition(" instead of ")
            than = "one" if fewer == "1" else fewer
            did = less_or_more(*qps, *(f"{much} {than}" for much in _MUCH))
            where = f"with {load.format(clients.removesuffix(' in all'))}, {servers}"
            consequence = "" if means in ("", said) else f". {means}"
            finding = held(f"{where} did {did}", data, name)
            yield from _with_cost(finding, where, _changed(cost, "CPU"), consequence)
            load = "{}"
            said = said if isinstance(finding, Disagreement) else means


def _with_cost(finding: str, where: str, cost: str, consequence: str) -> Iterator[str]:
    """Say what throughput did and what a query cost; apart where recordings disagree on one."""
    if isinstance(finding, Disagreement):
        yield finding
        yield f"{where}: a query took {cost}"
    else:
        yield f"{finding}. A query took {cost}{consequence}"


def _consequence(cost: Estimate, qps: Estimate) -> str:
    """Say what both changes mean; nothing where both are losses and speak for themselves."""
    if cost.low > 1 and qps.low > 1:
        return "So more servers raise throughput, at a price in CPU"
    if cost.low > 1 and qps.high < 1:
        return ""
    if cost.low > 1:
        return "So more servers use more CPU without a clear gain"
    return "So more servers save CPU" if cost.high < 1 else "Whether more servers cost CPU is open"


def _changed(ratio: Estimate, of: str) -> str:
    if ratio.value >= 2:
        return f"{change(*ratio)} the {of}"
    return less_or_more(*ratio, f"less {of}", f"more {of}")


def _parts(data: Dataset) -> Iterator[str]:
    """Say in which process a query grows dearer, at equal clients each."""
    ratios = analysis.ratios(data.slices, data.processes, AT_EACH)
    changes = [f"{change(*ratios[column])} in {role}" for column, role in analysis.WORDS.items()]
    one = within_one_start(data.slices, AT_EACH)
    yield f"CPU per query by role: {changes[0]}{one}. Also {listed(changes[1:])}"
    if ratios[analysis.ALL].low > 1:
        yield Advice("Add MySQL servers only where CPUs are idle")


def _idle(data: Dataset) -> Iterator[str]:
    """Say what a server without clients costs."""
    idle = analysis.idle_server_pct(data.runs, data.processes)
    interval = f" ({plain(idle.low)} to {plain(idle.high)})" if idle.bounded else ""
    if idle.value > 0:
        yield (
            f"a server without clients uses {plain(idle.value)} % of a CPU{interval}: "
            f"{count(round(100 / idle.value), 'such server')} would use up one"
        )


def _published(data: Dataset) -> Iterator[str]:
    """Say how the cost in mysqld compares with that of the brief, at its number of clients."""
    theirs = analysis.published()
    runs = analysis.each_good_run(data.runs, data.processes)
    mine = runs[(runs["servers"] == theirs.servers) & (runs["clients"] == theirs.clients)]
    here = mine[analysis.SERVER].mean()
    if here == here:
        against = less_or_more(here / theirs.value, math.nan, math.nan)
        yield (
            f"with {count(theirs.clients, 'client')} a query takes {plain(here)} "
            f"\N{MICRO SIGN}s of CPU in one mysqld, {against} than the published "
            f"{plain(theirs.value)}. The CPUs differ, so compare ratios only"
        )


def _turning(data: Dataset) -> Iterator[str]:
    """Say where the throughput of one server stops rising, and whether CPUs end it."""
    turn = analysis.turn(analysis.each_good_run(data.runs, data.processes))
    ended = (
        "this host's CPUs are the limit; the brief's host had CPUs left"
        if turn.busy_pct >= _MOST_BUSY_PCT
        else "CPUs are left, so more servers may use them"
    )
    yield (
        f"{turn.words} (published: 32 clients, "
        f"{analysis.published_per_cpu():.1f} for each CPU that mysqld used). With "
        f"{count(turn.clients, 'client')}, {turn.busy_pct:.0f} % of all CPUs are busy, so {ended}"
    )


def _past(data: Dataset) -> Iterator[str]:
    """Say what more clients gain on one server, before and after its throughput turns."""
    for name in (RISING, FALLING):
        with contextlib.suppress(MissingData):
            ratios = analysis.ratios(data.slices, data.processes, name)
            qps, cost = ratios["qps"], ratios[analysis.SERVER]
            where = f"one server, {analysis.sides(data.slices, name)}"
            finding = held(f"{where}: {_changed(qps, 'throughput')}", data, name)
            cost_text = _changed(cost, "CPU of mysqld")
            yield from _with_cost(finding, where, cost_text, f". {_advice(qps)}")


def _advice(qps: Estimate) -> str:
    if not qps.bounded:
        return "What more clients gain is open"
    if qps.low > 1:
        return "Load a server with more clients before you add one"
    return "Limit clients by a pool" if qps.high < 1 else "More clients change nothing clearly"
