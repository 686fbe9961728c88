from __future__ import annotations

import errno
import os
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from ndblab.error import LabError
from ndblab.install import cache
from ndblab.machine import commands


def test_the_cache_is_in_the_users_cache_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """XDG_CACHE_HOME is respected; without it the cache is in the home folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    assert cache.location() == Path("/elsewhere/ndblab")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", "/home/someone")
    assert cache.location() == Path("/home/someone/.cache/ndblab")


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "ndblab"


@pytest.mark.usefixtures("own_cache")
def test_a_second_installer_waits_and_says_so() -> None:
    waiting = threading.Event()
    order: list[str] = []

    def second() -> None:
        with cache.locked(lambda text: waiting.set()):
            order.append("second")

    thread = threading.Thread(target=second)
    with cache.locked(lambda text: None):
        thread.start()
        assert waiting.wait(10)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]


def test_a_cache_that_cannot_be_created_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cache below a file gives advice and no traceback."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(LabError, match="cannot be written"), cache.locked(lambda text: None):
        pass


def test_a_disk_that_fills_up_while_installing_is_one_clear_error(own_cache: Path) -> None:
    """Whatever was being written, the error says that the disk is full and what to do."""
    with pytest.raises(LabError, match="is full") as caught, cache.locked(lambda text: None):
        Path("/dev/full").write_text("a receipt")
    assert str(own_cache) in str(caught.value)
    assert "XDG_CACHE_HOME" in str(caught.value)


def test_a_disk_that_fills_up_for_a_program_is_the_same_error(own_cache: Path) -> None:
    """A full disk under tar or a compiler is reported like one under the lab itself."""
    argv = ["sh", "-c", "echo 'x: No space left on device' >&2; exit 1"]
    with pytest.raises(LabError, match="is full") as caught, cache.locked(lambda text: None):
        commands.run(argv, what="It cannot be unpacked", log=own_cache / "log")
    assert "It cannot be unpacked" in str(caught.value)


def test_an_unwritable_folder_of_the_cache_is_one_clear_error(own_cache: Path) -> None:
    """A cache that root created is explained without a traceback."""
    with pytest.raises(LabError, match="cannot be written"), cache.locked(lambda text: None):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(own_cache / "work"))


def test_errors_outside_the_cache_are_not_changed(own_cache: Path) -> None:
    with pytest.raises(FileNotFoundError), cache.locked(lambda text: None):
        Path("/nowhere/at/all").read_text()


@pytest.mark.parametrize("name", ["LC_ALL", "LANGUAGE"])
def test_a_full_disk_is_recognised_in_every_language(
    own_cache: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs are to speak English; in C.UTF-8, too, they speak that of LANGUAGE."""
    monkeypatch.setenv(name, "de_DE.UTF-8")
    script = 'case "$LANGUAGE$LC_ALL" in C.UTF-8) echo "No space left on device";; esac; exit 1'
    with pytest.raises(LabError, match="is full"), cache.locked(lambda text: None):
        commands.run(["sh", "-c", script], what="It cannot be unpacked", log=own_cache / "log")


@pytest.mark.usefixtures("own_cache")
def test_a_disk_that_runs_no_programs_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not after the download, as programs that were built for another machine."""
    monkeypatch.setattr(os, "statvfs", lambda path: SimpleNamespace(f_flag=os.ST_NOEXEC))
    refused = pytest.raises(LabError, match="runs no programs")
    with refused as caught, cache.locked(lambda text: None):
        pass
    assert "XDG_CACHE_HOME" in str(caught.value)
