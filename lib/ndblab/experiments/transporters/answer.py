"""What shared memory gains over TCP, and what TLS costs, in words."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pandas as pd

from ndblab.dataset import Dataset
from ndblab.error import MissingData
from ndblab.formatting import change, count, less_or_more, listed, moved
from ndblab.judging.answers import answers
from ndblab.judging.clauses import Advice, Answer, Clause, Disagreement, compose, held
from ndblab.judging.verdict import INCONCLUSIVE, NOT_TESTABLE, ONE_START, TOGETHER
from ndblab.statistics import contrasts, ratio_tables
from ndblab.statistics.estimate import Estimate


@answers("shm-vs-tcp")
def gain(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say what shared memory gains over TCP, and what spinning adds."""
    return [
        *_over_tcp(dataset, table),
        Clause(
            "T-shm-gain",
            "with point selects, shared memory raised throughput by {value_gain_pct} over TCP "
            "{interval_gain_pct}",
            "with point selects, shared memory changed throughput by {change} against TCP, where "
            f"{_said(table, 'T-shm-gain')} is published",
            "whether shared memory gains the published "
            f"{_said(table, 'T-shm-gain')} over TCP with point selects",
        ),
        *_some_gain(table),
        Clause(
            "T-top",
            "at the top of OLTP read-write, shared memory raised throughput by {value_gain_pct} "
            "{interval_gain_pct}",
            "at the top of OLTP read-write, shared memory changed throughput by {change} against "
            f"TCP, where {_said(table, 'T-top')} is published",
            "the gain at the top of OLTP read-write",
        ),
        *_cpu_per_query(dataset, "reads-best", "a point select over shared memory"),
        *_cpu_per_query(dataset, "writes-top", "a read-write query over shared memory"),
        Clause(
            "T-low",
            "with 1 and 2 clients, both are alike",
            "with 1 and 2 clients, shared memory changed throughput by {change}",
            "whether both are alike with 1 and 2 clients",
        ),
        Clause(
            "T-high",
            "with very many clients, shared memory raised throughput by {value_gain_pct} "
            "{interval_gain_pct}",
            "with very many clients, shared memory changed throughput by only {change}",
            "very many clients",
        ),
        *_spinning(dataset, table),
        Clause(
            "T-spin-low",
            "with few clients, spinning changed throughput by {change}",
            "with few clients, spinning changed throughput by {change}",
            "spinning",
        ),
    ]


_READS_AND_WRITES = {
    "reads-best": ("T-shm-gain", "point selects"),
    "writes-top": ("T-top", "OLTP read-write"),
}
"""The claim and the load of each contrast of shared memory with TCP."""
_SPINNING = {
    "shm-spin": "spinning transporters",
    "all-spin": "spinning transporters, tc and ldm threads",
}


def _said(table: pd.DataFrame, claim: str) -> str:
    """Return a published gain in words: "+20 %" for 1.2 times."""
    published = table.loc[table["id"] == claim, "published"]
    return ", ".join(f"{100 * (float(times) - 1):+.0f} %" for times in published)


def _over_tcp(dataset: Dataset, table: pd.DataFrame) -> Iterator[str]:
    """Say what shared memory did where quotas rule out the claims on it."""
    untestable = set(table.loc[table["verdict"] == NOT_TESTABLE, "id"])
    ratios = {name: contrasts.measured_ratio(dataset.slices, name) for name in _READS_AND_WRITES}
    changes = [
        f"{change(*ratios[name])} in {load}"
        for name, (claim, load) in _READS_AND_WRITES.items()
        if claim in untestable and not math.isnan(ratios[name].value)
    ]
    if changes and dataset.budget == "scaled":
        where = "under CPU quotas"
        yield f"{where}, which limit both transporters, the gain of shared memory is not measurable"
        yield f"{where}, the change against TCP was {listed(changes)}"


def _some_gain(table: pd.DataFrame) -> Iterator[str]:
    """Say that shared memory gains something where only its size is open."""
    gains = (table["id"] == "T-shm-gain") & (table["verdict"] == INCONCLUSIVE) & (table["low"] > 1)
    for row in table[gains & ~table["reason"].str.contains(ONE_START)].itertuples():
        gained = change(row.measured, row.low, row.high)[:-1]
        pooled = ", together" * str(row.reason).startswith(TOGETHER)
        size = "by how much is open"
        yield f"with point selects, shared memory gains over TCP; {size}: {gained}{pooled})"
        yield Advice("Leave UseShm on where MySQL servers share a host with data nodes")


def _cpu_per_query(dataset: Dataset, contrast: str, query: str) -> Iterator[str]:
    """Say by how much the CPU time per query of servers and data nodes differs, where it does.

    Nothing is said where the newest recording has unequal clients: CPU per query changes with them
    over any transporter. Earlier recordings of that kind do not count.

    Parameters
    ----------
    query : what it is, and on which side.
    """
    clients, *others = _clients(dataset, contrast)
    if others:
        return
    earlier = tuple(one for one in dataset.earlier if len(_clients(one, contrast)) == 1)
    alike = replace(dataset, earlier=earlier)
    for role in ("mysqld", "ndbmtd"):
        ratio_of = functools.partial(_cpu_ratio, contrast, role)
        with contextlib.suppress(MissingData):
            ratio = ratio_of(alike)
            if ratio.low > 1 or ratio.high < 1:
                did = less_or_more(*ratio, f"less CPU in {role}", f"more CPU in {role}")
                said = f"with {count(clients, 'client')}, {query} took {did}"
                yield held(said, alike, contrast, ratio_of=ratio_of)


def _clients(dataset: Dataset, contrast: str) -> list[int]:
    """Return the numbers of clients of a contrast's sides: one if they are equal; 0 if unknown."""
    mine = dataset.slices[dataset.slices["contrast"].astype(str) == contrast]
    return sorted(mine["clients"].astype(int).unique()) or [0]


def _cpu_ratio(contrast: str, role: str, dataset: Dataset) -> Estimate:
    """Return the CPU time per query of a role in a contrast; MissingData if it is not known."""
    rows = ratio_tables.of_roles(dataset.slices, dataset.processes)
    for row in rows[(rows["contrast"] == contrast) & (rows["role"] == role)].itertuples():
        return Estimate(row.ratio, row.low, row.high)
    raise MissingData(f"no CPU of {role} in the contrast {contrast}")


def _spinning(dataset: Dataset, table: pd.DataFrame) -> Iterator[str]:
    """Say what spinning did where it had no CPUs of its own, so that its claim is ruled out."""
    if not (table.loc[table["id"] == "T-spin-low", "verdict"] == NOT_TESTABLE).all():
        return
    used = "the CPU quota" if dataset.budget == "scaled" else "CPUs that queries need"
    spun = pd.DataFrame(columns=["variant", "clients", "low", "high"])
    with contextlib.suppress(MissingData):
        spun = ratio_tables.variants(dataset.runs, list(_SPINNING), "oltp_read_write")
    fewest = spun.groupby("variant", sort=False).head(1)
    for row in fewest[(fewest["low"] > 1) | (fewest["high"] < 1)].itertuples():
        with_clients = f"with {count(row.clients, 'client')}, {_SPINNING[row.variant]}"
        did = moved(row.ratio, row.low, row.high, "throughput of OLTP read-write")
        cause = f", by construction: spinning uses up {used}" if row.high < 1 else ""
        yield f"{with_clients} {did}{cause}"
    if len(fewest) and (fewest["high"] < 1).all():
        yield Advice("Where CPUs are limited, leave spinning off: it uses up what queries need")


THROUGHPUTS = {
    "tls-best": "the best throughput",
    "tls-one": "the throughput with one client per server",
}
"""The throughput that each contrast compares, in words."""


@answers("tls")
def cost(dataset: Dataset, table: pd.DataFrame) -> Answer:
    """Say what TLS costs in throughput; it is certain if the interval excludes equality."""
    said: list[str] = []
    still_open: list[str] = []
    for name, throughput in THROUGHPUTS.items():
        ratio = contrasts.measured_ratio(dataset.slices, name)
        if math.isnan(ratio.value):
            still_open.append(f"what TLS does to {throughput}")
        elif not ratio.bounded:
            still_open.append(f"what TLS does to {throughput} ({change(*ratio)})")
        elif ratio.low <= 1 <= ratio.high:
            still_open.append(f"whether TLS changes {throughput} ({change(*ratio)})")
        else:
            of = f"{'of' if ratio.high < 1 else 'to'} {throughput}"
            did = "cost" if ratio.high < 1 else "added"
            did += f" {less_or_more(*ratio, of, of)}"
            said.append(held(f"TLS on NDB's links {did}", dataset, name))
            if ratio.high < 1 and not isinstance(said[-1], Disagreement):
                said.append(Advice("Where links leave the host, plan for the CPUs that TLS needs"))
    if not said:
        said = ["no source says what TLS costs on NDB's links, and no cost is certain here"]
    else:
        said += _cpu_per_query(dataset, "tls-best", "a query with TLS")
    return replace(compose(dict.fromkeys(said), table), open=tuple(still_open))
