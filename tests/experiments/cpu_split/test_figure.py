"""The picture of divisions of CPUs, whose shares may have their own numbers of clients."""

from __future__ import annotations

import pandas as pd

import made_up_slices
import small_runs
from drawn import caption, outside, said, title, written
from ndblab import figures
from ndblab.design import catalogue
from ndblab.design.contrast import ALTERNATION, Contrast, Side
from ndblab.experiments.cpu_split import analysis
from ndblab.experiments.cpu_split.experiment import SHARES_PCT
from ndblab.planning.point import Point

EXPERIMENT = catalogue.find("cpu-split")
RATIOS = {10: 1.8, 17: 1.2, 35: 1.4, 50: 2.0}


def drawn(clients: dict[int, int], spread: float = 0.01, earlier: list[tuple] = ()):
    """Draw a quarter with 64 clients over other shares with these numbers of clients."""
    slices = [
        made_up_slices.of(
            Contrast(
                f"25-over-{pct}", ALTERNATION, Side(Point(4, 64)),
                Side(Point(4, clients.get(pct, 64), variant=f"split-{pct}")), ("B-split",),
            ), 6, ratio=ratio, sd=(0.01, 0.0, 0.0),
        )
        for pct, ratio in RATIOS.items()
    ]  # fmt: skip
    tables = {
        "runs": small_runs.swept(EXPERIMENT, 3, lambda _: 1000.0, spread),
        "slices": pd.concat(slices, ignore_index=True),
        "law": pd.DataFrame(columns=analysis.Law._fields),
        "earlier": pd.DataFrame(earlier, columns=["contrast", "low", "high"]),
    }
    return figures.draw("cpu-split", tables, [], caption())


def test_the_title_names_the_clients_of_each_side() -> None:
    """They are in the title where they are equal, and beside each share in any case."""
    figure = drawn({})
    start = "With 64 clients, a quarter of the CPUs for data nodes beats"
    assert title(figure) == f"{start} 10, 17, 35 and 50 %"
    assert "25 % over 35 %, 64 clients" in written(figure)
    figure = drawn({35: 32, 50: 32})
    assert title(figure) == "A quarter of the CPUs for data nodes beats 10, 17, 35 and 50 %"
    assert "25 % over 35 %, 64 clients over 32" in written(figure)
    assert outside(figure) == []


def test_an_earlier_recording_that_decided_the_opposite_is_no_agreement() -> None:
    """Like one that decided nothing, it is named, even if a third agrees."""
    apart, agrees = ("25-over-35", 0.5, 0.6), ("25-over-35", 1.5, 1.6)
    for earlier in ([apart], [apart, agrees]):
        some = title(drawn({}, earlier=[*earlier, ("25-over-50", 1.5, 1.6)]))
        assert "35 % in some recordings only" in some
        assert "50 % in some" not in some


def test_whiskers_are_whole_unless_they_would_squeeze_the_lines() -> None:
    """Then the notes say which are cut."""
    whole = drawn({}, spread=0.1)
    assert "cut" not in said(whole)
    assert whole.axes[-1].get_xlim() == (min(SHARES_PCT) - 4, max(SHARES_PCT) + 4)
    cut = "Vertical bars cut at the edge: 16 clients at 10, 17, 25, 35 and 50; 32"
    assert cut in said(drawn({}, spread=9.0))
