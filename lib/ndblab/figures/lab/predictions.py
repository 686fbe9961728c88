"""The lab's own figure of the capacity model: what it predicts, beside what was measured.

In: means of measured points, predictions with their intervals, simulated percentiles. Out: a
`Figure`, and the same in words. It predicts nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from ndblab.analysis import formatting
from ndblab.claims.publication import Anchor
from ndblab.error import LabError
from ndblab.figures import intervals, sheet, style
from ndblab.figures.quantity import P95, QPS, Quantity
from ndblab.figures.selection import Tables
from ndblab.figures.sheet import Caption

QUESTION = "How well does the sweep of one MySQL server foretell many?"
_HEIGHT_IN, _ABOVE_IN, _LEGEND_IN = 6.8, 1.0, 0.42
"""Of all figures of the model: a notebook that shows five of them is to stay small."""
_CLIENT_TICKS = tuple(8**i for i in range(6))


@dataclass(frozen=True)
class Row:
    """A row of panels: what is drawn, and the names of its prediction in the tables."""

    quantity: Quantity
    table: str

    def line(self, tables: Tables) -> pd.DataFrame:
        """Give the prediction with its ends, and whether it goes beyond the data."""
        metric = self.quantity.metric
        names = {metric: "value", f"{metric}_low": "low", f"{metric}_high": "high"}
        keys = ["servers", "clients"]
        table = tables[self.table][[*keys, *names]].rename(columns=names)
        return table.merge(tables["predicted"][[*keys, "extrapolated"]], on=keys)


ROWS = (
    Row(replace(QPS, log=True), "predicted"),
    Row(replace(P95, name="p95 latency"), "simulated"),
)


def draw(tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> Figure:
    """Draw predicted lines through measured marks, a column for each number of servers.

    Raises
    ------
    LabError
        If the tables hold no predictions.
    """
    check(tables, "points", "predicted", "simulated")
    points = tables["points"]
    counts = sorted(int(n) for n in points["servers"].unique())
    with sheet.page(QUESTION, _HEIGHT_IN) as figure:
        columns = [1.0] * len(counts)
        grid = sheet.panels(figure, 2, columns, wspace=0.1, above_in=_ABOVE_IN)
        figure.subplots_adjust(hspace=0.12)
        for row, axes in zip(ROWS, grid, strict=True):
            line = row.line(tables)
            for ax, servers in zip(axes, counts, strict=True):
                own, measured = (t[t["servers"] == servers] for t in (line, points))
                _panel(ax, row.quantity, servers, own.sort_values("clients"), measured)
            _one_scale(axes, row.quantity, line, points)
        for ax, servers in zip(grid[0], counts, strict=True):
            ax.set_title(formatting.count(servers, "server"), pad=6)
            ax.set_xlabel("")
            ax.tick_params(labelbottom=False)
        _legend(figure)
        beyond = bool((tables["predicted"]["extrapolated"] != "").any())
        sheet.sign(figure, caption, _notes(points, beyond))
    return figure


def describe(tables: Tables, anchors: Sequence[Anchor]) -> str:
    """Say for each number of servers what was measured and predicted where it did best."""
    check(tables, "points", "predicted", "simulated")
    points = tables["points"]
    keys = ["servers", "clients"]
    best = points.loc[points.groupby("servers")["qps_mean"].idxmax()]
    both = best.merge(tables["predicted"][[*keys, "qps"]], on=keys)
    both = both.merge(tables["simulated"][[*keys, "latency_p95_ms"]], on=keys)
    counts = formatting.listed(str(n) for n in both["servers"])
    said = [
        "Throughput (queries/s) and 95th percentile latency (ms) against clients, lines predicted "
        f"from the runs with one MySQL server and marks measured, a column each for {counts} "
        "MySQL servers. At the best measured mean:"
    ]
    for row in both.itertuples():
        said.append(
            f"with {row.servers} at {formatting.count(row.clients, 'client')} "
            f"{formatting.plain(row.qps_mean)} queries/s measured and {formatting.plain(row.qps)} predicted, "
            f"p95 {formatting.plain(row.latency_p95_ms_mean)} ms measured and "
            f"{formatting.plain(row.latency_p95_ms)} predicted;"
        )
    return " ".join(said).removesuffix(";") + "."


def check(tables: Tables, *names: str) -> None:
    """Refuse tables of a dataset, in which there are no predictions.

    Raises
    ------
    LabError
        If a table is missing or empty.
    """
    lacking = [name for name in names if name not in tables or tables[name].empty]
    if lacking:
        raise LabError(
            "The figure has no predictions to draw",
            found=f"no table {formatting.listed(lacking)}",
            expected="the tables of a forecast: no dataset has them",
            next_step="Draw it with ./lab reproduce --experiment capacity-model --recorded.",
        )


def keyed(figure: Figure, handles: Sequence[object], columns: int = 3) -> None:
    """Put one legend for all panels between the question and them."""
    top = 1 - _LEGEND_IN / figure.get_figheight()
    place = {"loc": "upper left", "bbox_to_anchor": (0.008, top), "borderaxespad": 0.0}
    figure.legend(handles=list(handles), ncols=columns, fontsize=8, columnspacing=1.6, **place)


def within(ax: Axes) -> None:
    """Keep the ticks that are on the axes: beside narrow panels others would be written outside."""
    for axis, (low, high) in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        axis.set_ticks([value for value in axis.get_majorticklocs() if low <= value <= high])


def marks(ax: Axes, x: pd.Series, table: pd.DataFrame, metric: str, **look: object) -> None:
    """Draw measured means, hollow, with their spread as whiskers where it is known."""
    mean = table[f"{metric}_mean"]
    if f"{metric}_low" in table:
        low, high = table[f"{metric}_low"], table[f"{metric}_high"]
        known = low.notna() & (low > 0)
        ends = [(mean - low)[known], (high - mean)[known]]
        ax.errorbar(
            x[known], mean[known], ends, fmt="none", ecolor=style.INK, elinewidth=0.9,
            capsize=2, zorder=4,
        )  # fmt: skip
    shown = {"ls": "", "mfc": "white", "mec": style.INK, "mew": 1.0, "ms": 4.8, "zorder": 5}
    ax.plot(x, mean, **{**shown, **look})


def _panel(
    ax: Axes, quantity: Quantity, servers: int, line: pd.DataFrame, measured: pd.DataFrame
) -> None:
    shade = style.colour(servers)
    ax.fill_between(line["clients"], line["low"], line["high"], color=shade, alpha=0.28, lw=0)
    inside = line["value"].where(line["extrapolated"] == "")
    ax.plot(line["clients"], line["value"], color=shade, ls=(0, (2, 1.5)), lw=1.2, zorder=3)
    ax.plot(line["clients"], inside, color=shade, zorder=3)
    marks(ax, measured["clients"], measured, quantity.metric, marker=style.marker(servers))


def _one_scale(
    axes: Sequence[Axes], quantity: Quantity, line: pd.DataFrame, points: pd.DataFrame
) -> None:
    """Give the panels of a row the same axes, so that they compare."""
    values = pd.concat([line["value"], points[f"{quantity.metric}_mean"]])
    reach = points["clients"].min(), points["clients"].max()
    for ax in axes:
        quantity.against_clients(ax, points["clients"], values.max())
        ax.set_xticks([n for n in _CLIENT_TICKS if reach[0] <= n <= reach[1]])
        ax.set_ylim(values.min() / 1.5, values.max() * 1.5)
        within(ax)
    for ax in axes[1:]:
        ax.set_ylabel("")
        ax.tick_params(labelleft=False)


def _legend(figure: Figure) -> None:
    hollow = {"marker": "o", "ls": "", "mfc": "white", "mec": style.INK}
    handles = [
        Line2D([], [], color=style.QUIET, label="predicted from one server"),
        Patch(color=style.QUIET, alpha=0.28, label="where 95 % are expected"),
        Line2D([], [], label="measured mean", **hollow),
    ]
    keyed(figure, handles)


def _notes(points: pd.DataFrame, beyond: bool) -> list[str]:
    notes = [
        intervals.told(points["runs"], "Marks", "whiskers"),
        "Lines know the runs with one server of the fitted dataset, and nothing else. Bands: 95 % "
        "of single runs for throughput, for p95 what the simulation knows it to.",
    ]
    notes += ["Dashed: more clients for each server than were measured."] if beyond else []
    return notes
