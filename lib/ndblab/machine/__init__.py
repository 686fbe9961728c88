"""A machine: what the lab knows about it and what it may do there.

It knows a cluster only as processes with a mark.

`Machine` below is what a cluster needs of the host that a node runs on. `local.LOCAL` is this one;
`remote.connect` reaches another by SSH.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from subprocess import Popen as Process  # `remote_process` behaves like it, on another host
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from ndblab.machine.cgroups import Groups
    from ndblab.machine.interference import Reading


LOOPBACK = "127.0.0.1"
THIS_MACHINE = ""
"""Name of the machine that the lab runs on, among hosts."""


class Marked(NamedTuple):
    """A living process that carries the mark of a cluster."""

    pid: int
    program: str
    argv: tuple[str, ...]
    rss_bytes: int


class ProcessUse(NamedTuple):
    """CPU seconds and memory of a process, read at `at_s` of `time.monotonic`."""

    at_s: float
    cpu_s: float
    rss_bytes: int


class HostUse(NamedTuple):
    """CPU seconds of a host's usable CPUs since it was started, and its load average.

    `total_s` is what the lab may use of them.
    """

    at_s: float
    busy_s: float
    steal_s: float
    total_s: float
    load_1min: float


class Machine(Protocol):
    """A host on which a cluster's nodes run. Paths are that host's own.

    A cluster's processes carry its folder as a mark in their environment, so that all of them can
    be found and ended even if the lab that started them has died. `python` is a Python there,
    without the lab's modules unless it is this host.
    """

    python: Path

    def run(
        self,
        argv: Sequence[str],
        *,
        what: str,
        next_step: str | None = None,
        timeout_s: float | None = 30,
    ) -> str:
        """Run a program to its end and return what it prints; LabError `what` if it fails."""

    def spawn(
        self,
        argv: Sequence[str],
        mark: Path | None = None,
        env: Mapping[str, str] | None = None,
        log: Path | None = None,
        **streams,
    ) -> Process:
        """Start a process in a session of its own; LabError if it cannot be executed.

        `env` is added to the lab's environment. Output is appended to `log`, or goes where the
        options of `subprocess.Popen` say (stdin, stdout, stderr, text, errors).
        """

    def put(self, path: Path, text: str) -> None:
        """Write a text file; LabError if the disk refuses."""

    def get(self, path: Path) -> str:
        """Read a text file; empty if there is none."""

    def make_folder(self, path: Path) -> None:
        """Make a folder, or one that exists, private; LabError if it is another user's."""

    def remove(self, folder: Path, *patterns: str) -> None:
        """Remove the files and folders of `folder` that match the patterns."""

    def marked(self, mark: Path) -> list[Marked]:
        """List the living processes that carry this mark."""

    def end(self, mark: Path, order: Sequence[str] = (), patience_s: float = 0) -> int:
        """End every process that carries this mark and return how many there were.

        The programs of `order` are asked to end, one after the other, and given `patience_s` each.
        Then all processes are killed, and the memory segments that they leave are removed. LabError
        if a process survives that.
        """

    def kill(self, process: Process, session: bool = False) -> None:
        """Kill a process, wait for its end, and remove the memory segments it leaves.

        With `session`, everything that it has started in its session is killed as well.
        """

    def check_ports(self, ports: Iterable[int], address: str = LOOPBACK) -> None:
        """Make sure that these ports of an address are free; LabError names who uses one."""

    def allow_open_files(self, count: int) -> None:
        """Let processes started from now on open `count` files; LabError if they may not."""

    def groups(self, name: str) -> Groups:
        """Name control groups, none of them made yet; LabError where CPUs cannot be limited."""

    def usable_cpus(self) -> frozenset[int]:
        """Return the logical CPUs that are online and that the lab may use."""

    def process_use(self, pids: Iterable[int]) -> dict[int, ProcessUse]:
        """Read CPU time and memory of processes; those that have ended are left out."""

    def host_use(self) -> HostUse:
        """Read the CPU time of the host."""

    def company(self) -> Reading:
        """Read the CPU time of the processes that are not the lab's."""


class Links(Protocol):
    """The network between hosts, where the lab can cut it: `namespaces.Network`, for instance.

    Hosts are named as a plan names them; a sender may be `THIS_MACHINE` too.
    """

    def drop(self, sender: str, receiver: str) -> None:
        """Drop what one host sends to another, from now on."""

    def heal(self) -> None:
        """Let everything arrive again."""

    def power_off(self, host: str) -> None:
        """End a host with all its processes, without a word to anybody."""

    def power_on(self, host: str) -> None:
        """Restart a host that was powered off; it has its files."""
