"""How often the lab's intervals hold the truth: the committed table, and the simulations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ndblab.benchmarks import coverage, simulations
from ndblab.benchmarks.coverage import FILE, LEAST_PCT, MOST_PCT


def test_every_interval_holds_the_truth_as_often_as_it_says() -> None:
    """95 % intervals cover 93 to 97 %; one that covers more says why it is conservative."""
    table = pd.read_csv(FILE, keep_default_na=False)
    assert len(table) > 20
    assert (table["coverage_pct"] >= LEAST_PCT).all()
    wide = table[table["coverage_pct"] > MOST_PCT]
    assert (wide["reason"] != "").all(), wide
    assert (table["low_pct"] <= table["coverage_pct"]).all()
    assert (table["coverage_pct"] <= table["high_pct"]).all()


@pytest.mark.parametrize(
    ("coverage_pct", "reason", "met"),
    [(95.0, "", True), (99.0, "", False), (99.0, "cautious", True), (90.0, "cautious", False)],
)
def test_an_interval_that_is_too_wide_misses_its_goal(
    coverage_pct: float,
    reason: str,
    met: bool,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Unless it says why; one that is too narrow misses it whatever it says."""
    named = dict.fromkeys(("interval", "used_for", "units"), "a test") | {"reason": reason}
    numbers = dict.fromkeys(("coverage_pct", "low_pct", "high_pct"), coverage_pct)
    monkeypatch.setattr(coverage, "simulate", lambda: pd.DataFrame([named | numbers]))
    monkeypatch.setattr(coverage, "FILE", tmp_path / "coverage.csv")
    [printed] = coverage.of_intervals()
    assert printed.met is met


def test_the_table_covers_what_the_lab_simulates() -> None:
    """The committed table is the one that `./lab bench coverage` writes today."""
    table = pd.read_csv(FILE, keep_default_na=False)
    cases = [(case.interval, case.used_for, case.units, case.reason) for case in coverage.cases()]
    named = table[["interval", "used_for", "units", "reason"]]
    assert [tuple(row) for row in named.to_numpy()] == cases


def test_the_simulated_seconds_correlate_like_the_recorded_hour() -> None:
    """Within a second, half a minute and five minutes, as measured (bias of a mean left in)."""
    rng = np.random.default_rng(1)
    lags, correlations = (1, 30, 300), []
    for _ in range(60):
        x = simulations.seconds(rng, 3600)
        x -= x.mean()
        correlations.append([(x[lag:] * x[:-lag]).mean() / x.var() for lag in lags])
    assert np.mean(correlations, axis=0) == pytest.approx([0.72, 0.23, 0.06], abs=0.05)
