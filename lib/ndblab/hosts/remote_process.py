"""A process on another host, as `subprocess.Popen` would show it.

In: a command line, and the connection to the host's agent. Out: its id there, its streams as files,
and how it ended. Streams are pipes of this process, so that `select` works on them.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from typing import IO, BinaryIO

from ndblab.hosts.wire import CHUNK_BYTES, Receiver, Sender

READING, WRITING = ("stdout", "stderr"), "stdin"


class RemoteProcess:
    """A process on another host.

    `returncode` is None until it has ended. LabError from `poll` and `wait` if the connection is
    lost: nobody knows then, but the host's agent ends it.
    """

    def __init__(self, argv: Sequence[str], act: Callable[..., object]) -> None:
        self.args, self._act = list(argv), act
        self.pid = 0
        self.stdin: IO | None = None
        self.stdout: IO | None = None
        self.stderr: IO | None = None
        self.ended: Future[int] = Future()
        self._pumps: list[threading.Thread] = []
        self._gathered: dict[str, str | bytes] = {}
        self._gathering: list[threading.Thread] = []

    @property
    def returncode(self) -> int | None:
        """Exit status, or the negative number of the signal that ended it; None as long as it runs.

        It is also None if that will never be known.
        """
        known = self.ended.done() and self.ended.exception() is None
        return self.ended.result() if known else None

    def poll(self) -> int | None:
        """Return how it ended, or None."""
        return self.ended.result() if self.ended.done() else None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end, and for all that it printed if that goes to a file.

        Raises
        ------
        subprocess.TimeoutExpired
            If it takes longer.
        """
        until = _Deadline(timeout)
        try:
            code = self.ended.result(timeout)
        except TimeoutError:
            raise subprocess.TimeoutExpired(self.args, timeout) from None
        for pump in self._pumps:
            pump.join(until.left())
        return code

    def communicate(
        self, input: str | bytes | None = None, timeout: float | None = None
    ) -> tuple[str | bytes | None, str | bytes | None]:
        """Send `input`, read both streams to their ends and wait; as `Popen.communicate`.

        Raises
        ------
        subprocess.TimeoutExpired
            If it takes longer. Another call goes on, and nothing is lost.
        """
        until = _Deadline(timeout)
        if not self._gathering:
            streams = [name for name in READING if getattr(self, name)]
            self._gathering = [_started(self._gather, name) for name in streams]
            if self.stdin:
                self._gathering.append(_started(self._say, input))
        for thread in self._gathering:
            thread.join(until.left())
            if thread.is_alive():
                raise subprocess.TimeoutExpired(self.args, timeout)
        self.wait(until.left())
        return self._gathered.get("stdout"), self._gathered.get("stderr")

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if not self.ended.done():
            self._act("send_signal", int(number))

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill it."""
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> RemoteProcess:
        return self

    def __exit__(self, *_: object) -> None:
        for stream in (self.stdout, self.stderr, self.stdin):
            if stream:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        self.wait()

    def read_from(self, name: str, receiver: Receiver, where: object, text: Text) -> None:
        """Have what it prints come out of the attribute `name`, or go to the file `where`."""
        if where == subprocess.PIPE:
            reading, writing = os.pipe()
            setattr(self, name, text.reader(reading))
            _started(_to_file, receiver, writing)
        else:
            self._pumps.append(_started(_to_file, receiver, _duplicate(where)))

    def write_to(self, sender: Sender, where: object, text: Text) -> None:
        """Have it read what is written to `stdin`, or what the file `where` holds."""
        if where == subprocess.PIPE:
            reading, writing = os.pipe()
            self.stdin = text.writer(writing)
            _started(_from_file, reading, sender)
        else:
            _started(_from_file, _duplicate(where), sender)

    def _gather(self, name: str) -> None:
        with getattr(self, name) as stream:
            self._gathered[name] = stream.read()

    def _say(self, input: str | bytes | None) -> None:
        with contextlib.suppress(BrokenPipeError), self.stdin:
            if input:
                self.stdin.write(input)


class Text:
    """How streams are opened: as text or as bytes, as the options of `Popen` say."""

    def __init__(self, options: dict[str, object]) -> None:
        self.encoding, self.errors = options.pop("encoding", None), options.pop("errors", None)
        asked = options.pop("text", None) or options.pop("universal_newlines", None)
        self._is_text = bool(asked or self.encoding or self.errors)

    def reader(self, handle: int) -> IO:
        """Open a pipe for reading."""
        return self._wrapped(open(handle, "rb"))

    def writer(self, handle: int) -> IO:
        """Open a pipe for writing."""
        return self._wrapped(open(handle, "wb"))

    def _wrapped(self, stream: BinaryIO) -> IO:
        if not self._is_text:
            return stream
        return io.TextIOWrapper(stream, self.encoding, self.errors, write_through=True)


class _Deadline:
    def __init__(self, timeout: float | None) -> None:
        self._until = None if timeout is None else time.monotonic() + timeout

    def left(self) -> float | None:
        return None if self._until is None else max(0.0, self._until - time.monotonic())


def channels(streams: dict[str, object], number: Callable[[], int]) -> dict[str, int]:
    """Number the streams that are forwarded: pipes, and files of this machine."""
    return {name: number() for name in _forwarded(streams)}


def there(streams: dict[str, object]) -> dict[str, object]:
    """Return the options for the process itself; what would be inherited is empty."""
    options = {name: subprocess.DEVNULL for name in (WRITING, *READING)}
    options |= {name: where for name, where in streams.items() if where is not None}
    return {**options, **{name: subprocess.PIPE for name in _forwarded(streams)}}


def _forwarded(streams: dict[str, object]) -> Iterable[str]:
    apart = (None, subprocess.DEVNULL, subprocess.STDOUT)
    return [name for name in (WRITING, *READING) if streams.get(name) not in apart]


def _duplicate(file: object) -> int:
    return os.dup(file if isinstance(file, int) else file.fileno())


def _to_file(receiver: Receiver, handle: int) -> None:
    """Write what comes to a pipe or a file, until its end or until nobody reads it."""
    try:
        with open(handle, "wb", buffering=0) as file:
            while data := receiver.chunk():
                view = memoryview(data)
                while view:
                    view = view[file.write(view) :]
    except OSError:
        receiver.stop()


def _from_file(handle: int, sender: Sender) -> None:
    """Send what a pipe or a file holds."""
    with open(handle, "rb", buffering=0) as file, contextlib.suppress(BrokenPipeError):
        while data := file.read(CHUNK_BYTES):
            sender.write(data)
    sender.close()


def _started(what: Callable, *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=what, args=arguments, daemon=True)
    thread.start()
    return thread
