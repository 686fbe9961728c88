"""Failpoints: every call of the lab counted, and a fault at the one chosen."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from campaign import failpoints
from ndblab.dataset.folder import fill
from ndblab.install.binaries import is_at_least, mysql_version


def name(function: Callable) -> str:
    return f"{function.__module__}.{function.__qualname__}"


@pytest.fixture(autouse=True)
def unwatched() -> Iterator[None]:
    """Whatever watched this process before, watches it afterwards."""
    before, in_threads = sys.getprofile(), threading.getprofile()
    yield
    sys.setprofile(before)
    threading.setprofile(in_threads)


def test_every_function_of_the_lab_and_every_disk_call_is_counted(tmp_path: Path):
    """Also those in other threads; not the functions of other libraries."""
    calls = failpoints.count_calls()
    mysql_version("8.0.34")
    fill(tmp_path / "folder", {"file": b"content"})
    thread = threading.Thread(target=mysql_version, args=("8.0.34",))
    thread.start()
    thread.join()
    sys.setprofile(None)
    assert calls[name(mysql_version)] == 2
    assert calls["os.fsync"] == 2  # of the file and of the folder
    assert all(each.startswith(("ndblab.", "os.")) for each in calls)


@pytest.mark.parametrize(("after", "results"), [(False, [True]), (True, [True, False])])
def test_a_fault_is_injected_before_or_after_the_chosen_call(after: bool, results: list[bool]):
    """Not at an earlier call, and once only."""
    seen: list[bool] = []
    faults: list[list[bool]] = []
    failpoints.inject_at(name(is_at_least), 2, after, lambda: faults.append(seen.copy()))
    for version in ("2.0", "0.9", "3.0"):
        seen.append(is_at_least(version, "1.0"))
    # After the call means before its result is used.
    assert faults == [results[:1]]


def test_an_exception_of_the_fault_reaches_the_caller(tmp_path: Path):
    """A signal handler that raises interrupts the call, as Ctrl-C does."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    (tmp_path / "old").touch()
    failpoints.inject_at("os.rename", 1, False, interrupt)
    with pytest.raises(KeyboardInterrupt):
        os.rename(tmp_path / "old", tmp_path / "new")
    assert (tmp_path / "old").exists()
