"""Waiting for what happens by itself."""

from __future__ import annotations

import time
from collections.abc import Callable

from ndblab.machine import speed


def until(
    observed: Callable[[], object],
    timeout_s: float,
    what: str,
    poll_s: float = 0.05,
    seen: Callable[[], object] = lambda: "nothing",
) -> None:
    """Poll until `observed()` holds; if it never does, the failure says what `seen()` returns.

    `timeout_s` is that of an ordinary machine, and longer on a slower one.
    """
    until_s = time.monotonic() + speed.timeout_s(timeout_s)
    while not observed():
        assert time.monotonic() < until_s, f"{seen()} while waiting for {what}"
        time.sleep(poll_s)
