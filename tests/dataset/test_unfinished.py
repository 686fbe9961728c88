"""Slices stand beside runs, snapshots equal what is on disk, a complete dataset can go on."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import small_runs
from ndblab import dataset
from ndblab.error import LabError
from small_runs import LATER, RUNS, SLICES


def same_tables(expected: dataset.Dataset, actual: dataset.Dataset) -> None:
    for name in dataset.SCHEMAS:
        pd.testing.assert_frame_equal(actual.tables[name], expected.tables[name])


def test_slices_are_kept_beside_runs(tmp_path: Path) -> None:
    """Rows of intervals, processes and threads are found by the id of a slice, too."""
    with small_runs.opened(tmp_path) as out:
        out.append(RUNS[0], small_runs.tables(RUNS[0]))
        for run_id in SLICES:
            out.append(run_id, small_runs.slice_tables(run_id, started_utc=LATER))
        before, data = dataset.read(out.path), out.finish()
    for shown in (before, data):
        assert list(shown.runs["run_id"]) == [RUNS[0]]
        assert list(shown.slices["run_id"]) == list(SLICES)
        assert list(shown.slices["side"]) == ["a", "b"]
        for name in ("intervals", "processes", "ndb_threads"):
            assert set(shown.tables[name]["run_id"]) == {RUNS[0], *SLICES}


def test_a_resumed_writer_knows_its_slices(tmp_path: Path) -> None:
    """What was measured is not measured again, and a failed slice is replaced."""
    with small_runs.opened(tmp_path) as out:
        out.append(SLICES[0], small_runs.slice_tables(SLICES[0]))
        out.append(SLICES[1], small_runs.slice_tables(SLICES[1], status="mysqld 3 died"))
    with small_runs.opened(tmp_path) as out:
        assert out.done == {SLICES[0]: "ok", SLICES[1]: "mysqld 3 died"}
        out.append(SLICES[1], small_runs.slice_tables(SLICES[1]))
        assert list(out.finish().slices["status"]) == ["ok", "ok"]


@pytest.mark.parametrize("runs", [0, 2])
def test_a_part_is_one_run_or_one_slice(tmp_path: Path, runs: int) -> None:
    """Neither both nor none."""
    tables = small_runs.slice_tables(SLICES[0])
    if runs:
        tables["runs"] = small_runs.tables(SLICES[0])["runs"]
    else:
        del tables["slices"]
    with small_runs.opened(tmp_path) as out, pytest.raises(LabError, match="not those of one run"):
        out.append(SLICES[0], tables)


def test_a_snapshot_is_what_a_reader_would_read(tmp_path: Path) -> None:
    """At every moment, after a run was replaced and after a resumption; and it stays as it was."""
    with small_runs.opened(tmp_path) as out:
        assert len(out.snapshot().runs) == 0
        out.append(RUNS[0], small_runs.tables(RUNS[0], status="errors: 3", company=""))
        first = out.snapshot()
        same_tables(dataset.read(out.path), first)
        assert not first.complete
        out.append(RUNS[0], small_runs.checked(RUNS[0]))
        same_tables(dataset.read(out.path), out.snapshot())
        assert list(first.runs["status"]) == ["errors: 3"]
    with small_runs.opened(tmp_path) as out:
        for run_id in SLICES:
            out.append(run_id, small_runs.slice_tables(run_id, qps=1 / 3, started_utc=LATER))
            same_tables(dataset.read(out.path), out.snapshot())
        last = out.snapshot()
        same_tables(out.finish(), last)


def test_a_complete_dataset_is_gone_on_with(tmp_path: Path) -> None:
    """It has its old runs, the new ones, and one sealed file of each kind; the manifest says so."""
    before = small_runs.written(tmp_path)
    data = small_runs.gone_on(before.path)
    assert data.complete
    assert data.id == before.id
    assert list(data.runs["run_id"]) == [RUNS[2], RUNS[0], RUNS[1]]
    assert list(data.slices["run_id"]) == [SLICES[0]]
    assert data.intervals.groupby("run_id").size().to_dict() == dict.fromkeys((*RUNS, SLICES[0]), 2)
    assert len(data.manifest["resumed"]) == 1
    assert data.manifest["started_utc"] == before.manifest["started_utc"]
    files = {str(f.relative_to(data.path)) for f in data.path.rglob("*") if f.is_file()}
    assert set(data.manifest["files"]) == files - {"manifest.json"}
    logs = {f"{RUNS[0]}.sysbench.txt", f"{RUNS[1]}.other.txt", f"{RUNS[2]}.sysbench.txt"}
    assert data.logs().keys() == logs
    assert data.logs()[f"{RUNS[1]}.other.txt"] == b"again"
    assert data.configs() == {"config.ini": b"[ndbd default]\n"}


def test_a_dataset_that_goes_on_is_still_checked(tmp_path: Path) -> None:
    """What changed since it was sealed is noticed before anything is added to it."""
    data = small_runs.written(tmp_path)
    small_runs.damaged(data.path, "intervals.csv", lambda d: d.replace(b"1200.25", b"1300.25", 1))
    with pytest.raises(LabError, match=r"intervals\.csv has changed"):
        dataset.Writer.reopen(data.path, small_runs.BASE)
    assert dataset.read(data.path, verify=False).complete
    small_runs.damaged(data.path, "intervals.csv", lambda d: d.replace(b"1300.25", b"1200.25", 1))
    with dataset.Writer.reopen(data.path, small_runs.BASE) as out:
        assert out.done == dict.fromkeys(RUNS, "ok")
        assert not dataset.read(data.path).complete
        with pytest.raises(LabError, match="Another lab is writing"):
            dataset.Writer.reopen(data.path, small_runs.BASE)
        # From here on, what counts is in the journal.
        small_runs.damaged(data.path, "runs.csv", lambda d: d.replace(b"1234.5", b"1235.5", 1))
        assert set(out.finish().runs["qps"]) == {1234.5}


def test_what_is_no_dataset_is_not_reopened(tmp_path: Path) -> None:
    """A wrong path is one clear message."""
    with pytest.raises(LabError, match="not a dataset"):
        dataset.Writer.reopen(tmp_path, small_runs.BASE)
