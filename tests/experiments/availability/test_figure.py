"""The figure of faults. The runs are made up, never a measurement."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import small_runs
from drawn import caption, outside, title, written
from experiments.availability import made_up as faults
from ndblab import figures
from ndblab.experiments.availability import analysis as outage
from ndblab.judging import publication

ALL = tuple(faults.KILLED)
Tables = dict[str, pd.DataFrame]


def every_fault() -> Tables:
    """Give two runs of every fault, the second of each the worse."""
    return small_runs.together(
        *(
            faults.run(fault, repeat, gap_s=0.4 * repeat, gave_up=repeat - 1)
            for repeat in (1, 2)
            for fault in reversed(ALL)
        )
    )


def draw(tables: Tables) -> Figure:
    return figures.draw(
        "faults", measured(tables), publication.anchors("faults"), caption("shared")
    )


def measured(tables: Tables) -> Tables:
    """Add what the faults did, which the figure is drawn of."""
    return {**tables, "outages": outage.of_runs(tables)}


def called(fault: str) -> str:
    """Give the name of a fault in the figure: both losses of an arbitrator are of a data node."""
    return {
        "lose-arbitrator": "Data node killed, no arbitrator",
        "lose-one-of-three-arbitrators": "Data node killed, servers arbitrate",
    }.get(fault, fault.replace("-", " ").capitalize())


def lines(figure: Figure) -> list[np.ndarray]:
    """Give the heights of the lines of the first panel that are throughput."""
    drawn = figure.axes[1].lines
    return [np.asarray(line.get_ydata()) for line in drawn if len(line.get_xdata()) > 2]


def test_each_fault_has_a_panel_in_the_order_of_the_bars() -> None:
    """The longest gap first, whatever the order in which they were measured."""
    gaps, *panels = draw(every_fault()).axes
    titles = [ax.get_title(loc="left") for ax in panels]
    assert titles == [label.get_text().replace("\n", " ") for label in gaps.get_yticklabels()]
    assert sorted(titles) == sorted(map(called, ALL))


def test_every_second_of_every_run_is_drawn() -> None:
    """From the begin of the first; where nothing succeeded, at zero."""
    tables = small_runs.together(faults.run(repeat=1, gap_s=3.0), faults.run(repeat=2))
    first, second = lines(draw(tables))
    assert len(first) == len(second) == 1 + 20
    assert first.min() == 0
    assert second.min() > 0


def test_what_heals_a_network_is_marked_with_the_faults() -> None:
    """A dashed line with its words, as every action has."""
    run = faults.run("partition", text="cut ndbmtd.1 from ndbmtd.2")
    faults.log(run, (13.5, 0, "healed", "heal the network"))
    figure = figures.draw("network-faults", measured(run), [], caption("shared"))
    labels = [text.get_text() for text in figure.axes[1].texts]
    assert {"cut ndbmtd.1 from ndbmtd.2", "heal the network"} <= set(labels)


def test_time_counts_from_the_fault_in_every_run() -> None:
    """Faults that came at different times stand on one line."""
    tables = small_runs.together(faults.run(repeat=1, gap_s=1.0), faults.run(repeat=2, fault_s=8.0))
    ax = draw(tables).axes[1]
    ends = [line.get_xdata()[-1] for line in ax.lines if len(line.get_xdata()) > 2]
    assert ends == [10.0, 12.0]
    dashed = [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == "--"]
    assert dashed == [0.0, 2.5]


def test_the_worst_run_is_summarised_beside_the_bar_of_its_gap() -> None:
    """Gap, clients that gave up, writes lost; none of them a mean; the longest gap first."""
    parts = [faults.run(repeat=1, gap_s=1.0), faults.run(repeat=2, gave_up=3, lost=2)]
    figure = draw(small_runs.together(*parts))
    assert "s, 3 clients gave up, 2 writes lost" in written(figure)
    assert title(figure).startswith("A killed data node stopped clients for 0.")
    assert " to 1.0" in title(figure)
    assert title(figure).endswith(" s; up to 2 writes lost with it")
    parts = [faults.run(ALL[0], gap_s=1.0), faults.run(ALL[1], gap_s=3.0)]
    gaps = draw(small_runs.together(*parts)).axes[0]
    widths = [bar.get_width() for bar in gaps.patches]
    assert widths == sorted(widths, reverse=True)


def test_the_title_says_what_a_setting_saved_and_never_that_unread_writes_are_there() -> None:
    """The longest gap, that with the setting, and losses only if replicas were read."""
    parts = [faults.run("freeze-data-node", gap_s=5.0)]
    assert title(draw(small_runs.together(*parts))).endswith("; no write was lost")
    parts.append(faults.run("freeze-with-short-heartbeats", gap_s=2.0))
    tables = small_runs.together(*parts)
    assert "stopped clients for 5.02 s, 2.02 with short heartbeats; no" in title(draw(tables))
    tables |= {name: tables[name].iloc[:0] for name in ("copies", "counters")}
    assert title(draw(tables)).endswith("2.02 with short heartbeats, the longest gap")


def test_the_title_gives_the_range_of_the_runs() -> None:
    """The worst run is one of several; and a loss of the arbitrator is named briefly."""
    frozen = [faults.run("freeze-data-node", n, gap_s=gap) for n, gap in ((1, 5.0), (2, 8.0))]
    lost = [faults.run("lose-arbitrator", n, lost=n) for n in (1, 2)]
    words = title(draw(small_runs.together(*frozen, *lost)))
    assert "A frozen data node stopped clients for 5.02 to 8.02 s" in words
    assert words.endswith("; 1 to 2 writes lost without an arbitrator")


def test_a_stop_that_only_the_lab_ends_has_no_length() -> None:
    """As in the answer beside it: how long the lab waits is not the cluster's."""
    parts = [faults.run("freeze-data-node", gap_s=2.0), faults.run("lose-arbitrator", gap_s=4.0)]
    words = title(draw(small_runs.together(*parts)))
    assert "stopped the cluster until the lab restarted it" in words
    assert "4.0" not in words


def test_the_gap_is_shaded_where_it_was() -> None:
    """From the last success before the fault to the first after it."""
    ax = draw(faults.run(gap_s=2.0)).axes[1]
    [shade] = [patch.get_extents().transformed(ax.transData.inverted()) for patch in ax.patches]
    assert shade.x0 == pytest.approx(0, abs=0.1)
    assert shade.x1 == pytest.approx(2.0, abs=0.1)


def test_what_was_done_and_when_it_served_again_have_words() -> None:
    """Neither a colour nor a kind of line is the only sign of them."""
    ax = draw(faults.run(served_s=15.0)).axes[1]
    words = {text.get_text(): text.xy[0] for text in ax.texts if hasattr(text, "xy")}
    assert words["SIGKILL ndbmtd.2"] == 0.0
    assert words["start ndbmtd.2"] == 2.5
    assert words["serves again"] == 5.0


def test_panels_have_one_scale_of_time_and_one_from_zero() -> None:
    """Their heights and times compare; no dip is magnified."""
    panels = draw(every_fault()).axes[1:]
    assert len({(ax.get_ylim(), ax.get_xlim()) for ax in panels}) == 1
    assert panels[0].get_ylim()[0] == 0


def test_unread_replicas_are_not_called_whole() -> None:
    """Where nothing was read back, no number of lost writes is given."""
    tables = faults.run()
    tables |= {name: tables[name].iloc[:0] for name in ("copies", "counters")}
    assert "writes not read" in written(draw(tables))
    assert "writes lost" not in written(draw(tables))


def test_writes_that_were_lost_are_told_though_another_run_was_not_read() -> None:
    """The bar says what the title says."""
    unread = faults.run(repeat=2)
    unread |= {name: unread[name].iloc[:0] for name in ("copies", "counters")}
    words = written(draw(small_runs.together(faults.run(repeat=1, lost=2), unread)))
    assert "gave up, 2 writes lost" in words


@pytest.mark.parametrize("number", [1, 2, 3, 6])
def test_no_text_leaves_the_figure(number: int) -> None:
    """With any number of faults."""
    parts = [faults.run(fault, gave_up=8, lost=3, wrong_reads=2) for fault in ALL[:number]]
    assert outside(draw(small_runs.together(*parts))) == []


def test_words_for_those_who_cannot_see_it() -> None:
    """The description holds every fault, its throughputs, gap and losses."""
    words = figures.describe("faults", measured(every_fault()), [])
    assert "Kill data node (2 runs): 39.2 operations/s before" in words
    assert "1 client gave up" in words
    assert "until all served again, at most 5 s after the fault (restarted after 2.5 s)" in words
    assert all(called(fault) in words for fault in ALL)


def test_a_cluster_that_did_not_serve_again_is_reported() -> None:
    """There is no time after the fault, and no number for it."""
    parts = [faults.run(repeat=1), faults.run(repeat=2, served_s=None)]
    words = figures.describe("faults", measured(small_runs.together(*parts)), [])
    assert "until the end of the load, since not every node served again" in words
    words = figures.describe("faults", measured(faults.run(served_s=None)), [])
    assert "unknown after that" in words


def test_the_second_in_which_the_load_was_stopped_is_not_drawn() -> None:
    """It holds a part of a second's operations, and would look like a fault."""
    tables = faults.run()
    tables["history"] = tables["history"].query("t_s < 19.4")
    [heights] = lines(draw(tables))
    assert len(heights) == 1 + 19
