"""What a drawn mean is worth: its interval over runs, and the words for it.

In: a table of runs. Out: means with the ends of their bands. Confidence is that of `summary`.
It never gives an interval that its runs cannot know.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from ndblab.analysis import estimate


def means(table: pd.DataFrame, by: list[str], column: str, factors: bool = False) -> pd.DataFrame:
    """Average a column over runs.

    Parameters
    ----------
    factors : take geometric means, with intervals of the logarithms.

    Returns
    -------
    One row per group, sorted: the keys, `runs`, `mean`, and `low` and `high`: the 95 % t interval
    from three runs on; where no group has more than two, the span of two runs; else NaN.
    """
    values = np.log(table[column]) if factors else table[column]
    groups = table.assign(_value=values).groupby(by, observed=True)["_value"]
    found = groups.agg(runs="count", mean="mean", low="min", high="max", _spread="std")
    if found["runs"].max() > 2:
        runs = found["runs"].where(found["runs"] > 2)
        half = estimate.t(runs - 1) * found["_spread"] / np.sqrt(runs)
        found["low"], found["high"] = found["mean"] - half, found["mean"] + half
    else:
        one = found["runs"] < 2
        found.loc[one, ["low", "high"]] = np.nan
    ends = ["mean", "low", "high"]
    found[ends] = np.exp(found[ends]) if factors else found[ends]
    return found.drop(columns="_spread").reset_index()


def told(runs: pd.Series, lines: str = "Lines", bands: str = "bands", log: bool = False) -> str:
    """Say how many runs a drawn mean has and what its band is.

    Parameters
    ----------
    lines, bands : what the means and their spread are drawn as.
    log : whether the interval is one of logarithms.
    """
    counts = runs[runs > 0]
    fewest, most = int(counts.min()), int(counts.max())
    number = f"{fewest} to {most}" if fewest < most else f"{most}"
    said = [f"{number} {'run' if most == 1 else 'runs'} a point."]
    if most > 2:
        scale = " of logarithms" if log else ""
        said.append(f"{lines}: mean of the runs; {bands}: its 95 % confidence interval (t{scale}).")
        said += ["Points of fewer than three runs have none."] if fewest < 3 else []
    elif most == 2:
        said.append(f"{lines}: mean of the runs; {bands}: from one run to the other.")
    else:
        said.append(f"One run gives no spread, so there are no {bands}.")
    return " ".join(said)
