"""The panels of a figure: what was measured, and beside it what was published.

In: an empty panel, points or published numbers. Out: the panel drawn, and notes for the caption.
It never puts two machines on one axis, and shows no published number more exactly than it was.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from scipy.special import stdtrit

from ndblab import style, summary
from ndblab.brief import Anchor
from ndblab.error import LabError

# What fits into the narrow panel, in characters.
_NOTE_WIDTH = 40
_ARROW_PT = 22
_BOUND_WORDS = {"upper": "below", "lower": "at least"}


@dataclass(frozen=True)
class Quantity:
    """What stands on the vertical axis."""

    metric: str
    name: str
    unit: str
    question: str
    colour: str
    log: bool
    peaks: bool
    scaled_note: str


def measured(ax: Axes, quantity: Quantity, lines: list[tuple[int, pd.DataFrame]]) -> list[str]:
    """Draw the measured lines with their bands; give what the caption must say of them."""
    points = pd.concat([line for _, line in lines])
    mean = f"{quantity.metric}_mean"
    if points[mean].notna().sum() == 0:
        raise LabError(
            "The figure has nothing to draw",
            found="no point with a good run",
            expected="at least one",
            next_step="The marks of the points say why: see status and errors in runs.csv.",
        )
    bands = _bands(quantity, points)
    for servers, line in lines:
        look = {"color": style.colour(servers), "marker": style.marker(servers)}
        band = bands.loc[line.index]
        low, high = band["low"], band["high"]
        ax.fill_between(line["clients"], low, high, color=look["color"], alpha=0.2, lw=0)
        ax.plot(line["clients"], line[mean], zorder=3, **look)
        idle = line[line["idle_servers"]]
        ax.plot(idle["clients"], idle[mean], ls="", mfc="white", zorder=4, **look)
        partly = line[(line["failed"] > 0) & line[mean].notna()]
        ax.plot(partly["clients"], partly[mean], "x", color="black", ms=9, mew=1.1, zorder=6)
        lost = line[line[mean].isna()]
        at_bottom = {"ydata": [0.02] * len(lost), "transform": ax.get_xaxis_transform()}
        ax.add_line(Line2D(lost["clients"], ls="", color=look["color"], marker="x", **at_bottom))
    labels = {servers: style.count(servers, "server") for servers, _ in lines}
    if quantity.peaks:
        for peak in summary.peaks(points).itertuples():
            ring = {"ms": 12, "mfc": "none", "mew": 1.3, "zorder": 5}
            ax.plot(peak.clients, peak.qps_mean, "o", color=style.colour(peak.servers), **ring)
            labels[peak.servers] += f": {style.plain(peak.qps_mean)}"
    handles = [
        Line2D([], [], color=style.colour(n), marker=style.marker(n), label=label)
        for n, label in labels.items()
    ]
    title = "Best mean, queries/s" if quantity.peaks else "MySQL servers"
    ax.legend(
        handles=handles[::-1], loc="upper left", title=title, title_fontsize=8.5, alignment="left"
    )
    _axes(ax, quantity, points["clients"], points[mean].max())
    # The means set the limits, with room for usual bands and for the legend at the upper left.
    least, most = points[mean].min(), points[mean].max()
    highest = bands["high"].max() if bands["high"].notna().any() else most
    legend_high = 0.055 * (len(lines) + 1) + 0.06
    middle = math.sqrt(points["clients"].min() * points["clients"].max())
    under_legend = points.loc[points["clients"] <= middle, mean].max() / (1 - legend_high)
    room = max(1.08 * most, min(1.05 * highest, 1.5 * most), under_legend)
    ax.set_ylim(*((least / 2, most * 2.5) if quantity.log else (0, room)))
    bottom, top = ax.get_ylim()
    cut = bool((bands["high"] > top).any() or (bands["low"] < bottom).any())
    return _notes(quantity, points, cut)


def published(ax: Axes, quantity: Quantity, anchors: Sequence[Anchor]) -> None:
    """Draw the published numbers as marks of another kind, on an axis of their own."""
    note = "Numbers stated in the sources' text; the curves exist as pictures only."
    if not anchors:
        note = "Nothing was published as a number."
    ax.text(
        0.04, 0.97, textwrap.fill(note, _NOTE_WIDTH), transform=ax.transAxes, va="top",
        fontsize=7.5, style="italic", color=style.QUIET,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
    )  # fmt: skip
    values = pd.Series([a.value for a in anchors] or [1.0])
    clients = pd.Series([a.clients for a in anchors] or [1])
    _axes(ax, quantity, clients, values.max())
    ax.set_xlim(clients.min() / 3.5, clients.max() * 4)
    ax.set_ylim(
        *((values.min() / 8, values.max() * 8) if quantity.log else (0, values.max() * 1.65))
    )
    # A tick where something was published, and nowhere else.
    ax.set_xticks(sorted({a.clients for a in anchors}))
    for _, group in groupby(anchors, key=lambda a: (a.value, a.exactness, a.bound)):
        together = list(group)
        for i, anchor in enumerate(together):
            # Marks of the same place stand side by side.
            twins = [j for j, a in enumerate(together) if a.clients == anchor.clients]
            aside = 1.3 ** (2 * twins.index(i) - len(twins) + 1)
            _mark(ax, anchor, anchor.clients * aside)
        first = together[0]
        middle = math.exp(sum(math.log(a.clients) for a in together) / len(together))
        servers = style.listed(str(a.servers) for a in together)
        told = words(first).replace(" queries/s", "\nqueries/s")
        # Beyond the tip of an arrow, or above a mark without one.
        aside = {"upper": -_ARROW_PT - 3, "lower": _ARROW_PT + 3}.get(first.bound, 8)
        ax.annotate(
            f"{servers} {'server' if servers == '1' else 'servers'}:\n{told}",
            (middle, first.value),
            (0, aside),
            textcoords="offset points",
            ha="center",
            va="top" if aside < 0 else "bottom",
            fontsize=8,
        )


def words(anchor: Anchor) -> str:
    """Write a published number as exactly as it was published."""
    word = {"about": "about ", "bound": f"{_BOUND_WORDS.get(anchor.bound, '')} "}
    return f"{word.get(anchor.exactness, '')}{style.plain(anchor.value)} {anchor.unit}"


def _bands(quantity: Quantity, points: pd.DataFrame) -> pd.DataFrame:
    """Give each point's spread: the confidence interval of its mean, or the span of two runs.

    The interval of two values is some thirteen times wider than their span, and tells nothing.
    """
    mean, low, high = (points[f"{quantity.metric}_{part}"] for part in ("mean", "low", "high"))
    if points["runs"].max() < 3:
        wider = stdtrit(1, (1 + summary.CONFIDENCE) / 2)
        if quantity.log:
            low, high = (mean * (end / mean) ** (1 / wider) for end in (low, high))
        else:
            low, high = (mean + (end - mean) / wider for end in (low, high))
    else:
        low, high = (end.where(points["runs"] >= 3) for end in (low, high))
    return pd.DataFrame({"low": low, "high": high})


def _notes(quantity: Quantity, points: pd.DataFrame, cut: bool) -> list[str]:
    """Say how the drawing is to be read."""
    counts = points.loc[points["runs"] > 0, "runs"]
    fewest, most = int(counts.min()), int(counts.max())
    runs = f"{fewest} to {most}" if fewest < most else f"{most}"
    told = [f"{runs} {'run' if most == 1 else 'runs'} a point."]
    if most > 2:
        scale = " of logarithms" if quantity.log else ""
        told.append(f"Lines: mean of the runs; bands: its 95 % confidence interval (t{scale}).")
        told += ["Points of fewer than three runs have none."] if fewest < 3 else []
        told += ["Some bands reach beyond the panel."] if cut else []
    elif most == 2:
        told.append("Lines: mean of the runs; bands: from one run to the other.")
    else:
        told.append("One run gives no spread, so there are no bands.")
    told += ["Rings: best mean."] if quantity.peaks else []
    if points["idle_servers"].any():
        told.append("Hollow: fewer clients than servers, so some servers are idle.")
    marked = points[points["failed"] > 0]
    shown = [
        f"{style.count(p.servers, 'server')}, {style.count(p.clients, 'client')}: {p.marks}"
        for p in marked.itertuples()
    ]
    if shown:
        rest = f", and {len(shown) - 2} points more" if len(shown) > 2 else ""
        told.append(f"Crosses: {textwrap.shorten('; '.join(shown[:2]), 150)}{rest}.")
    return told


def _axes(ax: Axes, quantity: Quantity, clients: pd.Series, most: float) -> None:
    reach = (int(clients.min()), int(clients.max()))
    style.axes(ax, quantity.name, quantity.unit, quantity.colour, reach, most, quantity.log)


def _mark(ax: Axes, anchor: Anchor, clients: float) -> None:
    """Draw one published number: exact filled, about hollow, a bound as a bar with an arrow."""
    shade = style.colour(anchor.servers)
    if anchor.exactness != "bound":
        face = shade if anchor.exactness == "stated" else "white"
        ax.plot(clients, anchor.value, "*", ms=13, mec=shade, mfc=face, mew=1.3, zorder=4)
        return
    ax.plot(clients, anchor.value, "_", ms=13, mew=2.6, color=shade, zorder=4)
    ax.annotate(
        "",
        (clients, anchor.value),
        (0, _ARROW_PT if anchor.bound == "lower" else -_ARROW_PT),
        textcoords="offset points",
        arrowprops={"arrowstyle": "<|-", "color": shade, "lw": 1.4, "shrinkA": 0, "shrinkB": 0},
    )
