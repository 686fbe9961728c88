"""Whole runs go in, a complete dataset comes out."""

from __future__ import annotations

import tarfile
import time
from pathlib import Path

import pandas as pd
import pytest

import small_runs
from ndblab import dataset
from ndblab.error import LabError
from small_runs import RUNS


def test_what_was_appended_is_read_back(tmp_path: Path) -> None:
    """A finished dataset holds every table, log and config as given, in the order of measuring."""
    data = small_runs.written(tmp_path)
    assert data.complete
    assert list(data.runs["run_id"]) == list(reversed(RUNS))
    expected = small_runs.tables(RUNS[0])
    for name in ("intervals", "processes", "ndb_threads"):
        table = data.tables[name]
        mine = table[table["run_id"] == RUNS[0]].reset_index(drop=True)
        pd.testing.assert_frame_equal(mine, expected[name], check_dtype=False)
    assert data.logs()[f"{RUNS[1]}.sysbench.txt"] == b"[ 1s ] ...\n"
    assert data.configs() == {"config.ini": b"[ndbd default]\n"}


def test_manifest_says_where_the_numbers_come_from(tmp_path: Path) -> None:
    """The manifest of a finished dataset has identity, times and the sha256 of every other file."""
    data = small_runs.written(tmp_path)
    assert data.manifest["schema_version"] == dataset.VERSION
    assert data.manifest["identity"] == small_runs.IDENTITY
    assert data.manifest["timings"] == {"install_s": 0.0}
    assert data.manifest["started_utc"] <= data.manifest["finished_utc"]
    assert data.budget == "scaled"
    files = {str(f.relative_to(data.path)) for f in data.path.rglob("*") if f.is_file()}
    assert set(data.manifest["files"]) == files - {"manifest.json"}


def test_tables_of_checked_writes_are_read_back(tmp_path: Path) -> None:
    """Every operation and every copy comes back, complete or not; what is missing stays missing."""
    with small_runs.opened(tmp_path) as out:
        for run_id in RUNS[:2]:
            out.append(run_id, small_runs.checked(run_id))
        out.append(RUNS[2], small_runs.tables(RUNS[2]))
        unfinished = dataset.read(out.path)
        data = out.finish()
    for shown in (unfinished, data):
        for name in ("history", "copies", "counters"):
            table = shown.tables[name]
            assert set(table["run_id"]) == set(RUNS[:2])
            mine = table[table["run_id"] == RUNS[1]].reset_index(drop=True)
            expected = small_runs.checked(RUNS[1])[name]
            pd.testing.assert_frame_equal(mine, expected, check_dtype=False)
    assert list(data.copies["second_value"].isna()) == [False, True] * 2
    assert data.history is data.tables["history"]


def test_equal_contents_give_equal_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packed tables and logs have no time of their own, nor an order or an owner."""
    sums = []
    for now_s, names in enumerate((("a.txt", "b.txt"), ("b.txt", "a.txt"))):
        monkeypatch.setattr(time, "time", lambda now_s=now_s: 1e9 + now_s)
        with small_runs.opened(tmp_path / str(now_s)) as out:
            out.append(RUNS[0], small_runs.checked(RUNS[0]), dict.fromkeys(names, "text"))
            out.add_config("my.cnf", "[mysqld]\n")
            sums.append(out.finish().manifest["files"])
    assert sums[0] == sums[1]
    with tarfile.open(tmp_path / "0/scaling" / out.path.name / "logs.tar.xz") as archive:
        entries = [(log.name, log.mtime, log.uid, log.gid, log.uname) for log in archive]
    members = ["config/my.cnf", "logs/a.txt", "logs/b.txt"]
    assert entries == [(name, 0, 0, 0, "") for name in members]


def test_same_measurement_again_is_another_dataset(tmp_path: Path) -> None:
    """Measuring the same thing again counts up and leaves the first dataset as it was."""
    first = small_runs.written(tmp_path)
    before = (first.path / "manifest.json").read_bytes()
    second = small_runs.written(tmp_path)
    assert first.id.startswith("scaling-2cpu-scaled-smoke-")
    assert (first.id[:-1], first.id[-1], second.id[-1]) == (second.id[:-1], "1", "2")
    assert (first.path / "manifest.json").read_bytes() == before


def test_repeated_run_takes_the_place_of_the_failed_one(tmp_path: Path) -> None:
    """A run appended again replaces its earlier row and all its other rows."""
    with small_runs.opened(tmp_path) as out:
        out.append(
            RUNS[0],
            small_runs.tables(RUNS[0], status="mysqld 3 died: signal 9"),
        )
        out.append(RUNS[0], small_runs.tables(RUNS[0], qps=99.5))
        data = out.finish()
    assert list(data.runs["status"]) == ["ok"]
    assert list(data.runs["qps"]) == [99.5]
    assert len(data.intervals) == 2


def test_failed_run_may_lack_its_numbers(tmp_path: Path) -> None:
    """A failed run stays as a row with its reason and empty numbers, in one line."""
    runs = small_runs.tables(RUNS[0], status='sysbench exited 1: "a", b\nc')["runs"]
    runs[["qps", "queries", "errors", "latency_p95_ms", "duration_s"]] = float("nan")
    with small_runs.opened(tmp_path) as out:
        out.append(RUNS[0], {"runs": runs, "intervals": pd.DataFrame({"run_id": []})})
        data = out.finish()
    assert data.runs["status"].item() == 'sysbench exited 1: "a", b c'
    assert data.runs["qps"].isna().all()
    assert len(data.intervals) == len(data.ndb_threads) == 0


def test_counts_are_written_as_whole_numbers(tmp_path: Path) -> None:
    """A count of queries is a whole number in the file, whatever it is in memory."""
    data = small_runs.written(tmp_path)
    assert b",2473,0,0," in (data.path / "runs.csv").read_bytes()


@pytest.mark.parametrize(
    ("column", "value"),
    [("qps", -1.0), ("status", ""), ("transporter", "rdma"), ("qps", float("nan")),
     ("host_steal_pct", 101.0), ("started_utc", "yesterday"), ("servers", 0)],
)  # fmt: skip
def test_nothing_bad_is_written(tmp_path: Path, column: str, value: object) -> None:
    """A value that breaks the schema is refused before anything reaches the folder."""
    with small_runs.opened(tmp_path) as out:
        with pytest.raises(LabError, match=column if value == value else "breaks its schema"):
            out.append(RUNS[0], small_runs.tables(RUNS[0], **{column: value}))
        assert out.done == {}
        assert len(dataset.read(out.path).runs) == 0


def test_fractions_are_not_cut_off(tmp_path: Path) -> None:
    """A fraction where a whole number belongs is refused, not rounded."""
    with small_runs.opened(tmp_path) as out, pytest.raises(LabError, match="wrong type"):
        out.append(RUNS[0], small_runs.tables(RUNS[0], clients=1.5))


def test_tables_of_two_runs_are_no_run(tmp_path: Path) -> None:
    """Rows of another run are refused."""
    tables = small_runs.tables(RUNS[0])
    tables["intervals"] = small_runs.tables(RUNS[1])["intervals"]
    with small_runs.opened(tmp_path) as out, pytest.raises(LabError, match="not those of one run"):
        out.append(RUNS[0], tables)


def test_finished_dataset_is_closed(tmp_path: Path) -> None:
    """Nothing is appended to a complete dataset."""
    with small_runs.opened(tmp_path) as out:
        out.append(RUNS[0], small_runs.tables(RUNS[0]))
        out.finish()
        with pytest.raises(LabError, match="closed"):
            out.append(RUNS[1], small_runs.tables(RUNS[1]))


def test_empty_dataset_is_not_finished(tmp_path: Path) -> None:
    """A sweep without a single run makes no complete dataset."""
    with small_runs.opened(tmp_path) as out, pytest.raises(LabError, match="without any run"):
        out.finish()


def test_notes_survive_an_interruption(tmp_path: Path) -> None:
    """Facts known only at the first start of a cluster are there in the resumed sweep."""
    with dataset.Writer.open(tmp_path, "scaling", small_runs.IDENTITY, small_runs.BASE) as writer:
        writer.note(filled={"rows": 7})
        writer.append("s01_c0001_r1", small_runs.tables())
    with dataset.Writer.open(tmp_path, "scaling", small_runs.IDENTITY, small_runs.BASE) as writer:
        assert writer.finish().manifest["filled"] == {"rows": 7}


def test_a_new_dataset_has_a_name_that_no_recorded_one_has(tmp_path: Path) -> None:
    """A measurement repeated to be recorded beside the first can be copied there as it is."""
    given = ("scaling", small_runs.IDENTITY, small_runs.BASE)
    with dataset.Writer.open(tmp_path / "recorded", *given) as first:
        pass
    with dataset.Writer.open(tmp_path / "runs", *given, tmp_path / "recorded") as second:
        one, other = first.path.name, second.path.name
        assert (one[:-1], other) == (other[:-1], one[:-1] + "2")


def test_second_writer_is_refused(tmp_path: Path) -> None:
    """Two labs cannot write one dataset; the second is refused until the first is done."""
    with small_runs.opened(tmp_path):
        with pytest.raises(LabError, match="Another lab is writing"):
            small_runs.opened(tmp_path)
        with small_runs.opened(tmp_path, seed=2):
            pass
    small_runs.opened(tmp_path).close()


def test_names_with_folders_are_refused(tmp_path: Path) -> None:
    """A config or log cannot be written outside its folder."""
    with small_runs.opened(tmp_path) as out:
        with pytest.raises(LabError, match="plain name"):
            out.add_config("../my.cnf", "")
        with pytest.raises(LabError, match="plain name"):
            out.append(RUNS[0], small_runs.tables(RUNS[0]), {"a/b.txt": ""})
