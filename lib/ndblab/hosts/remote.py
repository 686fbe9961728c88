"""A machine that is reached by SSH: a `Machine` that has a few methods more.

    with remote.connect("user@db1", Path(".cache/ndblab/cluster")) as machine:
        machine.host()
        machine.spawn(["sleep", "60"], machine.folder)

Over an SSH connection the lab sends an agent to the host's Python (3.9 or newer; nothing else is
needed there), which does the same as `Local` does here. The streams of programs have sessions of
their own. The `with` block leaves nothing on the host, however it ends: `folder` is the cluster's
and is removed, with the processes that carry its mark, its control groups and its segments. If this
process dies or the network does, the agent's guard does that on its own. What `send_tree` copied
elsewhere stays.

Errors are LabErrors that name the host. Times by a monotonic clock are converted to this machine's.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import platform
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

from ndblab.error import LabError
from ndblab.hosts import boot, launch, ssh, trees, wire
from ndblab.machine import HostUse, Machine, Process, ProcessUse, host
from ndblab.machine.cgroups import Groups
from ndblab.machine.interference import Reading

SILENCE_S = 20.0
"""After so long without a word from the other side, lab and agent give each other up."""
START_TIMEOUT_S = 60
END_TIMEOUT_S = 10
CLOCK_SAMPLES, CLOCK_SAMPLES_KEPT = 20, 30
"""Older samples of the clocks are dropped, since clocks drift."""


@contextlib.contextmanager
def connect(
    destination: str, folder: Path, silence_s: float | None = None, settings: str = ""
) -> Iterator[Remote]:
    """Connect to a host for the length of a `with` block.

    Parameters
    ----------
    folder : the cluster's folder there, which nothing else uses; relative to the user's home if it
        is not absolute. It is made, or cleared of what a dead lab has left.
    silence_s : how long the connection may be silent, `SILENCE_S` if left out; three times as long
        at the start, and 60 s at least. A lab that is suspended for longer, or a host that is, has
        lost its cluster there.
    settings : an ssh_config to use in place of the user's.

    Raises
    ------
    LabError
        If the host is unknown, cannot be reached, is not the one it was, does not let the user in,
        has no suitable Python or another architecture, or if another lab uses the folder.
    """
    remote = Remote(destination, folder, silence_s or SILENCE_S, settings)
    try:
        yield remote
    finally:
        remote.close()


def _asked(method: Callable) -> Callable:
    """Return a method that has the host's agent do what `method` of a `Machine` does."""

    @functools.wraps(method)
    def ask(self: Remote, *arguments: object, **options: object) -> object:
        return self._call(method.__name__, *arguments, **options)

    return ask


class Remote:
    """Another host. Methods without a description here are those of `Machine`.

    `name` is the destination; `folder` and `python` (the program) are paths there.
    """

    def __init__(self, name: str, folder: Path, silence_s: float, settings: str) -> None:
        self.name, self._silence_s, self._settings = name, silence_s, settings
        self._numbers = itertools.count(1)
        self._connect(folder, keep=False)

    def _connect(self, folder: Path, keep: bool) -> None:
        connection = self._connection = ssh.Connection(self.name, self._settings)
        lab = f"process {os.getpid()} on {platform.node()}"
        facts = {"folder": str(folder), "silence_s": self._silence_s, "lab": lab, "keep": keep}
        timeout_s = max(START_TIMEOUT_S, 3 * self._silence_s)
        start = launch.start(connection, {**facts, "name": self.name}, timeout_s)
        self._client, answer, self._said = start
        self.folder, self.python = Path(answer["folder"]), Path(answer["executable"])
        self.agent_pid = int(answer["pid"])
        self._samples: deque[wire.Sample] = deque(maxlen=CLOCK_SAMPLES_KEPT)
        link = self._link = wire.Link(self._client.stdout, self._client.stdin)
        for work in (self._serve, self._beat):
            threading.Thread(target=work, args=(link, connection), daemon=True).start()
        try:
            self.clock_offset()
        except BaseException:
            connection.end()
            raise

    run = _asked(Machine.run)
    put = _asked(Machine.put)
    get = _asked(Machine.get)
    make_folder = _asked(Machine.make_folder)
    remove = _asked(Machine.remove)
    marked = _asked(Machine.marked)
    end = _asked(Machine.end)
    check_ports = _asked(Machine.check_ports)
    allow_open_files = _asked(Machine.allow_open_files)
    usable_cpus = _asked(Machine.usable_cpus)

    def spawn(
        self,
        argv: Sequence[str],
        mark: Path | None = None,
        env: Mapping[str, str] | None = None,
        log: Path | None = None,
        **streams,
    ) -> Process:
        """Start a process, see `Machine.spawn`.

        Streams may be files of this machine. A stream that is not named is empty, and a process
        without a mark gets that of `folder`.
        """
        argv, number, session = list(map(str, argv)), next(self._numbers), None
        asked = {} if log else {name: streams.pop(name, None) for name in boot.STREAMS}
        there = {name: _there(where) for name, where in asked.items()}
        if subprocess.PIPE in there.values():
            piped = {name for name, what in there.items() if what == subprocess.PIPE}
            here = {n: asked[n] if n in piped else subprocess.DEVNULL for n in boot.STREAMS}
            session = self._session(number, **streams, **here)
        pid = self._call("spawn", number, argv, mark, env, log, there)
        status, act = self._begin("wait", number), functools.partial(self._act, number)
        return ssh.RemoteProcess(argv, pid, session, status, self._result, act)

    def kill(self, process: Process, session: bool = False) -> None:
        process.act("kill", session)
        process.wait()

    def groups(self, name: str) -> Groups:
        kind, base = self._call("groups", name)
        return RemoteGroups(kind, base, machine=self)

    def process_use(self, pids: Iterable[int]) -> dict[int, ProcessUse]:
        used = self._call("process_use", pids)
        return {pid: self._dated_here(use) for pid, use in used.items()}

    def host_use(self) -> HostUse:
        return self._dated_here(self._call("host_use"))

    def company(self) -> Reading:
        return self._dated_here(self._call("company"))

    def host(self) -> host.Host:
        """Describe the host, as `host.read` does."""
        return host.from_dict(self._call("host"))

    def free_bytes(self, path: Path) -> int:
        """Return the free space of the disk on which a path there lies, or would lie."""
        return self._call("free_bytes", path)

    def clock_offset(self) -> wire.ClockOffset:
        """Compare the host's time of day with this machine's, by a few messages."""
        return wire.time_offset([self._sample() for _ in range(CLOCK_SAMPLES)])

    def send_tree(self, local_folder: Path, remote_folder: Path) -> None:
        """Make a folder there a copy of one here, in place of an older copy.

        Links are copied as links, owners are not. A relative folder is below the user's home.

        Raises
        ------
        LabError
            If the disk there refuses, or the folder holds what the lab did not put there.
        """
        number, null = next(self._numbers), subprocess.DEVNULL
        session = self._session(number, stdin=subprocess.PIPE, stdout=null, stderr=null)
        result = self._begin("receive_tree", number, remote_folder)
        # If the host takes no more, it says why.
        with contextlib.suppress(BrokenPipeError), session:
            trees.pack(local_folder, session.stdin)
        self._result(result)

    def fetch_tree(self, remote_folder: Path, local_folder: Path, *patterns: str) -> None:
        """Copy a folder from there, or what matches the patterns, into one here.

        Files and folders are copied, links are not. What is there is overwritten.

        Raises
        ------
        LabError
            If a file there cannot be read, or a disk is full.
        """
        local_folder.mkdir(parents=True, exist_ok=True)
        number, null = next(self._numbers), subprocess.DEVNULL
        with self._session(number, stdin=null, stdout=subprocess.PIPE, stderr=null) as session:
            result = self._begin("send_tree", number, remote_folder, patterns)
            try:
                trees.unpack(session.stdout, local_folder)
            except LabError:
                session.stdout.close()
                # Where the sender has failed, its reason is the better one.
                self._result(result)
                raise
            while session.stdout.read(trees.BLOCK_BYTES):
                pass
        self._result(result)

    def abandon(self) -> None:
        """End the connection to a host that is known to be gone; nothing can be asked of it."""
        self._connection.end()

    def reconnect(self) -> None:
        """Connect again to a host that was gone; `folder` has what it had.

        Processes started before are none of this connection's. Errors are those of `connect`.
        """
        self.abandon()
        self._connect(self.folder, keep=True)

    def close(self) -> None:
        """Have the agent clean up, and end the connection.

        Nothing happens where it is lost: then the guard there cleans up. LabError if processes
        there do not end.
        """
        try:
            with contextlib.suppress(ssh.Lost):
                self._call("close")
            with contextlib.suppress(BrokenPipeError):
                self._client.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._client.wait(END_TIMEOUT_S)
        finally:
            self._connection.end()

    def _session(self, number: int, **streams: object) -> Process:
        return self._connection.session(self.python, self.folder, number, streams)

    def _call(self, operation: str, *arguments: object, **options: object) -> object:
        return self._result(self._begin(operation, *arguments, **options))

    def _act(self, number: int, operation: str, *arguments: object) -> object:
        return self._call(operation, number, *arguments)

    def _begin(self, operation: str, *arguments: object, **options: object) -> Future:
        try:
            return self._link.begin(operation, *arguments, **options)
        except wire.Lost:
            raise self._lost() from None

    def _result(self, result: Future, timeout_s: float | None = None) -> object:
        try:
            return result.result(timeout_s)
        except wire.Failed as failed:
            raise wire.error_from(failed.parts, self.name) from None
        except wire.Lost:
            raise self._lost() from None

    def _lost(self) -> ssh.Lost:
        said = [line.strip() for line in self._said if line.strip()]
        return ssh.lost(self.name, said[-1] if said else "the connection ended", self._silence_s)

    def _serve(self, link: wire.Link, connection: ssh.Connection) -> None:
        link.serve()
        connection.end()

    def _beat(self, link: wire.Link, connection: ssh.Connection) -> None:
        """Give a sign of life, follow the host's clock, and end the connection if it is silent."""
        while not link.over.wait(self._silence_s / 10):
            try:
                self._sample(self._silence_s)
            except ssh.Lost:
                return
            except TimeoutError:
                self._said.append(f"no answer for {self._silence_s:.0f} s")
                connection.end()

    def _sample(self, timeout_s: float | None = None) -> wire.Sample:
        sent = time.time(), time.monotonic()
        theirs = self._result(self._begin("clocks"), timeout_s)
        self._samples.append(wire.Sample(*sent, time.monotonic(), *theirs))
        return self._samples[-1]

    def _dated_here(self, reading):
        return reading._replace(at_s=wire.monotonic_here(list(self._samples), reading.at_s))


def _there(where: object) -> int:
    """Return what a stream is there: a pipe if it is one here, or a file of this machine."""
    if where is None:
        return subprocess.DEVNULL
    return where if where in (subprocess.DEVNULL, subprocess.STDOUT) else subprocess.PIPE


def _asked_of_groups(method: Callable) -> Callable:
    """Return a method that has the host's agent do what `method` of `Groups` does."""

    @functools.wraps(method)
    def ask(self: RemoteGroups, *arguments: object) -> object:
        return self.machine._call("of_groups", self.kind, self.base, method.__name__, *arguments)

    return ask


@dataclass(frozen=True)
class RemoteGroups(Groups):
    """Control groups of another host."""

    machine: Remote = field(repr=False, compare=False, kw_only=True)

    claim = _asked_of_groups(Groups.claim)
    create = _asked_of_groups(Groups.create)
    place = _asked_of_groups(Groups.place)
    check = _asked_of_groups(Groups.check)
    period_us = _asked_of_groups(Groups.period_us)
    lift = _asked_of_groups(Groups.lift)
    remove = _asked_of_groups(Groups.remove)
