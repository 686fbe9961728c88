"""What the lab knows of settings: the table, names, values."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from ndblab.comparing import knobs
from ndblab.comparing.knobs import Knob
from ndblab.error import LabError


def test_the_table_is_whole() -> None:
    """Each setting occurs once, with a way of change that the lab knows, and a source."""
    known = knobs.known()
    assert len({knob.key for knob in known}) == len(known)
    assert {knob.change for knob in known} == set(knobs.CHANGES)
    files = {knobs.CONFIG_INI, knobs.MY_CNF, knobs.TABLE, knobs.LAB}
    assert {knob.file for knob in known} == files
    assert all(knob.source for knob in known)


@pytest.mark.parametrize(
    ("word", "section", "change"),
    [
        ("ndb_batch_size", "mysqld", "session"),
        ("NDB-batch-size", "mysqld", "session"),
        ("spinmethod", "ndbd default", "rolling"),
        ("shm:SendBufferMemory", "shm default", "rolling"),
        ("ThreadConfig", "ndbd default", "initial"),
        ("servers", "", "live"),
    ],
)
def test_a_setting_is_found_as_it_is_typed(word: str, section: str, change: str) -> None:
    """Regardless of case, of "-" or "_", and with its section where that is needed."""
    knob = knobs.find(word)
    assert (knob.section, knob.change) == (section, change)


def test_a_name_of_several_sections_must_say_which() -> None:
    """The message says how."""
    with pytest.raises(LabError, match="Several sections") as caught:
        knobs.find("SendBufferMemory")
    assert "tcp:SendBufferMemory" in str(caught.value)
    assert knobs.find("tcp:SendBufferMemory").word == "tcp:SendBufferMemory"


def test_what_only_the_programs_know_counts_as_the_dearest() -> None:
    """If the lab's table has the name too, the table takes precedence."""
    others = [
        Knob(name, knobs.MY_CNF, "mysqld", "", knobs.INITIAL, knobs.UNLISTED)
        for name in ("innodb_log_buffer_size", "ndb_batch_size")
    ]
    assert knobs.find("innodb_log_buffer_size", others).change == knobs.INITIAL
    assert knobs.find("ndb_batch_size", others).change == knobs.SESSION


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("ndb_batch_size", "64K", 65536),
        ("ndb_join_pushdown", "off", "OFF"),
        ("UseShm", "1", "ON"),
        ("SpinMethod", "costbasedspinning", "CostBasedSpinning"),
        ("data_nodes", "25%", 25),
        ("ThreadConfig", "main,ldm={count=1}", "main,ldm={count=1}"),
    ],
)
def test_a_value_is_what_the_programs_have(name: str, text: str, expected: object) -> None:
    """Sizes are bytes, and choices are spelt as NDB spells them."""
    assert knobs.value(knobs.find(name), text) == expected


@pytest.mark.parametrize(
    ("name", "text", "range_"),
    [
        ("SchedulerSpinTimer", "501", "0 to 500"),
        ("ndb_join_pushdown", "maybe", "on, off"),
        ("SpinMethod", "Latency", "StaticSpinning"),
        ("ndb_batch_size", "", "0 to 2147483648"),
    ],
)
def test_a_value_out_of_range_is_refused_with_the_range(name: str, text: str, range_: str) -> None:
    """Before anything is started."""
    with pytest.raises(LabError, match="cannot have this value") as caught:
        knobs.value(knobs.find(name), text)
    assert range_ in str(caught.value.expected)


def captured() -> dict[tuple[str, str], dict[str, str]]:
    """Return how NDB 9.7.4 declares config.ini parameters (ConfigInfo.cpp), by section and name."""
    file = Path(__file__).parents[1] / "captured/settings/ndb_parameters_9.7.4.tsv"
    with file.open(newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t")
        return {(row["section"], knobs.folded(row["name"])): row for row in rows}


@pytest.mark.parametrize(
    "knob", [k for k in knobs.known() if k.file == knobs.CONFIG_INI], ids=lambda knob: knob.word
)
def test_a_parameter_is_as_ndb_declares_it(knob: Knob) -> None:
    """Its spelling, its range, and what must be restarted for it."""
    row = captured()[knob.key]
    assert knob.name == row["name"]
    if row["type"].startswith("int") and "|" not in knob.values:
        assert knob.values == f"{row['least']}..{row['most']}"
    elif row["type"] == "bool":
        assert knob.values == knobs.ON_OFF
    kinds = {"node": knobs.ROLLING, "system": knobs.SYSTEM, "initial": knobs.INITIAL}
    if knob.section == "mysqld default":
        # The data nodes do not use it.
        assert (knob.change, row["restart"]) == (knobs.MYSQLD, "node")
    else:
        assert knob.change.partition(",")[0] == kinds[row["restart"].split()[-1]]
