"""The panel of published numbers, beside what was measured.

In: an empty panel and published numbers. Out: the panel drawn, each number as exact as it was
published. It never puts two machines on one axis.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from itertools import groupby

import pandas as pd
from matplotlib.axes import Axes

from ndblab import formatting
from ndblab.figures import old_style as style
from ndblab.figures.quantity import Quantity
from ndblab.judging.publication import Anchor

TITLE = "Published, on another machine"
_STATED = "Numbers stated in the sources' text; the curves exist as pictures only."
_ARROW_PT = 22
_BOUND_WORDS = {"upper": "below", "lower": "at least"}


def against_clients(
    ax: Axes, quantity: Quantity, anchors: Sequence[Anchor], room: float = 1.65
) -> None:
    """Draw the published numbers against clients.

    Parameters
    ----------
    room : upper end of a linear vertical axis over the largest number.
    """
    note(ax, anchors)
    values = pd.Series([a.value for a in anchors] or [1.0])
    clients = pd.Series([a.clients for a in anchors] or [1])
    quantity.against_clients(ax, clients, values.max())
    ax.set_xlim(clients.min() / 3.5, clients.max() * 4)
    ax.set_ylim(
        *((values.min() / 8, values.max() * 8) if quantity.log else (0, values.max() * room))
    )
    # A tick for each published number of clients, and no other.
    ax.set_xticks(sorted({a.clients for a in anchors}))
    for _, group in groupby(anchors, key=lambda a: (a.value, a.exactness, a.bound)):
        together = list(group)
        for i, anchor in enumerate(together):
            # Marks with equal clients stand side by side.
            twins = [j for j, a in enumerate(together) if a.clients == anchor.clients]
            mark(ax, anchor, anchor.clients * aside(twins.index(i), len(twins), 1.3))
        first = together[0]
        middle = math.exp(sum(math.log(a.clients) for a in together) / len(together))
        servers = formatting.listed(str(a.servers) for a in together)
        value = words(first).replace(" queries/s", "\nqueries/s")
        label(ax, first, middle, f"{servers} {'server' if servers == '1' else 'servers'}:\n{value}")


def aside(place: int, count: int, apart: float) -> float:
    """Return a factor that puts `count` marks with equal clients side by side on a log axis."""
    return apart ** (2 * place - count + 1)


def label(ax: Axes, anchor: Anchor, x: float, text: str, size: float = 8) -> None:
    """Write beyond the tip of a mark's arrow, or above a mark without one."""
    offset_pt = {"upper": -_ARROW_PT - 3, "lower": _ARROW_PT + 3}.get(anchor.bound, 8)
    ax.annotate(
        text,
        (x, anchor.value),
        (0, offset_pt),
        textcoords="offset points",
        ha="center",
        va="top" if offset_pt < 0 else "bottom",
        fontsize=size,
    )


def words(anchor: Anchor) -> str:
    """Write a published number as exactly as it was published."""
    word = {"about": "about ", "bound": f"{_BOUND_WORDS.get(anchor.bound, '')} "}
    unit = "" if anchor.unit == "ratio" else f" {anchor.unit}"
    return f"{word.get(anchor.exactness, '')}{formatting.exact(anchor.value)}{unit}"


def sentence(anchors: Sequence[Anchor], each: Iterable[str] = ()) -> list[str]:
    """Describe published numbers, by default with servers and clients; nothing if there are none.

    Parameters
    ----------
    each : a published number per item, in words.
    """
    each = list(each) or [
        f"{words(a)} with {a.servers} at {formatting.count(a.clients, 'client')}" for a in anchors
    ]
    return [f"{TITLE}: {formatting.listed(each)}."] if anchors else []


def note(ax: Axes, anchors: Sequence[Anchor], text: str = _STATED, width: int = 40) -> None:
    """Title the panel and describe its marks, in lines of `width` characters."""
    ax.set_title(TITLE)
    ax.text(
        0.04,
        0.97,
        textwrap.fill(text if anchors else "Nothing was published as a number.", width),
        transform=ax.transAxes,
        va="top",
        fontsize=7.5,
        style="italic",
        color=style.QUIET,
        bbox=style.WHITE_BOX,
    )


def mark(ax: Axes, anchor: Anchor, x: float, shade: str | None = None, size_pt: float = 13) -> None:
    """Draw one published number: exact filled, about hollow, a bound as a bar with an arrow."""
    shade = shade or style.colour(anchor.servers)
    if anchor.exactness != "bound":
        face = shade if anchor.exactness == "stated" else "white"
        ax.plot(x, anchor.value, "*", ms=size_pt, mec=shade, mfc=face, mew=1.3, zorder=4)
        return
    ax.plot(x, anchor.value, "_", ms=size_pt, mew=2.6, color=shade, zorder=4)
    ax.annotate(
        "",
        (x, anchor.value),
        (0, _ARROW_PT if anchor.bound == "lower" else -_ARROW_PT),
        textcoords="offset points",
        arrowprops={"arrowstyle": "<|-", "color": shade, "lw": 1.4, "shrinkA": 0, "shrinkB": 0},
    )
