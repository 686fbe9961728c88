"""Requests, answers and streams of bytes between the lab and its agent on another host.

In: two streams of bytes, such as standard input and output of an SSH client. Out: calls that return
what the other side returns, and numbered channels of bytes, as fast as their reader takes them. It
knows neither SSH nor what is called.

A frame is the lengths of a JSON text and of some bytes, 4 bytes each with the highest first, and
then both. Nothing that arrives is executed: JSON names operations, and types from a fixed list.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import queue
import struct
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path, PurePath
from typing import BinaryIO

from ndblab.error import LabError, writing
from ndblab.machine import HostUse, Marked, ProcessUse
from ndblab.machine.commands import ChildFailed
from ndblab.machine.interference import Reading, Seen

CHUNK_BYTES, CHUNKS_AHEAD = 1 << 16, 32
"""A sender is at most so many chunks ahead of its reader, so that no channel fills the memory or
holds up the others."""
LONGEST_BYTES = 1 << 28
_LENGTHS = struct.Struct(">II")
_RECORDS = {kind.__name__: kind for kind in (HostUse, Marked, ProcessUse, Reading, Seen)}
_ERRORS = {kind.__name__: kind for kind in (LabError, ChildFailed)}


class Lost(Exception):
    """The other side is gone, or does not speak this protocol."""


class Unexpected(Exception):
    """A bug on the other side; the message is its traceback."""


def encode(value: object) -> object:
    """Turn a value into what JSON can hold; `decode` restores it with its type."""
    if type(value).__name__ in _RECORDS:
        return {type(value).__name__: [encode(part) for part in value]}
    if isinstance(value, PurePath):
        return {"Path": str(value)}
    if isinstance(value, Mapping):
        return {"dict": [[encode(key), encode(each)] for key, each in value.items()]}
    if isinstance(value, (set, frozenset)):
        return {"frozenset": [encode(each) for each in value]}
    if isinstance(value, tuple):
        return {"tuple": [encode(each) for each in value]}
    if isinstance(value, list):
        return [encode(each) for each in value]
    return value


def decode(data: object) -> object:
    """Restore a value; ValueError if it has no known type."""
    if isinstance(data, list):
        return [decode(each) for each in data]
    if not isinstance(data, dict):
        return data
    ((kind, parts),) = data.items()
    if kind == "Path":
        return Path(parts)
    if kind == "dict":
        return {decode(key): decode(each) for key, each in parts}
    if kind == "frozenset":
        return frozenset(decode(each) for each in parts)
    if kind == "tuple":
        return tuple(decode(each) for each in parts)
    if kind in _RECORDS:
        return _RECORDS[kind](*(decode(part) for part in parts))
    raise ValueError(f"unknown type {kind}")


def error_parts(error: BaseException) -> dict[str, object]:
    """Describe an error as plain data; one that no user can fix, by its traceback."""
    if isinstance(error, OSError) and not isinstance(error, LabError):
        error = _of_the_system(error)
    if not isinstance(error, LabError):
        return {"traceback": "".join(traceback.format_exception(None, error, error.__traceback__))}
    kind = ChildFailed if isinstance(error, ChildFailed) else LabError
    said = {name: getattr(error, name) for name in ("found", "expected")}
    return {
        "kind": kind.__name__,
        "what": error.what,
        **{name: None if text is None else str(text) for name, text in said.items()},
        "next_step": error.next_step,
        "output": getattr(error, "output", ""),
    }


def error_from(parts: Mapping[str, str], host: str) -> Exception:
    """Restore an error that occurred on `host`, which its message then names."""
    if "traceback" in parts:
        return Unexpected(f"on {host}:\n{parts['traceback']}")
    words = {name: parts[name] for name in ("found", "expected", "next_step")}
    error = _ERRORS[parts["kind"]](f"On {host}: {parts['what']}", **words)
    if isinstance(error, ChildFailed):
        error.output = parts["output"]
    return error


def _of_the_system(error: OSError) -> LabError:
    name = error.filename or "a file"
    try:
        with writing(Path(str(name))):
            raise error
    except LabError as known:
        return known
    except OSError:
        return LabError(
            f"{name} cannot be used",
            found=error.strerror or str(error),
            next_step="Look at it on that host; it may be missing, or belong to another user.",
        )


class Link:
    """One side of a connection; both are alike.

    Operations are called by name, each in a thread of its own, except those of `at_once`, which
    must neither wait nor call. `heard_s` is when the last frame came, by `time.monotonic`.
    """

    def __init__(
        self,
        reading: BinaryIO,
        writing: BinaryIO,
        operations: Mapping[str, Callable],
        at_once: Mapping[str, Callable] | None = None,
    ) -> None:
        self._reading, self._writing = reading, writing
        self._operations, self._at_once = operations, at_once or {}
        self._write_lock, self._lock = threading.Lock(), threading.Lock()
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Future] = {}
        self._receivers: dict[int, Receiver] = {}
        self._senders: dict[int, Sender] = {}
        self._over = False
        self.heard_s = time.monotonic()

    def serve(self) -> None:
        """Read frames until the connection ends; then everything that waits for one gets `Lost`."""
        try:
            while True:
                self._handle(*self._read())
                self.heard_s = time.monotonic()
        except (Lost, OSError, ValueError, KeyError, TypeError):
            pass
        finally:
            self._end()

    def begin(self, operation: str, *arguments: object) -> Future:
        """Call an operation of the other side, and return its result to come.

        It raises what the other side raised, as the plain data of `error_parts` in `Failed`.
        """
        number, result = next(self._numbers), Future()
        with self._lock:
            if self._over:
                raise Lost
            self._waiting[number] = result
        self._send({"call": operation, "id": number, "with": [encode(each) for each in arguments]})
        return result

    def call(self, operation: str, *arguments: object) -> object:
        """Call an operation of the other side and return what it returns."""
        return self.begin(operation, *arguments).result()

    def tell(self, operation: str, *arguments: object) -> None:
        """Call an operation of the other side without waiting for an answer."""
        with contextlib.suppress(Lost):
            self._send({"call": operation, "with": [encode(each) for each in arguments]})

    def channel(self) -> int:
        """Return a new number for a channel; only one of the two sides may choose them."""
        return next(self._numbers)

    def receiver(self, number: int) -> Receiver:
        """Return the reading end of a channel."""
        with self._lock:
            return self._receiver(number)

    def sender(self, number: int) -> Sender:
        """Return the writing end of a channel."""
        with self._lock:
            sender = self._senders[number] = Sender(self, number)
            if self._over:
                sender.stop()
            return sender

    def _receiver(self, number: int) -> Receiver:
        if number not in self._receivers:
            self._receivers[number] = Receiver(self, number)
            if self._over:
                self._receivers[number].arrived.put(None)
        return self._receivers[number]

    def _read(self) -> tuple[dict, bytes]:
        text_bytes, data_bytes = _LENGTHS.unpack(self._exactly(_LENGTHS.size))
        if text_bytes + data_bytes > LONGEST_BYTES:
            raise Lost
        message = json.loads(self._exactly(text_bytes))
        return message, self._exactly(data_bytes)

    def _exactly(self, count: int) -> bytes:
        data = self._reading.read(count)
        if len(data) < count:
            raise Lost
        return data

    def _send(self, message: Mapping, data: bytes = b"") -> None:
        text = json.dumps(message, separators=(",", ":")).encode()
        try:
            with self._write_lock:
                self._writing.write(_LENGTHS.pack(len(text), len(data)) + text + data)
                self._writing.flush()
        except (OSError, ValueError):
            raise Lost from None

    def _handle(self, message: dict, data: bytes) -> None:
        if "call" in message:
            operation = message["call"]
            if operation in self._at_once:
                self._perform(self._at_once[operation], message)
            else:
                todo = self._operations[operation], message
                threading.Thread(target=self._perform, args=todo, daemon=True).start()
        elif "id" in message:
            with self._lock:
                result = self._waiting.pop(message["id"])
            if "error" in message:
                result.set_exception(Failed(message["error"]))
            else:
                result.set_result(decode(message["result"]))
        elif "to" in message:
            with self._lock:
                self._receiver(message["to"]).arrived.put(data or None)
        else:
            with self._lock:
                sender = self._senders.get(message["from"])
            if sender is not None:
                sender.stop() if message["stop"] else sender.taken()

    def _perform(self, operation: Callable, message: dict) -> None:
        try:
            answer = {"result": encode(operation(*map(decode, message["with"])))}
        except Lost:
            return
        except Exception as error:
            answer = {"error": error_parts(error)}
        if "id" in message:
            with contextlib.suppress(Lost):
                self._send({"id": message["id"], **answer})

    def _end(self) -> None:
        with self._lock:
            self._over = True
            waiting, self._waiting = list(self._waiting.values()), {}
            receivers, senders = list(self._receivers.values()), list(self._senders.values())
        for result in waiting:
            result.set_exception(Lost())
        for receiver in receivers:
            receiver.arrived.put(None)
        for sender in senders:
            sender.stop()

    def forget(self, number: int) -> None:
        """Forget a channel that has ended."""
        with self._lock:
            self._receivers.pop(number, None)
            self._senders.pop(number, None)


class Failed(Exception):
    """An operation failed on the other side; `parts` are those of `error_parts`."""

    def __init__(self, parts: Mapping[str, str]) -> None:
        super().__init__(parts.get("what") or parts.get("traceback"))
        self.parts = parts


class Receiver:
    """The reading end of a channel, a stream of bytes to read from."""

    def __init__(self, link: Link, number: int) -> None:
        self._link, self._number = link, number
        self.arrived: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._rest = b""
        self._ended = False

    def chunk(self) -> bytes:
        """Wait for more bytes; none at the end, or if the connection is lost."""
        data = b"" if self._ended else self.arrived.get()
        if not data:
            self._ended = True
            self._link.forget(self._number)
            return b""
        self._answer(False)
        return data

    def read(self, count: int) -> bytes:
        """Return exactly `count` bytes, fewer at the end."""
        while len(self._rest) < count and (more := self.chunk()):
            self._rest += more
        data, self._rest = self._rest[:count], self._rest[count:]
        return data

    def stop(self) -> None:
        """Have the sender give up, and forget what it has sent."""
        self._answer(True)
        while self.chunk():
            pass

    def _answer(self, stop: bool) -> None:
        with contextlib.suppress(Lost):
            self._link._send({"from": self._number, "stop": stop})


class Sender:
    """The writing end of a channel, a stream of bytes to write to."""

    def __init__(self, link: Link, number: int) -> None:
        self._link, self._number = link, number
        self._free = threading.Semaphore(CHUNKS_AHEAD)
        self._stopped = False

    def write(self, data: bytes) -> int:
        """Send bytes, once the reader has room; BrokenPipeError if it has given up or is gone."""
        view = memoryview(data)
        for begin in range(0, len(view), CHUNK_BYTES):
            self._free.acquire()
            if self._stopped:
                self._free.release()
                raise BrokenPipeError(errno.EPIPE, "nobody reads this any more")
            self._frame(bytes(view[begin : begin + CHUNK_BYTES]))
        return len(view)

    def close(self) -> None:
        """Send the end of the stream."""
        with contextlib.suppress(BrokenPipeError):
            self._frame(b"")
        self._link.forget(self._number)

    def taken(self) -> None:
        """Note that the reader has taken a chunk."""
        self._free.release()

    def stop(self) -> None:
        """Note that the reader has given up."""
        self._stopped = True
        self._free.release()

    def _frame(self, data: bytes) -> None:
        try:
            self._link._send({"to": self._number}, data)
        except Lost:
            raise BrokenPipeError(errno.EPIPE, "the connection is lost") from None
