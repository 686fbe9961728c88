"""Progress of an installation: one bar over all phases, with the time left."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from ndblab.install import packages, progress
from ndblab.install.progress import Phases
from ndblab.machine import host


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which only the test moves."""
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_the_time_left_is_that_of_all_phases(clock):
    """Those to come, and the rest of the one that runs."""
    phases = Phases(show=False)
    with phases.expecting({"download": 10, "configure": 20, "build": 300}):
        assert phases.left_s(clock[0]) == 330
        with phases.timed("download"):
            clock[0] += 4
            assert phases.left_s(clock[0]) == 326
            clock[0] += 40
            assert phases.left_s(clock[0]) == 320
        with phases.timed("configure"):
            clock[0] += 5
            assert phases.left_s(clock[0]) == 315
    assert phases.seconds == {"download": 44, "configure": 5}


def test_a_slow_machine_is_noticed_by_its_own_pace(clock):
    """The further a phase is, the less what is usual counts."""
    phases = Phases(show=False)
    with phases.expecting({"build": 300, "finish": 6}), phases.timed("build") as reach:
        clock[0] += 100
        reach(1, 10)  # 900 s at this pace, 270 s by what is usual
        assert phases.left_s(clock[0]) == pytest.approx(0.1 * 900 + 0.9 * 270 + 6)
        clock[0] += 800
        reach(9, 10)
        assert phases.left_s(clock[0]) == pytest.approx(0.9 * 100 + 0.1 * 30 + 6)


def test_all_phases_share_one_bar(capsys, monkeypatch):
    """It ends at 100 %, and no phase has a line of its own."""
    monkeypatch.setattr(progress, "_INTERVAL_S", (0.02, 0.02))
    phases = Phases()
    with phases.expecting({"a": 0.2, "b": 0.2}):
        for name in ("a", "b"):
            with phases.timed(name):
                time.sleep(0.2)
    shown = capsys.readouterr().err
    assert "left, a" in shown
    assert "left, b" in shown
    assert shown.count("\n") == 1
    percents = [int(part[:3]) for part in shown.split("install: ")[1:]]
    assert percents == sorted(percents)
    assert percents[-1] == 100


def test_an_installation_that_fails_leaves_no_bar_at_100_pct(capsys):
    """And the error gets through."""
    with pytest.raises(OSError, match="full"), Phases().expecting({"a": 10}):
        raise OSError("full")
    assert "100%" not in capsys.readouterr().err


def test_more_cpus_build_faster(monkeypatch):
    """What the doctor says of a first installation depends on the machine."""
    monkeypatch.setattr(host, "read", lambda: SimpleNamespace(usable_cpus=2))
    two = sum(packages.cluster_s().values())
    monkeypatch.setattr(host, "read", lambda: SimpleNamespace(usable_cpus=16))
    assert sum(packages.cluster_s().values()) < two / 3
