"""Calls in forked processes: results in order, errors passed on, deaths reported."""

from __future__ import annotations

import os
import signal
import time

import pytest

from ndblab.error import LabError
from ndblab.publishing import processes


def test_results_come_in_the_order_of_the_calls():
    """A slow first call does not change places with a fast second one."""
    seconds = [(0.2,), (0,), (0.1,)]
    assert list(processes.run(lambda s: time.sleep(s) or s, seconds, 2)) == [0.2, 0, 0.1]


def test_a_call_sees_nothing_that_another_changed():
    """Each call starts from the state of the process that forked it."""
    state = []
    lengths = processes.run(lambda n: state.append(n) or len(state), [(1,), (2,)])
    assert list(lengths) == [1, 1]
    assert state == []


def test_an_interrupt_is_left_to_the_parent():
    """Each process would print a traceback of its own."""
    assert list(processes.run(lambda: os.kill(os.getpid(), signal.SIGINT) or 1, [()])) == [1]


def test_a_mistake_of_the_user_is_raised_as_it_was():
    """The message of a LabError crosses the process with all its parts."""

    def refuse():
        raise LabError("No", found="a", expected="b", next_step="Do c.")

    with pytest.raises(LabError) as caught:
        list(processes.run(refuse, [()]))
    assert (caught.value.found, caught.value.next_step) == ("a", "Do c.")


def test_a_process_that_dies_is_reported():
    """A killed process is an error with its exit status, not an endless wait."""
    with pytest.raises(LabError, match="crashed") as caught:
        list(processes.run(os._exit, [(3,)]))
    assert "3" in caught.value.found
