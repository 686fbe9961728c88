"""Bottlenecks: utilisation of each resource against MySQL servers, predicted and measured.

In: predicted and measured utilisation of each resource. Out: a painted figure and its description.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ndblab import formatting
from ndblab.figures import old_sheet as sheet
from ndblab.figures import old_style as style
from ndblab.figures.old_sheet import Caption
from ndblab.figures.selection import Tables
from ndblab.judging.publication import Anchor

_LABEL_APART = 0.052
"""Least distance between names at the right of a panel, relative to its height."""


@dataclass(frozen=True)
class Look:
    """Colour and marker of a resource; no two in a panel share a marker."""

    colour: str
    marker: str


# Safe for colour-blind readers (Okabe and Ito 2008) where the lab has no colour of its own.
SHARES = {
    "mysqld": Look(style.SERVER, "^"),
    "SQL side": Look("#9467a5", "D"),
    "data nodes": Look(style.DATA_NODE, "s"),
    "host": Look(style.INK, "o"),
}
THREADS = {
    "recv": Look("#0072b2", "o"),
    "tc": Look("#d55e00", "s"),
    "ldm": Look("#009e73", "^"),
    "query": Look("#cc79a7", "D"),
    "send": Look("#7a7a7a", "v"),
}
_PANELS = (("Shares of the host's CPUs", SHARES), ("NDB threads, by kind", THREADS))


def paint(figure: Figure, tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> list[str]:
    """Draw predicted lines and measured marks, shares of CPUs apart from NDB threads."""
    use, measured = tables["use"], tables["measured_use"]
    [axes] = sheet.panels(
        figure, columns=(1, 1), wspace=0.56, right=0.93, above_in=sheet.ABOVE_WITH_LEGEND_IN
    )
    for ax, (title, looks) in zip(axes, _PANELS, strict=True):
        ax.set_title(title)
        _panel(ax, looks, use, measured)
    axes[1].set_ylabel("Utilisation, percent of their CPUs", color=style.DATA_NODE)
    handles = [
        Line2D([], [], color=style.QUIET, label="predicted from one server"),
        style.measured_key("measured, mean of runs"),
        Line2D([], [], color=style.INK, ls="--", lw=1.1, label="saturated"),
    ]
    sheet.legend(figure, handles)
    notes = [
        "Lines: utilisation predicted by the model, which is fitted to the runs with one server. "
        "Marks: measured CPU use of processes and NDB threads, divided by their CPUs.",
        "The SQL side is all MySQL servers and sysbench.",
    ]
    if caption.is_scaled:
        notes.append(
            "A thread can use one CPU, but under quotas all threads of a data node share its "
            "quota, which saturates long before any of them."
        )
    return notes


def describe(tables: Tables, anchors: Sequence[Anchor]) -> list[str]:
    """Describe predicted and measured utilisation with the fewest and the most servers."""
    use, measured = tables["use"], tables["measured_use"]
    words = [
        f"Utilisation of each resource against MySQL servers, each with {_each(use)} clients: "
        "predicted from the runs with one server, and measured."
    ]
    for servers in (use["servers"].min(), use["servers"].max()):
        parts = []
        for name in (*SHARES, *THREADS):
            value, seen = (_value(table, servers, name) for table in (use, measured))
            if value is not None:
                beside = "" if seen is None else f" ({formatting.plain(100 * seen)} % measured)"
                parts.append(f"{name} {formatting.plain(100 * value)} %{beside}")
        count = formatting.count(int(servers), "server")
        words.append(f"With {count}: {formatting.listed(parts)}.")
    return words


def _panel(ax: Axes, looks: dict[str, Look], use: pd.DataFrame, measured: pd.DataFrame) -> None:
    most, ends = 0.0, {}
    for name, look in looks.items():
        line = use[use["resource"] == name].sort_values("servers")
        if line.empty:
            continue
        dots = measured[measured["resource"] == name]
        ax.plot(line["servers"], 100 * line["utilisation"], color=look.colour, lw=1.6, zorder=3)
        ax.plot(
            dots["servers"], 100 * dots["utilisation"], ls="", marker=look.marker, mfc="white",
            mec=look.colour, mew=1.4, zorder=4,
        )  # fmt: skip
        ends[name] = 100 * float(line["utilisation"].iloc[-1])
        most = max(most, 100 * float(line["utilisation"].max()))
        most = max(most, 100 * float(dots["utilisation"].max())) if len(dots) else most
    top = max(10.0, most * 1.12)
    ax.set_ylim(0, top)
    ax.set_xscale("log", base=2)
    servers = [2**i for i in range(12) if 2**i <= use["servers"].max()]
    ax.set_xticks(servers, [str(n) for n in servers])
    ax.set_xlim(0.85, use["servers"].max() * 1.15)
    ax.minorticks_off()
    ax.set_xlabel(f"MySQL servers, {_each(use)} clients each")
    ax.set_ylabel("Utilisation, percent of its share")
    if top > 100:
        ax.axhline(100, color=style.INK, ls="--", lw=1.1, zorder=2)
    _names(ax, looks, ends, top)


def _names(ax: Axes, looks: dict[str, Look], ends: dict[str, float], top: float) -> None:
    """Write each name at the end of its line, with its marker, without overlaps."""
    order = sorted(ends, key=ends.get)
    places = _apart([ends[name] / top for name in order])
    for name, place in zip(order, places, strict=True):
        look = looks[name]
        mark = {"marker": look.marker, "mfc": "white", "mec": look.colour, "mew": 1.3, "ms": 4.5}
        ax.plot(1.035, place, transform=ax.transAxes, clip_on=False, ls="", **mark)
        ax.text(
            1.065, place, name, transform=ax.transAxes, color=look.colour, fontsize=8.5,
            va="center",
        )  # fmt: skip


def _apart(places: list[float]) -> list[float]:
    """Move places upwards, in their order, until no two names overlap."""
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + _LABEL_APART) if moved else place)
    over = max(0.0, moved[-1] - 0.985) if moved else 0.0
    return [place - over for place in moved]


def _each(use: pd.DataFrame) -> int:
    return int((use["clients"] / use["servers"]).iloc[0])


def _value(table: pd.DataFrame, servers: int, name: str) -> float | None:
    found = table[(table["servers"] == servers) & (table["resource"] == name)]["utilisation"]
    return float(found.iloc[0]) if len(found) and np.isfinite(found.iloc[0]) else None
