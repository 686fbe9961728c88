"""What all tests share: they may run beside other programs."""

from __future__ import annotations

import math

import pytest

from ndblab.machine import company


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave tests in a virtual machine to `-m hosts`: emulated, they take an hour or more."""
    if "hosts" not in config.getoption("-m"):
        left_out = [item for item in items if item.get_closest_marker("hosts")]
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


@pytest.fixture(autouse=True)
def company_is_tolerated(monkeypatch: pytest.MonkeyPatch):
    """Measure as on a quiet host, whatever else this one does; tests of company set a limit."""
    monkeypatch.setattr(company, "LIMIT_PCT", math.inf)
    monkeypatch.setattr(company, "STEAL_LIMIT_PCT", math.inf)
