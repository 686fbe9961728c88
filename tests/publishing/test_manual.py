"""What the lab says of itself agrees with what it can do."""

from __future__ import annotations

import pytest
import tasks

from ndblab.publishing import manual

NAMED = {name.partition(" ")[0] for commands in manual.GROUPS.values() for name, *_ in commands}


def test_every_command_is_in_a_group():
    """And every name of a group is a command."""
    assert NAMED | {"commands"} == set(tasks.namespace.task_names)


@pytest.mark.parametrize("name", sorted(manual.OPTIONS))
def test_every_option_has_its_line_of_help(name: str):
    """Help of an option that does not exist would be lost without a word."""
    task = tasks.namespace[name]
    assert {argument.name for argument in task.get_arguments()} == {*manual.OPTIONS[name]}


def test_every_example_fits_a_line_of_a_terminal():
    """Commands, words and example in 120 columns."""
    assert all(len(line) <= 120 for line in manual.overview().splitlines())


def test_the_list_of_experiments_says_how_long_each_takes():
    """With what it needs besides."""
    listed = manual.experiments()
    assert "multi-server-scaling     12 min       figures: 6, 7, 8, 9" in listed
    assert "[5 hosts (--hosts), or root; not recorded yet]" in listed
