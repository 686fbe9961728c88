"""SHM against TCP, and spinning: ratios of paired runs."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import made_up_slices
import small_runs
from drawn import caption, dots, outside, said, title, written
from ndblab import figures
from ndblab.design.contrast import ALTERNATION, Contrast, Side
from ndblab.error import LabError
from ndblab.judging.publication import Anchor
from ndblab.planning.point import Point

SIDES = (("tcp", "default"), ("shm", "default"), ("shm", "shm-spin"), ("shm", "all-spin"))
FACTORS = dict(zip(SIDES, (1.0, 1.25, 1.5, 1.0), strict=True))
WORKLOADS = ("oltp_point_select", "oltp_read_write")


def anchor(series: str, value: float, exactness: str = "stated", bound: str = "") -> Anchor:
    return Anchor("x", series, 0, 0, value, "ratio", exactness, bound, "T-top", "colocated-7.6")


PUBLISHED = [
    anchor("low concurrency", 1.0, "about"),
    anchor("top performance", 1.1),
    anchor("very high concurrency", 1.4, "bound", "lower"),
    anchor("mysqld and data nodes on one host", 1.2, "about"),
]


def runs(repeats: int = 4, workloads: tuple[str, ...] = WORKLOADS) -> dict[str, pd.DataFrame]:
    """Make runs whose repeats differ threefold, but whose ratios within a repeat hardly do."""
    rows = []
    for workload in workloads:
        for clients in (1, 8, 64):
            for repeat in range(1, repeats + 1):
                for transporter, variant in SIDES:
                    wobble = 1 + 0.004 * ((repeat + len(variant)) % 3)
                    qps = 500.0 * 3**repeat * FACTORS[transporter, variant] * wobble
                    name = f"c{clients}_r{repeat}_{transporter}_{workload}_{variant}"
                    kind = {"transporter": transporter, "variant": variant, "workload": workload}
                    rows.append(
                        small_runs.tables(name, clients=clients, repeat=repeat, qps=qps, **kind)
                    )
    return {"runs": pd.concat([row["runs"] for row in rows], ignore_index=True)}


def draw(key: str, tables: dict[str, pd.DataFrame], published=PUBLISHED):
    return figures.draw(key, tables, published, caption())


def test_a_ratio_is_of_paired_runs() -> None:
    """A machine that triples between repeats does not blur a ratio that holds in each of them."""
    figure = draw("shm-vs-tcp", runs())
    assert dots(figure.axes[0]) == pytest.approx([1.25] * 6, rel=0.01)
    words = figures.describe("shm-vs-tcp", runs(), PUBLISHED, caption())
    assert "read/write, 8 clients +25 %" in words
    assert words.startswith(title(figure))
    said = "point selects at most +25 %; read/write at most +25 %"
    assert title(figure) == f"Under CPU quotas, SHM instead of TCP, one recording: {said}"


@pytest.mark.parametrize("times", [1.0, 20.0])
def test_a_panel_that_counts_in_another_unit_says_so(times: float) -> None:
    """Ticks without a unit are read in that of the panel beside them."""
    tables = runs()
    reads = tables["runs"]["workload"] == WORKLOADS[0]
    tables["runs"]["qps"] *= reads.map({True: times, False: 1.0})
    _, left, right = draw("shm-vs-tcp", tables).axes
    assert ("thousand" in left.get_ylabel()) == (times > 1)
    assert right.get_ylabel() == ("Throughput, queries/s" if times > 1 else "")


def of_reads(
    name: str, clients: int, ratio: float, spread: float = 0.005, other: int = 0
) -> pd.DataFrame:
    """Make slices of a contrast of point selects over SHM with those over TCP.

    With `other`, TCP has as many clients.
    """
    sides = Side(Point(1, clients)), Side(Point(1, other or clients, "tcp"))
    contrast = Contrast(name, ALTERNATION, *sides, ())
    return made_up_slices.of(contrast, 6, ratio=ratio, sd=(spread, 0.0, 0.0))


def test_the_title_says_which_ratios_are_clear_with_their_intervals() -> None:
    """A range of values would look like an interval; where nothing is clear, it says so."""
    slices = [of_reads("few", 1, 1.0, 0.2), of_reads("some", 8, 0.8), of_reads("many", 64, 0.5)]
    tables = {**runs(workloads=WORKLOADS[:1]), "slices": pd.concat(slices, ignore_index=True)}
    found = title(draw("shm-vs-tcp", tables)).replace("\N{MINUS SIGN}", "-")
    value = r"-\d+ % \(-\d+ to -\d+ %\)"
    two = rf"point selects {value} with 64 clients and {value} with 8, unclear with 1"
    assert re.search(rf"SHM instead of TCP, one recording: {two}$", found)
    tables["slices"] = slices[0]
    assert "too uncertain to tell" in title(draw("shm-vs-tcp", tables))


def test_sides_that_differ_in_clients_are_named_with_those_of_both() -> None:
    """In the row, in the title and in words: the clients of one side are not those of the other."""
    top, few = of_reads("top", 32, 0.8, other=128), of_reads("few", 1, 0.5)
    unclear = of_reads("unclear", 4, 1.0, 0.2, other=16)
    tables = {**runs(workloads=WORKLOADS[:1]), "slices": pd.concat([top, unclear])}
    figure = draw("shm-vs-tcp", tables)
    assert "point selects, 32 clients over 128" in written(figure)
    assert title(figure).endswith(" %) with 32 clients over 128, unclear with 4 over 16")
    assert "point selects, 32 clients over 128" in figures.describe("shm-vs-tcp", tables, [])
    tables["slices"] = pd.concat([top, few])
    assert title(draw("shm-vs-tcp", tables)).endswith(" %) with 32 over 128")


def test_a_contrast_without_an_interval_is_not_drawn() -> None:
    """A value of one block on a fine axis would look like a finding."""
    one = of_reads("reads", 4, 0.8).query("block == 1")
    tables = {**runs(workloads=WORKLOADS[:1]), "slices": one}
    figure = draw("shm-vs-tcp", tables, [])
    assert "too few blocks to tell" in title(figure)
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["Point selects"]
    assert "Not shown: contrasts of fewer than 4 blocks" in said(figure)
    assert "Compared" not in figures.describe("shm-vs-tcp", tables, [])
    assert outside(figure) == []


def test_the_largest_of_several_kinds_leads() -> None:
    """And how many of all comparisons are clear."""
    words = title(draw("spinning", runs())).replace("\N{MINUS SIGN}", "-")
    start = "Under CPU quotas, 12 of 12 comparisons with no spinning are clear, the largest "
    assert words.startswith(f"{start}-20 % (")
    assert "spinning tc and ldm too, " in words


def test_bands_are_explained() -> None:
    """Whiskers of ratios, and bands around curves."""
    for tables in (runs(), {**runs(workloads=WORKLOADS[:1]), "slices": of_reads("reads", 4, 0.5)}):
        assert "Bands: 95 % confidence interval of the mean." in said(draw("shm-vs-tcp", tables))


def test_the_interval_of_two_pairs_is_no_range() -> None:
    """It is a confidence interval from two pairs on, and wide."""
    assert "range of the two pairs" not in said(draw("spinning", runs(2)))


def test_a_run_without_its_pair_is_left_out() -> None:
    """A failed run takes its partner out of the ratio, and no other repeat fills in."""
    tables = runs(workloads=WORKLOADS[:1])
    lost = tables["runs"]["run_id"] == "c8_r1_tcp_oltp_point_select_default"
    tables["runs"].loc[lost, "status"] = "mysqld 2 died: signal 9"
    figure = draw("shm-vs-tcp", tables)
    assert "3 to 4 pairs per ratio" in said(figure)
    assert dots(figure.axes[0]) == pytest.approx([1.25] * 3, rel=0.01)


def test_workloads_and_kinds_have_rows_of_their_own() -> None:
    """Point selects and read/write are never averaged together, nor are kinds of spinning."""
    expected = sorted([0.8] * 6 + [1.2] * 6)
    assert sorted(dots(draw("spinning", runs()).axes[0])) == pytest.approx(expected, rel=0.01)


def test_contrasts_stand_instead_of_pairs() -> None:
    """Verdicts rest on them; the title says what they found."""
    sides = Side(Point(1, 4)), Side(Point(1, 4, "tcp"))
    slices = made_up_slices.of(Contrast("reads", ALTERNATION, *sides, ()), 6, ratio=0.5)
    figure = draw("shm-vs-tcp", {**runs(workloads=WORKLOADS[:1]), "slices": slices})
    assert dots(figure.axes[0]) == pytest.approx([0.5], rel=0.1)
    assert "both sides measured close together" in said(figure)
    assert "pairs" not in said(figure)
    start = "SHM instead of TCP, one recording: point selects \N{MINUS SIGN}"
    assert title(figure).startswith(f"Under CPU quotas, {start}")


def test_published_ratios_stand_below_as_they_were_stated() -> None:
    """Each published ratio has a row with a mark of another kind, and its name."""
    figure = draw("shm-vs-tcp", runs())
    marks = [line for line in figure.axes[0].lines if line.get_marker() in ("*", "|")]
    assert [float(np.atleast_1d(line.get_xdata())[0]) for line in marks] == [1.0, 1.1, 1.4, 1.2]
    for words in ("at least +40 %", "about +20 %", "published: top performance"):
        assert words in written(figure)


def test_the_quota_is_said() -> None:
    """Under quotas, and only there, the caption says that spinning consumes them."""
    scaled, pinned = (
        figures.draw("spinning", runs(), [], caption(budget)) for budget in ("scaled", "pinned")
    )
    assert "consumes CPU quota" in said(scaled)
    assert "quota" not in said(pinned)


def test_a_dataset_of_one_side_is_refused() -> None:
    """Without a partner there is no ratio, and the message says what was expected."""
    tables = runs()
    tables["runs"] = tables["runs"][tables["runs"]["transporter"] == "shm"]
    with pytest.raises(LabError, match="nothing to draw"):
        figures.draw("shm-vs-tcp", tables, [], caption())
