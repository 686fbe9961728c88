"""The runs of each question apart. The tables are made up, never a measurement."""

from __future__ import annotations

import pytest

from experiments.read_write import made_up
from ndblab.error import MissingData
from ndblab.experiments.read_write import analysis as variations

TABLES = made_up.tables()


def test_each_question_has_its_own_runs() -> None:
    """Variations have the most servers; processes are compared at equal clients."""
    found = variations.of(TABLES)
    assert found.servers == 4
    assert set(found.plain["servers"]) == {1, 2, 4}
    assert set(found.plain["variant"]) == {"default"}
    assert set(found.filtered["servers"]) == {4}
    assert set(found.processes["processes"]) == {1, 2, 4}
    assert set(found.processes["clients"]) == {32}
    assert list(found.plain["tps"]) == pytest.approx(list(found.plain["qps"] / 20))
    assert found.cpus["mysqld"] == pytest.approx(0.6)


def test_what_was_not_measured_is_empty() -> None:
    """A sweep that was interrupted has no slices yet."""
    few = {**TABLES, "slices": TABLES["slices"].iloc[:0]}
    assert variations.of(few).cpus.empty
    assert variations.ratios(few["slices"]).empty
    with pytest.raises(MissingData):
        variations.of({**TABLES, "runs": TABLES["runs"].iloc[:0]})


def test_ratios_of_lookups_count_keys() -> None:
    """Ten keys a query at 0.4 times the queries are four times the lookups."""
    found = variations.ratios(TABLES["slices"]).set_index("contrast")
    assert found.loc["in-10-1", "ratio"] == pytest.approx(4, rel=0.05)
    assert found.loc["in-100-10", "ratio"] == pytest.approx(3, rel=0.05)
    assert found.loc["lookups", "ratio"] == pytest.approx(12, rel=0.05)
    assert found.loc["servers-1-2", "ratio"] == pytest.approx(1.9, rel=0.05)
    assert (found["low"] < found["ratio"]).all()


def test_every_contrast_is_named_in_words() -> None:
    """A contrast without a claim is seen nowhere else."""
    sided = {name for name, each in made_up.contrasts().items() if each.b}
    assert sided == set(variations.RATIOS)
