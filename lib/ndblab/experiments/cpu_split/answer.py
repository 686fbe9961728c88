"""Which division of CPUs gives most, in words."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence

import pandas as pd

from ndblab.dataset import Dataset
from ndblab.error import MissingData
from ndblab.experiments.cpu_split import analysis
from ndblab.experiments.cpu_split.experiment import QUARTER_PCT, SHARES_PCT
from ndblab.formatting import count, less_or_more
from ndblab.judging.answers import answers
from ndblab.judging.clauses import Advice, Clause, Disagreement, held
from ndblab.judging.evidence import usable_cpus
from ndblab.statistics import ratio_tables
from ndblab.statistics.estimate import Estimate

_AT = SHARES_PCT.index(QUARTER_PCT)
BESIDE = SHARES_PCT[_AT - 1], SHARES_PCT[_AT + 1]
"""The shares next to a quarter."""


@answers("cpu-split")
def findings(dataset: Dataset, table: pd.DataFrame) -> Sequence[Clause | str]:
    """Say whether a quarter is sensible, what others and no division gave, and the law's best."""
    said: list[Clause | str] = [
        Clause(
            "B-split",
            "a quarter of the CPUs for data nodes is a sensible first division: it gave {value} "
            "times {interval} as many queries as the best other share, or more",
            "another share than a quarter gave clearly more: a quarter gave {value} times "
            "{interval} its queries",
            "whether a quarter of the CPUs for data nodes is a sensible first division",
        )
    ]
    say_all = (_compared, _undivided, _expected, _clients)
    for say in say_all if dataset.budget == "scaled" else ():
        with contextlib.suppress(MissingData):
            said += say(dataset)
    return said


def _compared(dataset: Dataset) -> Iterator[str]:
    """Say what a quarter gave against the shares beside it."""
    for row in ratio_tables.of_contrasts(dataset.slices).itertuples():
        pct = int(row.contrast.rpartition("-")[2])
        if pct in BESIDE and not math.isnan(row.low):
            words = (
                f"{many} a share of {pct} %" for many in ("fewer queries than", "more queries than")
            )
            did = less_or_more(row.ratio, row.low, row.high, *words)
            yield held(f"a quarter for data nodes gave {did}", dataset, row.contrast)


def _clients(dataset: Dataset) -> Iterator[str]:
    """Say with how many clients the shares were compared."""
    numbers = dataset.slices["clients"].dropna().astype(int)
    if numbers.nunique() == 1:
        yield f"these shares were compared with {count(numbers.iloc[0], 'client')} each"
    elif len(numbers):
        yield (
            "each share was compared with the number of clients that was best for it, "
            f"{numbers.min()} to {numbers.max()}"
        )


def _undivided(dataset: Dataset) -> Iterator[str]:
    """Say what CPUs without any quota gave, against the best division of the sweep."""
    newest = analysis.undivided_over_best(dataset.runs)
    if not newest.bounded:
        return
    words = "fewer queries than the best division", "more queries than the best division"
    did = less_or_more(*newest, *words)
    finding = held(f"undivided CPUs gave {did}", dataset, ratio_of=_undivided_over_best)
    yield finding
    if newest.low > 1 and not isinstance(finding, Disagreement):
        yield Advice("Leave CPUs undivided where nothing forces a division")


def _undivided_over_best(data: Dataset) -> Estimate:
    return analysis.undivided_over_best(data.runs)


def _expected(dataset: Dataset) -> Iterator[str]:
    """Say which share the utilisation law expects to be best, and how near throughput came."""
    law = analysis.law(dataset.runs, dataset.processes, usable_cpus(dataset.host))
    points = analysis.points(dataset.runs, law)
    near = points.groupby("share_pct")["of_law"].max()
    yield (
        f"by the CPU time per query, the best share for data nodes is {law.best_pct:.0f} %, "
        f"roughly: at their best, the shares gave {100 * near.min():.0f} to "
        f"{100 * near.max():.0f} % of what that predicts"
    )
