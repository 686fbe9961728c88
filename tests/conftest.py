"""What all tests share: they may run beside other programs."""

from __future__ import annotations

import math

import pytest

from ndblab.machine import company


@pytest.fixture(autouse=True)
def company_is_tolerated(monkeypatch: pytest.MonkeyPatch):
    """Measure as on a quiet host, whatever else this one does; tests of company set a limit."""
    monkeypatch.setattr(company, "LIMIT_PCT", math.inf)
    monkeypatch.setattr(company, "STEAL_LIMIT_PCT", math.inf)
