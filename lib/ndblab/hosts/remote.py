"""A machine that is reached by SSH.

In: a destination as `ssh` takes it (`user@host`, a name of `~/.ssh/config`), and a folder there.
Out: a `Remote`, which is a `Machine` and has a few methods more:

    with remote.connect("user@db1", Path(".cache/ndblab/cluster")) as machine:
        machine.host()
        machine.spawn(["sleep", "60"], machine.folder)

One SSH connection carries everything. Over it the lab sends an agent to the host's Python (3.9 or
newer; nothing else is needed there), which does the same as `Local` does here. The `with` block
leaves nothing on the host, however it ends: `folder` is the cluster's and is removed, with the
processes that carry its mark, its control groups and its segments. If this process dies or the
network does, the agent's guard does that on its own. What `send_tree` copied elsewhere stays.

Errors are LabErrors that name the host. Times by a monotonic clock are converted to this machine's.
"""

from __future__ import annotations

import collections
import contextlib
import io
import json
import os
import platform
import shutil
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path

from ndblab.error import LabError
from ndblab.hosts import bundle, clock, remote_process, ssh, trees, wire
from ndblab.hosts.remote_process import RemoteProcess
from ndblab.machine import LOOPBACK, HostUse, Marked, Process, ProcessUse, host
from ndblab.machine.cgroups import Groups
from ndblab.machine.interference import Reading
from ndblab.machine.local import LOCAL

SILENCE_S = 20.0
"""After so long without a word from the other side, lab and agent give each other up."""
START_TIMEOUT_S = 60
END_TIMEOUT_S = 10
CLOCK_SAMPLES = 20
_LINES_KEPT = 50


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
    remote = _connected(destination, folder, silence_s or SILENCE_S, settings)
    try:
        yield remote
    finally:
        remote.close()


def _connected(
    destination: str, folder: Path, silence_s: float, settings: str, keep: bool = False
) -> Remote:
    if shutil.which("ssh") is None:
        raise LabError(
            "There is no SSH client on this machine",
            found="no ssh on PATH",
            expected="OpenSSH's client, by which the lab reaches other hosts",
            next_step="Install it (Debian: openssh-client).",
        )
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    client = LOCAL.spawn(ssh.command(destination, bundle.command(), settings), **pipes)
    said: collections.deque[str] = collections.deque(maxlen=_LINES_KEPT)
    listener = threading.Thread(target=_listen, args=(client.stderr, said), daemon=True)
    listener.start()
    timer = threading.Timer(max(START_TIMEOUT_S, 3 * silence_s), client.kill)
    timer.start()
    try:
        lab = f"process {os.getpid()} on {platform.node()}"
        facts = {"folder": str(folder), "silence_s": silence_s, "lab": lab, "name": destination}
        order = bundle.order({**facts, "keep": keep})
        printed, answer = _ask(client, order)
        if answer and "again" in answer:
            printed, answer = _ask(client, order)
        in_time = timer.is_alive()
        if answer is None:
            status = client.wait()
            listener.join(END_TIMEOUT_S)
            raise _no_agent(destination, [*said, *printed], status if in_time else None)
        if failure := _failure(destination, answer):
            raise failure
        return Remote(destination, answer, client, said, silence_s, settings)
    except BaseException:
        client.kill()
        client.wait()
        raise
    finally:
        timer.cancel()


def _listen(stream: io.BufferedReader, said: collections.deque[str]) -> None:
    for line in stream:
        said.append(line.decode(errors="replace"))


def _ask(client: Process, order: bytes) -> tuple[list[str], dict | None]:
    """Send the agent; return what a host's shell prints, and its answer, None if there is none."""
    printed: collections.deque[str] = collections.deque(maxlen=_LINES_KEPT)
    with contextlib.suppress(BrokenPipeError):
        client.stdin.write(order)
        client.stdin.flush()
    for line in client.stdout:
        text = line.decode(errors="replace")
        if text.startswith(bundle.GREETING):
            return list(printed), json.loads(text[len(bundle.GREETING) :])
        printed.append(text)
    return list(printed), None


def _no_agent(destination: str, said: Sequence[str], exit_status: int | None) -> LabError:
    old = next((line for line in said if line.startswith(bundle.NO_PYTHON)), None)
    if old is None:
        return ssh.refusal(destination, said, exit_status)
    oldest = ".".join(map(str, bundle.OLDEST_PYTHON))
    return LabError(
        f"{destination} has no suitable Python",
        found=old.removeprefix(bundle.NO_PYTHON).strip(": \n") or "no python3 on PATH",
        expected=f"python3 {oldest} or newer on the PATH of a command run by ssh",
        next_step="Install it on that host (Debian: apt-get install python3; Oracle Linux 8: "
        "dnf install python3.11).",
    )


def _failure(destination: str, answer: Mapping) -> Exception | None:
    """Say why an agent that answered cannot serve; None if it can."""
    if answer["machine"] != platform.machine():
        return LabError(
            f"{destination} is a machine of another kind",
            found=answer["machine"],
            expected=f"{platform.machine()}, as this one, whose programs it is to run",
            next_step="Leave it out, or start the lab on a machine of that kind.",
        )
    if "problem" in answer:
        return LabError(
            f"The lab's agent cannot run on {destination}",
            found=answer["problem"],
            expected=f"a Python that can load psutil as built for {platform.machine()} and glibc",
            next_step="Look at that host's Python: " + str(answer["python"]),
        )
    return wire.error_from(answer["error"], destination) if "error" in answer else None


class Remote:
    """Another host. Methods without a description here are those of `Machine`.

    `name` is the destination. `folder`, `home` and `python` (the program) are paths there, `uid` is
    the user's id.
    """

    def __init__(
        self,
        name: str,
        answer: Mapping[str, str],
        client: Process,
        said: Sequence[str],
        silence_s: float,
        settings: str = "",
    ) -> None:
        self.name, self._settings = name, settings
        self.folder, self.home = Path(answer["folder"]), Path(answer["home"])
        self.python, self.uid = Path(answer["executable"]), int(answer["uid"])
        self.agent_pid = int(answer["pid"])
        self._client, self._said, self._silence_s = client, said, silence_s
        self._processes: dict[int, RemoteProcess] = {}
        self._closed, self._over_s = threading.Event(), 0.0
        self._monotonic = clock.Monotonic()
        self._link = wire.Link(client.stdout, client.stdin, {"ended": self._ended})
        for work in (self._serve, self._beat, self._watch):
            threading.Thread(target=work, daemon=True).start()
        self.clock_offset()

    def run(
        self,
        argv: Sequence[str],
        *,
        what: str,
        next_step: str | None = None,
        timeout_s: float | None = 30,
    ) -> str:
        return self._call("run", list(map(str, argv)), what, next_step, timeout_s)

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
        argv = list(map(str, argv))
        text = remote_process.Text(streams)
        streams.pop("bufsize", None)
        number = self._link.channel()
        numbers = {} if log else remote_process.channels(streams, self._link.channel)
        process = RemoteProcess(argv, lambda what, *rest: self._call(what, number, *rest))
        self._processes[number] = process
        options = remote_process.there(streams)
        try:
            process.pid = self._call("spawn", number, argv, mark, env, log, options, numbers)
        except BaseException:
            del self._processes[number]
            raise
        for stream, channel in numbers.items():
            if stream == remote_process.WRITING:
                process.write_to(self._link.sender(channel), streams[stream], text)
            else:
                process.read_from(stream, self._link.receiver(channel), streams[stream], text)
        return process

    def put(self, path: Path, text: str) -> None:
        self._call("put", path, text)

    def get(self, path: Path) -> str:
        return self._call("get", path)

    def make_folder(self, path: Path) -> None:
        self._call("make_folder", path)

    def remove(self, folder: Path, *patterns: str) -> None:
        self._call("remove", folder, patterns)

    def marked(self, mark: Path) -> list[Marked]:
        return self._call("marked", mark)

    def end(self, mark: Path, order: Sequence[str] = (), patience_s: float = 0) -> int:
        return self._call("end", mark, tuple(order), patience_s)

    def kill(self, process: Process, session: bool = False) -> None:
        number = next(n for n, known in self._processes.items() if known is process)
        self._call("kill", number, session)
        process.wait()

    def check_ports(self, ports: Iterable[int], address: str = LOOPBACK) -> None:
        self._call("check_ports", list(ports), address)

    def allow_open_files(self, count: int) -> None:
        self._call("allow_open_files", count)

    def groups(self, name: str) -> Groups:
        kind, base = self._call("groups", name)
        return RemoteGroups(kind, base, machine=self)

    def usable_cpus(self) -> frozenset[int]:
        return self._call("usable_cpus")

    def process_use(self, pids: Iterable[int]) -> dict[int, ProcessUse]:
        used = self._call("process_use", list(pids))
        return {pid: self._dated_here(use) for pid, use in used.items()}

    def host_use(self) -> HostUse:
        return self._dated_here(self._call("host_use"))

    def company(self) -> Reading:
        return self._dated_here(self._call("company"))

    def host(self) -> host.Host:
        """Describe the host, as `host.read` does."""
        return host.from_dict(self._call("host"))

    def slowness(self) -> float:
        """Return how slow the host is, as `speed.slowness` does."""
        return self._call("slowness")

    def free_bytes(self, path: Path) -> int:
        """Return the free space of the disk on which a path there lies, or would lie."""
        return self._call("free_bytes", path)

    def record(self, **facts: object) -> None:
        """Add facts to the record in `folder`: `socket_dir`, say, which is removed at the end."""
        self._call("record", facts)

    def clock_offset(self) -> clock.ClockOffset:
        """Compare the host's time of day with this machine's, by a few messages."""
        return clock.time_offset([self._sample() for _ in range(CLOCK_SAMPLES)])

    def send_tree(self, local_folder: Path, remote_folder: Path) -> bool:
        """Make a folder there a copy of one here, and return whether anything was sent.

        One that is a copy of the same content is left as it is. Links are copied as links, owners
        are not. A relative folder is below the user's home.

        Raises
        ------
        LabError
            If the disk there refuses, or the folder holds what the lab did not put there.
        """
        channel = self._link.channel()
        sender = self._link.sender(channel)
        content = trees.checksum(local_folder)
        result = self._begin("receive_tree", remote_folder, content, channel)
        with contextlib.suppress(BrokenPipeError):
            trees.pack(local_folder, sender)
        sender.close()
        return self._result(result)

    def fetch_tree(self, remote_folder: Path, local_folder: Path, *patterns: str) -> None:
        """Copy a folder from there, or what matches the patterns, into one here.

        Files and folders are copied, links are not. What is there is overwritten.

        Raises
        ------
        LabError
            If a file there cannot be read, or a disk is full.
        """
        local_folder.mkdir(parents=True, exist_ok=True)
        channel = self._link.channel()
        receiver = self._link.receiver(channel)
        result = self._begin("send_tree", remote_folder, patterns, channel)
        try:
            trees.unpack(receiver, local_folder)
        except LabError:
            receiver.stop()
            # Where the sender has failed, its reason is the better one.
            self._result(result)
            raise
        receiver.stop()
        self._result(result)

    def abandon(self) -> None:
        """End the connection to a host that is known to be gone; nothing can be asked of it."""
        self._client.kill()
        self._client.wait()

    def reconnect(self) -> None:
        """Connect again to a host that was gone; `folder` has what it had.

        Processes started before are none of this connection's. Errors are those of `connect`.
        """
        self.abandon()
        again = _connected(self.name, self.folder, self._silence_s, self._settings, keep=True)
        # Whoever holds this object holds the new connection. The threads of that one use the same
        # link and the same processes.
        vars(self).update(vars(again))

    def close(self) -> None:
        """Have the agent clean up, and end the connection.

        Nothing happens where it is lost: then the guard there cleans up. LabError if processes
        there do not end.
        """
        try:
            with contextlib.suppress(wire.Lost):
                self._result_or_lost(self._link.begin("close"))
        finally:
            self._closed.set()
            with contextlib.suppress(BrokenPipeError):
                self._client.stdin.close()
            try:
                self._client.wait(END_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self._client.kill()
                self._client.wait()

    def _call(self, operation: str, *arguments: object) -> object:
        return self._result(self._begin(operation, *arguments))

    def _begin(self, operation: str, *arguments: object) -> Future:
        try:
            return self._link.begin(operation, *arguments)
        except wire.Lost:
            raise self._lost() from None

    def _result(self, result: Future) -> object:
        try:
            return self._result_or_lost(result)
        except wire.Lost:
            raise self._lost() from None

    def _result_or_lost(self, result: Future) -> object:
        try:
            return result.result()
        except wire.Failed as failed:
            raise wire.error_from(failed.parts, self.name) from None

    def _lost(self) -> LabError:
        until_s = self._over_s or time.monotonic()
        silent_s = until_s - self._link.heard_s
        why = next(reversed([line.strip() for line in self._said if line.strip()]), "")
        if not why:
            why = f"no answer for {silent_s:.0f} s" if silent_s > 1 else "the connection ended"
        return ssh.lost(self.name, why, self._silence_s)

    def _serve(self) -> None:
        self._link.serve()
        self._over_s = time.monotonic()
        for process in list(self._processes.values()):
            if not process.ended.done():
                process.ended.set_exception(self._lost())

    def _beat(self) -> None:
        """Give a sign of life, and follow the host's clock."""
        with contextlib.suppress(LabError, wire.Lost):
            while not self._closed.wait(self._silence_s / 10):
                self._sample()

    def _watch(self) -> None:
        """End the connection if the host gives no sign of life."""
        while self._client.poll() is None and not self._closed.wait(self._silence_s / 20):
            if time.monotonic() - self._link.heard_s > self._silence_s:
                self._client.kill()

    def _sample(self) -> clock.Sample:
        sent = time.time(), time.monotonic()
        theirs = self._call("clocks")
        sample = clock.Sample(*sent, time.monotonic(), *theirs)
        self._monotonic.add(sample)
        return sample

    def _dated_here(self, reading):
        return reading._replace(at_s=self._monotonic.here(reading.at_s))

    def _ended(self, number: int, code: int) -> None:
        self._processes[number].ended.set_result(code)


@dataclass(frozen=True)
class RemoteGroups(Groups):
    """Control groups of another host."""

    machine: Remote = field(repr=False, compare=False, kw_only=True)

    def claim(self) -> None:
        self._call("claim")

    def create(self, name: str, cpus: float | None, steps: int = 0) -> int:
        return self._call("create", name, cpus, steps)

    def place(self, name: str, pid: int) -> None:
        self._call("place", name, pid)

    def check(self, name: str, pid: int) -> None:
        self._call("check", name, pid)

    def period_us(self, name: str) -> int:
        return self._call("period_us", name)

    def lift(self) -> None:
        self._call("lift")

    def remove(self) -> None:
        self._call("remove")

    def _call(self, what: str, *arguments: object):
        return self.machine._call("call_groups", self.kind, self.base, what, arguments)
