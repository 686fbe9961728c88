"""Figures 4, 5 and 9: CPU of one server, and of every NDB thread."""

from __future__ import annotations

from itertools import pairwise, product

import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import same_color
from matplotlib.figure import Figure

import made_up_slices
import small_runs
from drawn import caption, line_like, outside, said, title, written
from ndblab import figures
from ndblab.dataset import SCHEMAS
from ndblab.design.contrast import ALTERNATION, LEVEL, Contrast, Side
from ndblab.error import LabError
from ndblab.figures import style
from ndblab.judging import publication
from ndblab.planning.point import Point

# Made up: utilisation by kind, user and system.
BUSY = {"recv": (1.0, 7.0), "tc": (2.0, 5.0), "ldm": (0.5, 0.5), "main": (0.1, 0.2)}


def tables() -> dict[str, pd.DataFrame]:
    """Make runs whose second client count is worse, with two data nodes and idle servers."""
    parts: dict[str, list[pd.DataFrame]] = {"runs": [], "processes": [], "ndb_threads": []}
    for n, c, repeat in product((1, 4), (4, 16), (1, 2, 3)):
        name, qps = f"s{n:02}_c{c:04}_r{repeat}", 1000.0 * n - c + repeat
        one = small_runs.tables(name, servers=n, clients=c, repeat=repeat, qps=qps)
        parts["runs"].append(one["runs"])
        used = [("mysqld", 11, 20.0 + c), ("mysqld", 12, 1.0)]
        used += [("ndbmtd", 2, 5.0), ("ndbmtd", 3, 6.0)]
        rows = [
            {
                "run_id": name,
                "t_s": t,
                "role": r,
                "node_id": i,
                "cpu_pct": pct + repeat,
                "rss_bytes": 1e6,
            }
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
    """Make tables with a contrast in which the recv threads of one side are this busy; the send
    threads are idle."""
    made = tables()
    slices = made_up_slices.of(contrast, 5)
    rows = [
        {"run_id": name, "t_s": 3.0, "node_id": node, "thr_no": number, "thread": kind,
         "os_user_pct": pct if side == of and not number else 1.0, "os_system_pct": 1.0}
        for name, of in zip(slices["run_id"], slices["side"], strict=True)
        for node in (2, 3)
        for number, kind in enumerate(("recv", "send"))
    ]  # fmt: skip
    threads = pd.concat([made["ndb_threads"], pd.DataFrame(rows)], ignore_index=True)
    return made | {"slices": slices, "ndb_threads": threads}


def draw(key: str, data: dict[str, pd.DataFrame], budget: str = "scaled") -> Figure:
    return figures.draw(key, data, publication.anchors(key), caption(budget))


def test_figure_4_counts_the_server_with_clients_and_both_data_nodes() -> None:
    """CPU of mysqld is that of the one in use, that of ndbmtd the sum of both data nodes."""
    qps, cpu = draw("4", tables()).axes
    line_like(qps, [998.0, 986.0])
    server = line_like(cpu, [13.0, 19.0])
    assert same_color(server.get_color(), style.SERVER)
    line_like(cpu, [7.5, 7.5])
    assert cpu.get_ylabel() == "CPU, % of the host"


def test_figure_4_without_recorded_cpu_draws_throughput_alone() -> None:
    """A cluster of others may show no processes; its throughput is as good."""
    qps, cpu = draw("4", tables() | {"processes": tables()["processes"].iloc[:0]}).axes
    line_like(qps, [998.0, 986.0])
    assert not cpu.lines
    assert [text.get_text() for text in cpu.texts] == ["no CPU was recorded"]


def test_figure_4_weighs_a_sample_by_its_time() -> None:
    """A late sampler ends a run with a window of 30 ms that says nothing, here 0 %."""
    data = tables()
    last = data["processes"].query("t_s == 2")
    late = [last.assign(t_s=3.0), last.assign(t_s=3.03, cpu_pct=0.0)]
    data["processes"] = pd.concat([data["processes"], *late]).sort_values(["run_id", "t_s"])
    line_like(draw("4", data).axes[1], [13.0 * 3 / 3.03, 19.0 * 3 / 3.03])
    described = figures.describe("4", data, publication.anchors("4"))
    assert "mysqld 25.7 %" in described  # of one logical CPU, of which the host has two


def of_one(*points: tuple[int, float], spread: float) -> dict[str, pd.DataFrame]:
    """Make runs of one server with these throughputs by clients, and so much spread of repeats."""
    runs = [
        small_runs.tables(
            f"c{clients:03}_r{repeat}", servers=1, clients=clients, repeat=repeat,
            qps=qps * (1 + spread * (repeat - 2) * (-1) ** at),
        )
        for at, (clients, qps) in enumerate(points)
        for repeat in (1, 2, 3)
    ]  # fmt: skip
    made = small_runs.together(*runs)
    return made | {"processes": made["processes"].iloc[:0]}


def test_figure_4_names_all_numbers_of_clients_that_are_as_good_as_the_best() -> None:
    """A flat top has no peak: which of its means is the best is chance. Clear ones stand alone."""

    def words(spread: float, *points: tuple[int, float]) -> str:
        return figures.describe("4", of_one(*points, spread=spread), []).partition(".")[0]

    flat = [(1, 900.0), (4, 890.0), (16, 910.0), (64, 450.0)]
    about = "1 server gave about 900 queries/s with"
    assert words(0.03, *flat) == f"{about} 1 to 16 clients and 50 % fewer with 64"
    most = "1 server gave at most 910 queries/s with 16 clients"
    assert words(0.001, *flat) == f"{most} and 51 % fewer with 64"
    apart = [(1, 900.0), (4, 450.0), (16, 901.0)]
    assert words(0.01, *apart) == f"{about} 1 and 16 clients"


def test_figure_4_draws_an_imposed_share_only_where_there_is_one() -> None:
    """The quota of mysqld is drawn, and said to impose its limit, only in the scaled budget."""
    assert "mysqld's share, 11.7 %." in said(draw("4", tables()))
    assert "imposes its CPU limit" in said(draw("4", tables()))
    assert "share" not in written(draw("4", tables(), "pinned"))


def test_figures_4_and_5_carry_the_published_numbers_on_the_same_axes() -> None:
    """CPU as a share of the host, and threads as ratios, are comparable across machines."""
    cpu = draw("4", tables()).axes[1]
    marks = [float(line.get_ydata()[0]) for line in cpu.lines if line.get_marker() == "*"]
    assert marks == pytest.approx([1400 / 256, 2500 / 256, 3000 / 256])
    assert cpu.get_xlim()[1] > 128, "the stars are in sight"
    assert cpu.get_ylim()[1] > max(marks)
    ratios = draw("5", tables()).axes[1]
    marks = [float(line.get_xdata()[0]) for line in ratios.lines if line.get_marker() == "*"]
    assert marks == pytest.approx([40 / 21, 40 / 15])
    assert "Stars: published" in said(draw("5", tables()))


def test_figure_5_shows_one_server_where_it_does_best() -> None:
    """Its point is one server at its best mean throughput, and the picture says so."""
    assert "1 server, 4 clients" in said(draw("5", tables()))


def test_figure_5_shows_the_threads_that_are_judged() -> None:
    """Where the contrast of its claims was measured, the figure shows its slices by block."""
    data = judged(Contrast("recv", LEVEL, Side(Point(1, 64)), None, ()), "a", 33.0)
    figure = draw("5", data)
    assert "1 server, 64 clients" in said(figure)
    assert "Means of 5 blocks, each of several short loads; whiskers: 95 % confidence" in said(
        figure
    )
    assert "recv 34 %" in figures.describe("5", data, publication.anchors("5"))


def test_figure_5_says_whether_a_quota_stops_the_threads() -> None:
    """Measured with the brief's threads and without quotas, their order is NDB's own."""
    threads = Side(Point(1, 64, variant="threads-of-32"))
    free = said(draw("5", judged(Contrast("recv", LEVEL, threads, None, ()), "a", 33.0)))
    assert "No quota divides the CPUs" in free
    assert "CPU budget scaled, here without quotas." in free
    assert free.startswith("Without quotas, with 64 clients, a thread of recv was busiest")
    assert "share its quota" not in free
    swept = said(draw("5", tables()))
    assert "share its quota" in swept
    assert "CPU budget scaled." in swept


def test_figure_9_shows_the_side_at_the_peak_of_the_contrast_that_is_judged() -> None:
    """The other side of that contrast, past the peak, is not mixed in."""
    past, peak = Side(Point(4, 32)), Side(Point(4, 16))
    data = judged(Contrast("overload", ALTERNATION, past, peak, ()), "b", 22.0)
    assert "4 servers, 16 clients" in said(draw("9", data))
    assert "recv 23 %" in figures.describe("9", data, publication.anchors("9"))


def test_every_thread_has_a_bar_and_the_busiest_kind_is_the_answer() -> None:
    """The best mean of the most servers is shown; tc is named beside the busier recv."""
    figure = draw("9", tables())
    bars, ratios = figure.axes
    assert "4 servers, 4 clients" in said(figure)
    assert sum(patch.get_width() > 1e-9 for patch in bars.patches) == 2 * len(BUSY)
    assert [label.get_text() for label in bars.get_yticklabels()][:2] == ["recv 0", "tc 1"]
    kind = "recv was the busiest kind of thread: tc used 12 % less CPU"
    assert title(figure) == f"Under CPU quotas, at peak throughput, {kind}"
    assert title(draw("9", tables(), "pinned")) == f"At peak throughput, {kind}"
    assert "a thread of recv was busiest: " in title(draw("5", tables()))
    assert ratios.get_yticklabels()[0].get_text() == "recv"


def test_kinds_that_no_interval_tells_apart_share_the_title() -> None:
    """None of them is called the busiest."""
    data = tables()
    threads = data["ndb_threads"]
    of_tc = threads["thread"] == "tc"
    repeats = threads["run_id"].str[-1].astype(int)
    threads.loc[of_tc, "os_system_pct"] = 4.0 + repeats[of_tc]
    said = "tc and recv were the busiest threads, too close to tell which"
    assert title(draw("9", data)).endswith(said)


@pytest.mark.parametrize("key", ["5", "9"])
def test_numbers_on_an_axis_leave_each_other_room(key: str) -> None:
    """A narrow axis over several decades has few of them: 10 and 20 do not become 1020."""
    data = tables()
    threads = data["ndb_threads"]
    rare = threads["thread"].isin(["ldm", "main"])
    threads.loc[rare, ["os_user_pct", "os_system_pct"]] /= 40
    figure = draw(key, data)
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    ax = figure.axes[1]
    low, high = ax.get_xlim()
    boxes = [
        label.get_window_extent(renderer)
        for at, label in zip(ax.get_xticks(), ax.get_xticklabels(), strict=True)
        if low <= at <= high
    ]
    assert len(boxes) > 2
    assert all(right.x0 - left.x1 > 2 for left, right in pairwise(boxes))


def test_what_a_thread_can_reach_is_said() -> None:
    """Under quotas the share of a data node is named; without them the brief's 80 % is drawn."""
    assert "share its quota, 25 % of one CPU" in said(draw("9", tables()))
    pinned = draw("9", tables(), "pinned")
    assert "80 %, saturated" in said(pinned)
    assert pinned.axes[0].get_xlim()[1] > 100


def test_words_for_those_who_cannot_see_it() -> None:
    """Descriptions hold the measured numbers and the published ones."""
    data = tables()
    four = figures.describe("4", data, publication.anchors("4"), caption())
    assert four.startswith(title(draw("4", data)))
    assert "1 server gave at most 998 queries/s with 4 clients and 1 % fewer with 16" in four
    assert "mysqld 26 % and both ndbmtd 15 %" in four
    assert "mysqld CPU about 3" in four
    nine = figures.describe("9", data, publication.anchors("9"), caption())
    assert nine.startswith(title(draw("9", data)))
    assert "recv 8.2 %" in nine
    assert "tc 7.2 %" in nine
    assert "tc thr_no 28 84 percent" in nine


def test_a_dataset_without_threads_is_refused() -> None:
    """No NDB threads give a message, not an empty figure."""
    data = tables()
    data["ndb_threads"] = data["ndb_threads"].iloc[:0]
    with pytest.raises(LabError, match="nothing to draw"):
        draw("5", data)


def test_each_of_four_data_nodes_has_a_shade() -> None:
    """An attached cluster may have more than two."""
    data = tables()
    more = data["ndb_threads"].assign(node_id=data["ndb_threads"]["node_id"] + 2)
    data["ndb_threads"] = pd.concat([data["ndb_threads"], more], ignore_index=True)
    keys = draw("9", data, "attached").axes[0].get_legend().get_patches()
    assert len({key.get_facecolor() for key in keys}) == 4


@pytest.mark.parametrize("key", ["4", "5", "9"])
def test_another_workload_is_drawn_and_named(key: str) -> None:
    """A dataset of another sysbench script draws, without numbers published for point selects."""
    data = tables()
    data["runs"] = data["runs"].assign(workload="oltp_update_index")
    figure = draw(key, data)
    assert "Workload oltp_update_index." in said(figure)
    assert "Stars" not in said(figure)
    assert outside(figure) == []
