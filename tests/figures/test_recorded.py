"""Every figure of the recorded datasets, as a reader of the notebooks sees it."""

from __future__ import annotations

import re

import pytest

from drawn import outside, said, title
from ndblab import figures
from ndblab.design import catalogue
from ndblab.experiments.capacity import forecast
from ndblab.figures import sheet
from ndblab.figures.entry import FORECAST, PLAN
from ndblab.measuring import recorded
from ndblab.publishing import drawing

WHERE = {
    key: experiment.name for experiment in catalogue.every().values() for key in experiment.figures
}
WITHOUT_AXES = ("2", "3", "locks")
UNIT = re.compile(r", |% |[Cc]lients|servers|seconds|operations/s|since it started")
"""What every axis is labelled with: a unit, or what is counted."""


@pytest.mark.parametrize("key", WHERE)
def test_the_answer_leads_and_stays_on_the_sheet(key: str) -> None:
    """The title is the first sentence of the description, and every axis names its unit."""
    source = figures.entries()[key].source
    if source == PLAN:
        shown, figure = drawing.draw(key, "brief")
    else:
        data = forecast.obtain() if source == FORECAST else recorded.obtain(WHERE[key])
        shown, figure = drawing.draw(key, data)
    assert shown.alt.startswith(f"{title(figure)}.")
    assert "CPU budget" in said(figure)
    assert outside(figure) == []
    labels = [label for ax in figure.axes for label in (ax.get_xlabel(), ax.get_ylabel()) if label]
    assert all(UNIT.search(label) for label in labels)
    assert labels or key in WITHOUT_AXES


ON_A_PHONE = ("1", "5", "6", "faults", "capacity", "costs", "tpc-h", "read-locality", "contrast")
"""Of each kind of figure one: curves, threads, facets, panels, forests, bars."""


@pytest.mark.parametrize("key", ON_A_PHONE)
def test_a_figure_has_a_tall_form(key: str) -> None:
    """It is narrow, says the same, and all words are on the sheet."""
    is_forecast = figures.entries()[key].source == FORECAST
    data = forecast.obtain() if is_forecast else recorded.obtain(WHERE[key])
    wide = drawing.draw(key, data)[1]
    with sheet.tall():
        tall = drawing.draw(key, data)[1]
    assert tall.get_figwidth() < wide.get_figwidth()
    assert tall.get_figheight() > wide.get_figheight()
    assert title(tall) == title(wide)
    assert outside(tall) == []
