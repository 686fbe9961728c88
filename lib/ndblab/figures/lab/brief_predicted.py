"""The lab's own figure of the brief's server: Figures 6 and 7 as the capacity model expects them.

In: predictions made of published numbers, and the published numbers that they are held against.
Out: a `Figure`, and the same in words. Nothing in it was measured by the lab.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ndblab.analysis import formatting
from ndblab.claims.publication import Anchor
from ndblab.figures import published, sheet, style
from ndblab.figures.lab import predictions
from ndblab.figures.quantity import P95, QPS
from ndblab.figures.selection import Tables
from ndblab.figures.sheet import Caption

QUESTION = "What does the model expect of the brief's own server?"
_FLAT = 1e-6
_HEIGHT_IN, _ABOVE_IN = 6.0, 1.0
_LATENCY = replace(P95, name="Latency")
_ASIDE = 1.16
"""Factor between marks of one place."""


def draw(tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> Figure:
    """Draw throughput and latency against clients, with what was published of them.

    Raises
    ------
    LabError
        If the tables hold no predictions.
    """
    predictions.check(tables, "brief_predicted", "brief_simulated")
    predicted, simulated = tables["brief_predicted"], tables["brief_simulated"]
    counts = sorted(int(n) for n in predicted["servers"].unique())
    with sheet.page(QUESTION, _HEIGHT_IN) as figure:
        [[qps, latency]] = sheet.panels(figure, columns=(1, 1), wspace=0.24, above_in=_ABOVE_IN)
        _lines(qps, predicted, "qps", "-", 1.8)
        _lines(latency, predicted, "latency_avg_ms", "-", 1.0)
        _simulated(latency, simulated)
        of_qps = [a for a in anchors if a.unit == QPS.unit]
        of_p95 = [a for a in anchors if a.unit == P95.unit]
        QPS.against_clients(qps, predicted["clients"], predicted["qps"].max())
        _LATENCY.against_clients(latency, predicted["clients"], predicted["latency_avg_ms"].max())
        values = [*predicted["latency_avg_ms"], *simulated["latency_p95_ms"]]
        values += [a.value for a in of_p95]
        latency.set_ylim(min(values) / 1.6, max(values) * 2.2)
        highest = max([*predicted["qps"], *(a.value for a in of_qps)])
        qps.set_ylim(0, highest * 1.2)
        for ax, own in ((qps, of_qps), (latency, of_p95)):
            _published(ax, own)
            predictions.within(ax)
        qps.set_title("Throughput")
        latency.set_title("Mean latency (lines) and p95 (marks)")
        handles = [
            Line2D([], [], color=style.colour(n), marker=style.marker(n),
                   label=formatting.count(n, "server"))
            for n in counts
        ]  # fmt: skip
        handles.append(Line2D([], [], ls="", marker="*", ms=11, mfc="white", mec=style.INK,
                              label="published; bars: bounds"))  # fmt: skip
        predictions.keyed(figure, handles, columns=len(handles))
        sheet.sign(figure, caption, _notes(predicted))
    return figure


def describe(tables: Tables, anchors: Sequence[Anchor]) -> str:
    """Say each published number beside what the model expects there, and the best throughputs."""
    predictions.check(tables, "brief_predicted", "brief_simulated")
    predicted, simulated = tables["brief_predicted"], tables["brief_simulated"]
    most = predicted.groupby("servers")["qps"].transform("max")
    # Where a curve is flat, the last digits of its points depend on the order of sums.
    best = predicted[predicted["qps"] >= (1 - _FLAT) * most].sort_values("clients")
    best = best.groupby("servers").head(1).sort_values("servers")
    each = [
        f"{formatting.plain(row.qps)} with {row.servers} at {formatting.count(row.clients, 'client')}"
        for row in best.itertuples()
    ]
    said = [
        "Throughput (queries/s) and latency (ms) of the brief's server against clients, expected "
        f"of its published numbers. The best throughputs are {formatting.listed(each)}."
    ]
    for anchor in anchors:
        table, column = (
            (predicted, "qps") if anchor.unit == QPS.unit else (simulated, "latency_p95_ms")
        )
        here = (table["servers"] == anchor.servers) & (table["clients"] == anchor.clients)
        if here.any():
            expected = formatting.plain(float(table.loc[here, column].iloc[0]))
            said.append(
                f"With {formatting.count(anchor.servers, 'server')} and "
                f"{formatting.count(anchor.clients, 'client')}: published {published.words(anchor)}, "
                f"expected {expected}."
            )
    return " ".join(said)


def _lines(ax: Axes, predicted: pd.DataFrame, column: str, dashes: str, width: float) -> None:
    for servers, line in predicted.groupby("servers"):
        line = line.sort_values("clients")
        shade = style.colour(int(servers))
        inside = line[column].where(line["extrapolated"] == "")
        ax.plot(line["clients"], line[column], color=shade, ls=(0, (2, 1.5)), lw=0.7 * width)
        ax.plot(line["clients"], inside, color=shade, ls=dashes, lw=width, zorder=3)
        if column == "qps":
            ax.plot(line["clients"], line[column], ls="", marker=style.marker(int(servers)),
                    color=shade, ms=4, zorder=3)  # fmt: skip


def _simulated(ax: Axes, simulated: pd.DataFrame) -> None:
    for (_, clients), row in simulated.set_index(["servers", "clients"], drop=False).iterrows():
        servers = int(row["servers"])
        x = clients * _aside(simulated, row)
        low, high = row["latency_p95_ms_low"], row["latency_p95_ms_high"]
        shade = style.colour(servers)
        ax.plot([x, x], [low, high], color=shade, lw=1.2, zorder=4)
        ax.plot(x, row["latency_p95_ms"], color=shade, marker=style.marker(servers), ms=6.5,
                mec=style.INK, mew=0.6, zorder=5)  # fmt: skip


def _aside(simulated: pd.DataFrame, row: pd.Series) -> float:
    """Give a factor that keeps marks with the same clients apart."""
    twins = sorted(simulated.loc[simulated["clients"] == row["clients"], "servers"])
    return _ASIDE ** (2 * twins.index(row["servers"]) - len(twins) + 1)


def _published(ax: Axes, anchors: Sequence[Anchor]) -> None:
    for anchor in anchors:
        twins = sorted({a.servers for a in anchors if a.clients == anchor.clients})
        aside = _ASIDE ** (2 * twins.index(anchor.servers) - len(twins) + 1)
        published.mark(ax, anchor, anchor.clients * aside)


def _notes(predicted: pd.DataFrame) -> list[str]:
    notes = [
        "Made of Figures 4, 5 and 9 and the throughput of Figure 1 alone, so that the peak of one "
        "server is no test; no run of the lab is in it. Marks with an edge: p95, simulated, with "
        "what the simulation knows it to. An arrow points to where a published bound allows it.",
    ]
    if (predicted["extrapolated"] != "").any():
        notes.append("Dashed: numbers of clients for each server of which nothing was published.")
    return notes
