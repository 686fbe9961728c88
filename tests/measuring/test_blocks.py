"""Blocks of contrasts: what is measured on which servers, how often, and on a real cluster."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import signal
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from campaign import checks
from ndblab import install
from ndblab.cluster import start_stop
from ndblab.dataset import table
from ndblab.design import block as block_design
from ndblab.design import contrast as designs
from ndblab.design import grids
from ndblab.design.contrast import Contrast, Side
from ndblab.design.experiment import Experiment
from ndblab.design.variant import Variant
from ndblab.error import LabError, MissingData
from ndblab.machine import host
from ndblab.machine import interference as company
from ndblab.measuring import blocks, slice_tables, slices, turns
from ndblab.measuring.clusters import Clusters
from ndblab.measuring.measured_run import Run
from ndblab.planning import deployment
from ndblab.planning.point import Point
from ndblab.planning.shape import Places
from ndblab.planning.workload import WAITED
from ndblab.statistics import contrasts

ONE, OTHER = Side(Point(1, 8)), Side(Point(1, 8, variant="other"))
UNWATCHED = Side(Point(1, 8), condition="no-monitor")
CHROMIUM = company.Company(31.2, "chromium")
PORT = 14060


def of_variants(*variants: Variant) -> Experiment:
    return Experiment("x", "?", "x.ipynb", (), (), grids.one_point, variants=variants)


class Writer:
    """Keeps the slices that a dataset would."""

    def __init__(self) -> None:
        self.manifest: dict[str, object] = {}
        self.rows: dict[str, pd.DataFrame] = {}

    def append(self, run_id: str, tables, logs=None) -> None:
        for name, rows in tables.items():
            table.render(name, rows, name)
        self.rows[run_id] = tables["slices"]

    def note(self, **facts: object) -> None:
        self.manifest |= facts

    def add_config(self, name: str, text: str) -> None:
        """Accept a file."""

    @property
    def slices(self) -> pd.DataFrame:
        return pd.concat(self.rows.values(), ignore_index=True)

    def snapshot(self) -> SimpleNamespace:
        empty = pd.DataFrame(columns=["contrast", "block", "status", "start"])
        return SimpleNamespace(slices=self.slices if self.rows else empty)


class Lab:
    """Clusters that are only counted, and slices that are only listed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, tcp_servers: int = 0) -> None:
        self.experiment = of_variants(Variant(), Variant("other"))
        self.size = self.experiment.size("smoke", {"servers": 4})
        self.starts, self.asked, self.startable = 1, [], True
        self.contrasts: set[str] = set()
        self.twins: list[tuple[str, bool]] = []
        shape = deployment.Shape(4, self.size.rows, 8, tcp_servers=tcp_servers)
        self.plan = deployment.make(host.read(), shape)
        self.sent: dict[str, list[int]] = {"a": [], "b": []}
        self.both = {side: self.cluster(sent) for side, sent in self.sent.items()}
        self.frozen: list[list[str]] = []
        self.disturbed: Callable[[str], tuple[company.Company, float]]
        self.disturbed = lambda run_id: (company.NO_COMPANY, 0.0)
        self.writer, self.said = Writer(), []
        monkeypatch.setattr(slices, "measure", self.slot)
        monkeypatch.setattr(company, "LIMIT_PCT", 5)
        monkeypatch.setattr(company, "STEAL_LIMIT_PCT", 3)

    def binaries_of(self, variant: str) -> None:
        """A slice that is only listed needs no program."""

    def cluster(self, sent: list[int]) -> SimpleNamespace:
        """A cluster of one process, and the signals that it was sent."""
        process = SimpleNamespace(send_signal=sent.append)
        return SimpleNamespace(plan=self.plan, processes={"ndbmtd.1": process})

    def idle_beside(self, cluster: SimpleNamespace) -> list[SimpleNamespace]:
        both = list(self.both.values())
        return [other for other in both if cluster in both and other is not cluster]

    def ready(self, *points: Point) -> SimpleNamespace:
        return SimpleNamespace(plan=self.plan)

    def twin(self, contrast: Contrast, slice_: designs.Slice) -> tuple[SimpleNamespace, int]:
        self.twins.append((slice_.side, slice_.swapped))
        return self.both[slice_.side], 2 * slice_.block + (slice_.side == "b")

    def restarted(self, contrast: Contrast, slice_: designs.Slice) -> tuple[SimpleNamespace, int]:
        plan = deployment.turned(self.plan) if slice_.swapped else self.plan
        return SimpleNamespace(plan=plan), 2 * slice_.block + (slice_.side == "b")

    def close(self) -> None:
        self.starts += 1
        self.contrasts.clear()

    def slot(self, cluster, asked, condition) -> list[Run]:
        self.asked.append(asked)
        last = {side: sent[-1:] for side, sent in self.sent.items()}
        self.frozen.append([side for side in last if last[side] == [signal.SIGSTOP]])
        runs = []
        for slice_ in asked:
            others, steal_pct = self.disturbed(slice_.place["run_id"])
            row = table.row(
                "slices", **dataclasses.asdict(slice_.job.point), **slice_.place,
                started_utc="2026-11-21T12:00:00Z", warmup_s=1.0,
                status="company" if others.disturbs else "ok",
                duration_s=2.0, queries=20, errors=0, qps=10.0,
            )  # fmt: skip
            who = company.disturbance(others, steal_pct)
            runs.append(Run({"slices": row}, disturbance=who))
        return runs

    def measure(self, contrast: Contrast, number: int = 1) -> str:
        return blocks.measure(contrast, number, self, self.writer, 1, self.said.append)

    def starts_of(self, *columns: str) -> dict[object, list[int]]:
        """The cluster starts in which slices were measured, by what they have in these columns."""
        return self.writer.slices.groupby([*columns])["start"].unique().map(list).to_dict()


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Lab:
    return Lab(monkeypatch)


def slices_of(asked: list[turns.Turn]) -> list[slices.Asked]:
    """The slices of turns, in order."""
    return [slice_ for turn in asked for slice_ in turn.slices]


def names(asked: list[turns.Turn]) -> set[object]:
    """The contrasts of turns."""
    return {slice_.place["contrast"] for slice_ in slices_of(asked)}


def servers(slot: list[slices.Asked]) -> dict[str, list[int]]:
    """Numbers of the servers that each side of a slot loads."""
    return {slice_.place["side"]: [node.number for node in slice_.job.servers] for slice_ in slot}


def test_a_switched_block_is_one_load_whose_slices_are_watched_or_not(lab: Lab, monkeypatch):
    """Slices of a second, in the order of their slots."""
    calls = []

    def in_turn(cluster, asked, watched):
        calls.append((asked, watched))
        return lab.slot(cluster, asked, "")

    monkeypatch.setattr(slices, "measure_in_turn", in_turn)
    assert lab.measure(Contrast("s", designs.SWITCHED, ONE, UNWATCHED, ())) == "ok"
    [(asked, watched)] = calls
    assert [slice_.place["slot"] for slice_ in asked] == list(range(1, 4 * designs.TURN_ORDERS + 1))
    assert watched == [slice_.place["side"] == "a" for slice_ in asked]
    assert {slice_.job.profile.duration_s for slice_ in asked} == {designs.TURN_S}
    [logs] = contrasts.log_ratios(lab.writer.slices, "s")
    assert list(logs) == [0, 0]


def test_variants_are_switched_under_one_load(lab: Lab, monkeypatch):
    """Each slice has the turn that makes the cluster its side's."""
    calls = []

    def switched(cluster, asked, turns, spare):
        calls.append((asked, turns))
        return lab.slot(cluster, asked, "")

    monkeypatch.setattr(slices, "measure_switched", switched)
    cluster, ready = lab.ready(), []
    monkeypatch.setattr(lab, "ready", lambda *points: ready.append(points) or cluster)
    assert lab.measure(Contrast("s", designs.SWITCHED, ONE, OTHER, ())) == "ok"
    [(asked, turns)] = calls
    ready.clear()
    for turn in turns:
        turn()
    assert [point.variant for (point,) in ready] == [
        {"a": "default", "b": "other"}[slice_.place["side"]] for slice_ in asked
    ]


def test_a_block_of_late_turns_has_spare_seconds_when_it_is_measured_again(lab: Lab, monkeypatch):
    """No other block takes longer, whatever else made it void."""
    why, spared = [slice_tables.TOO_LATE, slice_tables.SWITCHED_TOO_LATE, "ok", "ok"], []

    def switched(cluster, asked, turns, spare):
        spared.append(spare)
        runs = lab.slot(cluster, asked, "")
        runs[5].tables["slices"]["status"] = why[len(spared) - 1]
        return runs

    monkeypatch.setattr(slices, "measure_switched", switched)
    contrast = Contrast("s", designs.SWITCHED, ONE, OTHER, ())
    statuses = [lab.measure(contrast, number) for number in (1, 1, 1, 2)]
    assert [status == "ok" for status in statuses] == [False, False, True, True]
    assert spared == [0, 0, slices.SPARE, 0]


@pytest.fixture
def in_turns(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> list[tuple[list, dict]]:
    """The slices of each block of turns, and by side what makes its cluster ready."""
    calls = []

    def measure(asked, ready, pause_s):
        calls.append((slices_of(asked), ready))
        return lab.slot(None, slices_of(asked), "")

    monkeypatch.setattr(turns, "measure", measure)
    return calls


def test_a_block_of_turns_is_measured_as_a_whole(lab: Lab, in_turns: list):
    """Seconds in the order of their slots, all of one start; each side is made ready anew."""
    cluster, ready = lab.ready(), []
    lab.ready = lambda *points: ready.append([point.variant for point in points]) or cluster
    assert lab.measure(Contrast("t", designs.ALTERNATION, ONE, OTHER, (), turns=True)) == "ok"
    [(asked, again)] = in_turns
    assert [slice_.place["slot"] for slice_ in asked] == list(range(1, 4 * designs.TURN_ORDERS + 1))
    assert {slice_.job.profile.duration_s for slice_ in asked} == {designs.TURN_S}
    assert {slice_.place["start"] for slice_ in asked} == {lab.starts}
    assert {(slice_.place["side"], slice_.job.point.variant) for slice_ in asked} == {
        ("a", "default"), ("b", "other"),
    }  # fmt: skip
    assert lab.contrasts == {"t"}
    ready.clear()
    assert [again[side]() for side in "ba"] == [cluster, cluster]
    assert ready == [["other"], ["default"]]
    [logs] = contrasts.log_ratios(lab.writer.slices, "t")
    assert list(logs) == [0, 0]


@pytest.mark.parametrize("design", [designs.RESTARTS, designs.TWINS])
def test_turns_of_places_of_their_own_have_the_start_of_their_side(
    lab: Lab, in_turns: list, monkeypatch, design: str
):
    """Which of both it is, the next block exchanges: no server or cluster is always one side's."""
    name = {designs.TWINS: "twin", designs.RESTARTS: "restarted"}[design]
    usual, swapped, clusters = getattr(lab, name), [], {}

    def there(contrast: Contrast, slice_: designs.Slice) -> tuple[SimpleNamespace, int]:
        swapped.append(slice_.swapped)
        cluster, start = usual(contrast, slice_)
        return clusters.setdefault((slice_.side, slice_.block), cluster), start

    monkeypatch.setattr(lab, name, there)
    contrast = Contrast("t", design, ONE, ONE, (), turns=True)
    for block in (1, 2):
        swapped.clear()
        assert lab.measure(contrast, block) == "ok"
        asked, again = in_turns[-1]
        starts = {(slice_.place["side"], slice_.place["start"]) for slice_ in asked}
        assert starts == {("a", 2 * block), ("b", 2 * block + 1)}
        assert [again[side]() for side in "ab"] == [clusters[side, block] for side in "ab"]
        assert set(swapped) == {block == 2}


def test_queries_that_last_too_long_for_turns_have_slices_of_their_own(lab: Lab, monkeypatch):
    """In this block, which is measured again, and in all that follow; that is said once."""

    def measure(asked, ready, pause_s):
        runs = lab.slot(None, slices_of(asked), "")
        for run in runs:
            run.tables["slices"]["status"] = turns.TOO_LONG
        return runs

    monkeypatch.setattr(turns, "measure", measure)
    contrast = Contrast("t", designs.ALTERNATION, ONE, ONE, (), turns=True)
    assert [lab.measure(contrast, number) for number in (1, 2)] == ["ok", "ok"]
    assert [turns.TOO_LONG in line for line in lab.said] == [True]
    good = lab.writer.slices[lab.writer.slices["status"] == "ok"]
    assert [list(of) for _, of in good.groupby("block")["of"]] == [[4] * 4] * 2


def test_a_side_that_cannot_connect_is_why_its_block_failed(lab: Lab, monkeypatch):
    """Not the other side, whose clients waited in vain; it alone has a load that failed."""

    def measure(asked, ready, pause_s):
        runs = lab.slot(None, slices_of(asked), "")
        for run in runs:
            row = run.tables["slices"]
            row["status"] = "sysbench exited 1" if row["side"].iloc[0] == "b" else WAITED
        return runs

    monkeypatch.setattr(turns, "measure", measure)
    contrast = Contrast("t", designs.ALTERNATION, ONE, OTHER, (), turns=True)
    assert lab.measure(contrast).endswith("b: sysbench exited 1")
    assert lab.writer.manifest["failed_loads"] == {"t b": 1}


JOINT = [
    Contrast(name, designs.TWINS, ONE, OTHER, (), one_start=True, turns=True) for name in "xyz"
]


def jointly(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, *numbers: int, late: str = ""
) -> list[list[turns.Turn]]:
    """Measure a block of each contrast beside one baseline; return the turns of each attempt.

    In the first one, the contrasts in `late` are thawed too late.
    """
    calls: list[list[turns.Turn]] = []

    def measure(asked, ready, pause_s):
        calls.append(asked)
        assert [ready[turn.side]() for turn in asked] == [lab.there[turn.side] for turn in asked]
        runs = lab.slot(None, slices_of(asked), "")
        for run in runs:
            row = run.tables["slices"]
            if len(calls) == 1 and row["contrast"].iloc[0] in late:
                row["status"] = slice_tables.SWITCHED_TOO_LATE
        return runs

    lab.there = {side: SimpleNamespace(plan=lab.plan) for side in "abcd"}
    lab.together = lambda blocks: [(one, 9 + n) for n, one in enumerate(lab.there.values())]
    monkeypatch.setattr(turns, "measure", measure)
    together = [block_design.Block(*pair) for pair in zip(JOINT, numbers, strict=True)]
    blocks.measure_jointly(together, lab, lab.said.append)
    return calls


def test_contrasts_with_one_baseline_share_its_slices(lab: Lab, monkeypatch):
    """Each has a whole block, in which A's slices are the same seconds of the same start."""
    [asked] = jointly(lab, monkeypatch, 1, 1, 3)
    assert {turn.side for turn in asked} == set("abcd")
    assert {len(turn.slices) for turn in asked if turn.side == "a"} == {3}
    assert {len(turn.slices) for turn in asked if turn.side != "a"} == {1}
    for contrast, number, start in zip(JOINT, (1, 1, 3), (10, 11, 12), strict=True):
        [logs] = contrasts.log_ratios(lab.writer.slices, contrast.name)
        assert list(logs) == [0]
        whole = contrasts.whole(lab.writer.slices, contrast.name)
        assert set(whole["block"]) == {number}
        assert whole.groupby("side")["start"].unique().map(list).to_dict() == {
            "a": [9], "b": [start],
        }  # fmt: skip
    assert lab.contrasts == {"x", "y", "z"}


def test_a_joint_block_counts_for_the_contrasts_that_nobody_disturbed(lab: Lab, monkeypatch):
    """The others lack one, after a second attempt without the first contrast."""
    heavy = (CHROMIUM, 0.0)
    lab.disturbed = lambda run_id: (
        heavy if run_id.startswith("y_") and run_id.endswith("b")
        else (company.NO_COMPANY, 4.0 if run_id.startswith("z_") else 0.0)
    )  # fmt: skip
    first, again = jointly(lab, monkeypatch, 1, 1, 1)
    assert [names(asked) for asked in (first, again)] == [set("xyz"), set("yz")]
    assert len(contrasts.log_ratios(lab.writer.slices, "x")) == 1
    for name in "yz":
        with pytest.raises(MissingData):
            contrasts.whole(lab.writer.slices, name)


@pytest.mark.parametrize(("late", "again"), [("xyz", ["xyz"]), ("xz", ["xz"]), ("y", [])])
def test_several_that_were_thawed_too_late_are_measured_again_together(
    lab: Lab, monkeypatch, late: str, again: list[str]
):
    """Each alone would take twice as long; a single one is left to `measure`."""
    _, *more = jointly(lab, monkeypatch, 1, 1, 1, late=late)
    assert [names(asked) for asked in more] == [set(each) for each in again]
    assert len(lab.said) == len(again)
    for name in set("xyz") - set(late if not again else ""):
        assert len(contrasts.log_ratios(lab.writer.slices, name)) == 1


def test_the_smaller_side_of_turns_uses_the_first_and_the_last_servers_of_the_other() -> None:
    """One in this block and the other in the next: clients stay connected for all of a block."""
    two, one = Side(Point(2, 16)), Side(Point(1, 8))
    contrast = Contrast("servers-1-2", designs.ALTERNATION, two, one, (), turns=True)
    places = []
    for number in range(1, 5):
        [block] = contrast.block(number, 1)
        skipped = {
            side: {
                block_design.skipped(contrast, slice_, lambda _: (1, 2), fixed=False)
                for slice_ in block if slice_.side == side
            }
            for side in "ab"
        }  # fmt: skip
        assert skipped["a"] == {0}
        [at] = skipped["b"]
        places.append(at)
    assert places == [0, 1, 0, 1]


def test_only_monitor_or_variant_can_be_switched():
    """Any other condition, or another load, would be measured as if it were none."""
    for other in (ONE, Side(Point(1, 8), condition="busy-neighbour"), Side(Point(2, 8))):
        with pytest.raises(ValueError, match="more than monitor or variant"):
            Contrast("s", designs.SWITCHED, ONE, other, ())


def test_the_sides_of_a_duet_swap_their_servers(lab: Lab):
    """So that a server that is faster than its equal helps both."""
    assert lab.measure(Contrast("d", designs.DUET, ONE, Side(Point(2, 8)), ())) == "ok"
    slots = sorted(map(servers, lab.asked), key=lambda slot: slot["a"])
    assert slots == [{"a": [1], "b": [2, 3]}, {"a": [3], "b": [1, 2]}]


def test_a_duet_of_transporters_uses_the_servers_that_have_them(monkeypatch):
    """Which servers these are changes with every start, the sizes and nothing else kept."""
    lab = Lab(monkeypatch, tcp_servers=2)
    contrast = Contrast("t", designs.DUET, ONE, Side(Point(1, 8, "tcp")), ())
    lab.measure(contrast)
    assert [servers(slot) for slot in lab.asked] == [{"a": [1], "b": [3]}] * 2
    usual, lab.plan, lab.asked = lab.plan, deployment.turned(lab.plan), []
    lab.measure(contrast)
    assert [servers(slot) for slot in lab.asked] == [{"a": [3], "b": [1]}] * 2
    assert {n.name: n.node_id for n in usual.servers} == {
        n.name: n.node_id for n in lab.plan.servers
    }


def pooled(lab: Lab) -> None:
    """Give the lab servers with 1, 4, 8 and 16 connections, and variants that use one of them."""
    eight = Variant("pool-8", connections=8)
    lab.experiment = of_variants(Variant(connections=1), eight, Variant("any"))
    shape = deployment.Shape(4, lab.size.rows, 8, connection_pools=(1, 4, 8, 16))
    lab.plan = deployment.make(host.read(), shape)


@pytest.mark.parametrize("design", [designs.DUET, designs.ALTERNATION])
def test_sides_with_different_pools_use_the_servers_that_have_them(lab: Lab, design: str):
    """Nothing is swapped within a block: a pool belongs to its server until the next start."""
    pooled(lab)
    contrast = Contrast("p", design, Side(Point(1, 8, variant="pool-8")), ONE, ())
    for number, (eight, single) in enumerate(((3, 1), (2, 4)), 1):
        lab.measure(contrast, number)
        used = [pair for slot in lab.asked for pair in servers(slot).items()]
        assert sorted(used) == [("a", [eight])] * 2 + [("b", [single])] * 2
        lab.plan, lab.asked = deployment.turned(lab.plan), []


def test_a_duet_never_loads_a_server_from_both_sides(lab: Lab):
    """A side that may use any server would meet the one with the pool of the other side."""
    pooled(lab)
    contrast = Contrast("p", designs.DUET, Side(Point(1, 8, variant="any")), ONE, ())
    with pytest.raises(ValueError, match="load a server together"):
        lab.measure(contrast)


def test_a_pool_that_no_server_has_is_named(lab: Lab):
    """The message says which servers are missing."""
    pooled(lab)
    lab.plan = deployment.make(host.read(), deployment.Shape(4, lab.size.rows, 8))
    eight = Side(Point(1, 8, variant="pool-8"))
    with pytest.raises(LabError, match="too few MySQL servers") as caught:
        lab.measure(Contrast("p", designs.LEVEL, eight, None, ()))
    assert "shm and 8 connections" in str(caught.value)


def test_slices_of_two_attempts_are_no_block(lab: Lab, monkeypatch):
    """An interrupted repetition leaves slices of another day beside the new ones."""
    contrast, usual = Contrast("x", designs.ALTERNATION, ONE, ONE, ()), lab.slot
    assert lab.measure(contrast) == "ok"
    left = [usual]

    def interrupted(*asked):
        if not left:
            raise KeyboardInterrupt
        return left.pop()(*asked)

    monkeypatch.setattr(slices, "measure", interrupted)
    with pytest.raises(KeyboardInterrupt):
        lab.measure(contrast)
    with pytest.raises(MissingData):
        contrasts.whole(lab.writer.slices, "x")


def test_a_block_of_turns_that_is_repeated_without_them_is_whole(lab: Lab, in_turns, monkeypatch):
    """It has fewer slices than before; the others are of no block any more."""
    contrast = Contrast("t", designs.ALTERNATION, ONE, ONE, (), turns=True)
    assert [lab.measure(contrast, number) for number in (1, 2)] == ["ok", "ok"]

    def too_long(asked, ready, pause_s):
        runs = lab.slot(None, slices_of(asked), "")
        for run in runs:
            run.tables["slices"]["status"] = turns.TOO_LONG
        return runs

    monkeypatch.setattr(turns, "measure", too_long)
    assert [lab.measure(contrast, number) for number in (3, 1)] == ["ok", "ok"]
    whole = contrasts.whole(lab.writer.slices, "t").groupby("block")["of"].agg(list).to_dict()
    assert whole == {1: [4] * 4, 2: [24] * 24, 3: [4] * 4}


def test_contrasts_share_starts_but_no_two_blocks_of_one_do(lab: Lab):
    """Taking turns, two contrasts with a start for each block need one start per round."""
    both = [Contrast(name, designs.ALTERNATION, ONE, ONE, (), blocks_per_start=1) for name in "xy"]
    for number in (1, 2, 3):
        for contrast in both:
            lab.measure(contrast, number)
    assert list(lab.starts_of("contrast", "block").values()) == [[1], [2], [3]] * 2


def test_contrasts_of_claims_share_two_starts_half_of_the_first_look_in_each(lab: Lab):
    """A verdict needs two; one more start serves all contrasts that are half-way."""
    both = [Contrast(name, designs.ALTERNATION, ONE, ONE, ("C",)) for name in "xy"]
    for number, contrast in [(n, c) for half in ((1, 2), (3, 4, 5)) for c in both for n in half]:
        lab.measure(contrast, number)
    assert list(lab.starts_of("contrast", "block").values()) == [[1], [1], [2], [2], [2]] * 2


def test_what_another_contrast_began_is_a_second_start_as_well(lab: Lab):
    """One that is not half-way when the cluster starts anew needs no third start."""
    both = [Contrast(name, designs.ALTERNATION, ONE, ONE, ("C",)) for name in "xy"]
    for number, contrast in [(1, 1), (2, 1), (1, 0), (2, 0), (3, 0), (3, 1), (4, 1), (4, 0)]:
        lab.measure(both[contrast], number)
    for number in (1, 2, 3):
        lab.measure(Contrast("late", designs.ALTERNATION, ONE, ONE, ("C",)), number)
    assert lab.starts_of("contrast") == {"x": [1, 2], "y": [1, 2], "late": [2, 3]}


def test_blocks_that_had_one_start_go_on_in_another_however_many_they_are(lab: Lab):
    """A cluster that runs already is never started anew: its blocks stay in the one start that it
    has, as in a dataset that an older lab measured. A start that is there already serves."""
    lab.startable = False
    contrast = Contrast("x", designs.ALTERNATION, ONE, ONE, ("C",))
    for number in range(1, 7):
        lab.measure(contrast, number)
    lab.startable = True
    for number in (7, 8):
        lab.measure(contrast, number)
    assert list(lab.starts_of("block").values()) == [[1]] * 6 + [[2]] * 2


def test_each_half_of_a_pair_of_starts_begins_with_a_start(lab: Lab):
    """Also where the cluster that runs would do."""
    assert lab.measure(Contrast("s", designs.STARTS, ONE, ONE, ())) == "ok"
    assert list(lab.writer.slices["start"]) == [2, 2, 2, 3, 3, 3]


def test_each_slice_of_twins_is_on_the_cluster_of_its_side(lab: Lab):
    """One at a time, on the same servers of either; each cluster has a start of its own."""
    contrast = Contrast("t", designs.TWINS, ONE, ONE, ())
    for number in (1, 2):
        assert lab.measure(contrast, number) == "ok"
    assert all(len(slot) == 1 for slot in lab.asked)
    assert [side for side, _ in lab.twins] == list(lab.writer.slices["side"])
    assert {used for slot in lab.asked for used in map(tuple, servers(slot).values())} == {(1,)}
    starts = {(1, "a"): [2], (1, "b"): [3], (2, "a"): [4], (2, "b"): [5]}
    assert lab.starts_of("block", "side") == starts
    assert contrasts.log_ratios(lab.writer.slices, "t").shape == (2, 1)


def test_a_twin_is_frozen_while_the_other_is_measured(lab: Lab, monkeypatch):
    """Its idle processes would use CPUs. It runs again after each slice, also after a failure."""
    lab.measure(Contrast("t", designs.TWINS, ONE, ONE, ()))
    sides = list(lab.writer.slices["side"])
    assert lab.frozen == [["b"] if side == "a" else ["a"] for side in sides]
    assert {sent[-1] for sent in lab.sent.values()} == {signal.SIGCONT}

    def fail(*_):
        raise LabError("a node has ended")

    monkeypatch.setattr(slices, "measure", fail)
    with pytest.raises(LabError, match="a node has ended"):
        lab.measure(Contrast("t", designs.TWINS, ONE, ONE, ()), 2)
    assert {sent[-1] for sent in lab.sent.values()} == {signal.SIGCONT}


def test_sides_that_share_a_cluster_never_freeze_it(lab: Lab):
    """Both use its data nodes."""
    lab.measure(Contrast("x", designs.ALTERNATION, ONE, OTHER, ()))
    assert not any(lab.frozen)


def test_sides_of_restarts_have_servers_of_their_own_and_exchange_them(lab: Lab):
    """One at a time; each block is a start of both servers, and a value of its own."""
    options = {"performance_schema": "ON"}
    lab.experiment = dataclasses.replace(
        lab.experiment, variants=(Variant(), Variant("b", server_options=options)),
        shape={"server_options": ({}, options)},
    )  # fmt: skip
    lab.size = lab.experiment.size("smoke", {"servers": 1})
    lab.plan = lab.experiment.plans(lab.size, "shared", host.read(), Places("/x", "/x"))["b"]
    contrast = Contrast("r", designs.RESTARTS, ONE, Side(Point(1, 8, variant="b")), ())
    for number in (1, 2):
        assert lab.measure(contrast, number) == "ok"
    assert all(len(slot) == 1 for slot in lab.asked)
    used = {
        (slice_.place["block"], slice_.place["side"], slice_.job.servers[0].number)
        for [slice_] in lab.asked
    }
    assert used == {(1, "a", 1), (1, "b", 2), (2, "a", 2), (2, "b", 1)}
    sides = list(lab.writer.slices["side"])
    assert {"".join(sides[:4]), "".join(sides[4:])} <= {"abba", "baab"}
    assert contrasts.log_ratios(lab.writer.slices, "r").shape == (2, 1)


def test_a_twin_that_does_not_start_is_the_status_of_its_slice(lab: Lab, monkeypatch):
    """Completed blocks stay whole, and the next start goes on with this one."""
    contrast = Contrast("t", designs.TWINS, ONE, ONE, ())
    lab.measure(contrast)

    def fail(*_):
        raise LabError("Side b (other): ndbmtd.1 (node 2) ended by itself")

    monkeypatch.setattr(lab, "twin", fail)
    with pytest.raises(LabError, match=r"Side b \(other\)"):
        lab.measure(contrast, 2)
    assert set(contrasts.whole(lab.writer.slices, "t")["block"]) == {1}
    assert lab.writer.slices["status"].iloc[-1].startswith("Side b")


@pytest.mark.parametrize(
    ("disturbed", "said"),
    [
        ([(company.NO_COMPANY, 0.0), (CHROMIUM, 0.0)], "chromium uses 31 % of the CPUs"),
        ([(company.NO_COMPANY, 0.2), (company.NO_COMPANY, 12.0)],
         "the hypervisor takes 12 % of the CPUs"),
    ],
)  # fmt: skip
def test_a_disturbed_block_is_measured_again_and_the_user_is_told(lab: Lab, disturbed, said: str):
    """At once, and the whole block: a contrast compares what is close together."""
    seen = iter(disturbed)
    lab.disturbed = lambda run_id: next(seen, (company.NO_COMPANY, 2.9))
    assert lab.measure(Contrast("x", designs.ALTERNATION, ONE, ONE, ())) == "ok"
    assert lab.said == [f"{said}: measured again"]
    assert len(lab.asked) == 2 + 4
    assert len(contrasts.whole(lab.writer.slices, "x")) == 4


def test_company_that_stays_leaves_a_block_that_nobody_counts(lab: Lab):
    """After three attempts the reason is returned."""
    lab.disturbed = lambda run_id: (CHROMIUM, 0.0)
    assert lab.measure(Contrast("x", designs.LEVEL, ONE, None, ())) == "x_b001_1a: company"
    assert len(lab.asked) == blocks.ATTEMPTS == len(lab.said) + 1


def test_steal_that_stays_is_what_the_host_is_like(lab: Lab):
    """The last attempt makes a whole block, and its steal is in the data."""
    lab.disturbed = lambda run_id: (company.NO_COMPANY, 12.0)
    assert lab.measure(Contrast("x", designs.ALTERNATION, ONE, ONE, ())) == "ok"
    assert len(lab.asked) == 1 + 1 + 4
    assert len(contrasts.whole(lab.writer.slices, "x")) == 4


def test_a_duet_is_not_measured_again_for_steal(lab: Lab):
    """Both of its sides run at the same time, so the hypervisor takes CPUs from both."""
    lab.disturbed = lambda run_id: (company.NO_COMPANY, 12.0)
    assert lab.measure(Contrast("d", designs.DUET, ONE, Side(Point(2, 8)), ())) == "ok"
    assert len(lab.asked) == 2
    assert not lab.said


def test_a_cluster_that_fails_leaves_the_reason(lab: Lab, monkeypatch):
    """As a failed slice, before the error ends the measurement."""

    def fail(*_):
        raise LabError("mysqld.2 ended by itself")

    monkeypatch.setattr(slices, "measure", fail)
    with pytest.raises(LabError, match=r"mysqld\.2 ended"):
        lab.measure(Contrast("x", designs.LEVEL, ONE, None, ()))
    assert list(lab.writer.slices["status"]) == ["mysqld.2 ended by itself"]


def test_a_quota_that_no_node_could_have_is_refused():
    """When the variant is written."""
    for wrong in ({"mysqd": 0.5}, {"sql": 0}, {"sql": 1.5}):
        with pytest.raises(LabError, match="quota"):
            Variant("wrong", quotas=wrong)


def limit_cpus(cluster, group: str) -> float:
    """How many CPUs the kernel lets a group use.

    Where a period is too short for a busy host, the kernel lengthens it and the quota alike: the
    two files change while the limit stays.
    """
    folder = cluster.groups[""].base / group
    names = ("cpu.max",) if cluster.groups[""].kind == "cgroup2" else (
        "cpu.cfs_quota_us", "cpu.cfs_period_us",
    )  # fmt: skip
    quota_us, period_us = " ".join((folder / name).read_text() for name in names).split()
    return math.inf if quota_us in ("max", "-1") else int(quota_us) / int(period_us)


@pytest.mark.slow
@pytest.mark.cluster
def test_blocks_and_quotas_on_a_real_cluster(cluster_folder: Path, monkeypatch):
    """Whole blocks of slices with all that is sampled; quotas change and come back."""
    monkeypatch.setitem(designs.LENGTHS, "smoke", designs.Length(1, 1))
    quotas = {"mysqld": 0.2, "mysqld.2": None, "ndbmtd.1": 0.1, "sql": 0.15}
    experiment = of_variants(Variant(), Variant("other", quotas=quotas))
    size = experiment.size("smoke", {"servers": 2, "clients": 4})
    places = start_stop.places(cluster_folder, PORT)
    plans = experiment.plans(size, "auto", host.read(), places)
    writer = Writer()
    with contextlib.closing(
        Clusters(experiment, size, plans, install.ensure(progress=False), writer, False)
    ) as clusters:
        for name, design in (("alternated", designs.ALTERNATION), ("duet", designs.DUET)):
            contrast = Contrast(name, design, Side(Point(1, 4)), Side(Point(1, 4)), ())
            for number in (1, 2):
                status = blocks.measure(contrast, number, clusters, writer, 1, pytest.fail)
                assert status == "ok"
            assert len(contrasts.log_ratios(writer.slices, name)) == 2
        assert set(writer.slices["start"]) == {1}
        assert (writer.slices["client_cpu_pct"] > 0).all()
        four = Side(Point(1, 4))
        unwatched = dataclasses.replace(four, condition=UNWATCHED.condition)
        switched = Contrast("switched", designs.SWITCHED, four, unwatched, ())
        # A busy host may keep sysbench from reporting every second in time.
        tries = (
            blocks.measure(switched, n, clusters, writer, 1, lambda _: None) for n in range(1, 9)
        )
        assert "ok" in tries
        assert contrasts.log_ratios(writer.slices, "switched").shape == (1, 2)
        claimed = Contrast("claimed", designs.ALTERNATION, ONE, ONE, ("C",))
        for number in (1, 2, 3, 4):
            assert blocks.measure(claimed, number, clusters, writer, 1, pytest.fail) == "ok"
        starts = writer.slices[writer.slices["contrast"] == "claimed"]["start"]
        assert list(starts) == [1] * 8 + [2] * 8
        running = clusters.ready(Point(1, 4))
        if not running.groups:
            return
        groups = ("sql", "sql/mysqld.1", "sql/mysqld.2", "ndbmtd.1", "ndbmtd.2")
        usual = [limit_cpus(running, group) for group in groups]
        assert clusters.ready(Point(1, 4, variant="other")) is running
        changed = [limit_cpus(running, group) for group in groups]
        assert [a == b for a, b in zip(usual, changed, strict=True)] == [False] * 4 + [True]
        # A server has at most what all servers and clients have.
        assert changed[1] == changed[0]
        assert changed[2] == math.inf
        clusters.ready(Point(1, 4))
        assert [limit_cpus(running, group) for group in groups] == usual


@pytest.mark.slow
@pytest.mark.cluster
def test_equal_twins_on_two_real_clusters(cluster_folder: Path, monkeypatch):
    """Two clusters of the same settings, each in a group of its own; nothing is left of them."""
    monkeypatch.setitem(designs.LENGTHS, "smoke", designs.Length(1, 1))
    monkeypatch.setattr(designs, "PER_TWINS", 1)
    before, folder = checks.orphaned_segments(), cluster_folder
    experiment = of_variants(Variant(), Variant("other"))
    size = experiment.size("smoke", {"servers": 1, "clients": 4})
    plans = experiment.plans(size, "shared", host.read(), start_stop.places(folder, PORT))
    twins = Contrast("aa", designs.TWINS, ONE, OTHER, ())
    writer = Writer()
    with contextlib.closing(
        Clusters(experiment, size, plans, install.ensure(progress=False), writer, False)
    ) as clusters:
        assert blocks.measure(twins, 1, clusters, writer, 1, lambda _: None) == "ok"
        [one, other] = (clusters.twin(twins, slot[0])[0] for slot in twins.block(1, 1)[:2])
        assert one is not other
        assert one.folder != other.folder
        for cluster in (one, other):
            cluster.check_alive()
            if cluster.weighed:
                inside = (cluster.weighed.base / "cgroup.procs").read_text().split()
                assert {str(pid) for _, _, pid, _ in cluster.pids()} <= set(inside)
        rows = [twin.query("SELECT COUNT(*) FROM sbtest.sbtest1") for twin in (one, other)]
        assert rows[0] == rows[1]
    assert writer.manifest["starts"] == 2
    assert contrasts.log_ratios(writer.slices, "aa").shape == (1, 1)
    for place, port in ((folder, PORT), (folder / "twin", PORT + 256)):
        assert not any(checks.leaks(place, port, before).values())


@pytest.mark.parametrize("block", range(1, 9))
def test_the_smaller_side_of_an_alternation_uses_all_servers_of_the_other(block: int) -> None:
    """Equal servers differ within a start; over a block each counts alike on both sides."""
    there = tuple(range(16))
    two, one = Side(Point(2, 16)), Side(Point(1, 8))
    contrast = Contrast("servers-1-2", designs.ALTERNATION, two, one, ())
    used: dict[str, list[int]] = {"a": [], "b": []}
    for [slice_] in contrast.block(block, 1):
        first = block_design.skipped(contrast, slice_, lambda _: there, fixed=False)
        servers = contrast.side(slice_.side).point.servers
        used[slice_.side] += range(first, first + servers)
        assert first + servers <= 16
        assert block_design.skipped(contrast, slice_, lambda _: there, fixed=True) == 0
    assert sorted(used["a"]) == sorted(2 * used["b"])
