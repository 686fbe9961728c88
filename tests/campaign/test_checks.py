"""What is looked for after a fault: leaks, damaged datasets, lost runs."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import pytest

from campaign import checks
from ndblab import dataset
from ndblab.machine.local import MARK
from small_runs import BASE, IDENTITY, tables

PORT = 14960


def test_a_port_or_socket_that_was_left_is_named(tmp_path: Path):
    """A port in use, and the file of a socket."""
    assert checks.ports(tmp_path, PORT) == ""
    (tmp_path / "mysql.1.sock").touch()
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", PORT + 1))
        other.listen()
        left = checks.ports(tmp_path, PORT)
    assert str(PORT + 1) in left
    assert "mysql.1.sock" in left


def test_a_segment_is_an_orphan_once_no_process_uses_it_and_its_creator_is_dead(tmp_path: Path):
    """One that is attached, or whose creator lives, may still be used."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    rows = [(1, gone.pid, 0), (2, gone.pid, 2), (3, os.getpid(), 0)]
    text = "key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime rss swap\n"
    for shmid, creator, attached in rows:
        text += f"0 {shmid} 1600 4096 {creator} 0 {attached} 0 0 0 0 0 0 0 4096 0\n"
    table = tmp_path / "shm"
    table.write_text(text)
    assert checks.orphaned_segments(table) == {1}


def test_leaks_are_looked_for_until_they_are_gone(tmp_path: Path):
    """What a watchdog ends in time is no leak."""
    child = subprocess.Popen(["sleep", "2"], env={**os.environ, MARK: str(tmp_path)})
    leaks = checks.leaks(tmp_path, PORT, checks.orphaned_segments(), patience_s=0)
    assert str(child.pid) in leaks["processes"]
    leaks = checks.leaks(tmp_path, PORT, checks.orphaned_segments(), patience_s=10)
    child.wait()
    assert not any(leaks.values())


@pytest.fixture
def written(tmp_path: Path) -> dataset.Writer:
    """A dataset that is being written, with one run of two."""
    writer = dataset.Writer.open(tmp_path, "multi-server-scaling", IDENTITY, BASE)
    writer.append("s01_c0001_r1", tables("s01_c0001_r1"))
    yield writer
    writer.close()


def second(writer: dataset.Writer) -> None:
    """Append the second run and finish."""
    writer.append("s01_c0001_r2", tables("s01_c0001_r2", started_utc="2021-09-30T12:00:09Z"))
    writer.finish()


def test_a_resumed_dataset_is_sound(written, tmp_path: Path):
    """All runs are there, the first one as it was."""
    complete = checks.complete_runs(tmp_path)
    assert complete == {"s01_c0001_r1": "2021-09-30T12:00:00Z"}
    second(written)
    assert checks.unfinished(tmp_path, complete, repeats=2) == ""
    assert checks.damaged(tmp_path) == ""


def test_a_dataset_that_was_ended_before_its_first_run_has_no_complete_one(tmp_path: Path):
    """It is read like any other."""
    dataset.Writer.open(tmp_path, "multi-server-scaling", IDENTITY, BASE).close()
    assert checks.complete_runs(tmp_path) == {}
    assert checks.damaged(tmp_path) == ""


def test_what_a_dataset_lacks_is_found(written, tmp_path: Path):
    """It was not resumed, a complete run was measured again, or a temporary folder was left."""
    assert checks.unfinished(tmp_path / "empty", {}, repeats=2) == "no dataset"
    assert "not resumed" in checks.unfinished(tmp_path, {}, repeats=2)
    second(written)
    earlier = {"s01_c0001_r1": "2021-09-30T11:00:00Z"}
    assert "lost: s01_c0001_r1" in checks.unfinished(tmp_path, earlier, repeats=2)
    (written.path.parent / ".x-1.tmp").mkdir()
    assert ".x-1.tmp" in checks.unfinished(tmp_path, {}, repeats=2)


def test_a_dataset_that_was_changed_is_damaged(written, tmp_path: Path):
    """A complete one by its checksums, an unfinished one by its journal."""
    (journal,) = tmp_path.glob("*/*/journal.sqlite")
    whole = journal.read_bytes()
    journal.write_bytes(whole[: len(whole) // 2])
    assert written.path.name in checks.damaged(tmp_path)
    journal.write_bytes(whole)
    second(written)
    table = written.path / "intervals.csv"
    table.write_text(table.read_text().replace("1200.25", "1200.26"))
    assert "intervals.csv has changed since it was measured" in checks.damaged(tmp_path)
