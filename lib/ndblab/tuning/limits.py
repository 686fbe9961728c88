"""What every configuration must keep, whatever its gain: `--keep "p95 < 20 ms"`. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ndblab.error import LabError
from ndblab.formatting import plain

_QUANTITIES = {"p95": ("p95_ms", "ms"), "throughput": ("qps", "queries/s")}
_TEXT = re.compile(r"\s*(\w+)\s*([<>])\s*(\d+(?:\.\d+)?)\s*(ms|queries/s)?\s*")


@dataclass(frozen=True)
class Limit:
    """A bound of a quantity: what it is called, and whether it may only be below or above."""

    quantity: str
    below: bool
    bound: float

    def __str__(self) -> str:
        unit = _QUANTITIES[self.quantity][1]
        return f"{self.quantity} {'<' if self.below else '>'} {plain(self.bound)} {unit}"

    def broken(self, levels: Mapping[str, float]) -> str:
        """Say how a configuration breaks it; nothing if it does not, or that is not known."""
        column, unit = _QUANTITIES[self.quantity]
        value = levels.get(column)
        if value is None or value != value or (value < self.bound) == self.below:
            return ""
        return f"{self.quantity} is {plain(value)} {unit}, not {self}"


def parse(text: str) -> tuple[Limit, ...]:
    """Return the limits of a text such as "p95 < 20 ms, throughput > 5000".

    Raises
    ------
    LabError
        If it is none.
    """
    found = []
    for part in text.split(","):
        match = _TEXT.fullmatch(part)
        known = match and _QUANTITIES.get(match[1].lower())
        if not match or not known or match[4] not in (None, known[1]):
            raise LabError(
                "--keep has a condition that cannot be kept",
                found=part.strip() or "nothing",
                expected='p95 in ms or throughput in queries/s, such as "p95 < 20 ms"',
                next_step="Write it like that; several with a comma between.",
            )
        found.append(Limit(match[1].lower(), match[2] == "<", float(match[3])))
    return tuple(found)
