"""A machine that is reached by SSH: a `Machine` with a few more methods.

    with remote.connect("user@db1", Path(".cache/ndblab/cluster")) as machine:
        machine.host()
        machine.spawn(["sleep", "60"], machine.folder)

Over an SSH connection the lab sends an agent to the host's Python (3.9 or newer; nothing else is
needed there), which does the same as `Local` does here. The streams of programs have sessions of
their own. The `with` block leaves nothing on the host, however it ends: `folder` is the cluster's
and is removed, with the processes that carry its mark, its control groups and its segments. If this
process dies or the network fails, the agent's guard removes all that on its own. What `send_tree`
copied elsewhere stays.

Errors are LabErrors that name the host. Times by a monotonic clock are converted to this machine's.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import platform
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT, TimeoutExpired

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

    LabError if the host is unknown, cannot be reached, is not the one it was, does not let the user
    in, has no suitable Python or another architecture, or if another lab uses the folder.

    Parameters
    ----------
    folder : the cluster's folder there, which nothing else uses; relative to the user's home if it
        is not absolute. It is made, or cleared of what a dead lab has left.
    silence_s : how long the connection may be silent, `SILENCE_S` if left out; three times as long
        at the start, and 60 s at least. If the lab or the host is suspended for longer, the cluster
        there is lost.
    settings : an ssh_config to use in place of the user's.
    """
    remote = Remote(destination, folder, silence_s or SILENCE_S, settings)
    try:
        yield remote
    finally:
        remote.close()


def _asked(method: Callable) -> Callable:
    """Return a method that has the host's agent do what `method` does here."""

    @functools.wraps(method)
    def ask(self: Remote | RemoteGroups, *arguments: object, **options: object) -> object:
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
        lab = {"lab": f"process {os.getpid()} on {platform.node()}", "name": self.name}
        facts = {**lab, "folder": str(folder), "silence_s": self._silence_s, "keep": keep}
        timeout_s = max(START_TIMEOUT_S, 3 * self._silence_s)
        self._client, answer = launch.start(connection, facts, timeout_s)
        self.folder, self.python = Path(answer["folder"]), Path(answer["executable"])
        self.agent_pid = int(answer["pid"])
        self._samples: deque[wire.ClockSample] = deque(maxlen=CLOCK_SAMPLES_KEPT)
        link = self._link = wire.Link(
            self._client.stdout, self._client.stdin, self.name, self._lost
        )
        threading.Thread(target=link.serve, args=(connection.end,), daemon=True).start()
        threading.Thread(target=self._beat, args=(link, connection), daemon=True).start()
        try:
            self.clock_offset_ms()
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
        if PIPE in there.values():
            here = {name: asked[name] if at == PIPE else DEVNULL for name, at in there.items()}
            session = self._session(number, **streams, **here)
        pid = self._call("spawn", number, argv, mark, env, log, there)
        status = self._link.begin("wait", number)
        return ssh.RemoteProcess(
            argv, pid, session, status, lambda what, *rest: self._call(what, number, *rest)
        )

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

    def clock_offset_ms(self) -> float:
        """Return how far the host's time of day is ahead of this machine's, from a few messages."""
        return 1000 * min(self._sample() for _ in range(CLOCK_SAMPLES)).time_ahead_s

    def send_tree(self, local_folder: Path, remote_folder: Path) -> None:
        """Copy a folder from here to there, in place of an older copy.

        Links are copied as links, owners are not. A relative folder is below the user's home.
        LabError if the disk there refuses, or the folder holds what the lab did not put there.
        """
        number = next(self._numbers)
        session = self._session(number, stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
        result = self._link.begin("receive_tree", number, remote_folder)
        # If the host takes no more, it says why.
        with contextlib.suppress(BrokenPipeError), session:
            trees.pack(local_folder, session.stdin)
        result.result()

    def fetch_tree(self, remote_folder: Path, local_folder: Path, *patterns: str) -> None:
        """Copy a folder from there, or what matches the patterns, into one here.

        Files and folders are copied, links are not. Existing files are overwritten. LabError if a
        file there cannot be read, or a disk is full.
        """
        local_folder.mkdir(parents=True, exist_ok=True)
        number = next(self._numbers)
        with self._session(number, stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL) as session:
            result = self._link.begin("send_tree", number, remote_folder, patterns)
            try:
                trees.unpack(session.stdout, local_folder)
            except LabError:
                session.stdout.close()
                # Where the sender has failed, its reason is the better one.
                result.result()
                raise
            while session.stdout.read(trees.BLOCK_BYTES):
                pass
        result.result()

    def abandon(self) -> None:
        """End the connection to a host that is known to be gone; nothing can be asked of it."""
        self._connection.end()

    def reconnect(self) -> None:
        """Connect again to a host that was gone; `folder` keeps its files.

        Processes started before do not belong to this connection. Errors are those of `connect`.
        """
        self.abandon()
        self._connect(self.folder, keep=True)

    def close(self) -> None:
        """Have the agent clean up, and end the connection.

        If the connection is already lost, the guard there cleans up instead. LabError if processes
        there do not end.
        """
        try:
            with contextlib.suppress(ssh.Lost):
                self._call("close")
            with contextlib.suppress(BrokenPipeError):
                self._client.stdin.close()
            with contextlib.suppress(TimeoutExpired):
                self._client.wait(END_TIMEOUT_S)
        finally:
            self._connection.end()

    def _session(self, number: int, **streams: object) -> Process:
        try:
            return self._connection.session(self.python, self.folder, number, streams)
        except LabError:
            # If the whole connection is lost, this raises that error instead.
            self._call("clocks")
            raise

    def _call(self, operation: str, *arguments: object, **options: object) -> object:
        return self._link.begin(operation, *arguments, **options).result()

    def _lost(self) -> ssh.Lost:
        why = ["the connection ended", *self._connection.said()][-1]
        return ssh.lost(self.name, why, self._silence_s)

    def _beat(self, link: wire.Link, connection: ssh.Connection) -> None:
        """Give a sign of life, follow the host's clock, and end the connection if it is silent."""
        while not link.over.wait(self._silence_s / 10):
            try:
                self._sample(self._silence_s)
            except ssh.Lost:
                return
            except TimeoutError:
                connection.end(f"no answer for {self._silence_s:.0f} s")

    def _sample(self, timeout_s: float | None = None) -> wire.ClockSample:
        sent = time.time(), time.monotonic()
        answered = self._link.begin("clocks").result(timeout_s)
        self._samples.append(wire.compared(sent, answered, time.monotonic()))
        return self._samples[-1]

    def _dated_here(self, reading):
        return reading._replace(at_s=reading.at_s - min(list(self._samples)).monotonic_ahead_s)


def _there(where: object) -> int:
    """Return what a stream is on the host: a pipe if it is a pipe or a file here."""
    if where is None:
        return DEVNULL
    return where if where in (DEVNULL, STDOUT) else PIPE


@dataclass(frozen=True)
class RemoteGroups(Groups):
    """Control groups of another host."""

    machine: Remote = field(repr=False, compare=False, kw_only=True)

    claim = _asked(Groups.claim)
    create = _asked(Groups.create)
    place = _asked(Groups.place)
    check = _asked(Groups.check)
    period_us = _asked(Groups.period_us)
    lift = _asked(Groups.lift)
    remove = _asked(Groups.remove)

    def _call(self, name: str, *arguments: object, **options: object) -> object:
        return self.machine._call("of_groups", self.kind, self.base, name, *arguments, **options)
