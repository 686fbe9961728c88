"""The answer about the capacity model: how far its predictions were off."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from ndblab.dataset import Dataset
from ndblab.experiments.capacity import choice, comparison, forecast
from ndblab.experiments.capacity.choice import WORDS
from ndblab.formatting import percent, plain
from ndblab.judging.answers import answers
from ndblab.judging.clauses import Advice


@answers("capacity-model")
def errors(dataset: Dataset, table: pd.DataFrame) -> Sequence[str]:
    """Compare the model's median errors with its goals and with the best of the simpler methods,
    and say which method the lab uses instead, where it uses another.

    `table` has a row per method and metric: `name`, `metric`, `points`, `median_pct` and
    `goal_pct`, which only the model has. Methods with "model" in their names rest on it too, so
    they are not among the simpler ones.
    """
    own = table[table["goal_pct"].notna()]
    others = table[~table["name"].str.contains("model")]
    parts = [
        f"{plain(row.median_pct)} % in {WORDS[row.metric]} (goal {percent(row.goal_pct)} %: "
        f"{'met' if row.median_pct <= row.goal_pct else 'missed'})"
        for row in own.itertuples()
    ]
    points = int(own["points"].max())
    said = [
        f"fitted to one server, the model was off by {' and '.join(parts)}. These are medians "
        f"over {points} points with several servers"
    ]
    best = others.groupby("metric", sort=False)["median_pct"].min()
    if len(best):
        rivals = " and ".join(f"{plain(best[m])} % in {WORDS[m]}" for m in best.index)
        said.append(f"the best of the simpler methods are off by {rivals}")
    used = forecast.methods()
    said += [choice.advised(used, metric) for metric in used if used[metric] != comparison.MODEL]
    rough = own[own["metric"] == "qps"]["median_pct"]
    said += [
        Advice(
            f"Before adding servers, measure without quotas (./lab reproduce --experiment costs), "
            f"and ask ./lab size; ./lab predict was {percent(off_pct)} % off in the median"
        )
        for off_pct in rough
    ]
    return said
