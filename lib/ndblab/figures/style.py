"""The look of the lab's figures: seaborn's theme, colours with a fixed meaning, markers, digits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import matplotlib
import seaborn as sns
import seaborn.objects as so
from matplotlib.colors import LogNorm, to_hex

from ndblab import formatting

# The same colour means the same thing in every figure of the lab.
THROUGHPUT, LATENCY = "#1f5fa8", "#b3261e"
DATA_NODE, OTHER_DATA_NODE, SERVER = "#1e6b41", "#7cbf96", "#bf8200"
OVER_TCP = "#8a4fa0"
INK, QUIET, PALE = "#333333", "#595959", "#c9c9c9"
ORANGE, VIOLET, TEAL = "#c8691c", "#5b3a8c", "#2b7a6f"
"""For what has no colour of its own; the colour-blind, too, can tell these from blue."""
# Numbers of servers: lighter is fewer, so that the order survives in grey; markers tell them apart.
_SERVERS = matplotlib.colormaps["plasma_r"]
_SERVERS_NORM = LogNorm(1 / 2.2, 20, clip=True)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p")
RC = {
    **sns.axes_style("whitegrid"),
    **sns.plotting_context("paper"),
    "font.family": "DejaVu Sans",
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": "#888888",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.labelsize": 9.5,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 6,
    "grid.color": "#e0e0e0",
    "grid.linewidth": 0.6,
    "xtick.color": QUIET,
    "xtick.labelsize": 9,
    "ytick.color": QUIET,
    "ytick.labelsize": 9,
    "legend.frameon": False,
    # Words stay text, and the same figure gives the same file.
    "svg.fonttype": "none",
    "svg.hashsalt": "ndblab",
    "legend.fontsize": 9,
    "lines.linewidth": 1.8,
    "lines.markersize": 5.5,
}


class Look(NamedTuple):
    """How one line of a figure is drawn, and what it is called at its end."""

    label: str
    colour: str
    marker: str = "o"
    dashes: str = "-"


@contextmanager
def look() -> Iterator[None]:
    """Draw in the lab's look, whatever the matplotlibrc of the user says."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(RC)
        yield


def plot(*data, **variables) -> so.Plot:
    """Begin a seaborn plot in the lab's look."""
    return so.Plot(*data, **variables).theme(RC)


def colour(servers: int) -> str:
    """Return the colour of a number of servers, the same in every figure."""
    return to_hex(_SERVERS(_SERVERS_NORM(servers)))


def marker(servers: int) -> str:
    """Return the marker of a number of servers, the same in every figure."""
    return _MARKERS[round(math.log2(servers)) % len(_MARKERS)]


def servers(numbers) -> Mapping[int, Look]:
    """Return the look of lines for these numbers of servers."""
    return {
        int(n): Look(formatting.count(int(n), "server"), colour(n), marker(n))
        for n in sorted(set(numbers))
    }
