"""Predictions at the speed that one server has in another sweep.

In: predictions for one server, its measured runs. Out: the speed, and predictions scaled by it.
Runs with several servers are never used.

The CPU time of a query depends on the speed of the host, which drifts on a virtual machine, and on
the cluster: idle MySQL servers cost something too. The runs with one server measure both together.
They cannot show by how much the host slows down when all its CPUs are busy.

NDB's background threads were considered as a measure that needs no such runs, as constant work
costs more CPU time on a slower host. Within one cluster they do follow its speed from run to run.
But `rep` works for every MySQL server that is connected, and says how many there are. `main` and
`recover` do not; they found the host of the earlier sweep fast, where the predictions were already
too high (`history.table`): what they leave is the model's own error, so they do not reduce it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ndblab.experiments.capacity.demands import KINDS
from ndblab.statistics import summary
from ndblab.statistics.cpu_use import Usage

if TYPE_CHECKING:
    from ndblab.dataset import Dataset

CALIBRATED = "model, calibrated"
_KEYS = ["servers", "clients"]


def speed(predicted: pd.DataFrame, points: pd.DataFrame) -> float:
    """Return by how much one server is faster than predicted: geometric mean over its points.

    Parameters
    ----------
    predicted : of `model.predict`.
    points : of `summary.points`.

    Returns
    -------
    1 for the speed of the fitted runs; NaN if one server was not measured with any number of
    clients that the model was fitted to.
    """
    both = predicted.merge(points, on=_KEYS)
    alone = both[(both["servers"] == 1) & (both["extrapolated"] == "")]
    return float(np.exp(np.log(alone["qps_mean"] / alone["qps"]).mean()))


def at(predicted: pd.DataFrame, speed: float) -> pd.DataFrame:
    """Scale predictions: throughput with the speed, latency against it.

    In a closed network, demands that are all longer by a factor lower throughput by that factor.
    Background CPU use and the window of a quota do not scale, which is neglected.
    """
    scales = {
        name: speed if name.startswith("qps") else 1 / speed
        for name in predicted
        if name.startswith(("qps", "latency"))
    }
    return predicted.assign(**{name: predicted[name] * by for name, by in scales.items()})


def background(data: Dataset) -> pd.DataFrame:
    """Return the CPU use of each kind of background thread, in percent of one logical CPU.

    Returns
    -------
    `servers` in use, `connected` (MySQL servers of the cluster), and a column per kind of thread:
    median over runs of all threads of that kind together.

    Raises
    ------
    MissingData
        If none was recorded.
    """
    runs = summary.good(summary.select(data.runs))
    used = Usage(data.processes, data.ndb_threads).of_threads(list(runs["run_id"].astype(str)))
    others = used[~used["thread"].isin(KINDS)]
    each = others.groupby(["run_id", "thread"])["pct"].sum().unstack()
    servers = runs.set_index(runs["run_id"].astype(str))["servers"].reindex(each.index)
    table = each.groupby(servers).median().reset_index()
    table.insert(1, "connected", len(data.manifest["plan"]["servers"]))
    return table.rename_axis(columns=None)
