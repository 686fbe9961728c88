"""Failpoints: every call of the lab counted, and a fault at the one chosen."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from campaign import failpoints
from ndblab.machine.commands import exit_reason


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
    exit_reason(-9)
    with (tmp_path / "file").open("wb") as file:
        os.fsync(file.fileno())
    thread = threading.Thread(target=exit_reason, args=(-9,))
    thread.start()
    thread.join()
    sys.setprofile(None)
    assert calls[name(exit_reason)] == 2
    assert calls["os.fsync"] == 1
    assert all(each.startswith(("ndblab.", "os.")) for each in calls)


@pytest.mark.parametrize(("after", "there"), [(False, "b"), (True, "c")])
def test_a_fault_is_injected_before_or_after_the_chosen_call(
    tmp_path: Path, after: bool, there: str
):
    """Not at an earlier call, and once only."""
    (tmp_path / "a").touch()
    at_fault: list[str] = []
    failpoints.inject_at("os.rename", 2, after, lambda: at_fault.extend(os.listdir(tmp_path)))
    for old, new in ("ab", "bc", "cd"):
        os.rename(tmp_path / old, tmp_path / new)
    assert at_fault == [there]


def test_an_exception_of_the_fault_reaches_the_caller(tmp_path: Path):
    """A signal handler that raises interrupts the call, as Ctrl-C does."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    (tmp_path / "old").touch()
    failpoints.inject_at("os.rename", 1, False, interrupt)
    with pytest.raises(KeyboardInterrupt):
        os.rename(tmp_path / "old", tmp_path / "new")
    assert (tmp_path / "old").exists()
