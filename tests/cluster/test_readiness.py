"""Waiting for a cluster ends, and says what it waited for."""

from __future__ import annotations

import pytest

from ndblab.cluster import readiness
from ndblab.error import LabError


def test_waiting_in_vain_ends_with_what_was_waited_for():
    """The message names it; nothing hangs."""
    with pytest.raises(LabError, match="Timed out waiting for the moon"):
        readiness.wait_until(lambda: False, 0.1, "the moon")
