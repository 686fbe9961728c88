"""SQL and the NDB API: what a key lookup through either costs."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from ndblab.dataset import Dataset
from ndblab.error import MissingData
from ndblab.experiments.api_ceiling import AT_ONCE, NDB_API
from ndblab.planning.point import DEFAULT_VARIANT
from ndblab.planning.workload import CLIENT, SYSBENCH
from ndblab.statistics import contrasts, estimate, recordings, summary
from ndblab.statistics.cpu_use import Usage

SINGLE, BATCH = "api", "api-at-once"
"""Contrasts of the NDB API with SQL: one lookup at a time in each thread, and many at once."""
ROLES = ("mysqld", "ndbmtd", CLIENT)
"""Roles whose CPU time a lookup costs. The client is sysbench, or flexAsynch."""
WORDS = {DEFAULT_VARIANT: "SQL"} | {
    name: f"NDB API, {'one' if number == 1 else number} at once" for name, number in AT_ONCE.items()
}
"""Interfaces in words, by variant, in the order in which they are shown."""


def lookup_us(rows: pd.DataFrame, processes: pd.DataFrame) -> pd.DataFrame:
    """Return the CPU time of a lookup in microseconds.

    MySQL servers cost nothing through the NDB API: what idle ones use does not count.

    Parameters
    ----------
    rows : good runs, or slices that were measured one at a time.

    Returns
    -------
    A row by run id with `<role>_us` and their sum `cpu_us`; NaN where CPU was not recorded.
    """
    ids = rows["run_id"].astype(str)
    used = Usage(processes).roles
    used = used.reindex(index=ids, columns=["mysqld", "ndbmtd", CLIENT, SYSBENCH])
    by_api = (rows["workload"].astype(str) == NDB_API).to_numpy()
    used["mysqld"] = used["mysqld"].where(~by_api, 0.0)
    used[CLIENT] = used[CLIENT].where(by_api, used[SYSBENCH])
    rates = rows["qps"].astype(float).to_numpy()
    table = 1e4 * used[list(ROLES)].div(rates, axis=0)
    table = table.rename(columns="{}_us".format)
    return table.assign(cpu_us=table.sum(axis=1, skipna=False))


def ratios(recorded: Sequence[Dataset]) -> pd.DataFrame:
    """Return the lookups of the NDB API over those of SQL with equal CPU time.

    Several recordings are pooled as for a verdict (`statistics.recordings`).

    Returns
    -------
    `contrast`, `recordings`, `ratio`, `low`, `high`; no row for a contrast that none measured.
    """
    rows = []
    for contrast in (SINGLE, BATCH):
        logs = []
        for data in recorded:
            try:
                per_cpu = 1 / lookup_us(data.slices, data.processes)["cpu_us"]
                logs.append(contrasts.log_ratios(data.slices, contrast, per_cpu))
            except MissingData:
                continue
        if logs:
            pooled = recordings.of_contrast(logs) if len(logs) > 1 else contrasts.ratio(logs[0])
            rows.append((contrast, len(logs), *pooled))
    return pd.DataFrame(rows, columns=["contrast", "recordings", "ratio", "low", "high"])


def costs(runs: pd.DataFrame, processes: pd.DataFrame) -> pd.DataFrame:
    """Average the runs of each interface by clients; MissingData if there is no good run.

    Returns
    -------
    `interface` (in words), `variant`, `clients`, `runs`, `qps` with its 95 % interval `low`,
    `high`, and the means of `cpu_us` and `<role>_us`.
    """
    good = summary.good(runs[~summary.disturbed(runs)])
    good = good[good["variant"].astype(str).isin(WORDS)]
    if good.empty:
        raise MissingData("no good run of key lookups")
    lookups = lookup_us(good, processes).set_index(good.index)
    parts = list(lookups)
    lookups = lookups.assign(
        variant=good["variant"].astype(str), clients=good["clients"].astype(int), qps=good["qps"]
    )
    rows = []
    for (variant, clients), own in lookups.groupby(["variant", "clients"]):
        rate = estimate.positive(own["qps"])
        words = WORDS[str(variant)]
        rows.append((words, str(variant), int(clients), len(own), *rate, *own[parts].mean()))
    columns = ["interface", "variant", "clients", "runs", "qps", "low", "high", *parts]
    return pd.DataFrame(rows, columns=columns).sort_values(
        "variant", key=lambda names: names.map(list(WORDS).index), kind="stable", ignore_index=True
    )
