"""Quantities on vertical axes: column, name, unit, colour and scale, the same in every figure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from ndblab import formatting
from ndblab.figures import sheet, style

# The values from which an axis counts in millions or thousands.
_SCALES = ((1e6, 1e6, "million "), (1e5, 1e3, "thousand "))
_TICK_IN = 0.42
_ASIDE_IN = 1.1
"""What labels take beside the only panel of a row on a tall sheet."""


@dataclass(frozen=True)
class Quantity:
    """A measured or published quantity; `metric` is its column in the tables."""

    metric: str
    name: str
    unit: str
    colour: str
    log: bool = False

    def vertical(self, ax: Axes, most: float) -> None:
        """Scale and label the vertical axis; `most` is its largest value, in `unit`."""
        factor, word = next(((f, word) for least, f, word in _SCALES if most >= least), (1.0, ""))
        if self.log:
            ax.set_yscale("log")
            ax.yaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5), numticks=20))
            ax.yaxis.set_minor_locator(NullLocator())
        ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: formatting.exact(v / factor)))
        ax.set_ylabel(f"{self.name}, {word}{self.unit}", color=self.colour)

    def against_clients(self, ax: Axes, clients: Iterable[int], most: float) -> None:
        """Scale and label both axes, with a binary logarithm of clients on the horizontal one."""
        counts = [int(number) for number in clients]
        low, high = min(counts), max(counts)
        ax.set_xscale("log", base=2)
        ax.set_xlim(low / 1.3, high * 1.3)
        ax.xaxis.set_major_locator(LogLocator(base=2 ** _octaves(ax, high / low), numticks=20))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.set_xlabel("Clients")
        self.vertical(ax, most)


def _octaves(ax: Axes, span: float) -> int:
    """Return the doublings from tick to tick that leave room for the labels."""
    wide_in = sheet.size_in(ax)[0]
    if sheet.is_tall(ax.figure) and wide_in > sheet.TALL_IN / 2:
        wide_in -= _ASIDE_IN
    most = max(2.0, wide_in / _TICK_IN)
    return max(1, math.ceil(math.log2(max(span, 1)) / most))


QPS = Quantity("qps", "Throughput", "queries/s", style.THROUGHPUT)
P95 = Quantity("latency_p95_ms", "95th percentile latency", "ms", style.LATENCY, log=True)
