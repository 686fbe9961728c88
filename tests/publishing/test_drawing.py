"""Figures from datasets: which published numbers stand beside the measured ones."""

from __future__ import annotations

import html
import re

import pytest

from ndblab.measuring import recorded
from ndblab.publishing import drawing, show


def test_a_figure_with_published_numbers_of_its_own_shows_them():
    """A quotient of what the brief states is no row of its numbers; one server's cost has it."""
    shown, figure = drawing.draw("costs-one-server", recorded.obtain("api-ceiling"))
    assert "Published, on another machine: mysqld about 61 \N{MICRO SIGN}s." in shown.alt
    assert any(line.get_marker() == "*" for ax in figure.axes for line in ax.lines)


def test_other_figures_show_what_was_published_of_them():
    """Figure 6 of the brief has its own rows."""
    shown, _ = drawing.draw("6", recorded.obtain("multi-server-scaling"))
    assert "about 230" in shown.alt


def test_a_notebook_can_show_a_figure_to_explore(monkeypatch: pytest.MonkeyPatch) -> None:
    """A frame of its own holds the figure with its words and the script, and loads nothing."""
    shown = []
    monkeypatch.setattr(show, "display", shown.append)
    show.explore("locks", recorded.obtain("locking-reads"))
    [frame] = re.findall(r'<iframe [^>]*srcdoc="([^"]*)"', shown[0].data)
    inside = html.unescape(frame)
    assert inside.count("<svg") == 1
    assert "querySelectorAll('.explore > svg" in inside
    assert not re.search(r"(src|href)=\W*https?:", inside)


def test_who_runs_where_is_drawn_again_for_the_site() -> None:
    """Wide, and tall for a phone, from the dataset that a notebook shows."""
    data = recorded.obtain("costs")
    shown, _ = drawing.placed(data)
    drawn = drawing.again([shown], data)[shown.file]
    assert drawn.wide != drawn.tall
    for svg in drawn:
        assert "16 mysqld, SHM" in svg
    assert drawing.again([shown], None) == {}
