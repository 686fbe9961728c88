"""The file of comparisons of planted truths on real clusters: a line each, and their table."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from ndblab.benchmarks import planted
from ndblab.benchmarks.row import Row
from ndblab.error import writing
from ndblab.measuring import manifest, measured_run
from ndblab.statistics import estimate

COLUMNS = (
    "utc", "host", "ndb", "lab", "kind", "number", "limit_min", "design", "truth", "outcome",
    "ratio", "low", "high", "cpu_ratio", "blocks", "minutes", "logs",
)  # fmt: skip
"""`truth` and `ratio` are B over A, `logs` the logarithms of the blocks."""
PLANTED, EQUAL, OF_TWINS = "planted", "equal", "twins"
RIGHT_PCT, TWINS_DEVIATION, TWINS_OFF_PCT = 95.0, 0.015, 1.0


@dataclass(frozen=True)
class Trials:
    """Comparisons in a file: those of one host, one release of NDB and one limit in minutes."""

    file: Path
    host: str
    ndb: str
    limit_min: int

    def append(self, line: Mapping[str, object]) -> None:
        """Write one comparison to the file at once."""
        facts = {
            "utc": measured_run.now_utc(), "host": self.host, "ndb": self.ndb,
            "lab": manifest.git_commit(), "limit_min": self.limit_min,
        }  # fmt: skip
        with writing(self.file):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            begins = not self.file.exists()
            with self.file.open("a", newline="") as out:
                table = csv.DictWriter(out, COLUMNS, lineterminator="\n")
                if begins:
                    table.writeheader()
                table.writerow({**facts, **line})

    def known(self) -> pd.DataFrame:
        """Return the comparisons that count; twins have no limit."""
        if not self.file.exists():
            return pd.DataFrame(columns=list(COLUMNS))
        every = pd.read_csv(self.file)
        limited = (every["limit_min"] == self.limit_min) | (every["kind"] == OF_TWINS)
        return every[limited & (every["host"] == self.host) & (every["ndb"] == self.ndb)]

    def missing(self, kind: str, number: int) -> range:
        """Return which of so many comparisons of a kind are to be made."""
        return range(int((self.known()["kind"] == kind).sum()) + 1, number + 1)

    def table(self) -> list[Row]:
        """Return the rows of the table: what was judged right, and how equal equal twins are."""
        known = self.known()
        compared = known[known["kind"] != OF_TWINS]
        found = planted.rows("by CPU quotas", compared, self.limit_min, {5.0: RIGHT_PCT})
        if len(compared):
            off = np.log(compared["ratio"] / compared["truth"])
            note = f"{len(off)} comparisons; median {math.exp(off.median()):.4f} of the truth"
            value = 100 * float(off.abs().median())
            found.append(Row("measured off the truth", (value,), "%", note=note))
        return found + of_twins(known.loc[known["kind"] == OF_TWINS, "ratio"].to_numpy(float))


def of_twins(ratios: np.ndarray) -> list[Row]:
    """Return the rows of equal twins, of the ratio of the two in each start."""
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
