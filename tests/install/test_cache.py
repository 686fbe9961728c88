from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from ndblab.error import LabError
from ndblab.install import cache
from ndblab.machine import commands


def test_the_cache_is_where_the_user_keeps_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    """XDG_CACHE_HOME is respected, and without it the cache is in the home folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    assert cache.location() == Path("/elsewhere/ndblab")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", "/home/someone")
    assert cache.location() == Path("/home/someone/.cache/ndblab")


def test_a_second_installer_waits_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two installers never work at once, and the one that waits does not do so in silence."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    told = threading.Event()
    order: list[str] = []

    def second() -> None:
        with cache.locked(lambda text: told.set()):
            order.append("second")

    thread = threading.Thread(target=second)
    with cache.locked(lambda text: None):
        thread.start()
        assert told.wait(10)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]


def test_a_disk_too_full_is_told_by_how_much(tmp_path: Path) -> None:
    """Before anything is fetched, the user learns how much room is lacking."""
    with pytest.raises(LabError, match="too full") as caught:
        cache.need_space(tmp_path, 10**18, "building NDB Cluster")
    assert "GB free" in str(caught.value)


def test_a_cache_that_cannot_be_made_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cache below something that is no folder gives advice and no traceback."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(LabError, match="cannot be written"), cache.locked(lambda text: None):
        pass


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "ndblab"


def test_a_disk_that_fills_up_while_installing_is_one_clear_error(own_cache: Path) -> None:
    """Whatever was being written, the user learns that the disk is full and what to do."""
    with pytest.raises(LabError, match="is full") as caught, cache.locked(lambda text: None):
        Path("/dev/full").write_text("a receipt")
    assert str(own_cache) in str(caught.value)
    assert "XDG_CACHE_HOME" in str(caught.value)


def test_a_disk_that_fills_up_for_a_program_is_the_same_error(own_cache: Path) -> None:
    """tar or a compiler that runs out of room is told as the lab itself would be."""
    argv = ["sh", "-c", "echo 'x: No space left on device' >&2; exit 1"]
    with pytest.raises(LabError, match="is full") as caught, cache.locked(lambda text: None):
        commands.run(argv, what="It cannot be unpacked", log=own_cache / "log")
    assert "It cannot be unpacked" in str(caught.value)


def test_a_folder_of_the_cache_that_is_closed_is_one_clear_error(own_cache: Path) -> None:
    """A cache that root once filled is explained, not shown as a traceback."""
    with pytest.raises(LabError, match="cannot be written"), cache.locked(lambda text: None):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(own_cache / "work"))


def test_faults_elsewhere_are_not_the_caches(own_cache: Path) -> None:
    """A missing file that has nothing to do with the cache stays what it is."""
    with pytest.raises(FileNotFoundError), cache.locked(lambda text: None):
        Path("/nowhere/at/all").read_text()
