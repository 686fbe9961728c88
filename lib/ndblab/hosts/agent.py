"""The lab's agent on another host: does there what `Local` does here, and cleans up at the end.

Requests come on standard input and answers go to standard output (`wire`). If its input ends or the
lab is silent for too long, it ends, and its guard cleans up.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import BinaryIO

from ndblab.error import LabError
from ndblab.hosts import boot, guard, trees, wire
from ndblab.machine import cgroups, cleanup, host, own_cgroup
from ndblab.machine.cgroups import Groups
from ndblab.machine.local import LOCAL, MARK

PATIENCE_S = 30
LOCAL_OPERATIONS = (
    "run", "put", "get", "make_folder", "remove", "marked", "end", "check_ports",
    "allow_open_files", "usable_cpus", "process_use", "host_use", "company",
)  # fmt: skip
GROUP_OPERATIONS = ("claim", "create", "place", "check", "period_us", "lift", "remove")


def main(order: Mapping[str, object], answer: dict[str, object], reading: BinaryIO) -> None:
    """Serve the lab that sent this `order`, until it ends or is gone.

    Parameters
    ----------
    order : the cluster's `folder`, the `lab` by a name for people and the `name` that it has for
        this host, the `silence_s` after which it counts as gone, whether to `keep` the files that
        are in the folder, and the `greeting` before the answer.
    answer : facts about this Python, to be sent with others.
    """
    # Not SIG_IGN: every program that is started here would inherit that.
    signal.signal(signal.SIGHUP, lambda *_: None)
    _enter_scope(order, reading)
    folder = Path.home() / Path(str(order["folder"])).expanduser()
    try:
        user = {"lab": str(order["lab"]), "name": str(order["name"])}
        guard.take(folder, user, bool(order["keep"]))
        listener = _listener(folder)
    except (LabError, OSError) as error:
        print(order["greeting"] + json.dumps({**answer, "error": wire.error_parts(error)}))
        return
    agent = Agent(folder, guard.start(folder), listener)
    answer |= {"folder": str(folder), "executable": sys.executable, "pid": os.getpid()}
    print(order["greeting"] + json.dumps(answer), flush=True)
    # What a program prints by mistake must not get between the answers.
    out = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    # Whatever is started from here on carries the cluster's mark, even if nobody names one.
    os.environ[MARK] = str(folder)
    agent.serve(reading, out, float(order["silence_s"]))


class Agent:
    """The operations that the lab may ask for.

    A process or a copy that has streams gets them from an SSH session of its own, which the lab
    opens under the same number (`boot.HAND_OVER`).
    """

    def __init__(self, folder: Path, guard: int, listener: socket.socket) -> None:
        self._folder, self._guard = folder, guard
        self._children: dict[int, tuple[subprocess.Popen, contextlib.ExitStack]] = {}
        self._sessions: dict[int, Future] = {}
        self._recording = threading.Lock()
        self._heard_s = time.monotonic()
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def serve(self, reading: BinaryIO, writing: BinaryIO, silence_s: float) -> None:
        """Serve until the lab is gone; the guard then cleans up what is left."""
        own = (
            self.spawn, self.wait, self.kill, self.send_signal, self.host, self.clocks,
            self.groups, self.of_groups, self.receive_tree, self.send_tree,
            self.close,
        )  # fmt: skip
        operations = {name: getattr(LOCAL, name) for name in LOCAL_OPERATIONS}
        operations |= {operation.__name__: operation for operation in own}
        threading.Thread(target=self._watch, args=(silence_s,), daemon=True).start()
        wire.serve(reading, writing, operations, self._hear)
        os._exit(0)

    def _hear(self) -> None:
        self._heard_s = time.monotonic()

    def _watch(self, silence_s: float) -> None:
        while time.monotonic() - self._heard_s < silence_s:
            time.sleep(silence_s / 10)
        os._exit(1)

    def _accept(self, listener: socket.socket) -> None:
        while True:
            session, _ = listener.accept()
            number, handles, _, _ = socket.recv_fds(session, 20, len(boot.STREAMS))
            self._session(int(number)).set_result((session, handles))

    def _session(self, number: int) -> Future:
        return self._sessions.setdefault(number, Future())

    @contextlib.contextmanager
    def _streams(self, number: int, stack: contextlib.ExitStack) -> Iterator[dict[str, int]]:
        """Use the streams of a session for a block; the session itself ends with `stack`."""
        session, handles = self._session(number).result(PATIENCE_S)
        stack.enter_context(session)
        try:
            yield dict(zip(boot.STREAMS, handles))
        finally:
            for handle in handles:
                os.close(handle)

    def spawn(
        self,
        number: int,
        argv: Sequence[str],
        mark: Path | None,
        env: Mapping[str, str] | None,
        log: Path | None,
        streams: Mapping[str, int],
    ) -> int:
        """Start a process and return its id; its session provides the pipes in `streams`."""
        with contextlib.ExitStack() as stack:
            piped = subprocess.PIPE in streams.values()
            with self._streams(number, stack) if piped else contextlib.nullcontext({}) as handles:
                given = {
                    name: handles[name] if what == subprocess.PIPE else what
                    for name, what in streams.items()
                }
                child = LOCAL.spawn(argv, mark or self._folder, env, log, **given)
            self._children[number] = child, stack.pop_all()
        return child.pid

    def wait(self, number: int) -> int:
        """Wait until a process ends, end its session and return its exit status."""
        child, session = self._children[number]
        with session:
            return child.wait()

    def kill(self, number: int, session: bool) -> None:
        """Kill a process as `Local.kill` does."""
        LOCAL.kill(self._children[number][0], session)

    def send_signal(self, number: int, signal_number: int) -> None:
        """Send a signal to a process, unless it has ended."""
        self._children[number][0].send_signal(signal_number)

    def host(self) -> dict[str, object]:
        """Describe this host."""
        return host.read().to_dict()

    def clocks(self) -> tuple[float, float]:
        """Read the time of day, and the monotonic clock."""
        return time.time(), time.monotonic()

    def groups(self, name: str) -> tuple[str, Path]:
        """Name control groups, which the guard removes from now on."""
        groups = LOCAL.groups(name)
        # Known ones are not written again, so that a full disk does not prevent their removal.
        if cleanup.recorded_groups(self._folder) != groups:
            known = {"groups": {"kind": groups.kind, "base": str(groups.base)}}
            with self._recording:
                cleanup.add_to_record(self._folder, known)
        return groups.kind, groups.base

    def of_groups(self, kind: str, base: Path, name: str, *arguments, **options) -> int | None:
        """Call a method of `Groups`."""
        if name not in GROUP_OPERATIONS:
            raise ValueError(name)
        return getattr(Groups(kind, base), name)(*arguments, **options)

    def receive_tree(self, number: int, folder: Path) -> None:
        """Make `folder` from what arrives over a session."""
        folder = Path.home() / folder
        with contextlib.ExitStack() as stack, self._streams(number, stack) as handles:
            with self._recording:
                known = cleanup.record(self._folder).get("partial", [])
                partial = [*known, str(trees.partial_name(folder))]
                cleanup.add_to_record(self._folder, {"partial": partial})
            with open(handles["stdin"], "rb", closefd=False) as stream:
                trees.replace(stream, folder)

    def send_tree(self, number: int, folder: Path, patterns: Sequence[str]) -> None:
        """Send what a folder holds, or what matches the patterns, over a session."""
        with contextlib.ExitStack() as stack:
            # The lab stops reading if it cannot write.
            stack.enter_context(contextlib.suppress(BrokenPipeError))
            handles = stack.enter_context(self._streams(number, stack))
            stream = stack.enter_context(open(handles["stdout"], "wb", closefd=False))
            trees.pack(folder, stream, patterns)

    def close(self) -> None:
        """Clean up, remove the cluster's folder, and dismiss the guard."""
        cleanup.clear(self._folder)
        guard.dismiss(self._guard)


def _enter_scope(order: Mapping[str, object], reading: BinaryIO) -> None:
    """Restart in a scope of systemd, if this user can have control groups only there.

    The lab sends everything again. If systemd refuses, this process continues as it is.
    """
    controller = host.read().cpu_controller
    if controller.kind != "systemd" or own_cgroup.in_scope():
        return
    print(order["greeting"] + json.dumps({"again": True}), flush=True)
    cgroups.enter_scope(controller, [sys.executable, *boot.OPTIONS])
    reading.read(int(reading.readline()))
    again = json.loads(reading.readline())
    reading.read(again["archive_bytes"] + sum(again["compiled_bytes"].values()))


def _listener(folder: Path) -> socket.socket:
    """Listen in the folder, which only this user may enter, for sessions that hand over streams."""
    (folder / boot.SESSIONS).unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    handle = os.open(folder, os.O_RDONLY)
    # The path of a socket has 107 characters at most (unix(7)), that of the folder may have more.
    listener.bind(f"/proc/self/fd/{handle}/{boot.SESSIONS}")
    os.close(handle)
    listener.listen()
    return listener
