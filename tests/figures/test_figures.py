"""Figures 6 and 7: what is drawn, what is described, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import same_color
from matplotlib.figure import Figure

import small_runs
from drawn import DATASET, HOST, caption, line_like, outside, said, title, written
from ndblab import figures, formatting
from ndblab.design import catalogue
from ndblab.error import LabError
from ndblab.figures import published, style
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


@pytest.mark.parametrize(
    ("number", "metric", "panel"), [("6", "qps_mean", 1), ("7", "latency_p95_ms_mean", None)]
)
def test_a_line_is_the_means_of_its_servers(number: str, metric: str, panel: int | None) -> None:
    """Each number of servers has a line at the means of its points, in its own colour."""
    table = runs()
    points = summary.points(table)
    figure = draw(number, table)
    for place, servers in enumerate((1, 2, 4)):
        mine = points[(points["servers"] == servers) & (points["clients"] >= servers)]
        mine = mine if number == "7" else points[points["servers"] == servers]
        ax = figure.axes[-1] if panel is None else figure.axes[panel + place]
        lines = [line_like(ax, mine[metric])]
        lines += [x for x in ax.lines if len(x.get_xdata()) == len(mine)]
        assert any(same_color(line.get_color(), style.colour(servers)) for line in lines)


def test_the_answer_is_the_title() -> None:
    """The title says what more servers gave, computed from the best means."""
    table = runs()
    best = summary.peaks(summary.points(table)).set_index("servers")["qps_mean"]
    falling = table.assign(qps=table["qps"] * table["servers"].map({1: 1.0, 2: 1.0, 4: 0.4}))
    figure = draw("6", falling)
    words = "4 servers gave 20 % fewer queries/s than 2 at equal clients"
    assert title(figure).startswith(f"Under CPU quotas, {words}")
    assert title(draw("6", falling, "pinned")).startswith(words)
    assert "4 servers over 2, equal clients" in written(figure)
    apart = table[table["clients"] == table["servers"].map({1: 1, 2: 4, 4: 16})]
    times = formatting.plain(best[4] / apart.loc[apart["servers"] == 1, "qps"].mean())
    assert f"4 servers gave {times} times the queries/s of 1, each" in title(draw("6", apart))
    late = table["latency_p95_ms"] * table["servers"].map({1: 1, 2: 2, 4: 4})
    slower = late.where(table["clients"] < 16, 2 * late)
    words = title(draw("7", table.assign(latency_p95_ms=slower)))
    had = "4 times the servers and clients had 4 times the p95 latency with 1 client each"
    assert words == f"Under CPU quotas, {had}, and 8 times with 4"


def test_ratios_of_the_peaks_stand_above() -> None:
    """Each doubling has its ratio and interval, and the published gain a mark of another kind."""
    wide = runs(servers=(1, 2, 4, 8, 16), clients=(16, 64))
    figure = draw("6", wide)
    forest = figure.axes[0]
    names = [label.get_text() for label in forest.get_yticklabels()]
    doublings = [f"{2 * n} servers over {n}" for n in (1, 2, 4, 8)]
    assert names == [*doublings, "16 servers over 1", "16 servers over 8, equal clients"]
    [bound] = [line for line in forest.lines if line.get_marker() == "|"]
    assert float(bound.get_xdata()[0]) == pytest.approx(1_600_000 / 230_000)
    assert "Bars with an arrow: bounds published" in said(figure)
    assert "published" not in said(figures.draw("6", {"runs": wide}, [], caption()))


def test_axes_are_honest_and_have_units() -> None:
    """Throughput starts at zero, latency is logarithmic; every axis names what it counts."""
    throughput, latency = draw("6", runs()), draw("7", runs())
    assert all(ax.get_ylim()[0] == 0 for ax in throughput.axes[1:])
    assert throughput.axes[1].get_ylabel() == "Throughput, queries/s"
    assert throughput.axes[0].get_xlabel() == "Throughput, ratio"
    assert latency.axes[1].get_yscale() == "log"
    assert latency.axes[1].get_ylabel() == "95th percentile latency, ms"
    assert latency.axes[1].get_xlabel() == "Clients of each server"
    assert {ax.get_xscale() for ax in (*throughput.axes, *latency.axes)} == {"log"}


@pytest.mark.parametrize(
    ("repeats", "words"),
    [
        (1, "1 run per point. A single run has no interval, so there are no bands."),
        (2, "2 runs per point. Bands: range of the two runs."),
        (3, "3 runs per point. Bands: 95 % confidence interval of the mean."),
    ],
)
def test_the_spread_is_what_the_runs_support(repeats: int, words: str) -> None:
    """Three runs give an interval, two their range, and one nothing; the notes say which."""
    table = runs(repeats, servers=(1,))
    figure = draw("6", table)
    assert words in said(figure)
    drawn = [patch.get_path().vertices[:, 1] for patch in figure.axes[-1].patches]
    heights = np.concatenate([np.zeros(0), *drawn])
    if repeats == 2:
        assert {table["qps"].min(), table["qps"].max()} <= set(heights)
    assert bool(heights.size and np.ptp(heights) > 0) == (repeats > 1)


def test_points_that_lost_runs_are_crossed_and_explained() -> None:
    """One with good runs left is crossed at its mean, one without at the bottom."""
    table = failed(runs(), "s02_c0004_r2", "mysqld 2 died: signal 9")
    table = failed(table, "s04_c0016", "errors: 12")
    figure = draw("6", table)
    crosses = [x for ax in figure.axes for x in ax.lines if x.get_marker() == "x"]
    assert [list(cross.get_xdata()) for cross in crosses] == [[4], [16]]
    assert "2 servers, 4 clients: 1 not averaged: mysqld 2 died: signal 9" in said(figure)
    assert "3 not averaged: errors: 12" in said(figure)
    assert "With fewer than three runs there is none." in said(figure)
    many = draw("6", failed(table, "s01_c0004_r2", "sysbench ended with exit status 1"))
    assert "Crosses: 5 failed runs of 3 points, not averaged." in said(many)


def test_idle_servers_are_hollow() -> None:
    """Points with fewer clients than servers are hollow, and the notes say why."""
    figure = draw("6", runs())
    hollow = [x for ax in figure.axes for x in ax.lines if x.get_markerfacecolor() == "white"]
    assert {x for line in hollow for x in line.get_xdata()} == {1}
    assert "some servers are idle" in said(figure)
    assert "idle" not in said(draw("6", runs(clients=(4, 16))))


def test_peaks_are_ringed_and_named() -> None:
    """Every line of Figure 6 has a ring at its best mean, and the number above."""
    table = runs()
    figure = draw("6", table)
    for ax, peak in zip(
        figure.axes[1:], summary.peaks(summary.points(table)).itertuples(), strict=True
    ):
        rings = [line for line in ax.lines if line.get_markersize() == 11]
        assert [float(ring.get_ydata()[0]) for ring in rings] == pytest.approx([peak.qps_mean])
        assert formatting.plain(peak.qps_mean) in ax.get_title("left")


def test_scaled_says_what_its_quota_does() -> None:
    """Only in the scaled budget do notes mention the quota."""
    for number in ("6", "7"):
        assert "quota" in said(draw(number, runs(), "scaled"))
        assert "quota" not in said(draw(number, runs(), "pinned"))


def test_the_provenance_names_host_budget_and_dataset() -> None:
    """A figure on its own says whose measurement it is, and of which workload."""
    for number in ("6", "7"):
        for word in (HOST, DATASET, "CPU budget scaled", "Workload oltp_point_select."):
            assert word in said(draw(number, runs()))


def test_published_numbers_look_as_exact_as_they_are() -> None:
    """A bound is a bar with an arrow, an "about" is hollow, and only an exact value is filled."""
    ax = Figure().subplots()
    for exactness, bound in (("stated", ""), ("about", ""), ("bound", "lower")):
        row = ("6", "throughput", 1, 32, 3.0, "queries/s", exactness, bound, "F4-peak-qps", "x")
        published.mark(ax, publication.Anchor(*row), 1, 3.0)
        assert published.words(publication.Anchor(*row)) == {
            "stated": "3 queries/s", "about": "about 3 queries/s", "bound": "at least 3 queries/s",
        }[exactness]  # fmt: skip
    stated, about, bound = ax.lines
    assert stated.get_markerfacecolor() == style.INK
    assert about.get_markerfacecolor() == "white"
    assert bound.get_marker() == "_"
    measured = {style.marker(servers) for servers in (1, 2, 4, 8, 16)}
    assert measured.isdisjoint(line.get_marker() for line in ax.lines)


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
    """Titles, ticks, labels and notes full of failures all stay inside the picture."""
    table = runs(servers=(1, 2, 4, 8, 16), clients=(1, 8, 64, 128, 256))
    figure = draw(number, change(table))
    assert outside(figure) == []


def test_words_for_those_who_cannot_see_it() -> None:
    """A description begins with the title, and holds peaks, ratios, range and published numbers."""
    tables = {"runs": runs()}
    six = figures.describe("6", tables, publication.anchors("6"), caption())
    assert six.startswith(title(draw("6", tables["runs"])))
    best = summary.peaks(summary.points(tables["runs"]))["qps_mean"].iloc[-1]
    assert f"{formatting.plain(best)} with 4 at 16 clients" in six
    assert "4 servers over 2 " in six
    assert "about 230" in six
    seven = figures.describe(7, tables, [], caption())
    assert seven.startswith(title(draw("7", tables["runs"])))
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
    for panel, (_, points) in enumerate(summary.points(table).groupby("servers"), start=1):
        for shown in (figure, alone):
            line_like(shown.axes[panel], points["qps_mean"])


@pytest.mark.parametrize(("column", "other"), [("transporter", "tcp"), ("variant", "shm-spin")])
def test_a_dataset_without_runs_of_the_kind_is_refused(column: str, other: str) -> None:
    """Runs over TCP alone, or of a variant alone, are no figure of the brief."""
    with pytest.raises(LabError, match="no run of the kind"):
        draw("6", runs().assign(**{column: other}))


def test_a_cluster_with_tcp_only_is_drawn() -> None:
    """Such as one of several hosts: its runs over TCP are its plain ones."""
    table = runs().assign(transporter="tcp")
    table.attrs["transporter"] = "tcp"
    assert "4 servers" in title(draw("6", table))


@pytest.mark.parametrize("number", ["6", "7"])
def test_another_workload_is_drawn_and_named(number: str) -> None:
    """A dataset of another sysbench script draws, without numbers published for point selects."""
    table = runs().assign(workload="oltp_update_index")
    figure = draw(number, table)
    assert "Workload oltp_update_index." in said(figure)
    assert "Stars" not in said(figure)
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


def test_an_unknown_figure_is_refused() -> None:
    """The message names the figures that there are."""
    with pytest.raises(LabError, match="shm-vs-tcp"):
        figures.draw("10", {"runs": runs()}, [], caption())


def test_every_figure_belongs_to_one_experiment() -> None:
    """What the catalogue lists can be drawn, and no figure is left without an experiment."""
    listed = [key for experiment in catalogue.every().values() for key in experiment.figures]
    assert sorted(listed) == sorted(figures.entries())
