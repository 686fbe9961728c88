"""A row of the table: one measured quantity with all its values and its goal."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ndblab.publishing import processes

COLUMNS = ("what", "goal", "measured: median (range, number)", "met")
_WIDTHS = (50, 10, 38, 3)


@dataclass(frozen=True)
class Row:
    """One quantity: all its values, its unit and its goal: an upper bound, else a lower one."""

    what: str
    values: tuple[float, ...]
    unit: str = ""
    at_most: float | None = None
    at_least: float | None = None
    note: str = ""

    @property
    def median(self) -> float:
        """The value compared with the goal."""
        return statistics.median(self.values)

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None if there is none."""
        if self.at_most is not None:
            return self.median <= self.at_most
        return None if self.at_least is None else self.median >= self.at_least

    def cells(self) -> tuple[str, str, str, str]:
        """Return the row's text, cell by cell."""
        goal = "-"
        if self.at_most is not None:
            goal = f"<= {self._with_unit(self.at_most)}"
        elif self.at_least is not None:
            goal = f">= {self._with_unit(self.at_least)}"
        measured = self._with_unit(self.median)
        if len(self.values) > 1:
            low, high = (f"{v:.4g}" for v in (min(self.values), max(self.values)))
            measured += f" ({low} to {high}, {len(self.values)})"
        return self.what, goal, measured, {True: "yes", False: "no", None: "-"}[self.met]

    def _with_unit(self, value: float) -> str:
        return f"{value:.4g} {self.unit}".rstrip()


def line(cells: Iterable[str]) -> str:
    """Align one line of the table."""
    return "  ".join(c.ljust(w) for c, w in zip(cells, _WIDTHS, strict=True)).rstrip()


def shown(items: Sequence, name: str) -> Iterable:
    """Iterate with a progress bar on the error stream."""
    from tqdm import tqdm

    return tqdm(items, desc=name, file=sys.stderr)


def in_processes(work: Callable[..., Any], calls: Sequence[tuple], name: str) -> Iterator[Any]:
    """Yield the result of each call, made in processes of their own, with a progress bar."""
    results = processes.run(work, calls, processes.AT_ONCE)
    for _, result in zip(shown(calls, name), results, strict=True):
        yield result
