"""Figures 1 and 8: second by second."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import small_runs
from drawn import caption, outside, said, written
from ndblab import figures
from ndblab.error import LabError
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


def test_figure_1_shows_every_sample_of_the_longest_run() -> None:
    """No sample is dropped or smoothed away, and other runs are not mixed in."""
    tables = small_runs.together(run("long", 900, 8, 1000.0), run("short", 8, 64, 5000.0))
    raw = draw("1", tables).axes[0].lines[0]
    assert len(raw.get_ydata()) == 900
    assert max(raw.get_ydata()) < 1100


def test_figure_1_starts_at_zero() -> None:
    """A band of a few percent is not magnified: both axes start at zero, in both panels."""
    figure = draw("1", run("long", 900, 8, 1000.0))
    assert [ax.get_ylim()[0] for ax in figure.axes] == [0, 0, 0, 0]


def test_an_outlier_is_marked_and_not_removed() -> None:
    """An outlier has a ring, or a triangle if it is beyond the panel."""
    tables = run("long", 900, 8, 1000.0)
    tables["intervals"].loc[400, ["qps", "latency_p95_ms"]] = [10.0, 400.0]
    throughput, _, latency, _ = draw("1", tables).axes
    rings = [line for line in throughput.lines if line.get_marker() == "o"]
    assert 10.0 in [y for ring in rings for y in ring.get_ydata()]
    triangles = [line for line in latency.lines if line.get_marker() == "^"]
    assert [len(line.get_xdata()) for line in triangles] == [1]
    assert "Triangles: 1 sample beyond the panel." in said(draw("1", tables))


def test_checkpoints_and_failures_are_marked() -> None:
    """Local checkpoints stand above the samples, from start to end; a lost node has a line."""
    log = events(
        (60.0, 1, "local_checkpoint_started"), (120.0, 1, "local_checkpoint_completed"),
        (880.0, 1, "local_checkpoint_started"), (300.0, 3, "node_failed"),
    )  # fmt: skip
    figure = draw("1", small_runs.together(run("long", 900, 8, 1000.0), {"events": log}))
    spans = [line for line in figure.axes[0].lines if line.get_linewidth() == 3.5]
    assert [list(line.get_xdata()) for line in spans] == [[1, 2], [880 / 60, 15]]
    assert "2 local checkpoints" in said(figure)
    assert "node 3 failed" in written(figure)


def test_a_quiet_log_is_said_and_a_missing_one_is_not() -> None:
    """No event is a fact of a log; a dataset without a log says nothing of it."""
    tables = run("long", 900, 8, 1000.0)
    assert "has no events" in said(draw("1", {**tables, "events": events()}))
    assert "cluster log" not in said(draw("1", tables))


def test_the_published_band_gives_its_width_not_its_place() -> None:
    """The published band has its own panel; its relative width is drawn around this host's mean."""
    tables = run("long", 900, 8, 1000.0)
    figure = draw("1", tables)
    dashed = [line for line in figure.axes[0].lines if line.get_linestyle() == "--"]
    mean = tables["intervals"]["qps"].mean()
    heights = [line.get_ydata()[0] / mean for line in dashed]
    assert heights == pytest.approx([1 - 1 / 33, 1 + 1 / 33])
    assert "about 1 600 000" in written(figure)


def test_figure_8_shows_all_repeats_of_the_most_servers() -> None:
    """Each client count of the most servers is a segment with every sample of every repeat."""
    parts = [
        run(f"c{c}_r{r}", 5, c, 100.0 * c, r, servers)
        for servers in (1, 2)
        for c in (4, 8, 16)
        for r in (1, 2, 3)
    ]
    for i, part in enumerate(parts):
        for table in part.values():
            table["run_id"] = f"run{i}"
    ax = draw("8", small_runs.together(*parts)).axes[0]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["4", "8", "16"]
    assert np.isfinite(ax.lines[0].get_ydata()).sum() == 3 * 3 * 5


def test_latency_is_logarithmic_in_figure_8() -> None:
    """Client counts apart by a hundredfold are legible side by side; throughput starts at 0."""
    figure = draw("8", small_runs.together(run("a", 5, 4, 100.0), run("b", 5, 8, 200.0)))
    assert [ax.get_yscale() for ax in figure.axes] == ["linear", "linear", "log", "log"]
    assert figure.axes[0].get_ylim()[0] == 0


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
