"""What the lab demands of itself, and whether the data show it.

A goal is met if the whole interval meets it, missed if none of it does, else open. Where recordings
disagree, it is open.
"""

from __future__ import annotations

import math

import pandas as pd

from ndblab.dataset import Dataset
from ndblab.error import MissingData
from ndblab.experiments import the_lab_itself as trust
from ndblab.experiments.the_lab_itself import false_decisions
from ndblab.statistics import contrasts
from ndblab.statistics.estimate import Estimate

MET, MISSED, OPEN = "yes", "no", "open"
RANGES = {
    trust.A_A: (0.98, 1.02),
    trust.A_A_DUET: (0.98, 1.02),
    trust.MONITOR: (0.98, math.inf),
}
"""The range in which the throughput of side A over side B must be, by contrast."""
FALSE_PCT = 5.0
"""The most false decisions, in percent of analyses."""
BLOCKS, STARTS = 60, 4
"""The fewest blocks of identical sides, and the fewest cluster starts they come from."""
_WORDS = {
    trust.A_A: "identical sides in alternation differ by at most 2 %",
    trust.A_A_DUET: "identical sides in a duet differ by at most 2 %",
    trust.MONITOR: "the lab's monitor costs at most 2 % of throughput",
}


def table(slices: pd.DataFrame) -> pd.DataFrame:
    """Return every goal with what was measured.

    Returns
    -------
    `goal`, `measured` with its interval `low` and `high` (counts have none), `unit`, and `met`:
    "yes", "no" or "open", as a goal is that was not measured.
    """
    blocks, starts, false = math.nan, math.nan, Estimate(math.nan)
    try:
        of_identical = contrasts.whole(slices, trust.A_A)
        blocks, starts = (float(of_identical[key].nunique()) for key in ("block", "start"))
        counted = false_decisions.counted(slices).set_index("analyses").loc["resampled"]
        if blocks >= 4:
            false = Estimate(*(float(counted[key]) for key in ("false_pct", "low", "high")))
    except MissingData:
        pass
    rows: list[tuple[object, ...]] = [
        _count(f"at least {BLOCKS} blocks of identical sides", blocks, BLOCKS, "blocks"),
        _count(f"these blocks from at least {STARTS} cluster starts", starts, STARTS, "starts"),
        (f"at most {FALSE_PCT:g} % false decisions", *false, "percent of analyses",
         met(false, -math.inf, FALSE_PCT)),
    ]  # fmt: skip
    for contrast, bounds in RANGES.items():
        ratio = contrasts.measured_ratio(slices, contrast)
        rows.append((_WORDS[contrast], *ratio, "ratio", met(ratio, *bounds)))
    return pd.DataFrame(rows, columns=["goal", "measured", "low", "high", "unit", "met"])


def of_recordings(data: Dataset) -> pd.DataFrame:
    """Return the rows of `table` for each recording, its day first; the newest recording first."""
    tables = []
    for recorded in (data, *reversed(data.earlier)):
        tables.append(table(recorded.slices))
        tables[-1].insert(0, "recording", str(recorded.manifest.get("started_utc", ""))[:10])
    return pd.concat(tables, ignore_index=True)


def together(each: pd.DataFrame) -> pd.DataFrame:
    """Return every goal once, from the rows of `of_recordings`.

    Returns
    -------
    The newest recording's columns of `table`, but `met` as all recordings have it, or else "open".
    `earlier` has the rows of the other recordings, the newest first.
    """
    rows = []
    for _, recorded in each.groupby("goal", sort=False):
        newest, *others = recorded.itertuples()
        agreed = newest.met if recorded["met"].nunique() == 1 else OPEN
        rows.append({**recorded.iloc[0], "met": agreed, "earlier": tuple(others)})
    return pd.DataFrame(rows)


def met(interval: Estimate, low: float, high: float) -> str:
    """Return whether an interval lies within the bounds, outside, or neither."""
    if not interval.bounded:
        return OPEN
    if low <= interval.low and interval.high <= high:
        return MET
    return MISSED if interval.high < low or interval.low > high else OPEN


def _count(goal: str, number: float, least: int, unit: str) -> tuple[object, ...]:
    answer = OPEN if math.isnan(number) else MET if number >= least else MISSED
    return goal, number, math.nan, math.nan, unit, answer
