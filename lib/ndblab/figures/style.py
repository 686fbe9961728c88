"""How the lab's figures look: what a colour means, markers, axes.

In: a number of servers, a value, an empty panel. Out: its colour, its text, its axes.
It knows no figure, and of the data only how far an axis reaches.
"""

from __future__ import annotations

import math

import matplotlib
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, to_hex
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from ndblab.analysis import formatting

# What a colour means, in every figure of the lab.
THROUGHPUT, LATENCY = "#1f5fa8", "#b3261e"
DATA_NODE, OTHER_DATA_NODE, SERVER = "#1e6b41", "#7cbf96", "#bf8200"
INK, QUIET = "#333333", "#555555"
# Numbers of servers: lighter is fewer, so that the order survives in grey; markers tell them apart.
_SERVERS = matplotlib.colormaps["plasma_r"]
_SERVERS_NORM = LogNorm(1 / 2.2, 20, clip=True)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p")
# From which value on an axis counts in what.
_SCALES = ((1e6, 1e6, "million "), (1e5, 1e3, "thousand "))
RC = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": "#888888",
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.labelsize": 9.6,
    "axes.linewidth": 1.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.titlepad": 9,
    "grid.color": "#d9d9d9",
    "grid.linewidth": 0.6,
    "xtick.bottom": False,
    "xtick.color": QUIET,
    "xtick.labelsize": 8.8,
    "xtick.major.size": 4.8,
    "xtick.major.width": 1.0,
    "ytick.color": QUIET,
    "ytick.labelsize": 8.8,
    "ytick.left": False,
    "ytick.major.size": 4.8,
    "ytick.major.width": 1.0,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "legend.title_fontsize": 9.6,
    "lines.linewidth": 1.8,
    "lines.markersize": 5.5,
    "lines.solid_capstyle": "round",
    "patch.edgecolor": "white",
    "patch.force_edgecolor": True,
    "patch.linewidth": 0.8,
}


def colour(servers: int) -> str:
    """Give the colour of a number of servers, the same in every figure."""
    return to_hex(_SERVERS(_SERVERS_NORM(servers)))


def marker(servers: int) -> str:
    """Give the marker of a number of servers, the same in every figure."""
    return _MARKERS[round(math.log2(servers)) % len(_MARKERS)]


def axes(
    ax: Axes, label: str, unit: str, shade: str, clients: tuple[int, int], most: float, log: bool
) -> None:
    """Give both axes their scales, plain numbers and units.

    Parameters
    ----------
    clients : the fewest and the most, on the horizontal axis.
    most : the largest value of the vertical axis, in `unit`; its size decides on "million".
    """
    ax.set_xscale("log", base=2)
    ax.set_xlim(clients[0] / 1.3, clients[1] * 1.3)
    base = 4 if clients[1] / clients[0] > 600 else 2
    ax.xaxis.set_major_locator(LogLocator(base=base, numticks=20))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.set_xlabel("Clients")
    vertical(ax, label, unit, shade, most, log)


def vertical(ax: Axes, label: str, unit: str, shade: str, most: float, log: bool) -> None:
    """Give the vertical axis its scale, plain numbers and unit.

    Parameters
    ----------
    most : its largest value, in `unit`; the size decides on "million".
    """
    factor, word = next(((f, word) for least, f, word in _SCALES if most >= least), (1.0, ""))
    if log:
        ax.set_yscale("log")
        ax.yaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5), numticks=20))
        ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: formatting.plain(value / factor)))
    ax.set_ylabel(f"{label}, {word}{unit}", color=shade)
