"""The corrections: each has its arithmetic, computed from what was published."""

from __future__ import annotations

import dataclasses
import re

import pytest

from ndblab.experiments.the_brief import corrections
from ndblab.experiments.the_brief.correction_facts import CHECKS, Facts, numbers
from ndblab.judging import answers, publication
from ndblab.publishing import rendering


@pytest.fixture(scope="module")
def facts() -> Facts:
    return corrections.facts_of()


@pytest.fixture(scope="module")
def rows() -> dict[str, publication.Correction]:
    return {row.id: row for row in publication.corrections()}


def line(row: publication.Correction, facts: Facts):
    """The one line of the table that a row gives."""
    return next(corrections.check([row], facts).itertuples())


def test_every_correction_has_arithmetic_and_all_hold():
    """No row is only asserted, and no arithmetic is left without its row."""
    table = corrections.check()
    assert set(table["id"]) == set(CHECKS)
    assert list(table["id"]) == [row.id for row in publication.corrections()]
    assert table.loc[~table["holds"], ["id", "arithmetic"]].to_dict("records") == []


def test_the_readme_counts_the_places_as_the_answer_does():
    """Its sentence is written by hand."""
    said = answers.answer("the-brief", corrections.check()).certain[0]
    [places] = re.findall(r"in (\d+) places", said)
    assert f"what a reader needs, in {places} places." in rendering.README.read_text("utf-8")


@pytest.mark.parametrize(
    ("correction", "number"),
    [
        ("threads-98", "= 96, not 98"),
        ("smt", "0 to 127, numactl names up to 255"),
        ("l3", "= 4 MB per core"),
        ("redo-2TB", "8 x 256 x 1 GiB = 2 TiB"),
        ("threads-36", "8 + 8 + 4 + 3 + 3 + 1 = 27; threads 0 to 35 are 36"),
        ("fig1-latency", "= 0.62 ms; 1.35 / 0.62 = 2.2"),
        ("rule-over", "8 x 14 = 112 > 96"),
        ("q20-percent", "= 875; 875 - 1 = 87400 %"),
        ("rows-per-table", "= 7 500 bytes per row"),
    ],
)
def test_the_arithmetic_is_shown(rows, facts, correction, number):
    """A reader sees the calculation and can repeat it."""
    assert number in line(rows[correction], facts).arithmetic


@pytest.mark.parametrize(
    ("correction", "old", "new"),
    [
        ("threads-98", "98 threads", "96 threads"),
        ("rows-per-table", "1000000", "10000000"),
        ("zstd-ratio", "11.1", "11.4"),
        ("dbt2-parts", "70 %", "80 %"),
        ("range-63", "32-63", "32-64"),
        ("disks", "3TB", "3.2TB"),
        ("cores-32", "32-core", "16-core"),
        ("api-ids", "245", "247"),
    ],
)
def test_a_source_that_says_the_right_thing_needs_no_correction(rows, facts, correction, old, new):
    """The arithmetic can come out the other way: were the source right, the row would not hold."""
    row = rows[correction]
    assert old in row.says
    assert not line(dataclasses.replace(row, says=row.says.replace(old, new)), facts).holds


def test_another_published_number_changes_the_verdict(rows, facts):
    """What contradicts a source comes from the published claims, not from the check."""
    claims = dict(facts.claims)
    claims["F4-cpu-128"] = dataclasses.replace(claims["F4-cpu-128"], low=2500.0, high=2500.0)
    flat = dataclasses.replace(facts, claims=claims)
    assert line(rows["fig4-flat"], facts).holds
    assert not line(rows["fig4-flat"], flat).holds


def test_a_row_that_cannot_be_computed_does_not_hold_and_says_why(rows, facts):
    """A new row without arithmetic, or one whose numbers are gone, is never a pass."""
    new = dataclasses.replace(rows["smt"], id="new")
    broken = dataclasses.replace(rows["threads-98"], says="too many threads")
    for row, reason in ((new, "no arithmetic"), (broken, "could not be done")):
        checked = line(row, facts)
        assert not checked.holds
        assert reason in checked.arithmetic


def test_numbers_are_read_as_people_write_them():
    """A comma separates thousands only before three digits."""
    assert numbers("8 ldm, 8 query; 1,716,700 at 1.65M") == [8, 8, 1_716_700, 1.65]
