"""SQL and the NDB API, drawn. The runs are made up."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd

import made_up_slices
import small_runs
from drawn import caption, said, title, written
from ndblab import figures, formatting
from ndblab.design import catalogue
from ndblab.experiments.api_ceiling import analysis as interfaces
from ndblab.measuring import recorded
from ndblab.publishing import drawing, verdict_tables

EXPERIMENT = catalogue.find("api-ceiling")
QPS = {"default": 20e3, "ndb-api": 40e3, "ndb-api-32": 90e3}


def tables() -> dict[str, pd.DataFrame]:
    """Make every run of the quick sweep with its CPU, and slices of both contrasts."""
    runs = small_runs.swept(
        EXPERIMENT, 3, lambda point: QPS[point.variant] * point.clients / (point.clients + 4),
        step=0.02, company_pct=0.0,
    )  # fmt: skip
    used = [
        small_runs.cpu(
            run.run_id, ("mysqld", 1, 90.0), ("ndbmtd", 2, 60.0),
            ("sysbench" if run.variant == "default" else "client", 3, 30.0),
        )
        for run in runs.itertuples()
    ]  # fmt: skip
    made = {"runs": runs, "processes": pd.concat(used)}
    planned = EXPERIMENT.contrasts(EXPERIMENT, EXPERIMENT.size("quick"), pd.DataFrame())
    slices = [made_up_slices.of(contrast, 5, seed=1) for contrast in planned]
    made["slices"] = pd.concat(slices, ignore_index=True)
    recording = SimpleNamespace(slices=made["slices"], processes=made["processes"])
    made["ratios"] = interfaces.ratios([recording])
    return made


def test_a_title_names_no_other_ratio_than_its_words_say():
    """Where lookups one at once were not measured, those in batches do not stand in for them."""
    made = tables()
    row = {"contrast": interfaces.BATCH, "recordings": 1, "ratio": 9.0, "low": 8.0, "high": 10.0}
    made["ratios"] = pd.DataFrame([row])
    assert "is fastest" in title(figures.draw("api-ceiling", made, [], caption("shared")))


def test_the_ratio_is_that_of_the_verdict():
    """Several recordings are pooled by its rule, and the notes say so."""
    data = recorded.obtain("api-ceiling")
    judged = verdict_tables.of(data).iloc[0]
    _, figure = drawing.draw("api-ceiling", data)
    assert f"the NDB API did {judged['measured']:.3g} times the lookups of SQL" in title(figure)
    assert formatting.change(*judged[["measured", "low", "high"]]) in written(figure)
    assert f"Ratios: {1 + len(data.earlier)} recordings together." in said(figure)


def test_each_interface_has_a_line_and_a_bar():
    """The bar in parts by role."""
    made = tables()
    figure = figures.draw("api-ceiling", made, [], caption("shared"))
    _, rates, cost = figure.axes
    assert sum(bar.get_width() > 0 for bar in cost.patches) == 3 * len(QPS) - 2
    assert rates.get_ylabel() == "Throughput, lookups/s"
    assert "NDB API, 32 at once" in written(figure)
    assert title(figure).startswith("NDB API, 32 at once is fastest: 8")
    assert "3 runs per point" in said(figure)
    assert "SQL: 19" in figures.describe("api-ceiling", made, [])
