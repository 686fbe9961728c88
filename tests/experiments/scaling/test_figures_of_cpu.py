"""Figures 4, 5 and 9: CPU of one server, and of every NDB thread."""

from __future__ import annotations

import pandas as pd
import pytest
from matplotlib.figure import Figure

import made_up_slices
import small_runs
from drawn import caption, outside, said, written
from ndblab import figures
from ndblab.dataset import SCHEMAS
from ndblab.design.contrast import ALTERNATION, LEVEL, Contrast, Side
from ndblab.error import LabError
from ndblab.figures import style
from ndblab.judging import publication
from ndblab.planning.point import Point

# Made up: utilisation by kind, user and system.
BUSY = {"recv": (1.0, 7.0), "tc": (2.0, 5.0), "ldm": (0.5, 0.5), "main": (0.1, 0.2)}


def tables(
    servers: tuple[int, ...] = (1, 4), clients: tuple[int, ...] = (4, 16), repeats: int = 3
) -> dict[str, pd.DataFrame]:
    """Make runs whose second client count is worse, with two data nodes and idle servers."""
    parts: dict[str, list[pd.DataFrame]] = {"runs": [], "processes": [], "ndb_threads": []}
    for n in servers:
        for c in clients:
            for repeat in range(1, repeats + 1):
                name = f"s{n:02}_c{c:04}_r{repeat}"
                one = small_runs.tables(
                    name, servers=n, clients=c, repeat=repeat, qps=1000.0 * n - c + repeat
                )
                parts["runs"].append(one["runs"])
                used = [("mysqld", 11, 20.0 + c), ("mysqld", 12, 1.0)]
                used += [("ndbmtd", 2, 5.0), ("ndbmtd", 3, 6.0)]
                rows = [
                    {"run_id": name, "t_s": t, "role": r, "node_id": i, "cpu_pct": pct + repeat}
                    for r, i, pct in used
                    for t in (1.0, 2.0)
                ]
                parts["processes"].append(pd.DataFrame(rows))
                rows = [
                    {"run_id": name, "t_s": t, "node_id": node, "thr_no": i, "thread": kind,
                     "os_user_pct": user + 0.1 * repeat, "os_system_pct": system}
                    for node in (2, 3)
                    for i, (kind, (user, system)) in enumerate(BUSY.items())
                    for t in (1.0, 2.0)
                ]  # fmt: skip
                parts["ndb_threads"].append(pd.DataFrame(rows))
    made = {name: pd.concat(part, ignore_index=True) for name, part in parts.items()}
    return made | {"slices": pd.DataFrame(columns=list(SCHEMAS["slices"].columns))}


def judged(contrast: Contrast, side: str, pct: float) -> dict[str, pd.DataFrame]:
    """Make tables with a contrast in which the recv threads of one side are this busy."""
    made = tables()
    slices = made_up_slices.of(contrast, 5)
    rows = [
        {"run_id": name, "t_s": 3.0, "node_id": node, "thr_no": 0, "thread": "recv",
         "os_user_pct": pct if side == of else 1.0, "os_system_pct": 1.0}
        for name, of in zip(slices["run_id"], slices["side"], strict=True)
        for node in (2, 3)
    ]  # fmt: skip
    threads = pd.concat([made["ndb_threads"], pd.DataFrame(rows)], ignore_index=True)
    return made | {"slices": slices, "ndb_threads": threads}


def draw(key: str, data: dict[str, pd.DataFrame], budget: str = "scaled") -> Figure:
    return figures.draw(key, data, publication.anchors(key), caption(budget))


def test_figure_4_counts_the_server_with_clients_and_both_data_nodes() -> None:
    """CPU of mysqld is that of the one in use, that of ndbmtd the sum of both data nodes."""
    cpu = draw("4", tables()).axes[2]
    by_colour = {line.get_color(): list(line.get_ydata()) for line in cpu.lines[:2]}
    assert by_colour[style.SERVER] == pytest.approx([26.0, 38.0])
    assert by_colour[style.DATA_NODE] == pytest.approx([15.0, 15.0])


def test_figure_4_draws_an_imposed_share_only_where_there_is_one() -> None:
    """The quota of mysqld is drawn, and said to impose its limit, only in the scaled budget."""
    assert "CPU share of mysqld: 23.4 %" in written(draw("4", tables()))
    assert "imposes its CPU limit" in said(draw("4", tables()))
    assert "share" not in written(draw("4", tables(), "pinned"))


def test_figure_5_shows_one_server_where_it_does_best() -> None:
    """Its point is one server at its best mean throughput, and the picture says so."""
    figure = draw("5", tables())
    assert "1 server, 4 clients" in written(figure)
    assert "best mean throughput" in said(figure)


def test_figure_5_shows_the_threads_that_are_judged() -> None:
    """Where the contrast of its claims was measured, the figure shows its slices, and says why."""
    data = judged(Contrast("recv", LEVEL, Side(Point(1, 64)), None, ()), "a", 33.0)
    figure = draw("5", data)
    assert "1 server, 64 clients" in written(figure)
    assert "far past the peak, as in the brief" in said(figure)
    assert "mean of 10 slices of seconds; whiskers: lowest to highest" in said(figure)
    assert "recv 34 %" in figures.describe("5", data, publication.anchors("5"))


def test_figure_9_shows_the_side_at_the_peak_of_the_contrast_that_is_judged() -> None:
    """The other side of that contrast, past the peak, is not mixed in."""
    past, peak = Side(Point(4, 32)), Side(Point(4, 16))
    data = judged(Contrast("overload", ALTERNATION, past, peak, ()), "b", 22.0)
    figure = draw("9", data)
    assert "4 servers, 16 clients" in written(figure)
    assert "recv 23 %" in figures.describe("9", data, publication.anchors("9"))


def test_figure_9_shows_the_best_throughput_of_most_servers() -> None:
    """Its point is the best mean of the most servers, not the most clients."""
    assert "4 servers, 4 clients" in written(draw("9", tables()))


def test_a_bar_is_user_and_system_time_of_a_thread() -> None:
    """Every thread of both data nodes has a bar of two parts, the busiest kind first."""
    ax = draw("5", tables()).axes[0]
    bars = [patch for patch in ax.patches if patch.get_width() == pytest.approx(0.84)]
    assert len(bars) == 2 * 2 * len(BUSY)
    user, system = bars[0], bars[2 * len(BUSY)]
    assert user.get_height() == pytest.approx(1.2)
    assert (system.get_y(), system.get_height()) == pytest.approx((1.2, 7.0))
    assert [label.get_text() for label in ax.get_xticklabels()] == list(BUSY)


def test_what_a_thread_can_reach_is_said() -> None:
    """Under quotas the share of a data node is named; without them the brief's 80 % is drawn."""
    assert "share of a data node: 25 %" in written(draw("9", tables()))
    pinned = draw("9", tables(), "pinned")
    assert "80 %: saturated" in written(pinned)
    assert pinned.axes[0].get_ylim()[1] > 100


@pytest.mark.parametrize("key", ["4", "5", "9"])
def test_every_published_number_is_drawn(key: str) -> None:
    """Each published number of the figure has a mark at its value, on axes of its own."""
    figure = draw(key, tables())
    measured = {figure.axes[0], figure.axes[2]} if key == "4" else {figure.axes[0]}
    beside = [ax for ax in figure.axes if ax not in measured]
    marks = [float(y) for ax in beside for line in ax.lines if line.get_marker() == "*"
             for y in line.get_ydata()]  # fmt: skip
    assert sorted(marks) == sorted(anchor.value for anchor in publication.anchors(key))


@pytest.mark.parametrize("key", ["4", "5", "9"])
def test_no_text_leaves_the_figure(key: str) -> None:
    """Titles, axes at both sides, labels and the caption stay inside the picture."""
    assert outside(draw(key, tables())) == []


def test_words_for_those_who_cannot_see_it() -> None:
    """Descriptions hold the measured numbers and the published ones."""
    data = tables()
    four = figures.describe("4", data, publication.anchors("4"))
    assert "998 at 4 clients, where mysqld uses 26 % and both ndbmtd together use 15 %" in four
    assert "mysqld CPU about 3" in four
    nine = figures.describe("9", data, publication.anchors("9"))
    assert "recv 8.2 %, tc 7.2 %" in nine
    assert "tc thr_no 28: 84 %" in nine


def test_a_dataset_without_threads_is_refused() -> None:
    """No NDB threads give a message, not an empty figure."""
    data = tables()
    data["ndb_threads"] = data["ndb_threads"].iloc[:0]
    with pytest.raises(LabError, match="nothing to draw"):
        draw("5", data)


@pytest.mark.parametrize("key", ["4", "5", "9"])
def test_another_workload_is_drawn_and_named(key: str) -> None:
    """A dataset of another sysbench script draws, without numbers published for point selects."""
    data = tables()
    data["runs"] = data["runs"].assign(workload="oltp_update_index")
    figure = draw(key, data)
    assert "Workload oltp_update_index." in said(figure)
    assert "Nothing was published" in written(figure)
    assert outside(figure) == []
