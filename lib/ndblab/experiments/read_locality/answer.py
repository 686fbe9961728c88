"""The answer about read locality."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Sequence

import pandas as pd

from ndblab.dataset import Dataset
from ndblab.error import MissingData
from ndblab.experiments.read_locality import analysis as shares
from ndblab.experiments.read_locality.analysis import FULLY_REPLICATED, PRIMARY_ONLY, READ_BACKUP
from ndblab.formatting import moved, plain
from ndblab.judging.answers import answers
from ndblab.judging.clauses import Advice, Clause, Disagreement, held
from ndblab.statistics import contrasts
from ndblab.statistics.estimate import Estimate

_GAINS = {
    READ_BACKUP: "reading every replica instead of the primary one",
    FULLY_REPLICATED: "full replication instead of read backup",
}


@answers("read-locality")
def locality(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say how local reads are, then what that gains."""
    return [
        Clause(
            "C-read-backup",
            "in transactions of ten lookups, read backup raised the share of local reads "
            f"{_raised(dataset)}",
            "read backup did not raise the share of local reads here ({change})",
            "whether read backup makes reads more local",
        ),
        Clause(
            "C-fully-replicated",
            "fully replicated tables were always read locally",
            "only {value_pct} of the rows of fully replicated tables were read locally",
            "whether fully replicated tables are always read locally",
        ),
        Clause(
            "C-location",
            "location domains with read backup kept reads in their own domain",
            "location domains with read backup kept only {value_pct} of the bytes in their domain",
            "whether location domains keep reads in their own domain",
        ),
        *_gained(dataset),
        *_slower(dataset),
    ]


def _raised(dataset: Dataset) -> str:
    """Say between which shares read backup made reads local, and what chance alone would give."""
    sides = shares.of_contrasts(dataset.slices, dataset.reads)
    local = sides[sides["contrast"] == READ_BACKUP].set_index("side")["local"]
    if not {contrasts.A, contrasts.B} <= set(local.index):
        return "by {value_gain_pct} {interval_gain_pct}"
    least, most = (plain(100 * local[side]) for side in (contrasts.B, contrasts.A))
    nodes = len(dataset.manifest["plan"]["data_nodes"])
    by_chance = (
        plain(100 * shares.expected_local(kind, nodes)) for kind in (PRIMARY_ONLY, READ_BACKUP)
    )
    return f"from {least} to {most} %; keys at random give {' and '.join(by_chance)} %"


def _gained(dataset: Dataset) -> Iterator[str]:
    """State the throughput ratios that have an interval, in transactions of ten lookups."""
    ratios = {name: contrasts.measured_ratio(dataset.slices, name) for name in _GAINS}
    for name, ratio in ratios.items():
        if ratio.bounded:
            did = moved(*ratio, "throughput")
            finding = held(f"{_where(dataset)}, {_GAINS[name]} {did}", dataset, name)
            yield finding
            gained = ratio.low > 1 and not isinstance(finding, Disagreement)
            if name == FULLY_REPLICATED and gained:
                yield Advice(
                    "Fully replicate tables that are read often and rarely written: the manual "
                    "says that every data node then writes each of their rows"
                )


def _where(dataset: Dataset) -> str:
    spread = dataset.manifest.get("hosts") and not dataset.manifest.get("namespaces")
    return "over several hosts" if spread else "on one host"


def _slower(dataset: Dataset) -> Iterator[str]:
    """State the ratios of p95 latency that are clear in the newest recording, likewise."""
    for name, gain in _GAINS.items():
        ratio_of = functools.partial(_p95_ratio, name)
        with contextlib.suppress(MissingData):
            newest = ratio_of(dataset)
            if newest.low > 1 or newest.high < 1:
                did = f"{_where(dataset)}, {gain} {moved(*newest, 'p95')}"
                yield held(did, dataset, name, ratio_of=ratio_of)


def _p95_ratio(contrast: str, data: Dataset) -> Estimate:
    """Return the ratio of p95 latency in a contrast; MissingData without an interval."""
    ratio = contrasts.measured_ratio(data.slices, contrast, "latency_p95_ms")
    if not ratio.bounded:
        raise MissingData(f"no interval of p95 latency in the contrast {contrast}")
    return ratio
