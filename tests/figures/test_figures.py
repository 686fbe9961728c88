"""Figures 6 and 7: what is drawn, what is described, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import small_runs
from drawn import DATASET, HOST, caption, outside, said
from ndblab import figures, formatting
from ndblab.design import catalogue
from ndblab.error import LabError
from ndblab.figures import style
from ndblab.judging import publication
from ndblab.statistics import summary


def runs(
    repeats: int = 3, servers: tuple[int, ...] = (1, 2, 4), clients: tuple[int, ...] = (1, 4, 16)
) -> pd.DataFrame:
    """Make runs whose throughput grows with servers and, up to a point, with clients."""
    frames = [
        small_runs.tables(
            f"s{n:02}_c{c:04}_r{repeat}",
            servers=n,
            clients=c,
            repeat=repeat,
            qps=900.0 * min(n, c) * c / (c + 2) * (1 + 0.02 * repeat),
            latency_p95_ms=1.5 * c / n * (1 + 0.03 * repeat),
        )["runs"]
        for n in servers
        for c in clients
        for repeat in range(1, repeats + 1)
    ]
    return pd.concat(frames, ignore_index=True)


def draw(number: str, table: pd.DataFrame, budget: str = "scaled") -> Figure:
    return figures.draw(number, {"runs": table}, publication.anchors(number), caption(budget))


def failed(table: pd.DataFrame, run_ids: str, reason: str) -> pd.DataFrame:
    table.loc[table["run_id"].str.startswith(run_ids), "status"] = reason
    return table


def line_of(figure: Figure, servers: int) -> Line2D:
    ax = figure.axes[0]
    solid = [line for line in ax.lines if line.get_linestyle() == "-"]
    return next(line for line in solid if line.get_color() == style.colour(servers))


def bands(figure: Figure) -> list[tuple[float, float]]:
    """Give the lowest and highest value of each band that has an extent."""
    spans = []
    for band in figure.axes[0].collections:
        heights = [path.vertices[:, 1] for path in band.get_paths()]
        spans += [(float(h.min()), float(h.max())) for h in heights]
    return spans


@pytest.mark.parametrize(("number", "metric"), [("6", "qps_mean"), ("7", "latency_p95_ms_mean")])
def test_a_line_is_the_means_of_its_servers(number: str, metric: str) -> None:
    """Each number of servers has one line, and its heights are the means of its points."""
    table = runs()
    points = summary.points(table)
    figure = draw(number, table)
    for servers in (1, 2, 4):
        expected = points[points["servers"] == servers]
        line = line_of(figure, servers)
        assert list(line.get_xdata()) == list(expected["clients"])
        np.testing.assert_allclose(line.get_ydata(), expected[metric])


def test_axes_are_honest() -> None:
    """Throughput starts at zero over a binary logarithm of clients; latency is logarithmic."""
    throughput, latency = draw("6", runs()), draw("7", runs())
    assert all(ax.get_ylim()[0] == 0 for ax in throughput.axes)
    assert [ax.get_yscale() for ax in latency.axes] == ["log", "log"]
    for ax in (*throughput.axes, *latency.axes):
        assert ax.get_xscale() == "log"
        assert ax.xaxis.get_transform().base == 2


def test_two_machines_never_share_an_axis() -> None:
    """Published numbers have a panel of their own, with independent axes."""
    measured, published = draw("6", runs()).axes
    assert not measured.get_shared_x_axes().joined(measured, published)
    assert not measured.get_shared_y_axes().joined(measured, published)
    assert published.get_ylim()[1] > 100 * measured.get_ylim()[1]


def test_axes_have_units() -> None:
    """Every axis names what it counts and the unit, also where it counts millions."""
    assert [ax.get_ylabel() for ax in draw("6", runs()).axes] == [
        "Throughput, queries/s",
        "Throughput, million queries/s",
    ]
    assert {ax.get_ylabel() for ax in draw("7", runs()).axes} == {"95th percentile latency, ms"}
    assert {ax.get_xlabel() for ax in draw("7", runs()).axes} == {"Clients"}


@pytest.mark.parametrize(("number", "metric"), [("6", "qps"), ("7", "latency_p95_ms")])
def test_three_runs_give_a_confidence_band(number: str, metric: str) -> None:
    """With three runs per point, the band is the 95 % interval, and is called so."""
    table = runs(servers=(1,))
    points = summary.points(table)
    figure = draw(number, table)
    [(low, high)] = bands(figure)
    assert low == pytest.approx(points[f"{metric}_low"].min())
    assert high == pytest.approx(points[f"{metric}_high"].max())
    assert "3 runs per point." in said(figure)
    assert "95 % confidence interval" in said(figure)


def test_two_runs_give_their_span() -> None:
    """With two runs per point, the band is their range, and the caption says so."""
    table = runs(repeats=2, servers=(1,))
    figure = draw("6", table)
    [(low, high)] = bands(figure)
    assert low == pytest.approx(table["qps"].min())
    assert high == pytest.approx(table["qps"].max())
    assert "range of the two runs" in said(figure)
    assert "confidence" not in said(figure)


def test_one_run_gives_no_band() -> None:
    """One run per point has no interval, and the caption says so."""
    figure = draw("6", runs(repeats=1))
    assert not bands(figure)
    assert "1 run per point." in said(figure)
    assert "no bands" in said(figure)


def test_a_point_that_lost_a_run_is_crossed_and_explained() -> None:
    """A point with a failed run keeps the mean of the others, crossed, with the reason below."""
    figure = draw("6", failed(runs(), "s02_c0004_r2", "mysqld 2 died: signal 9"))
    crosses = [
        line for line in figure.axes[0].lines if line.get_marker() == "x" and len(line.get_xdata())
    ]
    assert [list(line.get_xdata()) for line in crosses] == [[4]]
    assert "2 servers, 4 clients: 1 not averaged: mysqld 2 died: signal 9" in said(figure)
    assert "Points with fewer than three runs have none." in said(figure)


def test_a_point_without_a_good_run_is_marked_at_the_bottom() -> None:
    """A point whose runs all failed has no height, but is not silently absent."""
    figure = draw("6", failed(runs(), "s04_c0016", "errors: 12"))
    [cross] = [
        line for line in figure.axes[0].lines if line.get_marker() == "x" and len(line.get_xdata())
    ]
    assert list(cross.get_xdata()) == [16]
    assert cross.get_transform() != figure.axes[0].transData
    assert "3 not averaged: errors: 12" in said(figure)


def test_idle_servers_are_hollow() -> None:
    """Points with fewer clients than servers are hollow, and the caption says why."""
    figure = draw("6", runs())
    hollow = [line for line in figure.axes[0].lines if line.get_markerfacecolor() == "white"]
    assert {x for line in hollow for x in line.get_xdata()} == {1}
    assert "some servers are idle" in said(figure)
    assert "idle" not in said(draw("6", runs(clients=(4, 16))))


def test_peaks_are_ringed_and_named() -> None:
    """Every line of Figure 6 has a ring at its best mean, which the legend repeats as a number."""
    table = runs()
    figure = draw("6", table)
    rings = [line for line in figure.axes[0].lines if line.get_markersize() == 12]
    best = summary.peaks(summary.points(table))
    assert [float(ring.get_ydata()[0]) for ring in rings] == pytest.approx(list(best["qps_mean"]))
    legend = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert legend[-1] == f"1 server: {formatting.plain(best['qps_mean'][0])}"


def test_scaled_says_what_its_quota_does() -> None:
    """Only in the scaled budget do captions mention the quota's period."""
    for number in ("6", "7"):
        assert "quota" in said(draw(number, runs(), "scaled"))
        assert "quota" not in said(draw(number, runs(), "pinned"))


def test_the_caption_names_host_budget_and_dataset() -> None:
    """A figure on its own says whose measurement it is, and of which workload."""
    for number in ("6", "7"):
        for word in (HOST, DATASET, "CPU budget scaled", "Workload oltp_point_select."):
            assert word in said(draw(number, runs()))


def test_published_numbers_look_as_exact_as_they_are() -> None:
    """A bound is a bar with an arrow, an "about" is hollow, and only an exact value is filled."""

    def anchor(value: float, exactness: str, bound: str = "") -> publication.Anchor:
        row = ("6", "throughput", 1, 32, value, "queries/s", exactness, bound, "F4-peak-qps", "x")
        return publication.Anchor(*row)

    anchors = [anchor(1.0, "stated"), anchor(2.0, "about"), anchor(3.0, "bound", "lower")]
    ax = figures.draw("6", {"runs": runs()}, anchors, caption()).axes[1]
    stated, about, bound = ax.lines
    assert stated.get_markerfacecolor() == style.colour(1)
    assert about.get_markerfacecolor() == "white"
    assert bound.get_marker() == "_"
    labels = " ".join(text.get_text() for text in ax.texts)
    assert "about 2\nqueries/s" in labels
    assert "at least 3\nqueries/s" in labels
    measured = {style.marker(servers) for servers in (1, 2, 4, 8, 16)}
    assert measured.isdisjoint(line.get_marker() for line in ax.lines)


def test_nothing_published_is_said() -> None:
    """A figure without any published number still draws, and says so."""
    for number in ("6", "7"):
        drawn = figures.draw(number, {"runs": runs()}, [], caption())
        assert "Nothing was published" in drawn.axes[1].texts[0].get_text()


def _worst(table: pd.DataFrame) -> pd.DataFrame:
    table = failed(
        table, "s08_c0128", "sysbench exited 1: FATAL: mysql_stmt_execute() returned 4009"
    )
    return failed(
        table, "s16_c0256_r1", "mysqld 3 died: signal 9 in the middle of a run, by itself"
    )


@pytest.mark.parametrize("number", ["6", "7"])
@pytest.mark.parametrize("change", [lambda table: table, _worst], ids=["sound", "failures"])
def test_no_text_leaves_the_figure(
    number: str, change: Callable[[pd.DataFrame], pd.DataFrame]
) -> None:
    """Titles, ticks, legends and a caption full of failures all stay inside the picture."""
    table = runs(servers=(1, 2, 4, 8, 16), clients=(1, 8, 64, 128, 256))
    figure = draw(number, change(table))
    assert outside(figure) == []


def test_words_for_those_who_cannot_see_it() -> None:
    """The description of a figure holds its numbers: peaks, range and what was published."""
    tables = {"runs": runs()}
    six = figures.describe("6", tables, publication.anchors("6"))
    best = summary.peaks(summary.points(tables["runs"]))["qps_mean"].iloc[-1]
    assert f"{formatting.plain(best)} with 4 at 16 clients" in six
    assert "about 230" in six
    seven = figures.describe(7, tables, [])
    assert "from 1.59 to 25.4 ms with 1 (1 to 16 clients)" in seven
    assert "Published" not in seven


@pytest.mark.parametrize(
    ("column", "other"),
    [("transporter", "tcp"), ("workload", "oltp_read_write"), ("variant", "tcp-clients")],
)
def test_a_figure_shows_one_kind(column: str, other: str) -> None:
    """Runs of another transporter, workload or variant do not meet the others on one line."""
    table = runs()
    twice = table.assign(qps=2 * table["qps"], run_id=table["run_id"] + "_x", **{column: other})
    figure = draw("6", pd.concat([table, twice], ignore_index=True))
    alone = draw("6", table)
    for servers in (1, 2, 4):
        mixed, own = (line_of(f, servers).get_ydata() for f in (figure, alone))
        np.testing.assert_allclose(mixed, own)


@pytest.mark.parametrize(("column", "other"), [("transporter", "tcp"), ("variant", "shm-spin")])
def test_a_dataset_without_runs_of_the_kind_is_refused(column: str, other: str) -> None:
    """Runs over TCP alone, or of a variant alone, are no figure of the brief."""
    with pytest.raises(LabError, match="no run of the kind"):
        draw("6", runs().assign(**{column: other}))


def test_a_cluster_with_tcp_only_is_drawn() -> None:
    """Such as one of several hosts: its runs over TCP are its plain ones."""
    table = runs().assign(transporter="tcp")
    table.attrs["transporter"] = "tcp"
    assert len(line_of(draw("6", table), 4).get_ydata()) == 3


@pytest.mark.parametrize("number", ["6", "7"])
def test_another_workload_is_drawn_and_named(number: str) -> None:
    """A dataset of another sysbench script draws, without numbers published for point selects."""
    table = runs().assign(workload="oltp_update_index")
    figure = draw(number, table)
    assert len(line_of(figure, 4).get_ydata()) == 3
    assert "Workload oltp_update_index." in said(figure)
    assert "Nothing was published" in figure.axes[1].texts[0].get_text()
    words = figures.describe(number, {"runs": table}, publication.anchors(number))
    assert "oltp_update_index" in words
    assert "Published" not in words


def test_the_brief_workload_goes_first() -> None:
    """Of several workloads it is the point selects; else the one with the most runs."""
    table = runs()
    other = table.assign(workload="oltp_write_only")
    few = table.head(4).assign(workload="oltp_insert")
    assert "Workload oltp_write_only." in said(draw("6", pd.concat([few, other])))
    assert "Workload oltp_point_select." in said(draw("6", pd.concat([other, other, table])))


def test_datasets_from_before_variants_draw() -> None:
    """A table without the column `variant` holds runs of the default one."""
    assert draw("6", runs().drop(columns="variant")).axes


def test_an_unknown_figure_is_refused() -> None:
    """The message names the figures that there are."""
    with pytest.raises(LabError, match="shm-vs-tcp"):
        figures.draw("10", {"runs": runs()}, [], caption())


def test_nothing_but_failures_is_refused() -> None:
    """A dataset without one good run gives a message, not an empty picture."""
    with pytest.raises(LabError, match="nothing to draw"):
        draw("7", failed(runs(), "s", "errors: 3"))


def test_every_figure_belongs_to_one_experiment() -> None:
    """What the catalogue lists can be drawn, and no figure is left without an experiment."""
    every = (*catalogue.every().values(), *catalogue.unrecorded().values())
    listed = [key for experiment in every for key in experiment.figures]
    assert sorted(listed) == sorted(figures.entries())
