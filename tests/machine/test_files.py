from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from ndblab.machine import files


def test_a_file_is_replaced_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the disk refuses, the name still stands for the old content."""
    file = tmp_path / "state.json"
    files.write(file, b"old")

    def full(handle: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="disk full"):
        files.write(file, b"new")
    assert file.read_bytes() == b"old"


def test_what_an_earlier_replacement_left_does_not_hinder(tmp_path: Path) -> None:
    """It was killed while it removed the old folder."""
    for name in ("report", "new", ".report.old"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "page.html").write_text(name)
    files.replace_folder(tmp_path / "new", tmp_path / "report")
    assert [path.name for path in tmp_path.iterdir()] == ["report"]
    assert (tmp_path / "report/page.html").read_text() == "new"


def test_a_folder_that_cannot_take_its_name_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the new folder cannot be renamed, the old one is back under its name."""
    old, new = tmp_path / "report", tmp_path / "new"
    for folder in (old, new):
        folder.mkdir()
    (old / "page.html").write_bytes(b"old")
    (new / "page.html").write_bytes(b"new")
    rename = os.rename

    def refusing(source: Path, target: Path) -> None:
        if source == new:
            raise OSError("refused")
        rename(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(os, "rename", refusing)
        with pytest.raises(OSError, match="refused"):
            files.replace_folder(new, old)
    assert (old / "page.html").read_bytes() == b"old"
    files.replace_folder(new, old)
    assert (old / "page.html").read_bytes() == b"new"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["report"]


def test_a_file_is_locked_on_nfs_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There, flock is a lock of fcntl(2), which takes a file that is open for writing."""
    monkeypatch.setattr(fcntl, "flock", fcntl.lockf)
    (tmp_path / "lock").touch()
    handle = files.lock(tmp_path / "lock", wait=False)
    assert handle is not None
    os.close(handle)
