"""The board: where each claim stands while its contrasts are measured."""

from __future__ import annotations

import math
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from ndblab.formatting import count, duration, listed, significant
from ndblab.judging.verdict import ONE_START, RULED_OUT, allowed
from ndblab.measuring.deciding import choice

if TYPE_CHECKING:
    from ndblab.design.contrast import Contrast
    from ndblab.judging.publication import Claim
    from ndblab.judging.verdict import Finding
    from ndblab.measuring.deciding.choice import Standing
    from ndblab.statistics.estimate import Estimate

WIDTH = 17
"""Characters of a bar."""
LEGEND = "| a bound of the claim, - 95 % interval, o measured"


def shown(finding: Finding) -> str:
    """Write the measured value with its interval; nothing if there is none."""
    value, low, high = finding.measured
    if math.isnan(value):
        return ""
    interval = f" ({significant(low)} to {significant(high)})" if low < high else ""
    return f"{significant(value)}{interval}"


def bar(measured: Estimate, claim: Claim) -> str:
    """Draw an interval against the bounds of its claim.

    The scale depends on the claim alone, so that the interval visibly narrows. It spans the bounds
    and, on either side, the distance between them, or a quarter of a single bound. Values outside
    are drawn at the edge.
    """
    bounds = [bound for bound in allowed(claim) if math.isfinite(bound)]
    if not bounds or math.isnan(measured.value):
        return ""
    aside = bounds[-1] - bounds[0] or abs(bounds[0]) / 4 or 1.0
    first, last = bounds[0] - aside, bounds[-1] + aside

    def place(value: float) -> int:
        part = (min(max(value, first), last) - first) / (last - first)
        return round(part * (WIDTH - 1))

    cells = [" "] * WIDTH
    if measured.bounded:
        low, high = place(measured.low), place(measured.high)
        cells[low : high + 1] = "-" * (high + 1 - low)
    cells[place(measured.value)] = "o"
    for bound in bounds:
        cells[place(bound)] = "|"
    return "".join(cells).rstrip()


@dataclass
class Board:
    """A board on a stream, of the claims that `contrasts` are to decide."""

    contrasts: tuple[Contrast, ...]
    claims: Mapping[str, Claim]
    stream: TextIO = field(default_factory=lambda: sys.stderr)
    _standing: Standing | None = None
    _doing: str = ""
    _drawn: int = 0
    _decided: set[str] = field(default_factory=set)

    def show(self, standing: Standing, left_s: float) -> None:
        """Show new findings."""
        earlier, self._standing = self._standing, standing
        for name, finding in self._rows():
            if finding.verdict in choice.OPEN or name in self._decided:
                continue
            self._decided.add(name)
            if earlier and not self.stream.isatty():
                blocks = count(self._blocks(name, finding), "block")
                numbers = f", {shown(finding)}" if shown(finding) else ""
                self.say(f"decided after {blocks}: {name} {finding.verdict}{numbers}")
        self._doing = f"{duration(max(0, left_s))} left"
        self._draw()

    def measuring(self, contrast: Contrast, block: int, left_s: float = 0) -> None:
        """Show which block is being measured."""
        left = f"{duration(left_s)} left: " if left_s else ""
        self._doing = f"{left}{contrast.name}, block {block}"
        self._draw()

    def say(self, text: str) -> None:
        """Write a message above the board."""
        self._clear()
        print(text, file=self.stream)
        self._draw()

    def end(self, again: str) -> None:
        """Leave the board as it stands; write what is open, and the command to continue.

        `again` is that command, without its minutes; it is empty if the answer names it.
        """
        self._doing = ""
        self._draw()
        self._drawn = 0
        if self._standing and (text := still_open(self._standing, dict(self._rows()), again)):
            print(text, file=self.stream)

    def lines(self, room: int) -> list[str]:
        """Return the board as lines of at most 80 columns; claims beyond `room` are counted."""
        rows = self._rows()
        undecided = sum(finding.verdict in choice.OPEN for _, finding in rows)
        head = f"{len(rows) - undecided} of {count(len(rows), 'claim')} decided"
        lines = [f"{head}; {self._doing}" if self._doing else head]
        # Open claims change, so they come first when not all fit.
        fit = rows
        if len(rows) > room:
            fit = sorted(rows, key=lambda row: row[1].verdict not in choice.OPEN)[:room]
        lines += [self._line(name, finding) for name, finding in fit]
        if len(rows) > len(fit):
            lines.append(f"and {len(rows) - len(fit)} more")
        return [*lines, LEGEND]

    def _rows(self) -> list[tuple[str, Finding]]:
        """Return the claims that a contrast decides and this budget can test."""
        if self._standing is None:
            return []
        names = {name for contrast in self.contrasts for name in contrast.claims}
        return [
            (name, finding)
            for name, finding in self._standing.findings.items()
            if (name in names or finding.waits) and finding.verdict not in RULED_OUT
        ]

    def _line(self, name: str, finding: Finding) -> str:
        verdict = "open" if finding.verdict in choice.OPEN else finding.verdict
        cells = f"{name:<18.18} {verdict:<12} {shown(finding):<25} {self._blocks(name, finding):>3}"
        drawn = bar(finding.measured, self.claims[name]) if name in self.claims else ""
        return f"{cells}  {drawn}".rstrip()

    def _blocks(self, name: str, finding: Finding) -> int:
        """Return the blocks behind a claim: those of its contrast with the fewest."""
        assert self._standing
        blocks = self._standing.blocks
        known = [
            blocks[c.name] for c in self.contrasts if name in c.claims or c.name in finding.waits
        ]
        return min(known, default=0)

    def _draw(self) -> None:
        if not self.stream.isatty():
            return
        self._clear()
        lines = self.lines(max(1, shutil.get_terminal_size().lines - 5))
        print("\n".join(lines), file=self.stream, flush=True)
        self._drawn = len(lines)

    def _clear(self) -> None:
        if self._drawn:
            print(f"\x1b[{self._drawn}F\x1b[J", end="", file=self.stream)
            self._drawn = 0


def still_open(standing: Standing, findings: Mapping[str, Finding], again: str) -> str:
    """Return what each open claim would probably take, and the command to continue, if any."""
    missing_s = _missing_s(standing, findings)
    if not missing_s:
        return ""
    together: dict[str, list[str]] = {}
    for name, seconds in sorted(missing_s.items(), key=lambda item: item[1]):
        if math.isfinite(seconds):
            goal = f"{_goal(findings[name])} after {duration(seconds)} more"
            together.setdefault(goal, []).append(name)
    lines = [f"open, {goal}: {listed(names)}" for goal, names in together.items()]
    if unknown := [name for name, seconds in missing_s.items() if math.isinf(seconds)]:
        lines.append(f"open, and how long it would take is not known: {listed(unknown)}")
    lines += [f"Go on: {again} --minutes {minutes(standing, findings)}"] if again else []
    return "\n".join(lines)


def _missing_s(standing: Standing, findings: Mapping[str, Finding]) -> dict[str, float]:
    return {
        name: standing.more_s(finding.waits)
        for name, finding in findings.items()
        if finding.verdict in choice.OPEN
    }


def _goal(finding: Finding) -> str:
    """Say what comes next: without an interval nobody knows when a claim will be decided."""
    if finding.why.startswith(ONE_START):
        return "to be judged by a second cluster start"
    return "its first interval" if None in finding.waits.values() else "probably decided"


def minutes(standing: Standing, findings: Mapping[str, Finding]) -> int:
    """Return the whole minutes, from 5 to 60, that would probably decide the open claims."""
    needed_s: dict[str, float] = {}
    for name, seconds in _missing_s(standing, findings).items():
        if math.isfinite(seconds):
            for contrast, chances in standing.findings[name].waits.items():
                alone = standing.more_s({contrast: chances})
                needed_s[contrast] = max(alone, needed_s.get(contrast, 0))
    return min(60, max(5, math.ceil(sum(needed_s.values()) / 60))) if needed_s else 10
