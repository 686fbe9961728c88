"""Damage is reported by name, and nothing of a damaged dataset is used."""

from __future__ import annotations

import contextlib
import gzip
import json
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import small_runs
from ndblab import dataset
from ndblab.dataset import sealed
from ndblab.error import LabError
from ndblab.machine import host
from small_runs import RUNS

CONFIGS = {"config.ini": b"[ndbd default]\n"}
CAPTURED = Path(__file__).parents[1] / "captured/hosts/vm-2cpu-cgroup1"


def test_tables_that_a_dataset_lacks_are_empty(tmp_path: Path) -> None:
    """No file is there for them, and asking is no error."""
    data = small_runs.written(tmp_path)
    optional = ("history", "copies", "counters", "slices")
    assert not [file for name in optional for file in data.path.glob(f"{name}.*")]
    assert [len(data.tables[name]) for name in optional] == [0, 0, 0, 0]
    assert "outcome" in data.history.columns
    assert data.slices["qps"].dtype == float


def test_a_damaged_compressed_table_is_reported(tmp_path: Path) -> None:
    """Cut off or changed, verified or not, one message names the file."""
    with small_runs.opened(tmp_path) as out:
        out.append(RUNS[0], small_runs.checked(RUNS[0]))
        path = out.finish().path
    small_runs.damaged(path, "copies.csv.xz", lambda d: d[:-9])
    with pytest.raises(LabError, match=r"copies\.csv\.xz has changed"):
        dataset.read(path)
    with pytest.raises(LabError, match=r"copies\.csv\.xz cannot be unpacked"):
        dataset.read(path, verify=False).copies  # noqa: B018


def without_qps(data: bytes) -> bytes:
    return b"\n".join(
        b",".join(v for i, v in enumerate(line.split(b",")) if i != 14) if line else b""
        for line in data.split(b"\n")
    )


def inside(change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """Change the content of a compressed table."""
    return lambda data: gzip.compress(change(gzip.decompress(data)))


FAULTS: dict[str, tuple[str, Callable[[bytes], bytes], tuple[str, ...]]] = {
    "missing column": ("runs.csv", without_qps, ("runs.csv lacks a column", "expected: qps")),
    "other unit": (
        "runs.csv",
        lambda d: d.replace(b"latency_p95_ms", b"latency_p95_us"),
        ("another unit", "latency_p95_us", "latency_p95_ms"),
    ),
    "unknown column": (
        "intervals.csv",
        lambda d: d.replace(b",qps,", b",qps,", 1).replace(b"per_s\n", b"per_s,x\n", 1),
        ("other columns", "x"),
    ),
    "cut last line": (
        "processes.csv.gz",
        inside(lambda d: d[:-7]),
        ("last line", "cut off", "line 7"),
    ),
    "short line": (
        "intervals.csv",
        lambda d: d.replace(b",1200.25", b"", 1),
        ("Line 2", "number of values", "6", "7"),
    ),
    "no number": (
        "intervals.csv",
        lambda d: d.replace(b"1200.25", b"fast", 1),
        ("Line 2", "column qps", "'fast'", "a number"),
    ),
    "no whole number": (
        "processes.csv.gz",
        inside(lambda d: d.replace(b"300000000", b"3.5", 1)),
        ("Line 2", "column rss_bytes", "'3.5'", "a whole number"),
    ),
    "negative": (
        "intervals.csv",
        lambda d: d.replace(b"1200.25", b"-1200.25", 1),
        ("Line 2", "column qps", "-1200.25", "from 0 up"),
    ),
    "infinite": (
        "intervals.csv",
        lambda d: d.replace(b"1268.75", b"inf", 1),
        ("Line 3", "column qps", "inf"),
    ),
    "more than all": (
        "ndb_threads.csv.gz",
        inside(lambda d: d.replace(b",96,", b",196,", 1)),
        ("Line 2", "column os_idle_pct", "196"),
    ),
    "unknown role": (
        "processes.csv.gz",
        inside(lambda d: d.replace(b"mysqld", b"postgres", 1)),
        ("Line 2", "column role", "'postgres'", "mysqld"),
    ),
    "run twice": (
        "runs.csv",
        lambda d: d.replace(RUNS[0].encode(), RUNS[1].encode()),
        ("column run_id", "no other line"),
    ),
    "run unknown": (
        "intervals.csv",
        lambda d: d.replace(RUNS[0].encode(), b"s09_c0009_r1"),
        ("runs.csv lacks", "s09_c0009_r1"),
    ),
    "nothing": ("runs.csv", lambda d: b"", ("lacks a column", "no header")),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_of_a_table_is_reported(tmp_path: Path, fault: str) -> None:
    """A damaged table gives one message with file, line, column, value and what was expected."""
    name, change, words = FAULTS[fault]
    folder = small_runs.damaged(small_runs.written(tmp_path).path, name, change, seal=True)
    with pytest.raises(LabError) as caught:
        dataset.read(folder)
    message = str(caught.value)
    assert all(word in message for word in (name, *words)), message
    assert "next:" in message


def test_a_damaged_journal_is_one_message(tmp_path: Path) -> None:
    """It names the file, and the dataset is neither read nor overwritten."""
    with small_runs.opened(tmp_path) as out:
        out.append(RUNS[0], small_runs.tables(RUNS[0]))
    small_runs.damaged(out.path, "journal.sqlite", lambda d: b"x" * len(d))
    with pytest.raises(LabError, match=r"journal\.sqlite cannot be used"):
        dataset.read(out.path)
    with small_runs.opened(tmp_path) as other:
        assert other.path != out.path


def test_configuration_of_an_unfinished_dataset_is_read(tmp_path: Path) -> None:
    """It is in the journal still."""
    with small_runs.opened(tmp_path) as out:
        out.add_config("config.ini", "[ndbd default]\n")
        assert dataset.read(out.path).configs() == CONFIGS


def test_an_unfinished_dataset_of_an_older_lab_is_left_alone(tmp_path: Path) -> None:
    """A reader is told which version it has, and a sweep begins another dataset."""
    with small_runs.opened(tmp_path) as out:
        out.append(RUNS[0], small_runs.tables(RUNS[0]))
    in_journal(out.path, "manifest.json", lambda d: d.replace(b'_version": 4', b'_version": 3'))
    with pytest.raises(LabError, match="another schema version"):
        dataset.read(out.path)
    with small_runs.opened(tmp_path) as other:
        assert other.path != out.path


def test_a_journal_with_other_columns_is_reported(tmp_path: Path) -> None:
    """No value of it is taken for one of another column."""
    with small_runs.opened(tmp_path) as out:
        for run_id in RUNS:
            out.append(run_id, small_runs.tables(run_id))
    in_journal(out.path, "runs", without_qps)
    with pytest.raises(LabError, match="another number of values"):
        dataset.read(out.path)


def in_journal(folder: Path, name: str, change: Callable[[bytes], bytes]) -> None:
    """Change all contents of this name in a dataset's journal."""
    with contextlib.closing(sqlite3.connect(folder / "journal.sqlite")) as db, db:
        rows = db.execute("SELECT data, rowid FROM contents WHERE name = ?", (name,)).fetchall()
        changed = [(change(data), row) for data, row in rows]
        db.executemany("UPDATE contents SET data = ? WHERE rowid = ?", changed)


def test_an_unfinished_dataset_without_a_journal_is_left_alone(tmp_path: Path) -> None:
    """An old lab kept its runs elsewhere: a reader is told so, and a sweep begins another one."""
    old = small_runs.written(tmp_path).path
    manifest = json.loads((old / "manifest.json").read_text())
    (old / "manifest.json").write_text(json.dumps({**manifest, "status": "unfinished"}))
    before = sorted(old.rglob("*"))
    with pytest.raises(LabError, match="no journal"):
        dataset.read(old)
    with small_runs.opened(tmp_path) as out:
        assert out.path != old
    assert sorted(old.rglob("*")) == before


def test_changed_number_is_noticed(tmp_path: Path) -> None:
    """A number changed by hand is found by the sha256 of its file."""
    data = small_runs.written(tmp_path)
    small_runs.damaged(data.path, "intervals.csv", lambda d: d.replace(b"1200.25", b"1300.25", 1))
    with pytest.raises(LabError, match=r"intervals\.csv has changed since it was measured"):
        dataset.read(data.path)
    assert dataset.read(data.path, verify=False).intervals["qps"].max() == 1300.25


def test_changed_or_missing_config_is_noticed(tmp_path: Path) -> None:
    """The exact inputs are sealed as well as the numbers."""
    data = small_runs.written(tmp_path)
    other = sealed.archive({"config.ini": b"[ndbd default]\nNoOfReplicas=1\n"}, data.logs())
    small_runs.damaged(data.path, "logs.tar.xz", lambda _: other)
    with pytest.raises(LabError, match=r"logs\.tar\.xz has changed"):
        dataset.read(data.path)
    with pytest.raises(LabError, match=r"logs\.tar\.xz has changed"):
        dataset.read(data.path, verify=False).configs()
    (data.path / "logs.tar.xz").unlink()
    with pytest.raises(LabError, match=r"logs\.tar\.xz cannot be read"):
        dataset.read(data.path)


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({}, "b (data); the smallest of the data nodes': "),
        ({"links_encrypted": True}, "; NDB's links encrypted"),
        ({"links_encrypted": False}, "; NDB's links plain text"),
    ],
)
def test_a_dataset_over_several_hosts_says_whether_its_links_were_encrypted(
    tmp_path: Path, known: dict[str, Any], words: str
) -> None:
    """One from before there was a choice says nothing of it."""
    data = small_runs.written(tmp_path)
    hosts = {"a": {"roles": ["load"]}, "b": {"roles": ["data"]}}
    known = {"host": host.read(CAPTURED).to_dict(), "hosts": hosts, **known}
    said = replace(data, manifest={**data.manifest, **known}).describe_host()
    assert words in said
    assert ("NDB's links" in said) is ("links_encrypted" in known)
