"""Requests from the lab to its agent on another host, the answers, and a comparison of clocks.

A message is a line of JSON. Nothing that arrives is executed: requests name operations, and values
have types from a fixed list.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import threading
import traceback
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from pathlib import Path, PurePath
from typing import BinaryIO, NamedTuple

from ndblab.error import LabError, writing
from ndblab.machine import HostUse, Marked, ProcessUse
from ndblab.machine.commands import ChildFailed
from ndblab.machine.interference import Reading, Seen

LONGEST_BYTES = 1 << 28
_RECORDS = {kind.__name__: kind for kind in (HostUse, Marked, ProcessUse, Reading, Seen)}
_ERRORS = {kind.__name__: kind for kind in (LabError, ChildFailed)}


class Unexpected(Exception):
    """A bug on the other side; the message is its traceback."""


class ClockSample(NamedTuple):
    """How far the clocks of another host are ahead of this one's.

    The shorter the delay of the answer, the more exact the sample (NTP, RFC 5905, takes the sample
    of least delay for the same reason).
    """

    delay_s: float
    time_ahead_s: float
    monotonic_ahead_s: float


def compared(
    sent: tuple[float, float], answered: tuple[float, float], back_s: float
) -> ClockSample:
    """Compare clocks; both pairs are the time of day and the monotonic clock, in s.

    Parameters
    ----------
    sent : the clocks here when the question was sent.
    answered : the clocks there at some time in between.
    back_s : the monotonic clock here when the answer came.
    """
    delay_s = back_s - sent[1]
    ahead_s = (theirs - ours - delay_s / 2 for ours, theirs in zip(sent, answered))
    return ClockSample(delay_s, *ahead_s)


def encode(value: object) -> object:
    """Turn a value into what JSON can hold; `decode` restores it with its type."""
    if type(value).__name__ in _RECORDS:
        return {type(value).__name__: [encode(part) for part in value]}
    if isinstance(value, PurePath):
        return {"Path": str(value)}
    if isinstance(value, Mapping):
        return {"dict": [[encode(key), encode(part)] for key, part in value.items()]}
    if isinstance(value, str) or not isinstance(value, Iterable):
        return value
    parts = [encode(part) for part in value]
    if isinstance(value, (frozenset, set, tuple)):
        return {"tuple" if isinstance(value, tuple) else "frozenset": parts}
    return parts


def decode(data: object) -> object:
    """Restore a value; ValueError if it has no known type."""
    if isinstance(data, list):
        return [decode(part) for part in data]
    if not isinstance(data, dict):
        return data
    ((kind, parts),) = data.items()
    if kind == "Path":
        return Path(parts)
    parts = decode(parts)
    if kind in _RECORDS:
        return _RECORDS[kind](*parts)
    if kind not in ("dict", "frozenset", "tuple"):
        raise ValueError(f"unknown type {kind}")
    return {"dict": dict, "frozenset": frozenset, "tuple": tuple}[kind](parts)


def error_parts(error: BaseException) -> dict[str, object]:
    """Describe an error as plain data; one that no user can fix, by its traceback."""
    if isinstance(error, OSError):
        error = _of_the_system(error)
    if not isinstance(error, LabError):
        return {"traceback": "".join(traceback.format_exception(None, error, error.__traceback__))}
    said = {name: getattr(error, name) for name in ("found", "expected")}
    return {
        "kind": "ChildFailed" if isinstance(error, ChildFailed) else "LabError",
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
    """The lab's side: requests to a host, each answered in its own time.

    `over` is set when they end; from then on everything raises the error that `lost` returns.
    """

    def __init__(
        self, reading: BinaryIO, writing: BinaryIO, host: str, lost: Callable[[], Exception]
    ) -> None:
        self._reading, self._writing, self._host, self._lost = reading, writing, host, lost
        self._lock, self._write_lock = threading.Lock(), threading.Lock()
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Future] = {}
        self.over = threading.Event()

    def begin(self, operation: str, *arguments: object, **options: object) -> Future:
        """Ask for an operation, and return a future of its result."""
        number, result = next(self._numbers), Future()
        with self._lock:
            if self.over.is_set():
                raise self._lost()
            self._waiting[number] = result
        request = {"id": number, "call": operation, "with": encode([*arguments, options])}
        try:
            with self._write_lock:
                _send(self._writing, request)
        except (OSError, ValueError):
            raise self._lost() from None
        return result

    def serve(self, ended: Callable[[], None] = lambda: None) -> None:
        """Read answers until they end or one is malformed, then call `ended`."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            while line := self._reading.readline(LONGEST_BYTES):
                self._handle(json.loads(line))
        with self._lock:
            self.over.set()
            waiting, self._waiting = list(self._waiting.values()), {}
        ended()
        for result in waiting:
            result.set_exception(self._lost())

    def _handle(self, answer: dict) -> None:
        error = error_from(answer["error"], self._host) if "error" in answer else None
        value = None if error else decode(answer["result"])
        with self._lock:
            result = self._waiting.pop(answer["id"])
        if error:
            result.set_exception(error)
        else:
            result.set_result(value)


def serve(
    reading: BinaryIO,
    writing: BinaryIO,
    operations: Mapping[str, Callable],
    heard: Callable[[], None],
) -> None:
    """Answer requests, each in a thread of its own, until they end or one is malformed.

    `heard` is called with every request, which is a sign of life.
    """
    lock = threading.Lock()

    def answer(request: dict) -> None:
        try:
            *arguments, options = decode(request["with"])
            said = {"result": encode(operations[request["call"]](*arguments, **options))}
        except Exception as error:
            said = {"error": error_parts(error)}
        with lock, contextlib.suppress(OSError, ValueError):
            _send(writing, {"id": request["id"], **said})

    with contextlib.suppress(OSError, ValueError):
        while line := reading.readline(LONGEST_BYTES):
            request = json.loads(line)
            heard()
            threading.Thread(target=answer, args=(request,), daemon=True).start()


def _send(stream: BinaryIO, message: Mapping) -> None:
    stream.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
    stream.flush()
