"""The runs of each question apart. The tables are made up, never a measurement."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from experiments import planned
from experiments.read_write import made_up
from ndblab.error import MissingData
from ndblab.experiments.read_write import analysis as variations

TABLES = made_up.tables()


def test_each_question_has_its_own_runs() -> None:
    """Variations have the most servers; processes are compared at equal clients."""
    parts = variations.of(TABLES)
    assert parts.servers == 4
    assert set(parts.plain["servers"]) == {1, 2, 4}
    assert set(parts.plain["variant"]) == {"default"}
    assert set(parts.processes["processes"]) == {1, 2, 4}
    assert set(parts.processes["clients"]) == {32}
    assert list(parts.plain["tps"]) == pytest.approx(list(parts.plain["qps"] / 20))
    assert parts.cpus["mysqld"] == pytest.approx(0.6)


def test_what_was_not_measured_is_empty() -> None:
    """A sweep that was interrupted has no slices yet."""
    few = {**TABLES, "slices": TABLES["slices"].iloc[:0]}
    assert variations.of(few).cpus.empty
    assert variations.ratios(few["slices"]).empty
    with pytest.raises(MissingData):
        variations.of({**TABLES, "runs": TABLES["runs"].iloc[:0]})


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
