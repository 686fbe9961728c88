"""Trials in which the connected clients of both sides take turns of a second."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

import made_up_slices
from ndblab import dataset, install
from ndblab.comparing import choice, knobs
from ndblab.dataset import SCHEMAS
from ndblab.design.contrast import ALTERNATION, RESTARTS, TWINS, Contrast, Side
from ndblab.error import LabError
from ndblab.measuring import blocks
from ndblab.tuning import prepared, space
from ndblab.tuning.executing import Executor
from ndblab.tuning.history import CONFIRM, OK, Record, Trial
from ndblab.tuning.space import BASELINE, Row
from ndblab.tuning.wanted import NAME, Request
from ndblab.workloads.own import resolving
from tuning.made_up_search import DESCRIBED, MORE
from tuning.test_answer import BOTH, wanted

TRIAL = Trial(CONFIRM, BOTH, 2, TWINS)


def prepare(
    binaries: install.Binaries, load: str | Path, knob_file: Path, *words: str
) -> prepared.Tuning:
    """Prepare a search of an hour under a load."""
    own = resolving.resolve(load, None, False)
    request = Request(words, knob_file=str(knob_file), profile="smoke")
    return prepared.prepare(request, binaries, own)


def test_trials_take_turns_where_the_clients_of_the_load_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, binaries: install.Binaries
):
    """A user's own script may connect at any time; its search is a different one."""
    monkeypatch.setenv("NDBLAB_CLUSTER_DIR", str(tmp_path / "cluster"))
    monkeypatch.setattr(choice, "no_twins", lambda *_: "")
    mine, file = tmp_path / "mine.lua", tmp_path / "knobs.csv"
    mine.write_text("function thread_init() end\nfunction event() end\n")
    file.write_text("name,values\n*,\nndb_batch_size,8K\ntable_open_cache_instances,1\n")
    turning = prepare(binaries, "oltp_point_select", file).wanted
    usual = prepare(binaries, mine, file).wanted
    assert turning.space.turns == (ALTERNATION, RESTARTS, TWINS)
    assert usual.space.turns == ()
    assert turning.space.block_s[ALTERNATION] != usual.space.block_s[ALTERNATION]
    older = dataclasses.replace(turning, space=dataclasses.replace(turning.space, turns=()))
    assert turning.base()[0].asked != older.base()[0].asked


def test_the_plan_lists_each_knob_that_is_left_out_and_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, binaries: install.Binaries
):
    """Nothing that the user's file asks for vanishes without a word."""
    monkeypatch.setenv("NDBLAB_CLUSTER_DIR", str(tmp_path / "cluster"))
    file = tmp_path / "knobs.csv"
    head = "name,values,needs\n*,,\n"
    refused = "READ_BACKUP,0|1,\nengine,9.7.4,\nndb_force_send,on,\nshm:ShmSpintime,200,UseShm=on\n"
    refused += "ndb_join_pushdown,off,joins\n"
    file.write_text(f"{head}ndb_batch_size,8K,\n{refused}")
    plan = prepare(binaries, "oltp_point_select", file, "UseShm=off").plan()
    assert [line.strip() for line in plan.splitlines() if "left out" in line] == [
        "left out: READ_BACKUP (your configuration does not set it)",
        "left out: engine (a search has one engine)",
        "left out: ndb_force_send (no other value to try)",
        "left out: ShmSpintime (no other value to try, or without effect unless UseShm=on)",
        "left out: ndb_join_pushdown (no other value to try, or without effect unless the load has "
        "joins)",
    ]
    assert "left out: ndb_batch_size" not in plan
    file.write_text(f"{head}{refused}")
    with pytest.raises(LabError, match="nothing to search") as caught:
        prepare(binaries, "oltp_point_select", file, "UseShm=off")
    assert "READ_BACKUP (your configuration does not set it)" in caught.value.found


@pytest.mark.parametrize(
    ("word", "servers", "dear", "turns", "design"),
    [
        ("ndb_batch_size", 1, TWINS, True, ALTERNATION),
        ("ndb_recv_thread_activation_threshold", 1, TWINS, True, RESTARTS),
        ("ndb_recv_thread_activation_threshold", 2, TWINS, False, ALTERNATION),
        ("ndb_recv_thread_activation_threshold", 1, "starts", False, ALTERNATION),
        ("data_nodes", 1, TWINS, False, ALTERNATION),
    ],
)
def test_alternations_take_turns_only_for_what_connected_clients_keep(
    word: str, servers: int, dear: str, turns: bool, design: str
):
    """Other knobs have servers of their own if they can; otherwise no alternation takes turns."""
    tunables = space.tunables([Row(word, "10|12")], {knobs.find(word).key: 14}, 2)
    in_turn = prepared._in_turn(tunables, dear, servers)
    assert (ALTERNATION in in_turn) == turns
    own = space.made({word: 12})
    searched = space.Space(tunables, dict.fromkeys((RESTARTS, dear), 1.0), dear, turns=in_turn)
    assert searched.design(own) == design


def carried_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch, p95_ms: float
) -> tuple[Record, list[bool]]:
    """Carry out a trial; return its record, and which of its blocks had turns."""
    search = wanted()
    search = dataclasses.replace(search, space=dataclasses.replace(search.space, turns=(TWINS,)))
    sides = (Side(search.point(c, n)) for c, n in ((BASELINE, "default"), (BOTH, "tried")))
    asked = Contrast(TRIAL.contrast, TWINS, *sides, (NAME,), one_start=True)
    turned: list[bool] = []

    def measure(contrast: Contrast, number: int, clusters: object, writer: dataset.Writer, *_):
        turned.append(contrast.turns)
        made = made_up_slices.of(contrast, number).assign(**MORE, latency_p95_ms=1.0)
        mine = made.loc[made["block"] == number, list(SCHEMAS["slices"].columns)]
        for run_id, row in mine.groupby("run_id", sort=False):
            writer.append(str(run_id), {"slices": row})
        return OK

    monkeypatch.setattr(blocks, "measure", measure)
    monkeypatch.setattr(Executor, "_prepare", lambda self, trials: [asked])
    with dataset.Writer.open(folder, NAME, {"seed": 1}, DESCRIBED) as writer:
        snapshot = writer.snapshot
        runs = pd.DataFrame({"latency_p95_ms": [p95_ms]})
        monkeypatch.setattr(
            writer, "snapshot", lambda: dataclasses.replace(snapshot(), tables={
                **snapshot().tables, "runs": runs
            })
        )  # fmt: skip
        clusters = SimpleNamespace(
            writer=writer, size=SimpleNamespace(seed=1), close=lambda: None
        )  # fmt: skip
        return Executor(search, clusters).carry_out([TRIAL])[0], turned


def test_no_trial_has_turns_where_queries_of_the_baseline_last_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """If only a configuration's queries do, its first block shows it (`measuring.blocks`)."""
    for name, p95_ms, expected in (("short", 2.0, [True, True]), ("long", 200.0, [False, False])):
        record, turned = carried_out(tmp_path / name, monkeypatch, p95_ms)
        assert turned == expected
        assert (record.status, len(record.gains)) == (OK, TRIAL.blocks)
