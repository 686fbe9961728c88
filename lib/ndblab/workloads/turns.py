"""The file mapped into memory by which connected clients of several sysbench loads work in turn.

Connecting, and its effect on a server's memory, is over before the first turn, and nothing but the
turn changes from one second to the next. sysbench has no such feature: `turns.lua` runs the script
of a load, and makes its clients wait.
"""

from __future__ import annotations

import contextlib
import itertools
import mmap
import struct
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ndblab.error import LabError
from ndblab.workloads.load_generator import Command

LEAD_S = 1
"""Seconds in which nobody works, while clients learn when their turns are."""
NOBODY = "-"
SCRIPT = Path(__file__).with_suffix(".lua")
SIDES = "abcd"
MOST_TURNS, MOST_CLIENTS = 1000, 65536
_RELEASE, _BEGIN, _TURN, _NUMBER = "release_s", "begin_s", "turn_s", "number"
_AT = {_RELEASE: ("<d", 0), _BEGIN: ("<d", 8), _TURN: ("<d", 16), _NUMBER: ("<I", 24)}
"""Format and offset of each field in the file, as in the struct of `turns.lua`."""
_SIDES_AT = 28
_CLIENTS_AT = _SIDES_AT + MOST_TURNS
_BYTES = -(-(_CLIENTS_AT + len(SIDES) * MOST_CLIENTS) // 8) * 8
_WAITS, _WORKS = 1, 2
"""What a client is doing once it is connected."""
_POLL_S = 0.005
_RELEASED_IN_S = 0.1
"""Clients are released after this delay, so that all clients of all sides know of it."""


@dataclass(frozen=True)
class Turn:
    """A side's part in the turns of a file."""

    file: str
    side: str


@dataclass(frozen=True)
class Schedule:
    """Whose turn each second is; `places` are the seconds that are the slices of a block."""

    sides: tuple[str, ...]
    places: tuple[int, ...]

    @classmethod
    def of(cls, order: Sequence[str], warmup_s: float, pause_s: int) -> Schedule:
        """Return the turns of slices in an order, after those in which each side warms up.

        Where the side changes, nobody works for `pause_s`.

        >>> Schedule.of("abba", 1, 1).sides
        ('a', '-', 'b', '-', 'a', '-', 'b', 'b', '-', 'a')
        """
        warm_up = [side for side in dict.fromkeys(order) for _ in range(int(warmup_s))]
        sides: list[str] = []
        places = []
        for side in [*warm_up, *order]:
            if sides and sides[-1] != side:
                sides += [NOBODY] * pause_s
            places.append(len(sides))
            sides.append(side)
        return cls(tuple(sides), tuple(places[len(warm_up) :]))

    @property
    def awake(self) -> tuple[str, ...]:
        """Whose cluster runs in each second: in a pause that of the side before, which settles.

        >>> "".join(Schedule.of("abba", 1, 1).awake)
        'aabbaabbba'
        """
        return tuple(itertools.accumulate(self.sides, lambda last, s: last if s == NOBODY else s))

    @property
    def load_s(self) -> int:
        """How long all loads last: sysbench may not report its last second."""
        return LEAD_S + len(self.sides) + 1

    def seconds_of(self, side: str) -> set[int]:
        """Return the seconds of the load at which a side's turns begin."""
        return {LEAD_S + place for place, other in enumerate(self.sides) if other == side}


class Turns:
    """The turns of several loads; times are those of `time.monotonic`."""

    def __init__(self, file: Path, memory: mmap.mmap) -> None:
        self._file, self._memory = file, memory

    def of(self, side: str) -> Turn:
        """Return a side's part in the turns."""
        return Turn(str(self._file), side)

    def connected(self, side: str) -> int:
        """Return how many clients of a side are connected."""
        clients = self._clients(side)
        return clients.count(_WAITS) + clients.count(_WORKS)

    def wait_connected(
        self, side: str, clients: int, timeout_s: float, has_ended: Callable[[], bool]
    ) -> None:
        """Wait until this many clients of a side are connected, its load ends, or time is over."""
        until_s = time.monotonic() + timeout_s
        while self.connected(side) < clients and not has_ended() and time.monotonic() < until_s:
            time.sleep(_POLL_S)

    def wait_finished(self, side: str, timeout_s: float) -> int:
        """Wait until no client of a side works, or time is over; return how many still do."""
        until_s = time.monotonic() + timeout_s
        while (working := self._clients(side).count(_WORKS)) and time.monotonic() < until_s:
            time.sleep(_POLL_S)
        return working

    def release(self) -> None:
        """Release all clients at the same moment: their seconds begin, but no turn does yet."""
        self._write(_RELEASE, time.monotonic() + _RELEASED_IN_S)

    def begin(self, begin_s: float, turn_s: float, sides: Sequence[str]) -> None:
        """Begin the turns, which the sides take in this order."""
        if len(sides) > MOST_TURNS:
            raise ValueError(f"{len(sides)} turns are more than {MOST_TURNS}")
        named = "".join(sides).encode()
        self._memory[_SIDES_AT : _SIDES_AT + len(named)] = named
        self._write(_NUMBER, len(named))
        self._write(_TURN, turn_s)
        self._write(_BEGIN, begin_s)

    def _clients(self, side: str) -> bytes:
        first = _CLIENTS_AT + SIDES.index(side) * MOST_CLIENTS
        return self._memory[first : first + MOST_CLIENTS]

    def _write(self, name: str, value: float) -> None:
        form, at = _AT[name]
        struct.pack_into(form, self._memory, at, value)


@contextlib.contextmanager
def opened() -> Iterator[Turns]:
    """Make a file of turns for the length of a `with` block.

    LabError if there is no place for it.
    """
    with contextlib.ExitStack() as stack:
        try:
            file = stack.enter_context(tempfile.NamedTemporaryFile(prefix="ndblab-turns-"))
            file.write(bytes(_BYTES))
            file.flush()
            memory = stack.enter_context(mmap.mmap(file.fileno(), _BYTES))
        except OSError as error:
            raise LabError(
                "The file by which the sides take turns cannot be made",
                found=str(error),
                # If no folder is writable, none is known, and `found` names them all.
                expected=f"{_BYTES} bytes in {tempfile.tempdir or 'a folder for temporary files'}",
                next_step="Free some space there, or set TMPDIR to another folder.",
            ) from None
        yield Turns(Path(file.name), memory)


def taken(command: Command, turn: Turn) -> Command:
    """Return a command of sysbench whose clients take turns."""
    [program, script, *words] = command.argv
    names = {"": turn.file, "_SIDE": turn.side, "_SCRIPT": script}
    env = {**command.env, **{f"NDBLAB_TURNS{name}": text for name, text in names.items()}}
    return replace(command, argv=[program, str(SCRIPT), *words], env=env)
