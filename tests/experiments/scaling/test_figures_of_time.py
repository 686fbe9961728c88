"""Figures 1 and 8: second by second."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import same_color
from matplotlib.figure import Figure

import small_runs
from drawn import caption, line_like, outside, said, title, written
from ndblab import figures
from ndblab.error import LabError
from ndblab.figures import style
from ndblab.judging import publication


def run(name: str, seconds: int, clients: int, qps: float, repeat: int = 1, servers: int = 2):
    """Make a run with as many samples as seconds, of a throughput that varies by 1 %."""
    one = small_runs.tables(
        name, servers=servers, clients=clients, repeat=repeat, qps=qps, duration_s=float(seconds)
    )
    noise = np.random.default_rng(repeat).normal(0, 0.01, seconds)
    samples = {"t_s": np.arange(1.0, seconds + 1), "qps": qps * (1 + noise)}
    one["intervals"] = pd.DataFrame(
        {"run_id": name, **samples, "clients": clients, "latency_p95_ms": 1.5 + noise}
    )
    return one


def events(*rows: tuple[float, int, str]) -> pd.DataFrame:
    columns = ["t_s", "node_id", "event"]
    return pd.DataFrame(rows, columns=columns).assign(run_id="long", text="as the log has it")


def draw(key: str, tables: dict[str, pd.DataFrame], budget: str = "scaled") -> Figure:
    return figures.draw(key, tables, publication.anchors(key), caption(budget))


def test_figure_1_shows_every_sample_of_the_longest_run_in_percent_of_its_mean() -> None:
    """No sample is dropped or smoothed away, and other runs are not mixed in."""
    tables = small_runs.together(run("long", 900, 8, 1000.0), run("short", 8, 64, 5000.0))
    figure = draw("1", tables)
    own = tables["intervals"].query("run_id == 'long'")["qps"]
    line_like(figure.axes[0], 100 * own / own.mean())
    low, high = 100 * own.quantile([0.025, 0.975]) / own.mean() - 100
    assert f"from its mean by {low:+.0f} to {high:+.0f} %" in title(figure).replace(
        "\N{MINUS SIGN}", "-"
    )


def test_an_outlier_is_marked_and_not_removed() -> None:
    """An outlier has a ring, or a triangle if it is beyond the panel."""
    tables = small_runs.together(run("long", 900, 8, 1000.0))
    tables["intervals"].loc[400, "latency_p95_ms"] = 400.0
    latency = draw("1", tables).axes[1]
    triangles = [x for x in latency.lines if x.get_marker() == "^" and len(x.get_xdata())]
    assert [len(line.get_xdata()) for line in triangles] == [1]
    assert "Triangles: 1 sample beyond the panel." in said(draw("1", tables))


def test_checkpoints_and_failures_are_marked() -> None:
    """Local checkpoints are shaded from start to end; a lost node has a line with words."""
    log = events(
        (60.0, 1, "local_checkpoint_started"), (120.0, 1, "local_checkpoint_completed"),
        (880.0, 1, "local_checkpoint_started"), (300.0, 3, "node_failed"),
    )  # fmt: skip
    figure = draw("1", {**small_runs.together(run("long", 900, 8, 1000.0)), "events": log})
    spans = [p for p in figure.axes[0].patches if same_color(p.get_facecolor()[:3], style.PALE)]
    begins = [span.get_x() for span in spans]
    assert begins == [1, 880 / 60]
    assert "2 local checkpoints" in said(figure)
    assert "node 3 failed" in written(figure)


def test_node_events_that_have_no_room_are_counted() -> None:
    """Four marks would be taken for all."""
    log = events(*((100.0 * number, 3, "node_failed") for number in range(1, 7)))
    figure = draw("1", {**small_runs.together(run("long", 900, 8, 1000.0)), "events": log})
    assert "Not marked: 2 later events of nodes." in said(figure)


def test_a_quiet_log_is_said_and_a_missing_one_is_not() -> None:
    """No event is a fact of a log; a dataset without a log says nothing of it."""
    tables = run("long", 900, 8, 1000.0)
    assert "has no events" in said(draw("1", {**tables, "events": events()}))
    assert "cluster log" not in said(draw("1", tables))


def test_the_published_band_stands_around_its_own_mean() -> None:
    """Two machines compare in percent of their means."""
    figure = draw("1", small_runs.together(run("long", 900, 8, 1000.0)))
    for ax, (low, high) in zip(figure.axes, ((1.6, 1.7), (1.1, 1.6)), strict=True):
        mean = 1.65 if high == 1.7 else 1.35
        [band] = [patch for patch in ax.patches if patch.get_alpha() == 0.25]
        assert band.get_y() == pytest.approx(100 * low / mean)
        assert band.get_y() + band.get_height() == pytest.approx(100 * high / mean)
    assert title(figure).endswith("published: \N{PLUS-MINUS SIGN}3 %")


def test_figure_8_shows_how_much_each_run_of_the_most_servers_varied() -> None:
    """A circle for each repeat at each client count, and the answer in the title."""
    parts = [
        run(f"c{c}_r{r}", 5, c, 100.0 * c, r, servers)
        for servers in (1, 2)
        for c in (4, 8, 16)
        for r in (1, 2, 3)
    ]
    for i, part in enumerate(parts):
        for table in part.values():
            table["run_id"] = f"run{i}"
    figure = draw("8", small_runs.together(*parts))
    circles = [x for x in figure.axes[0].lines if x.get_markerfacecolor() == "white"]
    assert sorted(circles[0].get_xdata()) == [4, 4, 4, 8, 8, 8, 16, 16, 16]
    assert "throughput varied by 1 % with 4 clients and 1 % with 16" in title(figure)
    assert figure.axes[0].get_ylabel() == "Variation, % of the mean"


def test_figure_8_of_runs_without_two_whole_seconds_says_so() -> None:
    """A smoke run on a busy host: its seconds come as one."""
    one = small_runs.together(run("short", 1, 8, 1000.0))
    assert title(draw("8", one)) == "Runs of 1 s are too short to say how steady throughput is"
    assert figures.describe("8", one, []).startswith("Runs of 1 s are too short to say")


@pytest.mark.parametrize("key", ["1", "8"])
def test_no_text_leaves_the_figure(key: str) -> None:
    """The longest caption and the published labels stay inside the picture."""
    log = events((60.0, 1, "local_checkpoint_started"), (300.0, 3, "node_failed"),
                 (310.0, 3, "warning"))  # fmt: skip
    tables = small_runs.together(run("long", 900, 8, 1000.0), {"events": log})
    tables["intervals"].loc[400, "latency_p95_ms"] = 400.0
    assert outside(draw(key, tables)) == []


def test_words_for_those_who_cannot_see_it() -> None:
    """Descriptions hold means, bands, trend and what was published."""
    tables = run("long", 900, 8, 1000.0)
    one = figures.describe("1", tables, publication.anchors("1")).replace(
        "\N{NARROW NO-BREAK SPACE}", ""
    )
    assert "900 samples of one run of 900 s with 2 servers and 8 clients" in one
    assert "highest second 1716700 queries/s" in one
    assert "% per hour (" in one
    eight = figures.describe("8", tables, publication.anchors("8"))
    assert "1 and 1 % at 8 clients" in eight


def test_a_dataset_without_intervals_is_refused() -> None:
    """No interval gives a message, not an empty picture."""
    tables = run("long", 900, 8, 1000.0)
    tables["intervals"] = tables["intervals"].iloc[:0]
    for key in ("1", "8"):
        with pytest.raises(LabError, match="nothing to draw"):
            draw(key, tables)
