"""SQL and the NDB API, drawn. The runs are made up."""

from __future__ import annotations

import pandas as pd
import pytest

import made_up_slices
import small_runs
from drawn import caption, outside, said, written
from ndblab import figures
from ndblab.design import catalogue
from ndblab.error import LabError

EXPERIMENT = catalogue.find("api-ceiling")
QUICK = EXPERIMENT.size("quick")
QPS = {"default": 20e3, "ndb-api": 40e3, "ndb-api-32": 90e3}


def tables() -> dict[str, pd.DataFrame]:
    """Make every run of the quick sweep with its CPU, and slices of both contrasts."""
    parts = []
    for point in EXPERIMENT.grid(EXPERIMENT, QUICK):
        for repeat in (1, 2, 3):
            name = point.run_id(repeat)
            rate = QPS[point.variant] * point.clients / (point.clients + 4) * (1 + repeat / 50)
            run = small_runs.tables(
                name, repeat=repeat, qps=rate, clients=point.clients, workload=point.workload,
                variant=point.variant, company_pct=0.0,
            )  # fmt: skip
            client = "sysbench" if point.variant == "default" else "client"
            used = {"mysqld": 90.0, "ndbmtd": 60.0, client: 30.0}
            run["processes"] = pd.DataFrame(
                [(name, 2.0, role, n, pct, 1) for n, (role, pct) in enumerate(used.items(), 1)],
                columns=["run_id", "t_s", "role", "node_id", "cpu_pct", "rss_bytes"],
            )
            parts.append(run)
    made = {n: pd.concat([part[n] for part in parts], ignore_index=True) for n in parts[0]}
    found = EXPERIMENT.contrasts(EXPERIMENT, QUICK, pd.DataFrame())
    made["slices"] = pd.concat([made_up_slices.of(c, 5, seed=1) for c in found], ignore_index=True)
    return made


def test_each_interface_has_a_line_and_a_bar():
    """The bar in parts by role; no word leaves the picture."""
    made = tables()
    figure = figures.draw("api-ceiling", made, [], caption("shared"))
    _, cost = figure.axes
    assert len(cost.patches) == 3 * len(QPS)
    assert "NDB API, 32 at once" in written(figure)
    assert "3 runs per point" in said(figure)
    assert outside(figure) == []
    assert "SQL: 19" in figures.describe("api-ceiling", made, [])


def test_a_dataset_without_lookups_is_refused():
    """A message, not an empty picture."""
    made = tables()
    lost = {**made, "runs": made["runs"].assign(status="lost")}
    with pytest.raises(LabError, match="nothing to draw"):
        figures.draw("api-ceiling", lost, [], caption("shared"))
