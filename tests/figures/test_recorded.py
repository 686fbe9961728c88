"""Every figure of the recorded datasets, as a reader of the notebooks sees it."""

from __future__ import annotations

import re

import pytest

from drawn import outside, said, title
from ndblab import figures
from ndblab.design import catalogue
from ndblab.experiments.capacity import forecast
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
