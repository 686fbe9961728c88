"""Transactions, CPUs and ratios of contrasts. The tables are made up, never a measurement."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from experiments import planned
from experiments.read_write import made_up
from ndblab.error import MissingData
from ndblab.experiments.read_write import analysis as variations

TABLES = made_up.tables()


def test_transactions_are_the_runs_without_a_variation() -> None:
    """Of every number of servers, under one process of sysbench and with plain ranges."""
    runs = variations.transactions(TABLES["runs"])
    assert set(runs["servers"]) == {1, 2, 4}
    assert set(runs["variant"]) == {"default"}
    assert set(runs["workload"]) == {"oltp_read_write"}
    assert list(runs["tps"]) == pytest.approx(list(runs["qps"] / 20))


def test_what_was_not_measured_is_empty() -> None:
    """A sweep that was interrupted has no slices yet."""
    assert variations.ratios(TABLES["slices"].iloc[:0]).empty
    with pytest.raises(MissingData):
        variations.transactions(TABLES["runs"].iloc[:0])


def test_cpus_that_a_recording_lacks_are_those_of_an_earlier_one() -> None:
    """The newest with a measurement counts; without any there is none."""
    few = {**TABLES, "slices": TABLES["slices"].iloc[:0]}
    earlier = (SimpleNamespace(tables=TABLES), SimpleNamespace(tables=few))
    used = variations.undivided_cpus(SimpleNamespace(tables=few, earlier=earlier))
    assert used["mysqld"] == pytest.approx(0.6)
    assert variations.undivided_cpus(SimpleNamespace(tables=few, earlier=())).empty


def test_ratios_of_lookups_count_keys() -> None:
    """Ten keys a query at 0.4 times the queries are four times the lookups."""
    ratios = variations.ratios(TABLES["slices"]).set_index("contrast")
    expected = {"in-10-1": 4, "in-100-10": 3, "lookups": 12, "servers-1-2": 1.9}
    assert ratios["ratio"][list(expected)].to_dict() == pytest.approx(expected, rel=0.05)
    assert (ratios["low"] < ratios["ratio"]).all()


def test_every_contrast_is_named_in_words() -> None:
    """A contrast without a claim is seen nowhere else."""
    sided = {name for name, contrast in planned.contrasts(made_up.EXPERIMENT).items() if contrast.b}
    assert sided == set(variations.RATIOS)
