"""Runs that take longer than they were asked to, and their rate while all clients work.

When the time is up, a client of sysbench starts no further transaction, and waits for the one under
way. The run lasts until the slowest client has ended, so its queries divided by all of that time
are not the rate of so many clients: where queries take seconds, some rates are a quarter too low.
If a run takes at most 7 % longer than asked, its rate is at most that much too low, and the rate of
the whole run is kept: it counts every query, while reports may lack the last second. A run that
takes longer than that overran: its rate is that of the intervals in which all clients worked, and
its status says so. It is still averaged with others, since leaving out slow runs would flatter the
rest. If all clients worked for less than half of its time, it is stuck, and a failure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from ndblab.planning import workload
from ndblab.planning.workload import OK, OVERRAN

TOLERANCE = 0.07
"""How much longer than asked a run may take, as a share: less than runs differ from each other."""
LEAST_AT_WORK = 0.5
_EDGE_S = 0.5
"""How far the last report of the asked time may lie from the end of that time."""


class AtWork(NamedTuple):
    """The status of a run, until when all its clients worked (`end_s`), and their rate until then.

    For a run that did not overrun, `qps` and `end_s` are NaN. For one whose clients never all
    worked, `qps` is NaN and `end_s` is 0.
    """

    status: str = OK
    qps: float = math.nan
    end_s: float = math.nan


def judge(
    intervals: pd.DataFrame,
    clients: int,
    lasted_s: float,
    asked_s: float | None = None,
    ended_s: Sequence[float] = (),
) -> AtWork:
    """Judge a run by its intervals, as in the table of that name.

    Clients leave when the time is up, not before. So all of them worked in an interval after which
    all were there, and in the one that ends with the asked time.

    Parameters
    ----------
    asked_s : how long it was to take; None if that is unknown. Then it is the end of the interval
        in which clients left; where none is seen to leave, the run did not overrun.
    ended_s : when the intervals ended, if that is known better than by `t_s`.
    """
    t_s, all_there = intervals["t_s"].to_numpy(float), intervals["clients"].to_numpy() >= clients
    at_end = np.append(True, all_there)[:-1] & ~all_there
    if asked_s is None and all_there.all():
        return AtWork()
    if asked_s is None:
        asked_s = float(t_s[~all_there][0])
        at_end &= lasted_s - asked_s < _EDGE_S
    at_end &= np.abs(t_s - asked_s) < _EDGE_S
    at_work = (all_there | at_end) & (t_s < asked_s + _EDGE_S)
    seconds = np.diff(ended_s or t_s, prepend=0.0) * at_work
    worked_s = float(seconds.sum())
    # Late reports may miss that clients have left, but not for most of the run.
    stuck = worked_s < LEAST_AT_WORK * lasted_s and not all_there.all()
    if lasted_s <= (1 + TOLERANCE) * asked_s and not stuck:
        return AtWork()
    qps = float((intervals["qps"].to_numpy() * seconds).sum() / worked_s) if worked_s else math.nan
    status = f"{OVERRAN}: {lasted_s:.3g} s for {asked_s:.3g} s"
    if worked_s < LEAST_AT_WORK * lasted_s:
        worked = f"all of them worked for {worked_s:.3g} s of {lasted_s:.3g} s"
        status = f"{OVERRAN}, with clients stuck: {worked}"
    return AtWork(status, qps, float(t_s[at_work].max(initial=0.0)))


def judged(runs: pd.DataFrame, intervals: pd.DataFrame, asked_s: float) -> dict[str, AtWork]:
    """Judge, by id, good runs of sysbench that took longer than asked and tolerated."""
    good = runs["status"].astype(str) == OK
    by_sysbench = runs["workload"].astype(str).map(workload.is_sysbench).astype(bool)
    long = runs["duration_s"] > (1 + TOLERANCE) * asked_s
    late = runs[good & by_sysbench & long].set_index("run_id")
    own = intervals[intervals["run_id"].isin(late.index)].groupby("run_id", observed=True)
    return {
        str(run_id): judge(table, late.clients[run_id], late.duration_s[run_id], asked_s)
        for run_id, table in own
    }


def marked(runs: pd.DataFrame, late: Mapping[str, AtWork]) -> pd.DataFrame:
    """Return the table `runs` with the status and the rate of runs that overran."""
    ids, nothing = runs["run_id"].astype(str), AtWork()
    status = [late.get(run_id, nothing).status for run_id in ids]
    qps = pd.Series([late.get(run_id, nothing).qps for run_id in ids], index=runs.index)
    known = ids.isin(late)
    return runs.assign(
        status=runs["status"].astype(object).where(~known, status).astype(runs["status"].dtype),
        qps=qps.fillna(runs["qps"]),
    )


def within(samples: pd.DataFrame, late: Mapping[str, AtWork]) -> pd.DataFrame:
    """Return samples without those after the time in which all clients of a run worked."""
    ends_s = samples["run_id"].map({name: run.end_s for name, run in late.items()})
    kept = ~(samples["t_s"] > ends_s.astype(float)).to_numpy()
    # Column by column: a large table is there twice for a moment, and not three times.
    return pd.DataFrame({name: c.to_numpy()[kept] for name, c in samples.items()}, copy=False)
