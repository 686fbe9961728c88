"""Trials on a real cluster: switched in one start, and with starts of their own."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

import pytest

from conftest import OWN_PORT
from ndblab import dataset, install
from ndblab.design.contrast import ALTERNATION, RESTARTS, TURN_ORDERS, TWINS
from ndblab.measuring import measurement
from ndblab.tuning import prepared, tune
from ndblab.tuning.history import CONFIRM, EXCLUDE, RACE, Trial
from ndblab.tuning.wanted import Request
from ndblab.workloads.own import resolving


class Given:
    """A fixed list of trials in place of a search."""

    def __init__(self, tuning: prepared.Tuning, *trials: Trial) -> None:
        self.trials, self.budget_s, self._stands = trials, 120.0, tuning.search.stands

    def next(self, records: list) -> Trial | None:
        """Return the trial after those that are over."""
        return self.trials[len(records)] if len(records) < len(self.trials) else None

    def together(self, records: list) -> list[Trial]:
        """Return the trials that follow, up to the next one that shares no baseline."""
        left = self.trials[len(records) :]
        joint = list(itertools.takewhile(lambda trial: trial.stage == RACE, left))
        return joint or list(left[:1])

    def stands(self, history: object) -> object:
        """Judge as the search does."""
        return self._stands(history)


@pytest.mark.slow
@pytest.mark.cluster
def test_a_trial_shares_a_start_or_has_its_own_and_what_fails_is_kept_with_its_reason(
    cluster_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Switched settings are read back; twins have theirs in files; the journal has all of it."""
    monkeypatch.setattr(measurement, "RUNS", tmp_path / "runs")
    knobs = tmp_path / "knobs.csv"
    knobs.write_text(
        "name,values\n*,\nndb_batch_size,8K\ntable_open_cache_instances,1|4\nDataMemory,900G\n"
    )
    load = resolving.resolve("oltp_point_select", None, False)
    request = Request(
        ("ndb_force_send=off",), minutes=30, knob_file=str(knobs), profile="smoke", port=OWN_PORT
    )
    tuning = prepared.prepare(request, install.ensure(), load)
    small, large = (("ndb_batch_size", 8192),), (("DataMemory", 900 << 30),)
    dear = tuning.wanted.space.dear
    one, four = (Trial(EXCLUDE, (("table_open_cache_instances", n),), 1, RESTARTS) for n in (1, 4))
    trials = (
        Trial(EXCLUDE, small, 1, ALTERNATION), Trial(EXCLUDE, small, 2, ALTERNATION),
        one, four, Trial(CONFIRM, small, 1, dear), Trial(EXCLUDE, large, 1, dear),
    )  # fmt: skip
    searched = dataclasses.replace(tuning, search=Given(tuning, *trials[:2]))
    data = tune.measure(searched)
    assert data.manifest["starts"] == 1
    assert {"ndb_batch_size": "8192"} in data.manifest["set_global"]
    assert [len(record.gains) for record in tune.records_of(data)] == [1, 2]
    # With more to try, the same dataset goes on.
    searched = dataclasses.replace(tuning, search=Given(tuning, *trials))
    again = tune.measure(searched)
    assert again.path == data.path
    *_, confirmed, refused = tune.records_of(again)
    assert len(confirmed.gains) == 1
    own = again.slices[again.slices["contrast"].isin([one.contrast, four.contrast])]
    # Every trial took turns.
    assert set(again.slices["of"]) == {4 * TURN_ORDERS}
    # One cluster start, in which each trial restarted both servers.
    assert again.manifest["starts"] == 1 + 1 + 2
    assert (again.manifest["restarts"], set(own["status"])) == (4, {"ok"})
    assert again.manifest["shown"]["tried"] == {"ndb_force_send": "OFF", "ndb_batch_size": "8192"}
    assert refused.infeasible
    assert "memory" in refused.status
    assert (
        "DataMemory" in dataset.read(again.path).manifest["trials"][-1]["trial"]["configuration"][0]
    )


@pytest.mark.slow
@pytest.mark.cluster
def test_trials_share_a_baseline_and_one_that_cannot_run_is_left_to_itself(
    cluster_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two are measured beside one start; the third needs too much memory, and is told so."""
    monkeypatch.setattr(measurement, "RUNS", tmp_path / "runs")
    knobs = tmp_path / "knobs.csv"
    knobs.write_text("name,values\n*,\nservers,2\nSchedulerResponsiveness,2\nDataMemory,900G\n")
    load = resolving.resolve("oltp_point_select", None, False)
    request = Request(minutes=30, knob_file=str(knobs), profile="smoke", port=OWN_PORT)
    tuning = prepared.prepare(request, install.ensure(), load)
    if tuning.wanted.space.dear != TWINS:
        pytest.skip(f"no twins here: {tuning.no_twins}")
    own = (("servers", 2), ("SchedulerResponsiveness", 2), ("DataMemory", 900 << 30))
    trials = [Trial(RACE, (pair,), 1, TWINS) for pair in own]
    searched = dataclasses.replace(tuning, search=Given(tuning, *trials))
    data = tune.measure(searched)
    records = tune.records_of(data)
    assert [len(record.gains) for record in records] == [1, 1, 0]
    assert [record.starts for record in records] == [(2,), (2,), ()]
    assert records[-1].infeasible
    assert "memory" in records[-1].status
    # The baseline's run, then the three clusters of the block.
    assert data.manifest["starts"] == 1 + 3
    starts = data.slices.groupby(["contrast", "side"], observed=True)["start"].unique().map(list)
    assert [starts[trial.contrast, "a"] for trial in trials[:2]] == [[2], [2]]
    assert [starts[trial.contrast, "b"] for trial in trials[:2]] == [[3], [4]]
