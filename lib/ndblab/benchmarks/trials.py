"""The file of comparisons of planted truths on real clusters: a line each, and their table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from ndblab.benchmarks.row import Row
from ndblab.comparing.judged import EQUIVALENT, FASTER, SLOWER, UNDECIDED
from ndblab.design.contrast import TWINS
from ndblab.error import writing
from ndblab.formatting import count
from ndblab.measuring import manifest, measured_run
from ndblab.statistics import estimate

COLUMNS = (
    "utc", "host", "ndb", "lab", "kind", "number", "limit_min", "design", "truth", "outcome",
    "ratio", "low", "high", "cpu_ratio", "blocks", "minutes", "logs",
)  # fmt: skip
"""`truth` and `ratio` are B over A, `logs` the logarithms of the blocks, or of each half of one."""
PLANTED, EQUAL, OF_TWINS, OF_SQL = "planted", "equal", "twins", "sql"
SAME = 1.0
"""The true ratio of equal sides."""
RIGHT, WRONG, OPEN = "right", "wrong", "open"
MOST_WRONG_PCT = 5.0
"""Percentage of equal sides that may be called faster or slower: what 95 % promise."""
RIGHT_PCT, RIGHT_PCT_OF_TWINS, TWINS_DEVIATION, TWINS_OFF_PCT = 95.0, 90.0, 0.015, 1.0
LEAST_OF_SQL = 0.97
MINUTES = {PLANTED: 3, EQUAL: 5, OF_SQL: 3}
"""Minutes after which a comparison is left open, by kind: equal sides take longest."""
LONGER = {TWINS: 4}
"""Designs that may take longer than the others, and how many times as long."""
FILE = manifest.ROOT / "data/planted/compare.csv"


def mark(truth: float, outcome: str) -> str:
    """Say whether an outcome is right for a true ratio of B over A.

    >>> mark(1.05, "faster"), mark(1.0, "slower"), mark(0.95, "undecided")
    ('right', 'wrong', 'open')
    """
    if outcome == UNDECIDED:
        return OPEN
    expected = EQUIVALENT if truth == SAME else FASTER if truth > SAME else SLOWER
    return RIGHT if outcome == expected else WRONG


def halves(logs: str) -> np.ndarray:
    """Return the logarithms of a line: one row per block, one column per half.

    >>> halves("0.01/0.02 0.03/0.05").shape
    (2, 2)
    """
    return np.array([block.split("/") for block in logs.split()], float)


def limit_min(kind: str, design: str) -> int:
    """Return the minutes after which a comparison is left open.

    >>> limit_min("planted", "twins"), limit_min("equal", "restarts")
    (12, 5)
    """
    return MINUTES[kind] * LONGER.get(design, 1)


def rows(what: str, trials: pd.DataFrame, goals_pct: Mapping[float, float]) -> list[Row]:
    """Return a row for equal sides, and one for each size of a planted difference.

    Parameters
    ----------
    trials : one comparison each: its `truth` and measured `ratio` (B over A), `outcome`, `minutes`,
        and the minutes after which it was left open (`limit_min`).
    goals_pct : percentage of comparisons that must be right, by difference in per cent.
    """
    marks = [mark(*pair) for pair in zip(trials["truth"], trials["outcome"], strict=True)]
    sizes_pct = (100 * (trials["truth"].astype(float) - 1)).abs().round(1)
    table = []
    for size_pct, mine in trials.assign(mark=marks).groupby(sizes_pct):
        shares = {name: 100 * float((mine["mark"] == name).mean()) for name in (RIGHT, WRONG, OPEN)}
        minutes = mine["minutes"].median()
        note = f"{count(len(mine), 'comparison')} of at most {mine['limit_min'].max():.3g} min: "
        if size_pct:
            title, value = f"{what}, {size_pct:g} %: told right", shares[RIGHT]
            goal = {"at_least": goals_pct.get(size_pct)}
            note += f"wrong {shares[WRONG]:.1f} %, "
        else:
            title, value = f"{what}, equal: told apart", shares[WRONG]
            goal = {"at_most": MOST_WRONG_PCT}
            note += f"equivalent {shares[RIGHT]:.1f} %, "
        note += f"open {shares[OPEN]:.1f} %; half within {minutes:.1f} min"
        table.append(Row(title, (value,), "%", note=note, **goal))
    return table


@dataclass(frozen=True)
class Trials:
    """Comparisons in a file: those of one host, one release of NDB and today's limits."""

    file: Path
    host: str
    ndb: str

    def append(self, line: Mapping[str, object]) -> None:
        """Write one comparison to the file at once."""
        facts = {
            "utc": measured_run.now_utc(), "host": self.host, "ndb": self.ndb,
            "lab": manifest.git_commit(),
            "limit_min": MINUTES.get(str(line["kind"]), MINUTES[PLANTED]),
        }  # fmt: skip
        table = pd.DataFrame([{**facts, **line}], columns=list(COLUMNS))
        with writing(self.file):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            begins = not self.file.exists()
            table.to_csv(self.file, mode="a", header=begins, index=False, na_rep="nan")

    def known(self) -> pd.DataFrame:
        """Return the comparisons that count; equal twins have no limit."""
        if not self.file.exists():
            return pd.DataFrame(columns=list(COLUMNS))
        every = pd.read_csv(self.file)
        limited = (every["limit_min"] == every["kind"].map(MINUTES)) | (every["kind"] == OF_TWINS)
        return every[limited & (every["host"] == self.host) & (every["ndb"] == self.ndb)]

    def missing(self, kind: str, design: str, number: int) -> range:
        """Return which of so many comparisons of a kind by a design are to be made."""
        known = self.known()
        there = (known["kind"] == kind) & (known["design"] == design)
        return range(int(there.sum()) + 1, number + 1)

    def table(self) -> list[Row]:
        """Return the rows of the table: what was judged right, and how equal equal twins are."""
        known = self.known()
        compared = known[known["kind"].isin([PLANTED, EQUAL])]
        table = []
        for design, mine in compared.groupby("design", sort=False):
            goal = {5.0: RIGHT_PCT_OF_TWINS if design == TWINS else RIGHT_PCT}
            longest = mine["limit_min"] * LONGER.get(design, 1)
            table += rows(f"{design}, by CPU quotas", mine.assign(limit_min=longest), goal)
        if len(compared):
            off = np.log(compared["ratio"] / compared["truth"])
            note = f"{len(off)} comparisons; median {math.exp(off.median()):.4f} of the truth"
            value = 100 * float(off.abs().median())
            table.append(Row("measured off the truth", (value,), "%", note=note))
        own = known.loc[known["kind"] == OF_SQL, "ratio"].to_numpy(float)
        if len(own):
            what = "point selects of a .sql file, over sysbench's script"
            table.append(Row(what, tuple(own), at_least=LEAST_OF_SQL))
        return table + of_twins(known.loc[known["kind"] == OF_TWINS, "ratio"].to_numpy(float))


def of_twins(ratios: np.ndarray) -> list[Row]:
    """Return the rows of equal twins, from the ratio of the two in each start."""
    if len(ratios) < 2:
        return []
    logs = np.log(ratios)
    value, low, high = np.exp(estimate.mean(logs))
    note = f"{len(logs)} starts of two; mean {value:.4f} ({low:.4f} to {high:.4f})"
    deviation, off_pct = float(logs.std(ddof=1)), 100 * abs(value - 1)
    return [
        Row("equal twins, sd of log ratio", (deviation,), at_most=TWINS_DEVIATION, note=note),
        Row("equal twins, mean off 1", (off_pct,), "%", at_most=TWINS_OFF_PCT),
    ]
