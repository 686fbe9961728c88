"""What read/write transactions, filters and IN lists bring, in words."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence

import pandas as pd

from ndblab.dataset import Dataset
from ndblab.error import MissingData
from ndblab.experiments.read_write import IN_KEYS
from ndblab.experiments.read_write import analysis as variations
from ndblab.formatting import change, moved, plain
from ndblab.judging.answers import answers
from ndblab.judging.clauses import Advice, Clause, held, under_quotas
from ndblab.statistics import contrasts
from ndblab.statistics.estimate import Estimate


@answers("read-write")
def read_write(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say what servers, filters, lists of keys and processes of sysbench do."""
    return [
        *_lookups(dataset),
        Clause(
            "R-filter-gain",
            "filtered ranges changed read/write transactions by {change}",
            "filtered ranges changed read/write transactions by {change}, not by the published "
            f"{_published(table, 'R-filter-gain')}",
            "what filtered ranges gain",
        ),
        Clause(
            "R-rw-servers",
            "data nodes with twice the CPUs changed throughput by {change}",
            "data nodes with twice the CPUs changed throughput by {change}",
            "what twice the CPUs of the data nodes gain",
        ),
        Clause(
            "R-filter-servers",
            "the MySQL servers need {value} times {interval} the CPUs of the data nodes",
            "the MySQL servers need {value} times {interval} the CPUs of the data nodes, not "
            f"{_published(table, 'R-filter-servers')}",
            "how many CPUs the MySQL servers need beside the data nodes",
        ),
        *_throughputs(dataset),
    ]


def _lookups(dataset: Dataset) -> Iterator[str]:
    """Compare the best lists of keys with lookups one by one."""
    if ratio := _ratio(dataset, variations.LOOKUPS):
        whole = contrasts.whole(dataset.slices, variations.LOOKUPS)
        sides = whole[whole["side"].astype(str) == contrasts.A]
        keys = IN_KEYS[str(sides["variant"].iloc[0])]
        quota = ", under CPU quotas" if dataset.budget == "scaled" else ""
        yield _held(
            f"IN lists of {keys} keys looked up {ratio}{quota}", dataset, variations.LOOKUPS
        )
        yield Advice("Look up keys in lists: WHERE id IN (...) instead of a query for each")


def _throughputs(dataset: Dataset) -> Iterator[str]:
    """Say what servers and processes do; where each server brings a quota, that decides it."""
    subjects = {
        variations.SERVERS: "two servers instead of one",
        variations.MORE_SERVERS: "four servers instead of two",
        variations.PROCESSES: "four processes of sysbench",
    }
    if dataset.budget == "scaled":
        servers = [name for name in subjects if name != variations.PROCESSES]
        ratios = (contrasts.measured_ratio(dataset.slices, name) for name in servers)
        if changes := [change(*ratio) for ratio in ratios if not math.isnan(ratio.value)]:
            yield under_quotas(changes)
        subjects = {variations.PROCESSES: subjects[variations.PROCESSES]}
    for contrast, subject in subjects.items():
        if ratio := _ratio(dataset, contrast):
            yield _held(f"{subject} {ratio}", dataset, contrast)


def _held(finding: str, dataset: Dataset, contrast: str) -> str:
    """Add in how many recordings the ratio of a contrast is clear."""
    ratio_of = functools.partial(_ratio_of, contrast)
    return held(finding, dataset, contrast, ratio_of=ratio_of)


def _ratio_of(contrast: str, data: Dataset) -> Estimate:
    return variations.ratio(data.slices, contrast)


def _ratio(dataset: Dataset, contrast: str) -> str:
    """Return the ratio of a contrast in words; nothing if it was not measured."""
    try:
        ratio = variations.ratio(dataset.slices, contrast)
    except MissingData:
        return ""
    if contrast != variations.LOOKUPS:
        return moved(*ratio, "throughput")
    interval = f" ({plain(ratio.low)} to {plain(ratio.high)})" if ratio.bounded else ""
    return f"{plain(ratio.value)} times as many keys as point selects{interval}"


def _published(table: pd.DataFrame, name: str) -> str:
    return str(dict(zip(table["id"], table["published"], strict=True)).get(name, ""))
