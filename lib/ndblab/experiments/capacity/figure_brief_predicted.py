"""The brief's server: Figures 6 and 7 as the capacity model predicts them.

Nothing in it was measured by the lab.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ndblab import formatting
from ndblab.figures import published_panel, sheet, style
from ndblab.figures.quantity import P95, QPS
from ndblab.figures.selection import Tables
from ndblab.figures.sheet import Caption
from ndblab.judging.publication import Anchor

_FLAT = 1e-6
_LATENCY = replace(P95, name="Latency")
_ASIDE = 1.16
"""Factor between marks with equal clients."""


def paint(figure: Figure, tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> list[str]:
    """Draw throughput and latency against clients, with the published numbers."""
    predicted = tables["brief_predicted"]
    [axes] = sheet.panels(figure, columns=(1, 1), wspace=0.24, above_in=sheet.ABOVE_WITH_LEGEND_IN)
    qps, latency = axes
    _lines(qps, predicted, "qps", 1.8)
    _lines(latency, predicted, "latency_avg_ms", 1.0)
    p95 = _at_published(predicted, anchors)
    _marks(latency, p95)
    for ax, quantity, column in ((qps, QPS, "qps"), (latency, _LATENCY, "latency_avg_ms")):
        own = [a for a in anchors if a.unit == quantity.unit]
        quantity.against_clients(ax, predicted["clients"], predicted[column].max())
        values = [*predicted[column], *(a.value for a in own)]
        values += [] if ax is qps else [*p95["latency_p95_ms"]]
        ends = (0, max(values) * 1.2) if ax is qps else (min(values) / 1.6, max(values) * 2.2)
        ax.set_ylim(*ends)
        _published(ax, own)
        sheet.trim_ticks(ax)
    qps.set_title("Throughput")
    latency.set_title("Mean latency (lines) and p95 (marks)")
    handles = [style.server_key(int(n)) for n in sorted(predicted["servers"].unique())]
    star = {"marker": "*", "ms": 11, "mfc": "white", "mec": style.INK}
    handles.append(Line2D([], [], ls="", label="published; bars: bounds", **star))
    sheet.legend(figure, handles)
    notes = [
        "Derived from Figures 4, 5 and 9 and the throughput of Figure 1 alone, so the peak of one "
        "server is not a test; it uses no run of the lab. Edged marks: predicted p95. "
        "An arrow points to the side that a published bound allows.",
    ]
    if (predicted["extrapolated"] != "").any():
        notes.append("Dashed: clients per server for which nothing was published.")
    return notes


def describe(tables: Tables, anchors: Sequence[Anchor]) -> list[str]:
    """Describe the best predicted throughputs, and each published number with its prediction."""
    predicted = tables["brief_predicted"]
    most = predicted.groupby("servers")["qps"].transform("max")
    # Where a curve is flat, the last digits of its points depend on the order of sums.
    best = predicted[predicted["qps"] >= (1 - _FLAT) * most].sort_values("clients")
    best = best.groupby("servers").head(1).sort_values("servers")
    each = [
        f"{formatting.plain(row.qps)} with {row.servers} at "
        f"{formatting.count(row.clients, 'client')}"
        for row in best.itertuples()
    ]
    words = [
        "Throughput (queries/s) and latency (ms) of the brief's server against clients, predicted "
        f"from its published numbers. The best throughputs are {formatting.listed(each)}."
    ]
    for anchor in anchors:
        column = "qps" if anchor.unit == QPS.unit else "latency_p95_ms"
        here = predicted["servers"].eq(anchor.servers) & predicted["clients"].eq(anchor.clients)
        if here.any():
            words.append(
                f"With {formatting.count(anchor.servers, 'server')} and "
                f"{formatting.count(anchor.clients, 'client')}: published "
                f"{published_panel.words(anchor)}, predicted "
                f"{formatting.plain(float(predicted.loc[here, column].iloc[0]))}."
            )
    return words


def _lines(ax: Axes, predicted: pd.DataFrame, column: str, width: float) -> None:
    for servers, line in predicted.groupby("servers"):
        line = line.sort_values("clients")
        shade = style.colour(int(servers))
        inside = line[column].where(line["extrapolated"] == "")
        ax.plot(line["clients"], line[column], color=shade, ls=(0, (2, 1.5)), lw=0.7 * width)
        ax.plot(line["clients"], inside, color=shade, lw=width, zorder=3)
        if column == "qps":
            ax.plot(line["clients"], line[column], ls="", marker=style.marker(int(servers)),
                    color=shade, ms=4, zorder=3)  # fmt: skip


def _at_published(predicted: pd.DataFrame, anchors: Sequence[Anchor]) -> pd.DataFrame:
    """Return the predictions of the points whose p95 was published."""
    places = [(a.servers, a.clients) for a in anchors if a.unit == _LATENCY.unit]
    return predicted[predicted.set_index(["servers", "clients"]).index.isin(places)]


def _marks(ax: Axes, p95: pd.DataFrame) -> None:
    for row in p95.itertuples():
        twins = sorted(p95.loc[p95["clients"] == row.clients, "servers"])
        x = row.clients * published_panel.aside(twins.index(row.servers), len(twins), _ASIDE)
        shade = style.colour(row.servers)
        ax.plot(x, row.latency_p95_ms, color=shade, marker=style.marker(row.servers), ms=6.5,
                mec=style.INK, mew=0.6, zorder=5)  # fmt: skip


def _published(ax: Axes, anchors: Sequence[Anchor]) -> None:
    for anchor in anchors:
        twins = sorted({a.servers for a in anchors if a.clients == anchor.clients})
        aside = published_panel.aside(twins.index(anchor.servers), len(twins), _ASIDE)
        published_panel.mark(ax, anchor, anchor.clients * aside)
