"""What fails in a trial, and whose fault that is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

import made_up_slices
from ndblab import dataset
from ndblab.dataset import SCHEMAS
from ndblab.design.contrast import TWINS, A, B, Contrast, Side
from ndblab.error import LabError
from ndblab.measuring import blocks
from ndblab.measuring.slice_tables import SWITCHED_TOO_LATE
from ndblab.tuning.executing import Executor
from ndblab.tuning.history import SCREEN, History, Record, Trial
from ndblab.tuning.space import BASELINE
from ndblab.tuning.wanted import NAME
from tuning.made_up_search import DESCRIBED, MORE
from tuning.test_answer import BOTH, wanted

TRIAL = Trial(SCREEN, BOTH, 1, TWINS)
START, BOTH_SIDES = "start", A + B
WHY = "the load ended before its time"
BASELINE_START, BASELINE_FAILS = "start of the baseline", "Side A (default): Data node 2 has ended"


def carried_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch, endings: Sequence[str], why: str = WHY,
    goal: str = "throughput", seen: int = 9,
) -> Record:  # fmt: skip
    """Carry out a trial of one block, whose attempts end so: sides that fail, or a start.

    From block `seen` on, the CPU of its processes is known.
    """
    points = (wanted().point(own, name) for own, name in ((BASELINE, "default"), (BOTH, "tried")))
    contrast = Contrast(TRIAL.contrast, TWINS, *map(Side, points), (NAME,), one_start=True)
    every = made_up_slices.of(contrast, 3).assign(**MORE, latency_p95_ms=1.0)
    left = list(endings)

    def measure(contrast: Contrast, number: int, clusters: object, writer: dataset.Writer, *_):
        ending = left.pop(0)
        if ending in (START, BASELINE_START):
            what = "Data node 2 has ended" if ending == START else BASELINE_FAILS
            raise LabError(what, found="exit status 1")
        made = every[every["block"] == number]
        failed = made["side"].isin(list(ending))
        rows = made.assign(status=made["status"].mask(failed, why))
        for run_id, row in rows.groupby("run_id", sort=False):
            tables = {"slices": row[list(SCHEMAS["slices"].columns)]}
            if number >= seen:
                tables["processes"] = made_up_slices.processes(row, {A: 60.0, B: 60.0})
            writer.append(str(run_id), tables)
        # Where the load of one side does not begin, the first slice may be the other's.
        return f"{made.loc[failed, 'run_id'].iloc[0]}: {why}" if ending else "ok"

    monkeypatch.setattr(blocks, "measure", measure)
    monkeypatch.setattr(Executor, "_prepare", lambda self, trials: [contrast])
    with dataset.Writer.open(folder, NAME, {"seed": 1}, DESCRIBED) as writer:
        clusters = SimpleNamespace(
            writer=writer, size=SimpleNamespace(seed=1), close=lambda: None
        )  # fmt: skip
        return Executor(wanted(goal), clusters).carry_out([TRIAL])[0]


@pytest.mark.parametrize(
    ("endings", "status"),
    [
        ((A, A), f"disturbed, the baseline: {WHY}"),
        ((B, A), f"disturbed, the baseline: {WHY}"),
        ((B, B), WHY),
        ((BOTH_SIDES, BOTH_SIDES), WHY),
        ((START, A), f"disturbed, the baseline: {WHY}"),
        ((START, START), "Data node 2 has ended: exit status 1"),
        ((BASELINE_START, B), f"disturbed, the baseline: {BASELINE_FAILS}: exit status 1"),
    ],
)
def test_only_its_own_failures_rule_a_configuration_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, endings: Sequence[str], status: str
):
    """A baseline of many servers may fail at any time, whatever it is compared with."""
    record = carried_out(tmp_path, monkeypatch, endings)
    assert record.status == status
    assert (BOTH in History([record]).failures()) == (not status.startswith("disturbed"))
    assert record.failed


def test_a_cluster_that_was_thawed_too_late_rules_nothing_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The lab was late, not what it tries."""
    record = carried_out(tmp_path, monkeypatch, (B, B), SWITCHED_TOO_LATE)
    assert record.status == f"disturbed, {SWITCHED_TOO_LATE}"
    assert not record.infeasible


@pytest.mark.parametrize("ending", [A, B, START])
def test_what_fails_once_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
):
    """One start may fail by chance."""
    record = carried_out(tmp_path, monkeypatch, (ending, ""))
    assert (record.status, len(record.gains)) == ("ok", 1)


def test_a_search_for_another_goal_keeps_what_it_did_to_throughput(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """One value for each block; a search for throughput has it as its gain."""
    record = carried_out(tmp_path / "a", monkeypatch, ("",), goal="p95")
    assert len(record.throughput) == len(record.gains) == 1
    plain = carried_out(tmp_path / "b", monkeypatch, ("",))
    assert (plain.throughput, plain.gains) == ((), record.throughput)


def test_a_goal_that_the_load_does_not_report_ends_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Its trials would all be in vain: these made-up slices have no processes."""
    with pytest.raises(LabError, match="does not report what the search needs"):
        carried_out(tmp_path, monkeypatch, ("", "", ""), goal="cpu")


def test_a_block_whose_cpu_was_read_too_late_is_followed_by_another(tmp_path, monkeypatch):
    """One late reading does not end a search."""
    record = carried_out(tmp_path, monkeypatch, ("", ""), goal="cpu", seen=2)
    assert (record.status, len(record.gains)) == ("ok", 1)


def test_a_search_does_not_give_up_because_others_use_the_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """They may stop; what is wrong with the installation does not."""
    record = carried_out(tmp_path, monkeypatch, (A, A), "company: python used 22 % of the CPUs")
    assert record.status == "disturbed, company: python used 22 % of the CPUs"
    assert not record.failed
