"""The figures: one function for each, from points to a drawing beside what was published.

In: the points of one dataset, the published numbers, what the caption must say. Out: a matplotlib
`Figure`, and the same in words for those who cannot see it.
It never reads or writes a file, and never mixes points of two kinds.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import matplotlib
import pandas as pd
from matplotlib.figure import Figure

from ndblab import panels, style, summary
from ndblab.brief import Anchor
from ndblab.error import LabError
from ndblab.panels import Quantity

_SIZE_IN, _DPI = (8.0, 5.6), 150
# What fits below the panels, in characters.
_CAPTION_WIDTH = 134

QPS = Quantity(
    metric="qps",
    name="Throughput",
    unit="queries/s",
    question="How far does doubling the MySQL servers raise throughput?",
    colour=style.THROUGHPUT,
    log=False,
    peaks=True,
    scaled_note="Every process has the brief's share of this host's CPUs as a quota, so compare "
    "shapes; latency carries the quota's period.",
)
P95 = Quantity(
    metric="latency_p95_ms",
    name="95th percentile latency",
    unit="ms",
    question="Do twice the MySQL servers carry twice the clients at the same latency?",
    colour=style.LATENCY,
    log=True,
    peaks=False,
    scaled_note="Every process has the brief's share of this host's CPUs as a quota, whose period "
    "latency carries: compare it within this dataset only.",
)


def figure6(
    points: pd.DataFrame, anchors: Sequence[Anchor], host_line: str, dataset_id: str, budget: str
) -> Figure:
    """Draw throughput against clients, a line for each number of servers.

    Parameters
    ----------
    points : as `summary.points` gives them, of one transporter and one workload.
    anchors : the published numbers of Figure 6.

    Raises
    ------
    LabError
        If there is nothing to draw, or points of different kinds.
    """
    return _draw(QPS, points, anchors, host_line, dataset_id, budget)


def figure7(
    points: pd.DataFrame, anchors: Sequence[Anchor], host_line: str, dataset_id: str, budget: str
) -> Figure:
    """Draw p95 latency against clients, a line for each number of servers.

    Parameters
    ----------
    points : as `summary.points` gives them, of one transporter and one workload.
    anchors : the published numbers of Figure 7.

    Raises
    ------
    LabError
        If there is nothing to draw, or points of different kinds.
    """
    return _draw(P95, points, anchors, host_line, dataset_id, budget)


def describe(figure: str | int, points: pd.DataFrame, anchors: Sequence[Anchor]) -> str:
    """Say in a few sentences what a figure shows, from the data that it is drawn of."""
    quantity = {"6": QPS, "7": P95}[str(figure)]
    lines = _lines(points)
    counts = style.listed(str(servers) for servers, _ in lines)
    said = [
        f"{quantity.name} ({quantity.unit}) against clients, a line each for {counts} MySQL "
        f"{'server' if len(lines) == 1 and lines[0][0] == 1 else 'servers'}."
    ]
    if quantity.peaks:
        best = summary.peaks(points).itertuples()
        each = (
            f"{style.plain(p.qps_mean)} with {p.servers} at {style.count(p.clients, 'client')}"
            for p in best
        )
        said.append(f"The best means are {style.listed(each)}.")
    else:
        ends = ((n, line.loc[line[f"{quantity.metric}_mean"].notna()]) for n, line in lines)
        each = (
            f"from {style.plain(line[f'{quantity.metric}_mean'].iloc[0])} to "
            f"{style.plain(line[f'{quantity.metric}_mean'].iloc[-1])} ms with {n} "
            f"({line['clients'].iloc[0]} to {line['clients'].iloc[-1]} clients)"
            for n, line in ends
            if len(line)
        )
        said.append(f"It goes {style.listed(each)}.")
    if anchors:
        each = (f"{panels.words(a)} with {a.servers} at {a.clients} clients" for a in anchors)
        said.append(f"Published, on another machine: {style.listed(each)}.")
    return " ".join(said)


def _draw(
    quantity: Quantity,
    points: pd.DataFrame,
    anchors: Sequence[Anchor],
    host_line: str,
    dataset_id: str,
    budget: str,
) -> Figure:
    lines = _lines(points)
    with matplotlib.rc_context(style.RC):
        figure = Figure(figsize=_SIZE_IN, dpi=_DPI, facecolor="white")
        measured, published = figure.subplots(
            ncols=2,
            gridspec_kw={
                "width_ratios": (1.85, 1),
                "left": 0.1,
                "right": 0.985,
                "top": 0.85,
                "bottom": 0.285,
                "wspace": 0.22,
            },
        )
        figure.text(0.015, 0.955, quantity.question, fontsize=13, fontweight="bold", va="center")
        notes = panels.measured(measured, quantity, lines)
        measured.set_title(f"Measured, CPU budget {budget}")
        panels.published(published, quantity, anchors)
        published.set_title("Published, on another machine")
        notes += [quantity.scaled_note] if budget == "scaled" else []
        told = (f"{host_line}.", f"CPU budget {budget}. Dataset {dataset_id}.", " ".join(notes))
        caption = "\n".join(textwrap.fill(part, _CAPTION_WIDTH) for part in told)
        figure.text(
            0.015, 0.18, caption, fontsize=7.5, color=style.QUIET, va="top", linespacing=1.4
        )
    return figure


def _lines(points: pd.DataFrame) -> list[tuple[int, pd.DataFrame]]:
    """Part the points by number of servers, each line in the order of its clients."""
    kinds = points[["transporter", "workload"]].drop_duplicates()
    if len(kinds) != 1:
        raise LabError(
            "The figure needs points of one kind",
            found=", ".join(f"{k.transporter} {k.workload}" for k in kinds.itertuples())
            or "no point",
            expected="one transporter and one workload",
            next_step="Choose a dataset, or those of its points, that has one kind only.",
        )
    groups = points.sort_values(["servers", "clients"]).groupby("servers")
    return [(int(servers), line) for servers, line in groups]
