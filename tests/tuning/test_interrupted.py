"""A search that is ended keeps what is over, says so, and goes on from there."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest
import tasks
from invoke import Context

import made_up_slices
from ndblab import dataset, install
from ndblab.dataset import SCHEMAS
from ndblab.design.contrast import TWINS, Contrast, Side
from ndblab.machine import commands
from ndblab.measuring import blocks, measurement, performing
from ndblab.tuning import executing, prepared, tune
from ndblab.tuning.executing import Executor
from ndblab.tuning.history import CONFIRM, Record, Trial
from ndblab.tuning.space import BASELINE
from ndblab.tuning.wanted import NAME, Request
from ndblab.workloads.own import resolving
from tuning.made_up_search import DESCRIBED, MORE
from tuning.test_answer import BOTH, wanted

TRIAL = Trial(CONFIRM, BOTH, 4, TWINS)


def test_whole_blocks_of_the_trial_under_way_are_not_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Only the block that was cut is measured again; the trial's record then has all blocks."""
    points = (wanted().point(own, name) for own, name in ((BASELINE, "default"), (BOTH, "tried")))
    contrast = Contrast(TRIAL.contrast, TWINS, *map(Side, points), (NAME,), one_start=True)
    slices = made_up_slices.of(contrast, 4).assign(**MORE, latency_p95_ms=1.0)
    asked: list[int] = []

    def measure(contrast: Contrast, number: int, clusters: object, writer: dataset.Writer, *_):
        asked.append(number)
        mine = slices.loc[slices["block"] == number, list(SCHEMAS["slices"].columns)]
        for place, (run_id, row) in enumerate(mine.groupby("run_id", sort=False)):
            if place == 1 and len(asked) == 3:
                raise KeyboardInterrupt
            writer.append(str(run_id), {"slices": row})
        return "ok"

    monkeypatch.setattr(blocks, "measure", measure)
    monkeypatch.setattr(Executor, "_prepare", lambda self, trials: [contrast])

    def carry_out() -> Record:
        with dataset.Writer.open(tmp_path, NAME, {"seed": 1}, DESCRIBED) as writer:
            clusters = SimpleNamespace(writer=writer, size=SimpleNamespace(seed=1))
            return Executor(wanted(), clusters).carry_out([TRIAL])[0]

    with pytest.raises(KeyboardInterrupt):
        carry_out()
    assert len(carry_out().gains) == 4
    assert asked == [1, 2, 3, 3, 4]


@pytest.mark.parametrize(
    ("number", "ending"),
    [
        (signal.SIGINT, KeyboardInterrupt),
        (signal.SIGTERM, SystemExit),
        (signal.SIGHUP, SystemExit),
    ],
)
def test_a_signal_ends_a_search_in_order_and_the_same_command_goes_on(
    number: signal.Signals, ending: type[BaseException], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    binaries: install.Binaries,
):  # fmt: skip
    """Clusters are closed, trials that are over stay, and the one that was cut is next."""
    monkeypatch.setattr(measurement, "RUNS", tmp_path / "runs")
    monkeypatch.setenv("NDBLAB_CLUSTER_DIR", str(tmp_path / "cluster"))
    load = resolving.resolve("oltp_point_select", None, False)
    closed: list[bool] = []
    tried: list[Trial] = []

    def clusters(experiment: object, size: object, plans: object, binaries: object,
                 writer: dataset.Writer, *_: object, **__: object) -> SimpleNamespace:  # fmt: skip
        return SimpleNamespace(
            writer=writer, ready=None, measure=None, close=lambda: closed.append(True)
        )

    def carry_out(self: Executor, trials: list[Trial]) -> list[Record]:
        [trial] = trials
        tried.append(trial)
        if len(tried) in (3, 5):
            os.kill(os.getpid(), number)
        return [Record(trial, (0.01,) * trial.blocks, 60.0)]

    monkeypatch.setattr(tune, "Clusters", clusters)
    monkeypatch.setattr(performing, "perform", lambda *_: None)
    monkeypatch.setattr(executing.Executor, "carry_out", carry_out)
    tuning = prepared.prepare(Request(profile="smoke"), binaries, load)
    for over in (2, 3):
        as_usual = commands.handling(signal.SIG_DFL, signal.SIGHUP)
        interrupting = commands.handling(signal.default_int_handler, signal.SIGINT)
        with as_usual, interrupting, pytest.raises(ending):
            tune.measure(tuning)
        [folder] = (tmp_path / "runs/tune").iterdir()
        assert f"saved: {over} trials" in capsys.readouterr().err
        assert closed.pop()
        assert not (folder / "slices.csv").exists()
    # The third trial was cut, and repeated; the fifth call was the fourth trial.
    assert tried[3] == tried[2]
    assert len({(trial.contrast, trial.blocks) for trial in tried}) == 4


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_who_ends_a_search_reads_how_it_goes_on(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch
):
    """It is one message, with the status of the signal."""

    def end(*words: object, **options: object) -> None:
        raise SystemExit(128 + number)

    monkeypatch.setattr(tune, "tune", end)
    with pytest.raises(tasks.Exit, match=f"{number.name}.*run the same command again") as caught:
        tasks.tune.body(Context())
    assert caught.value.code == 128 + number
