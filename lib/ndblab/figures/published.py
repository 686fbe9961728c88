"""Published numbers beside measured ones: marks of another kind, as exact as the source."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from matplotlib.axes import Axes

from ndblab import formatting
from ndblab.figures import style
from ndblab.judging.publication import Anchor

_ARROW_PT = 17
_BOUND_WORDS = {"upper": "below", "lower": "at least"}


def note(anchors: Iterable[Anchor]) -> list[str]:
    """Say what the marks of these published numbers mean; nothing if there are none."""
    kinds = {anchor.exactness for anchor in anchors}
    if not kinds:
        return []
    if kinds == {"bound"}:
        return ["Bars with an arrow: bounds published for another machine."]
    hollow = " (hollow: about)" if "about" in kinds else ""
    bounds = ["Bars with an arrow: published bounds."] if "bound" in kinds else []
    return [f"Stars: published, on another machine{hollow}.", *bounds]


def mark(
    ax: Axes, anchor: Anchor, x: float, y: float, colour: str = style.INK, along: str = "y"
) -> None:
    """Draw one published number: a star, hollow for an "about"; for a bound, a bar with an arrow.

    Parameters
    ----------
    along : the axis that the number is on.
    """
    if anchor.exactness != "bound":
        face = colour if anchor.exactness == "stated" else "white"
        ax.plot(x, y, "*", ms=12, mec=colour, mfc=face, mew=1.2, zorder=6)
        return
    ax.plot(x, y, "_" if along == "y" else "|", ms=11, mew=2.4, color=colour, zorder=6)
    length_pt = _ARROW_PT if anchor.bound == "lower" else -_ARROW_PT
    ax.annotate(
        "", (x, y), (0, length_pt) if along == "y" else (length_pt, 0), textcoords="offset points",
        arrowprops={"arrowstyle": "<|-", "color": colour, "lw": 1.3, "shrinkA": 0, "shrinkB": 0},
    )  # fmt: skip


def words(anchor: Anchor) -> str:
    """Write a published number as exactly as it was published."""
    word = {"about": "about ", "bound": f"{_BOUND_WORDS.get(anchor.bound, '')} "}
    word = word.get(anchor.exactness, "")
    if anchor.unit == "ratio":
        return word + formatting.change(anchor.value)
    return f"{word}{formatting.exact(anchor.value)} {anchor.unit}"


def sentence(anchors: Sequence[Anchor], by_series: bool = False) -> list[str]:
    """Describe published numbers, with servers and clients or with their series."""
    several = len({anchor.clients for anchor in anchors}) > 1
    parts = [
        f"{a.series} {words(a)}" + (f" at {formatting.count(a.clients, 'client')}" * several)
        if by_series
        else f"{words(a)} with {a.servers} at {formatting.count(a.clients, 'client')}"
        for a in anchors
    ]
    return formatting.in_sentences("Published, on another machine", parts)
