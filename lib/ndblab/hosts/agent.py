"""The lab's agent on another host: does there what `Local` does here, and cleans up at the end.

In: requests on standard input. Out: answers and streams on standard output (`wire`). If its input
ends or the lab is silent for too long, its guard ends every process of the cluster and removes its
control groups, segments and folder. The guard is a process of its own, in its own session: it does
so as well if the agent is killed, and outlives the SSH connection for that.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from ndblab.error import LabError, writing
from ndblab.hosts import boot, trees, wire
from ndblab.machine import cgroups, cleanup, files, host, own_cgroup, speed
from ndblab.machine.cgroups import Groups
from ndblab.machine.local import LOCAL, MARK

LOCK = "lock"
PATIENCE_S, POLL_S = 30, 0.05
LOCAL_OPERATIONS = (
    "put", "get", "make_folder", "marked", "end", "check_ports", "allow_open_files",
    "usable_cpus", "process_use", "host_use", "company",
)  # fmt: skip
GROUP_OPERATIONS = ("claim", "create", "place", "check", "period_us", "lift", "remove")
_DONE = b"done"


def main(order: Mapping[str, object], answer: dict[str, object], reading: BinaryIO) -> None:
    """Serve the lab that sent this `order`, until it ends or is gone.

    Parameters
    ----------
    order : the cluster's `folder`, the `lab` by a name for people and the `name` that it has for
        this host, the `silence_s` after which it counts as gone, whether to `keep` the files that
        are in the folder, and the `greeting` before the answer.
    answer : facts about this Python, to be sent with others.
    """
    # Not ignored: that would be inherited by every program that is started here.
    signal.signal(signal.SIGHUP, lambda *_: None)
    _enter_scope(order, reading)
    folder = Path.home() / Path(str(order["folder"])).expanduser()
    try:
        user = {"lab": str(order["lab"]), "name": str(order["name"])}
        lock = _take(folder, user, bool(order["keep"]))
    except (LabError, OSError) as error:
        print(order["greeting"] + json.dumps({**answer, "error": wire.error_parts(error)}))
        return
    guard = _guard(folder, lock)
    answer |= {
        "folder": str(folder),
        "home": str(Path.home()),
        "executable": sys.executable,
        "uid": os.getuid(),
        "pid": os.getpid(),
    }
    print(order["greeting"] + json.dumps(answer), flush=True)
    # What a program prints by mistake must not get between the frames.
    out = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    # Whatever is started from here on belongs to the cluster, also without being told so.
    os.environ[MARK] = str(folder)
    Agent(reading, out, folder, guard).serve(float(order["silence_s"]))


class Agent:
    """The operations that the lab may ask for."""

    def __init__(self, reading: BinaryIO, writing: BinaryIO, folder: Path, guard: int) -> None:
        self._folder, self._guard = folder, guard
        self._children: dict[int, subprocess.Popen] = {}
        self._recording = threading.Lock()
        own = (
            self.run, self.remove, self.spawn, self.kill, self.send_signal, self.host, self.groups,
            self.call_groups, self.record, self.receive_tree, self.send_tree, self.free_bytes,
            self.close, speed.slowness,
        )  # fmt: skip
        operations = {name: getattr(LOCAL, name) for name in LOCAL_OPERATIONS}
        operations |= {operation.__name__: operation for operation in own}
        self._link = wire.Link(reading, writing, operations, {"clocks": clocks})

    def serve(self, silence_s: float) -> None:
        """Serve until the lab is gone; what is left then is the guard's."""
        threading.Thread(target=self._watch, args=(silence_s,), daemon=True).start()
        self._link.serve()
        os._exit(0)

    def _watch(self, silence_s: float) -> None:
        while time.monotonic() - self._link.heard_s < silence_s:
            time.sleep(silence_s / 10)
        os._exit(1)

    def run(
        self, argv: Sequence[str], what: str, next_step: str | None, timeout_s: float | None
    ) -> str:
        """Run a program as `Local.run` does."""
        return LOCAL.run(argv, what=what, next_step=next_step, timeout_s=timeout_s)

    def remove(self, folder: Path, patterns: Sequence[str]) -> None:
        """Remove what matches, as `Local.remove` does."""
        LOCAL.remove(folder, *patterns)

    def spawn(
        self,
        number: int,
        argv: Sequence[str],
        mark: Path | None,
        env: Mapping[str, str] | None,
        log: Path | None,
        options: Mapping[str, object],
        channels: Mapping[str, int],
    ) -> int:
        """Start a process and return its id; its streams are forwarded in the channels."""
        child = LOCAL.spawn(argv, mark or self._folder, env, log, **options)
        self._children[number] = child
        for name, stream in (("stdout", child.stdout), ("stderr", child.stderr)):
            if name in channels:
                self._start(_forward, stream, self._link.sender(channels[name]))
        if "stdin" in channels:
            self._start(_feed, self._link.receiver(channels["stdin"]), child.stdin)
        self._start(self._await_end, number, child)
        return child.pid

    def _await_end(self, number: int, child: subprocess.Popen) -> None:
        self._link.tell("ended", number, child.wait())

    @staticmethod
    def _start(what, *arguments: object) -> None:
        threading.Thread(target=what, args=arguments, daemon=True).start()

    def kill(self, number: int, session: bool) -> None:
        """Kill a process as `Local.kill` does."""
        LOCAL.kill(self._children[number], session)

    def send_signal(self, number: int, signal_number: int) -> None:
        """Send a signal to a process, unless it has ended."""
        self._children[number].send_signal(signal_number)

    def host(self) -> dict[str, object]:
        """Describe this host."""
        return host.read().to_dict()

    def groups(self, name: str) -> tuple[str, Path]:
        """Name control groups, which the guard removes from now on."""
        groups = LOCAL.groups(name)
        # Known ones can be removed with a full disk too.
        if cleanup.recorded_groups(self._folder) != groups:
            self.record({"groups": {"kind": groups.kind, "base": str(groups.base)}})
        return groups.kind, groups.base

    def call_groups(self, kind: str, base: Path, what: str, arguments: Sequence) -> int | None:
        """Call a method of `Groups`."""
        if what not in GROUP_OPERATIONS:
            raise ValueError(what)
        return getattr(Groups(kind, base), what)(*arguments)

    def record(self, facts: dict[str, object]) -> None:
        """Add facts to the record in the cluster's folder."""
        with self._recording:
            cleanup.add_to_record(self._folder, facts)

    def free_bytes(self, path: Path) -> int:
        """Return the free space of the disk on which a file of this path would be."""
        while not path.exists():
            path = path.parent
        return shutil.disk_usage(path).free

    def receive_tree(self, folder: Path, content: str, channel: int) -> bool:
        """Make `folder` a copy of what comes in a channel, unless it is one; return whether it was.

        The channel is stopped if nothing is wanted.
        """
        folder = Path.home() / folder
        stream = self._link.receiver(channel)
        try:
            if trees.has_copy(folder, content):
                return False
            with self._recording:
                known = cleanup.record(self._folder).get("partial", [])
                partial = [*known, str(trees.partial_name(folder))]
                cleanup.add_to_record(self._folder, {"partial": partial})
            trees.replace(stream, folder, content)
            return True
        finally:
            stream.stop()

    def send_tree(self, folder: Path, patterns: Sequence[str], channel: int) -> None:
        """Send what a folder holds, or what matches the patterns, in a channel."""
        stream = self._link.sender(channel)
        try:
            trees.pack(folder, stream, patterns)
        finally:
            stream.close()

    def close(self) -> None:
        """Clean up, remove the cluster's folder, and dismiss the guard."""
        cleanup.clear(self._folder)
        os.write(self._guard, _DONE)


def _enter_scope(order: Mapping[str, object], reading: BinaryIO) -> None:
    """Start anew where systemd delegates control groups to this user, if only that allows any.

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


def clocks() -> tuple[float, float]:
    """Read the time of day, and the monotonic clock."""
    return time.time(), time.monotonic()


def _forward(stream: BinaryIO, sender: wire.Sender) -> None:
    """Forward what a process prints, as it comes."""
    with stream:
        try:
            while data := stream.read1(wire.CHUNK_BYTES):
                sender.write(data)
        except BrokenPipeError:
            pass
    sender.close()


def _feed(receiver: wire.Receiver, stream: BinaryIO) -> None:
    """Hand what comes to a process, until it takes no more."""
    try:
        while data := receiver.chunk():
            stream.write(data)
            stream.flush()
        stream.close()
    except BrokenPipeError:
        receiver.stop()


def _take(folder: Path, user: Mapping[str, str], keep: bool) -> int:
    """Make the folder, lock it, and clean up what a dead lab has left in it; return the lock.

    With `keep`, files stay: only processes and what belongs to them are ended.

    Raises
    ------
    LabError
        If another lab uses the folder, or it contains other files.
    """
    own = {**user, "host": platform.node(), "agent_pid": os.getpid()}
    deadline = time.monotonic() + speed.timeout_s(PATIENCE_S)
    while (lock := _lock(folder)) is None:
        known = cleanup.record(folder)
        elsewhere = known.get("host", own["host"]) != own["host"]
        # The guard of a dead lab has the lock as well, while it cleans up.
        alive = Path(f"/proc/{known.get('agent_pid')}").exists()
        if elsewhere or alive or time.monotonic() > deadline:
            raise _in_use(folder, known, own)
        time.sleep(POLL_S)
    cleanup.clean(folder)
    with writing(folder):
        for path in () if keep else folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path.name != LOCK:
                path.unlink()
    cleanup.add_to_record(folder, own)
    return lock


def _in_use(folder: Path, known: Mapping, own: Mapping) -> LabError:
    """Explain who has the lock, by the records of both."""
    holder = known.get("lab", "a lock on it")
    if known.get("host", own["host"]) != own["host"]:
        return LabError(
            f"The folder {folder} is in use by another host",
            found=f"{known['host']} has locked it, for {holder}",
            expected="a folder on a disk of the host's own, which is faster too",
            next_step="Choose a folder that the hosts do not share, on /var/tmp for instance.",
        )
    if holder == own["lab"]:
        return LabError(
            f"This host is in use already, with the folder {folder}",
            found=f"{known['name']} and {own['name']} are two names of it",
            expected="every host named once",
            next_step="Remove one of the names.",
        )
    return LabError(
        f"Another lab uses the folder {folder}",
        found=holder,
        expected="one lab at a time in a folder",
        next_step="Wait for it to end, or choose another folder.",
    )


def _lock(folder: Path) -> int | None:
    """Make and lock a folder; None if another process has it, or has just removed it."""
    strange = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    if strange and not {LOCK, cleanup.RECORD} & {*strange}:
        raise LabError(
            "The cluster's folder contains other files",
            found=f"{', '.join(strange[:5])} in {folder}",
            expected="an empty folder, or one that the lab created",
            next_step="Choose a folder of its own.",
        )
    with writing(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        LOCAL.make_folder(folder)
        place = folder / LOCK
        try:
            place.touch(mode=0o600)
            lock = files.lock(place, wait=False)
            if lock is None or os.path.samestat(os.fstat(lock), place.stat()):
                return lock
        except FileNotFoundError:
            return None
    os.close(lock)
    return None


def _guard(folder: Path, lock: int) -> int:
    """Start the guard; return the end of a pipe on which the word "done" dismisses it.

    The guard shares the lock, so that no other lab starts here while it cleans up.
    """
    reading, writing_end = os.pipe()
    if os.fork():
        os.close(reading)
        return writing_end
    try:
        os.close(writing_end)
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        null = os.open(os.devnull, os.O_RDWR)
        for handle in range(3):
            os.dup2(null, handle)
        if os.read(reading, len(_DONE)) != _DONE:
            cleanup.clear(folder)
    finally:
        os._exit(0)
