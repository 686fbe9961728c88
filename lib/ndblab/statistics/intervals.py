"""Means over runs, their intervals where there are enough runs, and their description."""

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
    runs; else NaN. `run_ids` are the names of the runs, if the table has them.
    """
    groups = table.groupby(by, observed=True)[column]
    result = groups.agg(runs="count", mean="mean", low="min", high="max")
    if result["runs"].max() > 2:
        known = (values.dropna() for _, values in groups)
        ends = [estimate.positive(own)[1:] if len(own) else (np.nan, np.nan) for own in known]
        result[["low", "high"]] = ends
        result.loc[result["runs"] < 3, ["low", "high"]] = np.nan
    else:
        result.loc[result["runs"] < 2, ["low", "high"]] = np.nan
    if "run_id" in table:
        ids = table.groupby(by, observed=True)["run_id"]
        result["run_ids"] = ids.agg(lambda names: " ".join(map(str, names)))
    return result.reset_index()


def described(
    runs: pd.Series, bands: str = "Bands", per: str = "point", what: str = "run", least: int = 3
) -> str:
    """Describe how many runs a drawn mean has, and what its band is.

    Parameters
    ----------
    bands : what intervals are drawn as.
    per, what : nouns of the count, as in "3 runs per point".
    least : number of runs from which on there is a confidence interval, as in `means`.
    """
    counts = runs[runs > 0]
    fewest, most = int(counts.min()), int(counts.max())
    number = f"{fewest} to {most}" if fewest < most else f"{most}"
    words = [f"{number} {what if most == 1 else f'{what}s'} per {per}."]
    if most >= least:
        words.append(f"{bands}: 95 % confidence interval of the mean.")
        few = ("", "", "two", "three")[least]
        words += [f"With fewer than {few} {what}s there is none."] if fewest < least else []
    elif most == 2:
        words.append(f"{bands}: range of the two {what}s.")
    else:
        words.append(f"A single {what} has no interval, so there are no {bands.lower()}.")
    return " ".join(words)
