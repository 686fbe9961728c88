"""The look of the lab's figures: colours and their meaning, markers, keys of legends, whiskers.

In: a number of servers, means with intervals. Out: colours, markers, drawn whiskers. It knows no
figure.
"""

from __future__ import annotations

import math

import matplotlib
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, to_hex
from matplotlib.lines import Line2D

from ndblab import formatting

# The same colour means the same thing in every figure of the lab.
THROUGHPUT, LATENCY = "#1f5fa8", "#b3261e"
DATA_NODE, OTHER_DATA_NODE, SERVER = "#1e6b41", "#7cbf96", "#bf8200"
INK, QUIET = "#333333", "#555555"
# Numbers of servers: lighter is fewer, so that the order survives in grey; markers tell them apart.
_SERVERS = matplotlib.colormaps["plasma_r"]
_SERVERS_NORM = LogNorm(1 / 2.2, 20, clip=True)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p")
# Seaborn's theme for papers, written out because importing seaborn takes half a second.
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
WHITE_BOX = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
"""Behind text that would be illegible on grid lines."""


def colour(servers: int) -> str:
    """Return the colour of a number of servers, the same in every figure."""
    return to_hex(_SERVERS(_SERVERS_NORM(servers)))


def marker(servers: int) -> str:
    """Return the marker of a number of servers, the same in every figure."""
    return _MARKERS[round(math.log2(servers)) % len(_MARKERS)]


def server_key(servers: int, label: str = "") -> Line2D:
    """Return the legend key of a number of servers."""
    label = label or formatting.count(servers, "server")
    return Line2D([], [], color=colour(servers), marker=marker(servers), label=label)


def measured_key(label: str = "measured mean") -> Line2D:
    """Return the legend key of a measured value beside a predicted line: a hollow mark."""
    return Line2D([], [], label=label, marker="o", ls="", mfc="white", mec=INK)


def whiskers(
    ax: Axes, x: pd.Series, mean: pd.Series, low: pd.Series, high: pd.Series, **look: object
) -> None:
    """Draw intervals as whiskers, where they are known."""
    known = (low.notna() & high.notna()).to_numpy()
    ends = [(mean - low)[known], (high - mean)[known]]
    look = {"ecolor": INK, "elinewidth": 0.9, "capsize": 2, "zorder": 4, **look}
    ax.errorbar(x[known], mean[known], ends, fmt="none", **look)


def marks(ax: Axes, x: pd.Series, table: pd.DataFrame, metric: str, marker: str) -> None:
    """Draw measured means, hollow, with whiskers if the table has their intervals."""
    mean = table[f"{metric}_mean"]
    if f"{metric}_low" in table:
        low = table[f"{metric}_low"]
        whiskers(ax, x, mean, low.where(low > 0), table[f"{metric}_high"])
    ax.plot(x, mean, marker, mfc="white", mec=INK, mew=1.0, ms=4.8, zorder=5)
