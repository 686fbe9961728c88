"""What a reader gets who asks a point of a figure: words, and the way to its rows."""

from __future__ import annotations

import io
import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from ndblab.figures import curves, forest, points, sheet
from ndblab.figures.quantity import QPS
from ndblab.figures.style import Look
from ndblab.publishing import drawing
from ndblab.publishing.notebook import exhibit
from ndblab.statistics import intervals

RATIOS = pd.DataFrame(
    {
        "name": ['a\'s "b" <over> c & d', "unmeasured"],
        "contrast": ["one", "two"],
        "units": [6, 0],
        "ratio": [0.69, np.nan],
        "low": [0.64, np.nan],
        "high": [0.74, np.nan],
    }
)
RUNS = pd.DataFrame(
    {
        "run_id": ["c1_r1", "c1_r2", "c1_r3", "c8_r1"],
        "clients": [1, 1, 1, 8],
        "by": "",
        "qps": 1000.0,
    }
)


def drawn() -> Figure:
    with sheet.page() as figure:
        upper, lower = figure.subplots(2)
        forest.draw(upper, RATIOS, "Throughput, ratio")
        means = intervals.means(RUNS, ["by", "clients"], "qps")
        curves.against_clients(lower, means, QPS, "by", {"": Look("one server", "#000000")})
        # Some figures rename an axis after they have drawn on it.
        lower.set_xlabel("MySQL servers")
        sheet.sign(figure, sheet.Head("Title"), "")
    return figure


def test_points_tell_what_they_are_and_where_their_rows_are() -> None:
    """An SVG has for each point its name, its value with its interval, and what it was made of;
    a point without a value has nothing."""
    svg = exhibit.explorable(drawing.svg(drawn()), lambda place: f"data.html#{place}")
    links = re.findall(r'<a href="(.*?)" .*?><title>(.*?)</title>', svg, re.DOTALL)
    assert links == [
        (
            "data.html#contrast-one",
            "a&#x27;s &quot;b&quot; &lt;over&gt; c &amp; d\n"
            "Throughput, change: -31 % (-36 to -26 %)\n6 blocks",
        ),
        (
            "data.html#run-c1_r1",
            "one server\nMySQL servers: 1\nThroughput, queries/s: 1\N{NARROW NO-BREAK SPACE}000 "
            "(1\N{NARROW NO-BREAK SPACE}000 to 1\N{NARROW NO-BREAK SPACE}000)\n"
            "3 runs: c1_r1, c1_r2, c1_r3",
        ),
        (
            "data.html#run-c8_r1",
            "one server\nMySQL servers: 8\nThroughput, queries/s: 1\N{NARROW NO-BREAK SPACE}000\n"
            "1 run: c8_r1",
        ),
    ]


def test_an_svg_needs_nothing_else() -> None:
    """It loads nothing, and where there is no page of the data its points are no links."""
    svg = exhibit.explorable(drawing.svg(drawn()))
    assert svg.startswith("<svg")
    assert "<a href" not in svg
    assert svg.count("<title>") == 3
    assert not re.search(r"(href|src|url)\W+https?:", svg)


def test_an_svg_names_its_fonts_once() -> None:
    """For all of its texts, which turn only where they stand upright."""
    svg = exhibit.explorable(drawing.svg(drawn()))
    assert svg.count("font-family") == 1
    assert "text{font-family: 'DejaVu Sans', Verdana, sans-serif}" in svg
    assert "rotate(-0 " not in svg


def test_a_picture_shows_nothing_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A PNG is the same with the words of points and without."""

    def png() -> bytes:
        out = io.BytesIO()
        drawn().savefig(out, format="png")
        return out.getvalue()

    with_words = png()
    monkeypatch.setattr(points, "add", lambda *_, **__: None)
    assert png() == with_words
