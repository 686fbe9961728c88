"""The one message that a user reads."""

from __future__ import annotations

import pickle

from ndblab.error import LabError


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
