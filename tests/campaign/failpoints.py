"""Failpoints: the calls of the lab before or after which a fault can be injected.

In: the packages that act on a machine, all of whose functions are failpoints, and the system calls
that make a file durable. Out: how often each was called, or a fault at one of these calls. This
process is watched with `sys.setprofile`; the lab's code is not changed.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType

import ndblab
from ndblab import cluster, dataset, machine, workloads

PACKAGES = (cluster, dataset, machine, workloads)
SYSTEM_CALLS = (os.fsync, os.replace, os.rename)
_ENDED = {"call": False, "c_call": False, "return": True, "c_return": True}
_LIBRARY = Path(ndblab.__file__).parents[1]
_FOLDERS = tuple(f"{Path(package.__file__).parent}/" for package in PACKAGES)


def inject_at(failpoint: str, call: int, after: bool, inject: Callable[[], None]) -> None:
    """Call `inject` before or after the `call`-th call of a failpoint in this process."""

    def reached(name: str, number: int, ended: bool) -> None:
        if (name, number, ended) == (failpoint, call, after):
            inject()

    watch(reached)


def count_calls() -> Counter[str]:
    """Return a counter that grows with each call of a failpoint in this process."""
    calls: Counter[str] = Counter()

    def reached(name: str, number: int, ended: bool) -> None:
        calls[name] = max(calls[name], number)

    watch(reached)
    return calls


def watch(reached: Callable[[str, int, bool], None]) -> None:
    """Report each call of a failpoint from now on: its name, its number and whether it has ended.

    The number of an ended call counts the ends, which in nested calls come in another order.
    """
    names: dict[CodeType, str] = {}
    numbers: Counter[tuple[str, bool]] = Counter()

    def profile(frame: FrameType, event: str, function: object) -> None:
        if event in ("call", "return"):
            code = frame.f_code
            if (name := names.get(code)) is None:
                name = names[code] = _name(code)
        elif event in _ENDED and function in SYSTEM_CALLS:
            name = f"os.{function.__name__}"
        else:
            return
        if name:
            ended = _ENDED[event]
            numbers[name, ended] += 1
            reached(name, numbers[name, ended], ended)

    threading.setprofile(profile)
    sys.setprofile(profile)


def _name(code: CodeType) -> str:
    """Name a failpoint; empty for code that is none, nested functions among it."""
    if not code.co_filename.startswith(_FOLDERS) or "<" in code.co_qualname:
        return ""
    module = Path(code.co_filename).relative_to(_LIBRARY).with_suffix("")
    return ".".join((*module.parts, code.co_qualname))
