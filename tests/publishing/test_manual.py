"""What the lab says of itself agrees with what it can do."""

from __future__ import annotations

import inspect
import re
from types import SimpleNamespace

import pytest
import tasks

from ndblab.publishing import manual

WITHOUT_EXAMPLE = {"commands", "experiments", "notebook", "cluster.status", "cluster.stop"}
"""Commands that have neither options nor words."""
NAMED = {name.partition(" ")[0] for commands in manual.GROUPS.values() for name, *_ in commands}


def test_a_killed_pytest_is_no_success(monkeypatch):
    """Else `./lab test` would pass without the tests that did not run."""
    ended = SimpleNamespace(returncode=-9)
    monkeypatch.setattr(tasks.subprocess, "run", lambda *_, **__: ended)
    assert tasks.pytest() == 137


def test_every_command_is_in_a_group():
    """And every name of a group is a command."""
    assert NAMED | {"commands"} == set(tasks.namespace.task_names)


@pytest.mark.parametrize("name", sorted(manual.OPTIONS))
def test_every_option_has_its_line_of_help(name: str):
    """Help of an option that does not exist would be lost without a word."""
    task = tasks.namespace[name]
    assert {argument.name for argument in task.get_arguments()} == {*manual.OPTIONS[name]}


@pytest.mark.parametrize("name", sorted(manual.OPTIONS))
def test_an_option_with_a_value_says_what_holds_without_it(name: str):
    """Its default, that it has none, or beside which option it counts."""
    arguments = tasks.namespace[name].get_arguments()
    texts = [manual.OPTIONS[name][option.name] for option in arguments if option.takes_value]
    assert [t for t in texts if not re.search(r"default|\(this or --|^With --", t)] == []


@pytest.mark.parametrize("name", sorted({*tasks.namespace.task_names} - WITHOUT_EXAMPLE))
def test_the_help_of_a_command_begins_with_examples(name: str):
    """After one line on what it does."""
    lines = inspect.getdoc(tasks.namespace[name].body).splitlines()
    assert lines[2].startswith("Example")
    assert "./lab " in lines[3]


def test_the_overview_begins_with_what_to_type_first():
    """Whole commands with their minutes, before any list."""
    first = manual.overview().splitlines()[2:5]
    assert all(re.match(r"  \./lab \w+ .* \d+ min$", line) for line in first)


def test_every_example_fits_a_line_of_a_terminal():
    """Commands, words and example in 120 columns."""
    assert all(len(line) <= 120 for line in manual.overview().splitlines())


def test_the_list_of_experiments_says_how_long_each_takes():
    """With what it needs besides."""
    listed = manual.experiments()
    assert "multi-server-scaling     10 min       figures: 6, 7, 8, 9" in listed
    assert "[5 hosts (--hosts), or root]" in listed
