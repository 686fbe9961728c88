"""Answers about throughput: one MySQL server, many servers, another split of threads."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from ndblab.dataset import Dataset
from ndblab.error import MissingData
from ndblab.experiments.scaling import allowed
from ndblab.experiments.scaling.checks.data_nodes import BRIEF_LISTED
from ndblab.formatting import count, less_or_more, listed, moved, plain
from ndblab.judging.answers import answers
from ndblab.judging.clauses import Advice, Clause, held, quotas
from ndblab.judging.evidence import Evidence
from ndblab.judging.verdict import BY_CONSTRUCTION, INCONCLUSIVE, RULED_OUT
from ndblab.statistics import contrasts, summary
from ndblab.statistics.estimate import Estimate


@answers("single-server-scaling")
def one_server(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say how far one server goes, and what does not matter to it."""
    best = _peak(dataset)
    low, high = best.qps_low, best.qps_high
    between = f" ({plain(low)} to {plain(high)})" if low < high else ""
    where, load = _of_threads(dataset), _planned(dataset, "load-1-k")
    many = load["a"]["point"]["clients"] if load else "many"
    rise = f"from 1 to {many} clients without quotas, the data nodes' CPU grew by"
    return [
        f"{quotas(dataset)}one MySQL server did at most {plain(best.qps_mean)} queries/s{between}"
        + _earlier_peaks(dataset),
        *_full(dataset, best),
        Clause(
            "F4-degrade",
            "past the peak, more clients cost {value_fall_pct} {interval_fall_pct}",
            "past the peak, more clients do not lower its throughput here ({change})",
            "whether more clients lower the throughput of one server",
        ),
        Clause(
            "F4-cpu-with-load",
            f"{rise} a factor {{value_fall_pct}} smaller than mysqld's {{interval_fall_pct}}",
            f"{rise} no smaller a factor than mysqld's ({{change}})",
            "whether the data nodes' CPU grows less than mysqld's with more clients",
        ),
        Clause(
            "F5-recv-busiest",
            f"{where}, a recv thread was the busiest NDB thread",
            f"{where}, no recv thread was the busiest NDB thread",
            "whether a recv thread is the busiest NDB thread",
        ),
        Clause(
            "B-sockets",
            f"{quotas(dataset)}clients on the same host over TCP/IP got {{value_fall_pct}} fewer "
            "queries/s than over Unix sockets {interval_fall_pct}",
            "clients on the same host over TCP/IP got no fewer queries/s than over Unix sockets "
            "({change})",
            "whether clients over TCP/IP get fewer queries/s than over Unix sockets",
        ),
        Clause(
            "B-redo",
            "the redo log does not matter to reads",
            "a small redo log changed the throughput of reads by {change}",
            "whether the redo log matters to reads",
        ),
        Clause(
            "B-row-bytes",
            "a row of sysbench takes {value} bytes of DataMemory",
            "a row of sysbench takes {value} bytes of DataMemory {interval}",
            "the memory of a row",
        ),
        *_memory(table),
    ]


@answers("multi-server-scaling")
def many_servers(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say what more servers and more clients gain."""
    past = _past(dataset)
    return [
        *_figure_6(dataset, table),
        Clause(
            "P-servers-1-2",
            "two servers instead of one raised throughput by {value_gain_pct} {interval_gain_pct}",
            "two servers instead of one raised throughput by {value_gain_pct} {interval_gain_pct}",
            "whether two servers do twice as much as one",
        ),
        Clause(
            "F6-double-servers",
            "while CPUs were left, each doubling of the servers raised throughput by at least "
            "{value_gain_pct} {interval_gain_pct}",
            "a doubling of the servers raised throughput by only {value_gain_pct} "
            "{interval_gain_pct}",
            "what doubling the servers gains",
        ),
        Clause(
            "F6-peak",
            "the most servers give the highest throughput while CPUs are left",
            "the most servers do not give the highest throughput here",
            "whether the most servers give the highest throughput where each has CPUs of its own",
        ),
        Clause(
            "F6-8-to-16",
            "16 servers instead of 8 changed throughput by {change}",
            "16 servers instead of 8 changed throughput by {change}",
            "what 16 servers gain over 8",
        ),
        Clause(
            "F6-overload",
            f"{past} fell by {{value_fall_pct}} {{interval_fall_pct}}",
            f"{past} did not fall",
            "whether more clients past the peak lower throughput",
        ),
        Clause(
            "F7-doubling",
            "p95 stays the same when servers and clients double ({change} at most)",
            "p95 changes by {change} when servers and clients double",
            "whether p95 stays the same when servers and clients double",
        ),
        Clause(
            "F9-tc-bottleneck",
            "at the peak, the tc threads are the busiest NDB threads",
            "at the peak, the tc threads are not the busiest NDB threads here",
            "whether the tc threads are the busiest NDB threads",
        ),
    ]


@answers("thread-balance")
def balance(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say which threads a data node chooses, and whether a balanced split gains anything."""
    chosen = "with NumCPUs=32 a data node starts {value} threads of the six published kinds"
    return [
        Clause(
            "F9-threads",
            f"{chosen}, as published",
            f"{chosen}, other than published",
            "which threads a data node starts with NumCPUs=32",
        ),
        Clause(
            "F9-next-step",
            "a balanced split of the NDB threads raised throughput by {value_gain_pct} "
            "{interval_gain_pct}",
            "a balanced split of the NDB threads gains nothing here ({change})",
            "whether a balanced split of the NDB threads raises a peak that tc threads limit",
        ),
        *_split(dataset, table),
    ]


_FULL = 0.95
"""Share of its CPU limit from which a server counts as being at the limit."""


def _earlier_peaks(dataset: Dataset) -> str:
    """Say what one server did at most in the earlier recordings."""
    peaks = [plain(_peak(recording).qps_mean) for recording in dataset.earlier]
    which = "an earlier recording" if len(peaks) == 1 else "earlier recordings"
    return f", and {listed(peaks)} in {which}" if peaks else ""


def _full(dataset: Dataset, best) -> Iterator[str]:
    """Say with how few clients one server used up its CPU limit, and what follows from it."""
    evidence = Evidence(dataset)
    quota_cpus = dataset.manifest["plan"]["servers"][0]["share"]["quota_cpus"]
    for clients in evidence.clients(int(best.servers)) if quota_cpus else ():
        with contextlib.suppress(MissingData):
            used_cpus = evidence.serving_cpu_pct(int(best.servers), clients).mean() / 100
            if clients <= best.clients and used_cpus > _FULL * quota_cpus:
                used_pct = min(100, 100 * used_cpus / quota_cpus)
                used = f"used {used_pct:.0f} % of its CPU quota"
                yield f"with {count(clients, 'client')} it already {used}"
                yield Advice(
                    "Once a MySQL server is at its CPU limit, give it CPUs, not more clients"
                )
                return
    # Nothing is known of more clients than were tried.
    if best.clients < summary.select(dataset.runs)["clients"].max():
        pool = count(int(best.clients), "client")
        yield Advice(f"Start with a pool of {pool} per server: more did not raise throughput here")


def _memory(table: pd.DataFrame) -> Iterator[Advice]:
    """Say what memory to plan for rows such as sysbench's, if it was measured."""
    decided = (table["id"] == "B-row-bytes") & ~table["verdict"].isin((*RULED_OUT, INCONCLUSIVE))
    for row in table[decided & table["measured"].notna()].itertuples():
        yield Advice(
            f"For rows like sysbench's, plan {plain(row.measured)} MB of DataMemory on each data "
            "node for each million rows that it stores"
        )


_LITTLE = 1.05
"""Gain up to which another split of threads is not worth setting."""


def _split(dataset: Dataset, table: pd.DataFrame) -> Iterator[str]:
    """Say what a split of threads with more tc threads did, if no claim says it.

    The newest recording with an interval counts. The automatic split is advised only if the other
    one is known to gain little.
    """
    said = (table["id"] == "F9-next-step") & ~table["verdict"].isin(RULED_OUT)
    for recording in (dataset, *reversed(dataset.earlier)):
        ratio = contrasts.measured_ratio(recording.slices, "balance")
        if not ratio.bounded:
            continue
        if not said.any():
            where = "on this host" if recording is dataset else "in an earlier recording"
            may_gain = ratio.low <= 1 and ratio.high >= _LITTLE
            is_open = ", so whether another split gains is open" if may_gain else ""
            yield f"{where}, a split with more tc threads {moved(*ratio, 'throughput')}{is_open}"
        if ratio.low <= 1 and ratio.high < _LITTLE:
            most = f"{100 * (_LITTLE - 1):.0f} %"
            yield Advice(
                "Set NumCPUs and leave the split of threads to the data node: another split gained "
                f"less than {most}"
            )
        return


def _figure_6(dataset: Dataset, table: pd.DataFrame) -> Iterator[str]:
    """Say what 16 servers gave against 8 in the sweep, and what quotas alone dictate for fewer.

    Under quotas 8 servers may already use all CPUs of the SQL side.
    """
    with contextlib.suppress(MissingData):
        ratio = _sixteen_over_eight(dataset)
        if ratio.bounded:
            than = "queries than 8" + " on the same CPUs" * (dataset.budget == "scaled")
            did = f"16 servers did {less_or_more(*ratio, f'fewer {than}', f'more {than}')}"
            said = f"{quotas(dataset)}{did}, at equal clients"
            yield held(said, dataset, ratio_of=_sixteen_over_eight)
            if ratio.high < 1:
                yield Advice("Add MySQL servers only where CPUs are idle")
    forced = (table["id"] == "F6-double-servers") & (table["verdict"] == BY_CONSTRUCTION)
    for row in table[forced].itertuples():
        more = less_or_more(row.measured, row.low, row.high, more="more queries")
        did = f"; these did at least {more}" if math.isfinite(row.measured) else ""
        forced_by = "quotas give twice the servers twice the CPU by construction"
        yield f"up to four servers, {forced_by}{did}"


def _sixteen_over_eight(data: Dataset) -> Estimate:
    return allowed.at_equal_clients(summary.select(data.runs), 16, 8)


def _past(dataset: Dataset) -> str:
    """Say past how many clients the most servers were given more."""
    contrast = _planned(dataset, "overload")
    if contrast is None:
        return "past the best number of clients, throughput of the most servers"
    point = contrast["b"]["point"]
    past = f"past {count(point['clients'], 'client')}, throughput of {point['servers']} servers"
    return quotas(dataset) + past


def _of_threads(dataset: Dataset) -> str:
    """Say where the claims on threads under one server are judged: never under quotas."""
    contrast = _planned(dataset, "recv")
    clients = f" and {count(contrast['a']['point']['clients'], 'client')}" if contrast else ""
    return f"without CPU quotas, with the brief's {BRIEF_LISTED} threads in a data node{clients}"


def _planned(dataset: Dataset, name: str) -> Mapping[str, Any] | None:
    planned = dataset.manifest.get("contrasts", ())
    return next((contrast for contrast in planned if contrast["name"] == name), None)


def _peak(dataset: Dataset):
    """Return the best point of the most servers."""
    peaks = summary.peaks(summary.points(summary.select(dataset.runs)))
    if peaks.empty:
        raise MissingData("no good run")
    return peaks.loc[peaks["servers"].idxmax()]
