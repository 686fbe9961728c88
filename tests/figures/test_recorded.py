"""Every figure of the recorded datasets, as a reader of the notebooks sees it."""

from __future__ import annotations

import dataclasses
import re

import pandas as pd
import pytest

from drawn import outside, said, title, written
from ndblab import figures
from ndblab.dataset import Dataset, reader
from ndblab.design import catalogue
from ndblab.error import LabError
from ndblab.experiments.capacity import forecast
from ndblab.experiments.tuned import searched
from ndblab.figures import sheet
from ndblab.figures.entry import DATASET, FORECAST, PLAN
from ndblab.measuring import recorded
from ndblab.publishing import drawing, hosts
from prose import too_long

WHERE = {
    key: experiment.name for experiment in catalogue.every().values() for key in experiment.figures
}
MEASURED = [
    key for key in WHERE
    if figures.entries()[key].source == DATASET and not figures.entries()[key].recorded
]  # fmt: skip
WITHOUT_AXES = ("2", "3", "locks")
UNIT = re.compile(r", |% |[Cc]lients|servers|seconds|operations/s|since it started")
"""What every axis is labelled with: a unit, or what is counted."""


def recorded_for(key: str) -> Dataset | forecast.Forecast:
    """Return what the committed notebook of a figure draws."""
    if figures.entries()[key].source == FORECAST:
        return forecast.obtain()
    if key == "trade-off":
        return searched.obtain(host="recorded")
    return recorded.obtain(WHERE[key])


@pytest.mark.parametrize("key", WHERE)
def test_the_answer_leads_and_stays_on_the_sheet(key: str) -> None:
    """The title is the first sentence of the description, and every axis names its unit."""
    source = figures.entries()[key].source
    if source == PLAN:
        shown, figure = drawing.draw(key, "brief")
    else:
        shown, figure = drawing.draw(key, recorded_for(key))
    assert shown.alt.startswith(f"{title(figure)}.")
    assert too_long(shown.alt) == []
    assert too_long(title(figure)) == []
    assert "CPU budget" in said(figure)
    assert outside(figure) == []
    labels = [label for ax in figure.axes for label in (ax.get_xlabel(), ax.get_ylabel()) if label]
    assert all(UNIT.search(label) for label in labels)
    assert labels or key in WITHOUT_AXES


@pytest.mark.parametrize("key", MEASURED)
def test_a_dataset_of_failures_is_refused(key: str) -> None:
    """A message, not an empty picture."""
    data = recorded_for(key)

    def lost(name: str) -> pd.DataFrame:
        rows = data.tables[name]
        return rows.assign(status="lost") if "status" in rows else rows.iloc[:0]

    failed = dataclasses.replace(data, tables=reader.Tables({}, lost))
    with pytest.raises(LabError, match="nothing to draw"):
        drawing.draw(key, failed)


ON_A_PHONE = ("1", "5", "6", "faults", "capacity", "costs", "tpc-h", "read-locality", "contrast",
              "locks", "read-write", "brief-predicted")  # fmt: skip
"""Of each kind of figure one: curves, threads, facets, panels, forests, bars."""


@pytest.mark.parametrize("host", [hosts.BRIEF, hosts.RECORDED])
@pytest.mark.parametrize("key", ["2", "3"])
def test_a_drawing_of_a_plan_has_a_tall_form(key: str, host: str) -> None:
    """Nothing is cut of it, neither under quotas nor with CPUs of each process."""
    wide = drawing.draw(key, host)[1]
    with sheet.tall():
        tall = drawing.draw(key, host)[1]
    assert tall.get_figwidth() == sheet.TALL_IN < wide.get_figwidth()
    words = [re.findall(r"[A-Za-z]{2,}", written(figure)) for figure in (tall, wide)]
    assert sorted(words[0]) == sorted(words[1])
    assert outside(tall) == []


@pytest.mark.parametrize("key", ON_A_PHONE)
def test_a_figure_has_a_tall_form(key: str) -> None:
    """It is narrow, says the same, and all words are on the sheet."""
    data = recorded_for(key)
    wide = drawing.draw(key, data)[1]
    with sheet.tall():
        tall = drawing.draw(key, data)[1]
    assert tall.get_figwidth() < wide.get_figwidth()
    assert tall.get_figheight() > wide.get_figheight()
    assert title(tall) == title(wide)
    assert outside(tall) == []
