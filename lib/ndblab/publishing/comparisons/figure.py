"""The history of a comparison as a forest: one interval below the other, the first on top."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from ndblab.comparing import answer
from ndblab.comparing.judged import WITHIN
from ndblab.figures import forest, sheet
from ndblab.figures.sheet import Head
from ndblab.formatting import count

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ndblab.publishing.comparisons.history import Entry
    from ndblab.statistics.estimate import Estimate

_ROW_IN, _HEAD_IN = 0.28, 1.5
LAST = 40
"""The most comparisons that the figure shows: the last ones."""


def draw(entries: Sequence[Entry], within: float = WITHIN) -> Figure:
    """Draw the throughput of B over A, comparison by comparison.

    Parameters
    ----------
    within : distance from equal, as a share, that counted as equivalent.
    """
    shown = entries[-LAST:]
    hosts = list(dict.fromkeys(entry.host for entry in shown))
    rows = pd.DataFrame(
        [(_name(entry, hosts), *entry.estimate, _percent(entry.estimate)) for entry in shown],
        columns=["name", "ratio", "low", "high", "text"],
    )
    # Equal names would share a row.
    rows["name"] += rows.groupby("name").cumcount().map("\N{ZERO WIDTH SPACE}".__mul__)
    notes = [f"Line: 95 % interval. Shaded: within {100 * within:g} % of equal."]
    with sheet.page(_HEAD_IN + _ROW_IN * len(rows)) as figure:
        forest.draw(
            figure.subplots(), rows, "queries/s, B over A",
            allowed=dict.fromkeys(rows["name"], (1 - within, 1 + within)),
        )  # fmt: skip
        lines = [f"{place}: {host}" for place, host in enumerate(hosts, 1)]
        source = hosts[0] if len(hosts) == 1 else f"Hosts {'; '.join(lines)}"
        kept = f" The last {count(LAST, 'comparison')}." if len(entries) > LAST else ""
        sheet.sign(figure, Head(entries[-1].headline, notes), f"{source}.{kept}")
    return figure


def describe(entries: Sequence[Entry]) -> str:
    """Say in words what the figure shows."""
    lines = [f"{entry.day}, NDB {entry.engine}: {entry.sentence}" for entry in entries[-LAST:]]
    return " ".join(lines)


def png(entries: Sequence[Entry], within: float = WITHIN) -> bytes:
    """Return the figure as a picture."""
    out = io.BytesIO()
    draw(entries, within).savefig(out, format="png")
    return out.getvalue()


def _percent(ratio: Estimate) -> str:
    if math.isnan(ratio.value):
        return "no whole block"
    value, low, high = (answer.percent(part) for part in ratio)
    return f"{value} % ({low} to {high} %)" if ratio.bounded else f"{value} %"


def _name(entry: Entry, hosts: list[str]) -> str:
    """Label a comparison: its time, its engine, and its host where there are several."""
    host = f", host {hosts.index(entry.host) + 1}" if len(hosts) > 1 else ""
    return f"{entry.day}, {entry.engine}{host}"
