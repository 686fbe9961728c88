"""Where the data of an experiment come from."""

from __future__ import annotations

import gc
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

import small_runs
from ndblab.design import catalogue
from ndblab.error import LabError
from ndblab.measuring import recorded
from ndblab.planning.workload import is_good

NAME = "dump"


def test_a_dataset_that_somebody_has_is_not_read_again(tmp_path: Path) -> None:
    """A page and its notebook share one: a large one would fill the memory twice."""
    source = recorded.folder(catalogue.find(NAME))
    folder = Path(shutil.copytree(source, tmp_path / source.name))
    held = recorded.obtain(NAME, str(folder))
    assert recorded.obtain(NAME, str(folder)) is held
    del held
    gc.collect()
    (folder / "runs.csv").write_text("")
    with pytest.raises(LabError, match="lacks a column"):
        recorded.obtain(NAME, str(folder))


@dataclass
class Runs:
    """What the rule looks at: when, and the status of each run."""

    manifest: dict[str, str]
    runs: pd.DataFrame

    @property
    def failed(self) -> int:
        return int((~self.runs["status"].map(is_good)).sum())


def measured(day: str, **status: str) -> Runs:
    """Make a recording of two points with three runs each, but for these."""
    ids = [f"s16_c0256_r{i}{variant}" for variant in ("", "_tcp") for i in (1, 2, 3)]
    table = pd.DataFrame({"run_id": ids, "status": [status.get(name, "ok") for name in ids]})
    return Runs({"started_utc": f"{day}T08:00:00Z"}, table)


STUCK = "overran, with clients stuck: all of them worked for 1 s of 8 s"


@pytest.mark.parametrize(
    ("day", "bad", "counts"),
    [
        ("2026-11-26", [], True),
        ("2026-11-26", ["s16_c0256_r1"], False),
        ("2026-11-27", ["s16_c0256_r1"], True),
        ("2026-11-27", ["s16_c0256_r1", "s16_c0256_r3_tcp"], True),
        ("2026-11-27", ["s16_c0256_r1", "s16_c0256_r2"], False),
    ],
)
def test_a_recording_counts_if_each_point_keeps_two_good_runs(
    day: str, bad: list[str], counts: bool
) -> None:
    """Before that rule was written, none might fail; one that overran is good."""
    assert recorded.good_enough(measured(day, **dict.fromkeys(bad, STUCK))) == counts
    assert recorded.good_enough(measured(day, s16_c0256_r1="overran: 5.6 s for 4 s"))


def test_where_a_point_has_one_run_it_must_be_good() -> None:
    """An hour is measured once."""
    one = measured("2026-11-28", s16_c0256_r1=STUCK)
    one.runs = one.runs.iloc[:1]
    assert not recorded.good_enough(one)


@pytest.fixture
def recordings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Recordings of an experiment: its oldest, and newer copies of it with failed runs."""
    source = recorded.folders_of(catalogue.find(NAME))[0]
    folders = tmp_path / NAME
    shutil.copytree(source, folders / source.name)
    monkeypatch.setattr(recorded, "RECORDED", tmp_path)

    def add(day: str, bad: int, **changed: object) -> Path:
        folder = Path(shutil.copytree(source, folders / f"{day}-{bad}"))
        file = folder / "manifest.json"
        manifest = json.loads(file.read_text()) | {"started_utc": f"{day}T08:00:00Z"}
        manifest["identity"] |= changed
        file.write_text(json.dumps(manifest))

        def failed(runs: bytes) -> bytes:
            for repeat in range(1, bad + 1):
                run_id = f"s01_c0001_r{repeat}_dump_gzip,".encode()
                assert runs.count(run_id + b"ok,") == 1
                runs = runs.replace(run_id + b"ok,", run_id + b"exited 1,")
            return runs

        return small_runs.damaged(folder, "runs.csv", failed, seal=True)

    return add


@pytest.mark.parametrize(
    ("day", "bad", "counts"),
    [("2026-11-28", 3, True), ("2026-11-28", 4, False), ("2026-11-26", 4, True)],
)
def test_the_newest_recording_is_held_to_the_rule(recordings, day: str, bad: int, counts: bool):
    """Of five runs of a point two must be good; what was the newest before the rule stays it."""
    experiment = catalogue.find(NAME)
    first, newest = recorded.folder(experiment), recordings(day, bad)
    assert recorded.folders_of(experiment) == ([first, newest] if counts else [first])
    assert recorded.folder(experiment) == (newest if counts else first)


def test_a_newest_recording_that_does_not_count_has_no_say_in_the_design(recordings) -> None:
    """Those before it count as if it were not there; without any, an error says so."""
    experiment = catalogue.find(NAME)
    first = recorded.folder(experiment)
    recordings("2026-11-28", 5, versions={"ndb": "9.8.0"})
    recordings("2026-11-29", 4)
    assert recorded.folders_of(experiment) == [first]
    shutil.rmtree(first)
    with pytest.raises(LabError, match="no dataset of dump"):
        recorded.folder(experiment)


def test_latest_is_the_complete_dataset_that_was_measured_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Incomplete and damaged ones, and comparisons, are passed over; without any is an error."""
    monkeypatch.setattr(recorded.measurement, "RUNS", tmp_path)
    with pytest.raises(LabError, match="no complete one"):
        recorded.folder_named("latest")
    source = recorded.folder(catalogue.find(NAME))
    manifest = json.loads((source / "manifest.json").read_text())
    first, second, third, damaged = (tmp_path / NAME / name for name in ("1", "2", "3", "4"))
    compared = tmp_path / "compare" / "1"
    for folder, day, more in (
        (first, 1, {"status": "complete"}),
        (second, 2, {"status": "complete"}),
        (third, 3, {"status": "interrupted"}),
        (compared, 4, {"status": "complete", "asked": {}}),
    ):
        folder.mkdir(parents=True)
        changed = manifest | {"finished_utc": f"2026-01-0{day}T00:00:00Z"} | more
        (folder / "manifest.json").write_text(json.dumps(changed))
    damaged.mkdir()
    (damaged / "manifest.json").write_text("{")
    assert recorded.folder_named("latest") == second
    assert recorded.folder_named("data/runs/other") == Path("data/runs/other")
