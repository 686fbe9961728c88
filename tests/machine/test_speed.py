from __future__ import annotations

import pytest

from ndblab.machine import speed


@pytest.fixture(autouse=True)
def not_measured():
    speed.slowness.cache_clear()
    yield
    speed.slowness.cache_clear()


def test_a_slow_machine_waits_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A timeout is as much longer as the machine is slower."""
    monkeypatch.setattr(speed, "_loop_s", lambda: 15 * speed.ORDINARY_S)
    assert speed.timeout_s(30) == pytest.approx(450)


def test_a_fast_machine_waits_no_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """Timeouts are made for an ordinary machine, and do not shrink."""
    monkeypatch.setattr(speed, "_loop_s", lambda: speed.ORDINARY_S / 4)
    assert speed.timeout_s(30) == 30


def test_company_during_one_try_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """What others take of the CPU for a moment does not make a machine slow."""
    tries = iter([9.0, 9.0, speed.ORDINARY_S, 9.0, 9.0])
    monkeypatch.setattr(speed, "_loop_s", lambda: next(tries))
    assert speed.slowness() == 1
