"""Curves with bands: how far an axis follows these, and what is said of those it cuts."""

from __future__ import annotations

import pandas as pd
import pytest
from matplotlib.figure import Figure

from drawn import said
from ndblab.figures import curves, sheet
from ndblab.figures.quantity import P95, QPS
from ndblab.figures.style import Look

LOOKS = {"a": Look("one", "#000000"), "b": Look("two", "#0000ff", "s")}


def means(high: float, low: float = 0.9) -> pd.DataFrame:
    """Make two lines, of which one has a band up to `high` times its mean, at 8 clients."""
    rows = [(by, clients, 100.0, 90.0, 110.0) for by in "ab" for clients in (2, 8)]
    table = pd.DataFrame(rows, columns=["by", "clients", "mean", "low", "high"])
    table.loc[3, ["low", "high"]] = 100 * low, 100 * high
    return table


def draw(table: pd.DataFrame, quantity=QPS, beside=()) -> Figure:
    with sheet.page() as figure:
        ax = figure.subplots()
        curves.against_clients(ax, table, quantity, "by", LOOKS, beside=beside)
        sheet.sign(figure, sheet.Head("Title"), "Source")
    return figure


@pytest.mark.parametrize("quantity", [QPS, P95])
def test_a_band_is_shown_whole(quantity) -> None:
    """Also a wide one, and nothing is said of it."""
    figure = draw(means(2.4), quantity)
    assert figure.axes[0].get_ylim()[1] > 240
    assert "cut" not in said(figure)


def test_a_band_that_would_squeeze_the_curves_is_cut_and_named() -> None:
    """Curves keep a third of the axis; the notes name the line and its clients."""
    figure = draw(means(9.0))
    assert figure.axes[0].get_ylim() == (0, 300)
    assert "Bands cut at the edge: two at 8." in said(figure)
    figure = draw(means(9.0, low=0.01), P95)
    assert figure.axes[0].get_ylim() == pytest.approx((100 / 3, 300))
    assert "Bands cut at the edge: two at 8." in said(figure)


def test_panels_that_share_an_axis_have_room_for_all_bands() -> None:
    """The one drawn last does not cut those of the others."""
    figure = draw(means(1.1), beside=[means(2.4)])
    assert figure.axes[0].get_ylim()[1] > 240


def test_facets_say_once_what_they_cut() -> None:
    """Each panel has the same axis."""
    with sheet.page() as figure:
        curves.facets(figure, means(9.0), QPS, "by", LOOKS)
        sheet.sign(figure, sheet.Head("Title"), "Source")
    assert said(figure).count("cut at the edge") == 1
