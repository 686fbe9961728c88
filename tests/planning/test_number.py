"""Numbers given by a user: taken as text or numbers, refused in one wording."""

from __future__ import annotations

import pytest

from ndblab.error import LabError
from ndblab.planning import number


@pytest.mark.parametrize("value", [True, 1.5, "1.5", "", "many", "0", "-4", "12"])
def test_what_is_no_whole_number_in_its_range_is_refused(value):
    """The message has the option, what was given and what is expected."""
    with pytest.raises(LabError, match="--servers is not usable") as caught:
        number.whole("--servers", value, 1, 11)
    assert "a whole number from 1 to 11" in str(caught.value)


@pytest.mark.parametrize("value", ["4,1,4", [4, 1], (1, 4), ["1", "4"]])
def test_several_numbers_are_taken_once_and_in_order(value):
    """As a list, or as text with commas."""
    assert number.several("--clients", value, 100) == (1, 4)


@pytest.mark.parametrize("value", ["", [], "1,,2", "1,two", "0", "101", {}])
def test_a_list_with_anything_else_is_refused(value):
    """Nothing is skipped; the message shows how to write a list."""
    with pytest.raises(LabError, match="--clients is not usable") as caught:
        number.several("--clients", value, 100, "node ids")
    assert "whole numbers from 1 to 100, separated by commas (node ids)" in str(caught.value)
    assert "--clients 1,2,4,8" in str(caught.value)


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "lots", 101])
def test_a_number_above_zero_is_nothing_else(value):
    """Logical CPUs may be 0.5 or 12, but no other kind of number."""
    assert number.positive("--cpus", "0.5", 100) == 0.5
    with pytest.raises(LabError, match="--cpus is not usable"):
        number.positive("--cpus", value, 100)
