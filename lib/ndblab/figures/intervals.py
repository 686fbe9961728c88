"""Intervals of drawn means over runs, and their description.

In: a table of runs. Out: means with the ends of their bands. It never gives an interval that the
number of runs does not support.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from ndblab.statistics import estimate


def means(table: pd.DataFrame, by: list[str], column: str) -> pd.DataFrame:
    """Average a column over runs.

    Returns
    -------
    One row per group, sorted: the keys, `runs`, `mean`, and `low` and `high`: the 95 % interval
    (`estimate.positive`) of three or more runs; if no group has more than two, the range of two
    runs; else NaN.
    """
    groups = table.groupby(by, observed=True)[column]
    result = groups.agg(runs="count", mean="mean", low="min", high="max")
    if result["runs"].max() > 2:
        ends = [estimate.positive(values.dropna())[1:] for _, values in groups]
        result[["low", "high"]] = ends
        result.loc[result["runs"] < 3, ["low", "high"]] = np.nan
    else:
        result.loc[result["runs"] < 2, ["low", "high"]] = np.nan
    return result.reset_index()


def described(runs: pd.Series, lines: str = "Lines", bands: str = "bands", each: str = "") -> str:
    """Describe how many runs a drawn mean has, and what its band is.

    Parameters
    ----------
    lines, bands : what means and intervals are drawn as.
    each : what the runs are counted per; a point if empty.
    """
    counts = runs[runs > 0]
    fewest, most = int(counts.min()), int(counts.max())
    number = f"{fewest} to {most}" if fewest < most else f"{most}"
    words = [f"{number} {'run' if most == 1 else 'runs'} per {each or 'point'}."]
    if most > 2:
        words.append(
            f"{lines}: mean of the runs; {bands}: 95 % confidence interval (t of logarithms)."
        )
        words += ["Points with fewer than three runs have none."] if fewest < 3 else []
    elif most == 2:
        words.append(f"{lines}: mean of the runs; {bands}: range of the two runs.")
    else:
        words.append(f"A single run has no interval, so there are no {bands}.")
    return " ".join(words)
