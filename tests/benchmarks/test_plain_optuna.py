"""Plain Optuna beside the lab's search: what it chooses, and what becomes of it."""

from __future__ import annotations

import math

import pytest

from ndblab.benchmarks import plain_optuna, worlds
from ndblab.error import LabError
from ndblab.tuning.space import BASELINE, Configuration

SPACE = worlds.twelve_knobs()


def test_the_best_single_run_wins_whatever_else_is_known():
    """So it does in tuners that take the best observation; what fails never wins."""
    asked: list[Configuration] = []

    def run(configuration: Configuration) -> float:
        asked.append(configuration)
        return math.nan if len(asked) % 3 == 0 else float(len(configuration))

    best, given = plain_optuna.search(SPACE, 1, run, lambda runs: runs == 20)
    assert asked[0] == BASELINE
    assert len(asked) == len(given) == 20
    worked = {own: value for own, value in zip(asked, given, strict=True) if value == value}
    assert worked[best] == max(worked.values())


def test_a_search_of_which_no_run_works_says_so():
    """Instead of an error of the library."""
    with pytest.raises(LabError, match="No run has worked"):
        plain_optuna.search(SPACE, 1, lambda _: math.nan, lambda runs: runs == 3)
