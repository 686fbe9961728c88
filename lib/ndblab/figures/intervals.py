"""Intervals of drawn means over runs, and their description.

In: a table of runs. Out: means with the ends of their bands. It never gives an interval that the
number of runs does not support.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from ndblab.analysis import estimate


def means(table: pd.DataFrame, by: list[str], column: str, log: bool = False) -> pd.DataFrame:
    """Average a column over runs.

    Parameters
    ----------
    log : compute the interval from logarithms, so that it is one of factors around the mean.

    Returns
    -------
    One row per group, sorted: the keys, `runs`, `mean`, and `low` and `high`: the 95 % t interval
    of three or more runs; if no group has more than two, the range of two runs; else NaN.
    """
    values = np.log(table[column].astype(float)) if log else table[column]
    groups = table.assign(_value=values).groupby(by, observed=True)
    result = groups[column].agg(runs="count", mean="mean", low="min", high="max")
    if result["runs"].max() > 2:
        runs = result["runs"].where(result["runs"] > 2)
        half = estimate.t(runs - 1) * groups["_value"].std()
        half, mean = half / np.sqrt(runs), result["mean"]
        result["low"] = mean / np.exp(half) if log else mean - half
        result["high"] = mean * np.exp(half) if log else mean + half
    else:
        result.loc[result["runs"] < 2, ["low", "high"]] = np.nan
    return result.reset_index()


def described(
    runs: pd.Series, lines: str = "Lines", bands: str = "bands", log: bool = False, each: str = ""
) -> str:
    """Describe how many runs a drawn mean has, and what its band is.

    Parameters
    ----------
    lines, bands : what means and intervals are drawn as.
    log : whether the interval is one of logarithms.
    each : what the runs are counted per; a point if empty.
    """
    counts = runs[runs > 0]
    fewest, most = int(counts.min()), int(counts.max())
    number = f"{fewest} to {most}" if fewest < most else f"{most}"
    words = [f"{number} {'run' if most == 1 else 'runs'} per {each or 'point'}."]
    if most > 2:
        scale = " of logarithms" if log else ""
        words.append(f"{lines}: mean of the runs; {bands}: 95 % confidence interval (t{scale}).")
        words += ["Points with fewer than three runs have none."] if fewest < 3 else []
    elif most == 2:
        words.append(f"{lines}: mean of the runs; {bands}: range of the two runs.")
    else:
        words.append(f"A single run has no interval, so there are no {bands}.")
    return " ".join(words)
