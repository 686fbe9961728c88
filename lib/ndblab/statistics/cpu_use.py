"""CPU use of processes and NDB threads during runs, and what a query costs."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pandas as pd

from ndblab.error import MissingData
from ndblab.planning.workload import SYSBENCH
from ndblab.statistics import estimate, summary

QUERY_ROLES = ("mysqld", "ndbmtd", SYSBENCH)
"""Roles whose CPU time counts as the cost of a query."""
_PART_ROWS = 200_000


class Usage:
    """CPU use in a dataset's runs; each table is computed once, on first use."""

    def __init__(self, processes: pd.DataFrame, ndb_threads: pd.DataFrame | None = None) -> None:
        self._processes = processes
        # Without threads, `of_threads` finds none.
        self._ndb_threads = processes.iloc[:0] if ndb_threads is None else ndb_threads

    @cached_property
    def roles(self) -> pd.DataFrame:
        """CPU of all processes of each role together: one row per run, one column per role.

        Percent of one logical CPU. Each sample is weighted by the time since the previous one: a
        late sampler catches up with very short windows, whose percentages mean nothing.
        """
        pct = _mean_pct(_parts(self._processes), ["run_id", "role", "node_id"])
        sums = pct.groupby(level=["run_id", "role"], observed=True, sort=False).sum()
        table = sums.rename("cpu_pct").reset_index().astype({"run_id": str, "role": str})
        return table.pivot(index="run_id", columns="role", values="cpu_pct")

    def of_roles(self, run_ids: Sequence[str]) -> pd.DataFrame:
        """Return the CPU of each role in these runs; MissingData if none was recorded."""
        roles = self.roles.reindex(list(run_ids)).dropna(how="all")
        if roles.empty:
            raise MissingData("no CPU of processes was recorded")
        return roles.fillna(0.0)

    def of_serving(self, run_ids: Sequence[str], servers: int) -> pd.Series:
        """Return the CPU of the MySQL servers with clients, run by run.

        All servers of a sweep run all the time, and idle ones use some CPU too. The `servers`
        busiest ones have the clients, which a contrast moves from server to server. This does not
        hold for a duet's slices, in which the servers of both sides have clients. MissingData if
        none was recorded.
        """
        pct = self._servers[self._servers["run_id"].isin(run_ids)]
        serving = pct.sort_values("cpu_pct", ascending=False).groupby("run_id").head(servers)
        if serving.empty:
            raise MissingData("no CPU of mysqld was recorded")
        return serving.groupby("run_id")["cpu_pct"].sum()

    def of_threads(self, run_ids: Sequence[str]) -> pd.DataFrame:
        """Return the CPU of each NDB thread, user and system, as the operating system counts it.

        MissingData if none was recorded.

        Returns
        -------
        `run_id`, `node_id`, `thr_no`, `thread` (the kind), `pct`.
        """
        threads = self._threads[self._threads["run_id"].isin(run_ids)]
        if threads.empty:
            raise MissingData("no NDB threads were recorded")
        return threads

    @cached_property
    def _threads(self) -> pd.DataFrame:
        keys = ["run_id", "node_id", "thr_no", "thread"]
        means = [
            part[keys].assign(pct=part["os_user_pct"] + part["os_system_pct"])
            .groupby(keys, observed=True, sort=False)["pct"].mean()
            for part in _parts(self._ndb_threads)
        ]  # fmt: skip
        return pd.concat(means).reset_index().astype({"run_id": str, "thread": str})

    @cached_property
    def _servers(self) -> pd.DataFrame:
        pct = _mean_pct(_parts(self._processes), ["run_id", "node_id"], "mysqld")
        return pct.rename("cpu_pct").reset_index().astype({"run_id": str})

    def of_others(self, runs: pd.DataFrame, cpus: float) -> pd.Series:
        """Return the CPU of unrelated processes, in percent of the host's CPUs.

        Parameters
        ----------
        runs : rows of the table `runs`.
        cpus : logical CPUs of the host.
        """
        busy = runs.set_index(runs["run_id"].astype(str))["host_busy_pct"]
        known = self.roles.reindex(busy.index).sum(axis=1, min_count=1)
        return (busy - known / cpus).clip(lower=0)


def per_query(runs: pd.DataFrame, processes: pd.DataFrame) -> pd.DataFrame:
    """Divide the CPU time of each role by the number of queries, and average over good runs.

    All processes of a role count, including idle ones, and so does all that they do in addition to
    queries, so a query looks expensive at low throughput.

    Returns
    -------
    Columns that identify a point, `runs`, `qps_mean`, `cpu_us` (CPU time per query of these
    roles together) with its 95 % interval `low` and `high` (NaN for one run), and the part of each
    role, `<role>_us`.
    """
    good = summary.good(runs)
    used = Usage(processes).roles.reindex(columns=list(QUERY_ROLES))
    used = used.reindex(good["run_id"].astype(str)).set_index(good.index)
    costs = 1e4 * used.div(good["qps"].astype(float), axis=0)
    keys = summary.point_columns(good)
    costs = costs.rename(columns="{}_us".format).assign(qps_mean=good["qps"].astype(float))
    costs["cpu_us"] = costs[[f"{role}_us" for role in QUERY_ROLES]].sum(axis=1, min_count=1)
    points = costs.groupby([good[key] for key in keys], observed=True)
    table = points.mean()
    bounds = {point: estimate.positive(values)[1:] for point, values in points["cpu_us"]}
    table["low"] = [low for low, _ in bounds.values()]
    table["high"] = [high for _, high in bounds.values()]
    table.insert(0, "runs", points.size())
    columns = ["runs", "qps_mean", "cpu_us", "low", "high", *(f"{role}_us" for role in QUERY_ROLES)]
    return table[columns].reset_index()


def serving_us_by_role(runs: pd.DataFrame, processes: pd.DataFrame) -> pd.DataFrame:
    """Divide the CPU time of what serves a query by the number of queries, role by role.

    The MySQL servers with clients, the data nodes and sysbench serve it; unlike in `per_query`, the
    CPU of idle servers does not count. MissingData if none was recorded at all.

    Parameters
    ----------
    runs : good runs, or slices that were measured one at a time.

    Returns
    -------
    Microseconds by the index of `runs`, a column `<role>_us` for each of `QUERY_ROLES`; NaN where
    CPU was not recorded.
    """
    usage, ids = Usage(processes), runs["run_id"].astype(str)
    used = usage.roles.reindex(columns=list(QUERY_ROLES)).assign(mysqld=_serving_pct(usage, runs))
    used = used.reindex(ids).set_index(ids.index)
    return 1e4 * used.div(runs["qps"].astype(float), axis=0).rename(columns="{}_us".format)


def serving_query_us(runs: pd.DataFrame, processes: pd.DataFrame) -> pd.Series:
    """Return the CPU time per query of all roles together; otherwise as `serving_us_by_role`."""
    return serving_us_by_role(runs, processes).sum(axis=1, skipna=False)


def idle_pct(runs: pd.DataFrame, processes: pd.DataFrame) -> pd.Series:
    """Return the CPU of the MySQL servers without clients, in percent of one logical CPU.

    Parameters, index and errors are those of `serving_us_by_role`.
    """
    usage, ids = Usage(processes), runs["run_id"].astype(str)
    return ids.map(usage.roles["mysqld"].sub(_serving_pct(usage, runs)))


def _serving_pct(usage: Usage, runs: pd.DataFrame) -> pd.Series:
    """Return the CPU of the MySQL servers with clients, by run id; MissingData if none has any."""
    known = []
    for servers, ids in runs["run_id"].astype(str).groupby(runs["servers"]):
        with contextlib.suppress(MissingData):
            known.append(usage.of_serving(list(ids), int(servers)))
    if not known:
        raise MissingData("no CPU of mysqld was recorded")
    return pd.concat(known)


def _parts(samples: pd.DataFrame) -> list[pd.DataFrame]:
    """Split a table at run boundaries, as grouping rows takes several times their memory."""
    runs = samples["run_id"].to_numpy()
    begins = np.flatnonzero(runs[1:] != runs[:-1]) + 1
    if len(begins) >= samples["run_id"].nunique():
        # The rows of some run are not contiguous.
        return [samples]
    ends = [*begins[np.diff(begins // _PART_ROWS, prepend=0) > 0], len(samples)]
    return [samples.iloc[a:b] for a, b in zip([0, *ends], ends, strict=False)]


def _mean_pct(parts: Sequence[pd.DataFrame], keys: list[str], role: str = "") -> pd.Series:
    """Average CPU over time, process by process; the first sample gets the median weight.

    Parameters
    ----------
    parts : of the table `processes`, as `_parts` gives them; with `role`, only its rows count.
    """

    def own(part: pd.DataFrame) -> pd.DataFrame:
        return part[part["role"] == role] if role else part

    windows_s = [own(p).groupby(keys, observed=True, sort=False)["t_s"].diff() for p in parts]
    known_s, sums = np.concatenate([window_s.dropna() for window_s in windows_s]), []
    usual_s = np.median(known_s, overwrite_input=True) if len(known_s) else 1.0
    for part, window_s in zip(map(own, parts), windows_s, strict=True):
        weight = window_s.fillna(usual_s)
        table = part[keys].assign(cpu_s=part["cpu_pct"] * weight, s=weight)
        sums.append(table.groupby(keys, observed=True, sort=False)[["cpu_s", "s"]].sum())
    total = pd.concat(sums)
    return total["cpu_s"] / total["s"]
