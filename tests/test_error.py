"""The one message that a user reads."""

from __future__ import annotations

import pickle

import pytest

from ndblab.error import LabError, naming


def test_a_message_says_what_found_expected_and_next():
    """In this order, each on a line; what is not known is left out."""
    error = LabError("The tea is cold", found="12 °C", expected="60 °C", next_step="Boil water.")
    assert str(error).splitlines() == [
        "The tea is cold.",
        "  found:    12 °C",
        "  expected: 60 °C",
        "  next:     Boil water.",
    ]
    assert str(LabError("The tea is cold")) == "The tea is cold."


def test_an_error_passes_between_processes_whole():
    """The message of a child process is reported in full."""
    error = LabError("The tea is cold", found=12, next_step="Boil water.")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_an_error_is_named_once_it_is_known_what_it_is_about():
    """All else stays; where there is no name it passes as it is."""
    cold = LabError("The tea is cold", found=12, expected=60, next_step="Boil water.")
    with pytest.raises(LabError) as caught, naming("Cup 2"):
        raise cold
    assert str(caught.value) == str(cold).replace("The tea", "Cup 2: The tea")
    for nobody in ("", lambda error: ""):
        with pytest.raises(LabError) as caught, naming(nobody):
            raise cold
        assert caught.value is cold
    with pytest.raises(LabError, match=r"^tea: The tea"), naming(lambda e: e.what[4:7]):
        raise cold
