"""Frames between the lab and its agent: they arrive as sent, and nothing waits forever."""

from __future__ import annotations

import contextlib
import errno
import os
import struct
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


def fails(error: Exception):
    """An operation that raises this."""

    def operation():
        raise error

    return operation


@contextlib.contextmanager
def linked(**operations) -> Iterator[tuple[wire.Link, wire.Link]]:
    """Two sides of one connection; the second offers the operations."""
    (to_b, from_a), (to_a, from_b) = (os.pipe() for _ in range(2))
    ends = [os.fdopen(to_a, "rb"), os.fdopen(from_a, "wb")]
    ends += [os.fdopen(to_b, "rb"), os.fdopen(from_b, "wb")]
    links = wire.Link(*ends[:2], {}), wire.Link(*ends[2:], operations)
    threads = [threading.Thread(target=link.serve) for link in links]
    for thread in threads:
        thread.start()
    try:
        yield links
    finally:
        ends[1].close()
        ends[3].close()
        for thread in threads:
            thread.join(PATIENCE_S)


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
    with linked(give=lambda: value) as (here, _):
        found = here.call("give")
    assert found == value
    assert type(found) is type(value)


def test_arguments_arrive_as_they_were_given():
    """Paths as paths."""
    with linked(what=lambda *arguments: [type(each).__name__ for each in arguments]) as (here, _):
        assert here.call("what", Path("/"), 1, "x", None)[1:] == ["int", "str", "NoneType"]


def test_only_known_types_are_restored():
    """Nothing that arrives can name a type of its own."""
    with pytest.raises(ValueError, match="Popen"):
        wire.decode({"Popen": ["sh"]})


def test_an_error_of_the_other_side_is_one_message_that_names_it():
    """With all its parts, the output of a program that failed among them."""
    failure = ChildFailed("It failed", found="why", expected=3, next_step="Do it.")
    failure.output = "all it printed"
    with linked(work=fails(failure)) as (here, _), pytest.raises(wire.Failed) as caught:
        here.call("work")
    error = wire.error_from(caught.value.parts, "db1")
    assert isinstance(error, ChildFailed)
    assert str(error).splitlines() == [
        "On db1: It failed.", "  found:    why", "  expected: 3", "  next:     Do it.",
    ]  # fmt: skip
    assert error.output == "all it printed"


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
    with linked(work=fails(ZeroDivisionError("0"))) as (here, _), pytest.raises(wire.Failed) as bug:
        here.call("work")
    error = wire.error_from(bug.value.parts, "db1")
    assert not isinstance(error, LabError)
    assert "ZeroDivisionError" in str(error)
    assert "db1" in str(error)


def test_a_slow_request_does_not_hold_up_others():
    """A monitor reads while a program runs."""
    go_on = threading.Event()
    with linked(slow=lambda: go_on.wait(PATIENCE_S), quick=lambda: 1) as (here, _):
        slow = here.begin("slow")
        assert here.call("quick") == 1
        assert not slow.done()
        go_on.set()
        assert slow.result(PATIENCE_S) is True


def test_a_stream_arrives_whole_and_a_slow_reader_stops_its_writer():
    """Its memory is bounded, and other requests are answered meanwhile."""
    data = os.urandom(5_000_000)
    written = threading.Event()
    with linked(quick=lambda: 1) as (here, there):
        number = here.channel()
        receiver, sender = here.receiver(number), there.sender(number)

        def write() -> None:
            sender.write(data)
            written.set()
            sender.close()

        threading.Thread(target=write).start()
        assert not written.wait(0.3)
        assert here.call("quick") == 1
        assert receiver.read(len(data) + 1) == data
        assert written.is_set()
        assert receiver.chunk() == b""


def test_a_writer_is_told_that_nobody_reads():
    """As a program is whose output goes to a closed pipe."""
    with linked() as (here, there):
        number = here.channel()
        receiver, sender = here.receiver(number), there.sender(number)
        stopping = threading.Thread(target=receiver.stop)
        stopping.start()
        with pytest.raises(BrokenPipeError):
            sender.write(b"x" * 100 * wire.CHUNK_BYTES)
        sender.close()
        stopping.join(PATIENCE_S)
        assert not stopping.is_alive()


def test_everything_that_waits_ends_with_the_connection():
    """Calls, readers, writers, and calls that come after it."""
    with linked(never=threading.Event().wait) as (here, there):
        waiting = here.begin("never")
        receiver, sender = here.receiver(here.channel()), here.sender(here.channel())
        there._writing.close()
        with pytest.raises(wire.Lost):
            waiting.result(PATIENCE_S)
        assert receiver.chunk() == b""
        with pytest.raises(BrokenPipeError):
            sender.write(b"x")
        with pytest.raises(wire.Lost):
            here.call("never")


@pytest.mark.parametrize(
    "junk",
    [
        b"Welcome to this host!\n" * 10,
        struct.pack(">II", 4, 0) + b"nope",
        struct.pack(">II", 0xFFFFFFFF, 0xFFFFFFFF),
        struct.pack(">II", 15, 0) + b'{"unknown": {}}',
        struct.pack(">II", 30, 0) + b'{"call": "remove", "with": []}',
        struct.pack(">II", 100, 0) + b"{",
    ],
)
def test_what_is_no_frame_ends_the_connection(junk: bytes):
    """Rather than be guessed at."""
    reading, writing = os.pipe()
    os.write(writing, junk)
    os.close(writing)
    with open(os.devnull, "wb") as nowhere, os.fdopen(reading, "rb") as stream:
        link = wire.Link(stream, nowhere, {})
        link.serve()
        with pytest.raises(wire.Lost):
            link.call("anything")
