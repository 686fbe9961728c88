from __future__ import annotations

import threading
from pathlib import Path

import pytest

from ndblab.error import LabError
from ndblab.install import cache


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
