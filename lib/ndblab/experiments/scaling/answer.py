"""Answers about throughput: one MySQL server, many servers, another split of threads."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ndblab.error import MissingData
from ndblab.formatting import count, plain
from ndblab.judging.answer import Clause
from ndblab.judging.answers import answers
from ndblab.judging.verdict import BY_CONSTRUCTION
from ndblab.statistics import estimate, summary

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.dataset import Dataset


@answers("single-server-scaling")
def one_server(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say how far one server goes, and what does not matter to it."""
    best = _peak(dataset)
    return [
        f"one MySQL server was best with {count(best.clients, 'client')}: {plain(best.qps_mean)} "
        "queries/s" + _between(best.qps_low, best.qps_high),
        Clause(
            "F4-degrade",
            "past the peak, more clients lower its throughput to {value} times {interval}",
            "past the peak, more clients do not lower its throughput here ({value} times)",
            "whether more clients lower the throughput of one server",
        ),
        Clause(
            "F5-recv-busiest",
            "the recv threads are the busiest NDB threads",
            "the recv threads are not the busiest NDB threads here",
            "whether the recv threads are the busiest NDB threads",
        ),
        Clause(
            "B-sockets",
            "clients over TCP/IP get {value} times {interval} the throughput of Unix sockets",
            "clients over TCP/IP get no less throughput than over Unix sockets ({value} times)",
            "whether clients over TCP/IP get less than over Unix sockets",
        ),
        Clause(
            "B-redo",
            "the redo log does not matter to reads",
            "a small redo log changes the throughput of reads by a factor of {value} {interval}",
            "whether the redo log matters to reads",
        ),
        Clause(
            "B-row-bytes",
            "a row takes {value} bytes",
            "a row takes {value} bytes {interval}",
            "the memory of a row",
        ),
    ]


@answers("multi-server-scaling")
def many_servers(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say what more servers and more clients bring."""
    best = _peak(dataset)
    past = f"past {count(best.clients, 'client')}, throughput of {count(best.servers, 'server')}"
    return [
        *_figure_6(dataset, table),
        Clause(
            "P-servers-1-2",
            "two servers carry {value} times as much as one {interval}",
            "two servers carry {value} times as much as one {interval}",
            "how close two servers come to twice one",
        ),
        Clause(
            "F6-double-servers",
            "doubling the servers brings {value} times {interval} or more while CPUs are left",
            "a doubling of the servers brings only {value} times {interval}",
            "what doubling the servers brings",
        ),
        Clause(
            "F6-peak",
            "the most servers give the highest throughput while CPUs are left",
            "the most servers do not give the highest throughput here",
            "whether the most servers give the highest throughput where each brings CPUs",
        ),
        Clause(
            "F6-8-to-16",
            "the step from 8 to 16 servers brings {value} times {interval}",
            "the step from 8 to 16 servers brings {value} times {interval}",
            "what the step from 8 to 16 servers brings on CPUs as the source's",
        ),
        Clause(
            "F6-overload",
            f"{past} falls by {{value_fall_pct}} {{interval_fall_pct}}",
            f"{past} does not fall",
            "whether more clients past the peak lower throughput",
        ),
        Clause(
            "F7-doubling",
            "p95 holds when servers and clients double ({value} times at most)",
            "p95 grows {value} times {interval} when servers and clients double",
            "whether p95 holds when servers and clients double",
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
    chosen = "with NumCPUs=32 a data node chooses {value} threads"
    return [
        Clause(
            "F9-threads",
            f"{chosen}, as published",
            f"{chosen}, other than published",
            "which threads a data node chooses with NumCPUs=32",
        ),
        Clause(
            "F9-next-step",
            "a balanced split of the NDB threads brings {value} times {interval} the throughput of "
            "the automatic one",
            "a balanced split of the NDB threads gains nothing here: {value} times {interval} the "
            "throughput of the automatic one",
            "whether a balanced split of the NDB threads raises a peak that tc threads limit",
        ),
    ]


def _figure_6(dataset: Dataset, table: pd.DataFrame) -> Iterator[str]:
    """Say what 16 servers gave against 8 in the sweep, and what quotas alone make of fewer.

    Runs are paired by clients and repeat, at all numbers of clients that both were run with.
    """
    runs = summary.good(summary.select(dataset.runs))
    qps = runs.pivot_table(index=["clients", "repeat"], columns="servers", values="qps")
    if {8, 16} <= set(qps):
        ratio = estimate.geometric((qps[16] / qps[8]).dropna())
        change = "fewer" if ratio.high < 1 else "more" if ratio.low > 1 else "no clear change in"
        if ratio.bounded:
            yield (
                f"16 servers instead of 8 gave {change} queries/s at equal clients: "
                f"{plain(ratio.value)} times{_between(ratio.low, ratio.high)}"
            )
    forced = (table["id"] == "F6-double-servers") & (table["verdict"] == BY_CONSTRUCTION)
    for row in table[forced].itertuples():
        times = f"{plain(row.measured)} times{_between(row.low, row.high)} the work or more"
        known = f", which did {times} here" if math.isfinite(row.measured) else ""
        yield f"up to four, quotas give twice the servers twice the CPU by construction{known}"


def _peak(dataset: Dataset):
    """Return the best point of the most servers."""
    peaks = summary.peaks(summary.points(summary.select(dataset.runs)))
    if peaks.empty:
        raise MissingData("no good run")
    return peaks.loc[peaks["servers"].idxmax()]


def _between(low: float, high: float) -> str:
    return f" ({plain(low)} to {plain(high)})" if low < high else ""
