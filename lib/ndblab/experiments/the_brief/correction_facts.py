"""The facts that corrections are checked against, and the registry of their arithmetic.

It judges nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ndblab import discovery
from ndblab.judging.publication import Anchor, Claim, Correction
from ndblab.machine.host import Host
from ndblab.planning.deployment import Plan


@dataclass(frozen=True)
class Facts:
    """Published facts by id and by item; `brief_host` and `brief_plan` are the brief's own."""

    claims: Mapping[str, Claim]
    anchors: tuple[Anchor, ...]
    table: Mapping[str, str]
    brief_host: Host
    brief_plan: Plan

    def low(self, claim: str) -> float:
        """Return the lower (or only) number of a claim."""
        return float(self.claims[claim].low or 0)

    def number(self, item: str) -> float:
        """Return the first number of an item of the tables."""
        return numbers(self.table[item])[0]

    def threads(self, figure: str) -> dict[int, tuple[str, float]]:
        """Return the threads of a figure's ndb_top screen: by number, kind and percent."""
        matches = ((re.fullmatch(r"(\w+) thr_no (\d+)", a.series), a) for a in self.anchors)
        return {int(m[2]): (m[1], a.value) for m, a in matches if m and a.figure == figure}


Shown = tuple[bool, str]
Check = Callable[[Correction, Facts], Shown]
CHECKS: dict[str, Check] = {}


def numbers(text: str) -> list[float]:
    """Return the numbers in a text; a comma before three digits separates thousands."""
    words = re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", text)
    return [float(word.replace(",", "")) for word in words]


def percent(part: float, digits: int = 0) -> str:
    """Format a fraction as a percentage."""
    return f"{100 * part:.{digits}f} %"


def shows(correction: str) -> Callable[[Check], Check]:
    """Make a function the arithmetic of this correction."""
    return discovery.named(CHECKS, correction)
