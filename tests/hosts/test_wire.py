"""Requests to the agent and its answers: they arrive as sent, and nothing waits forever."""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ndblab.error import LabError
from ndblab.hosts import wire
from ndblab.machine import HostUse, Marked, ProcessUse
from ndblab.machine.commands import ChildFailed
from ndblab.machine.interference import Reading, Seen

PATIENCE_S = 20


class Lost(Exception):
    """What is raised once the connection is lost."""


def fails(error: Exception):
    """An operation that raises this."""

    def operation():
        raise error

    return operation


@contextlib.contextmanager
def linked(**operations) -> Iterator[wire.Link]:
    """The lab's side of a connection whose other side offers the operations."""
    (to_agent, from_lab), (to_lab, from_agent) = os.pipe(), os.pipe()
    reading, writing = os.fdopen(to_agent, "rb"), os.fdopen(from_agent, "wb")
    link = wire.Link(os.fdopen(to_lab, "rb"), out := os.fdopen(from_lab, "wb"), "db1", Lost)

    def serve() -> None:
        with writing:
            wire.serve(reading, writing, operations, lambda: None)

    threads = [threading.Thread(target=work) for work in (link.serve, serve)]
    for thread in threads:
        thread.start()
    try:
        yield link
    finally:
        out.close()
        for thread in threads:
            thread.join(PATIENCE_S)


def called(link: wire.Link, *arguments: object, **options: object) -> object:
    """The result of an operation."""
    return link.begin(*arguments, **options).result(PATIENCE_S)


@pytest.mark.parametrize(
    "value",
    [
        None, True, 3, 2.5, "text\n\udcff", Path("/a b"), [1, (2, "x")], {3: "three", "k": [None]},
        frozenset({0, 2}), {7: ProcessUse(1.5, 2.5, 3)}, [Marked(1, "sh", ("sh", "-c"), 4)],
        HostUse(1.0, 2.0, 3.0, 4.0, 5.0), Reading(1.0, 2.0, {9: Seen(9, "x", 1, 0, 1.5, 7)}),
    ],
)  # fmt: skip
def test_values_keep_their_types(value: object):
    """What an operation returns is equal to what it would return here, and of the same type."""
    with linked(give=lambda: value) as link:
        result = called(link, "give")
    assert result == value
    assert type(result) is type(value)


def test_arguments_arrive_as_they_were_given():
    """Paths as paths, names as names; what can only be iterated over as a list."""
    with linked(what=lambda *arguments, **options: (arguments, options)) as link:
        result = called(link, "what", Path("/"), None, (n for n in (1, 2)), x={"y": "z"})
    assert result == ((Path("/"), None, [1, 2]), {"x": {"y": "z"}})


def test_only_known_types_are_restored():
    """Nothing that arrives can name a type of its own."""
    with pytest.raises(ValueError, match="Popen"):
        wire.decode({"Popen": ["sh"]})


def test_an_error_of_the_other_side_is_one_message_that_names_it():
    """With all its parts, the output of a program that failed among them."""
    failure = ChildFailed("It failed", found="why", expected=3, next_step="Do it.")
    failure.output = "all it printed"
    with linked(work=fails(failure)) as link, pytest.raises(ChildFailed) as caught:
        called(link, "work")
    assert str(caught.value).splitlines() == [
        "On db1: It failed.", "  found:    why", "  expected: 3", "  next:     Do it.",
    ]  # fmt: skip
    assert caught.value.output == "all it printed"


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (errno.ENOSPC, "On db1: The disk is full; /x could not be written"),
        (errno.EACCES, "On db1: /x cannot be written"),
        (errno.EIO, "On db1: /x cannot be used"),
    ],
)
def test_what_the_system_refuses_there_is_a_message_too(number: int, says: str):
    """No traceback for a full disk, on whichever host."""
    parts = wire.error_parts(OSError(number, os.strerror(number), "/x"))
    error = wire.error_from(parts, "db1")
    assert isinstance(error, LabError)
    assert says in str(error)
    assert os.strerror(number) in str(error)


def test_a_bug_there_is_shown_with_its_traceback():
    """It is no message for users, and not hidden."""
    failing = linked(work=fails(ZeroDivisionError("0")))
    with failing as link, pytest.raises(wire.Unexpected, match="on db1:") as caught:
        called(link, "work")
    assert "ZeroDivisionError" in str(caught.value)


def test_a_slow_request_does_not_hold_up_others():
    """A monitor reads while a program runs."""
    go_on = threading.Event()
    with linked(slow=lambda: go_on.wait(PATIENCE_S), quick=lambda: 1) as link:
        slow = link.begin("slow")
        assert called(link, "quick") == 1
        assert not slow.done()
        go_on.set()
        assert slow.result(PATIENCE_S) is True


@pytest.mark.parametrize(
    "said",
    [
        b"", b"Welcome to this host!\n", b'{"unknown": {}}\n', b'{"id": 7, "result": 1}\n',
        b'{"id": 1, "result": {"Popen": ["sh"]}}\n', b'{"id": 1, "error": {}}\n',
        b'{"id": 1, ', b"[1]\n", b"2\n",
    ],
)  # fmt: skip
def test_everything_that_waits_ends_with_the_connection(said: bytes):
    """Also if what comes is no answer, which is not guessed at; and so do calls after it."""
    reading, writing = os.pipe()
    os.write(writing, said)
    with open(os.devnull, "wb") as nowhere, os.fdopen(reading, "rb") as stream:
        link = wire.Link(stream, nowhere, "db1", Lost)
        waiting = link.begin("anything")
        os.close(writing)
        link.serve()
        with pytest.raises(Lost):
            waiting.result(0)
        with pytest.raises(Lost):
            link.begin("anything")


@pytest.mark.parametrize("ahead_s", [2, 0, -90])
def test_clocks_are_compared_by_the_quickest_answer(ahead_s: float):
    """Within half of its delay; a slow answer may have waited on either way."""
    samples = [
        wire.compared((100, 50), (100 + answer_s + ahead_s, 1050 + answer_s), 50 + delay_s)
        for delay_s, answer_s in ((0.5, 0.05), (0.01, 0.001), (0.2, 0.2))
    ]
    assert min(samples).time_ahead_s == pytest.approx(ahead_s, abs=0.005)
    assert min(samples).monotonic_ahead_s == pytest.approx(1000, abs=0.005)
