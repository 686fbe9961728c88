"""TPC-C: the ratios of the contrasts, and transactions by servers and by partitioning.

Inconsistent runs have failed and are not drawn.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from ndblab.error import MissingData
from ndblab.experiments.tpc_c import analysis as loads
from ndblab.experiments.tpc_c.analysis import BY_KEY, BY_WAREHOUSE
from ndblab.figures import curves, forest, intervals, selection, style
from ndblab.figures.entry import Entry
from ndblab.figures.quantity import Quantity
from ndblab.figures.selection import Tables
from ndblab.figures.sheet import Caption, Head
from ndblab.figures.style import Look
from ndblab.formatting import count, plain
from ndblab.judging.publication import Anchor

TPS = Quantity("tps", "Throughput", "transactions/s", style.THROUGHPUT)
WAYS = {
    BY_WAREHOUSE: Look("by warehouse", style.THROUGHPUT),
    BY_KEY: Look("by whole key", style.ORANGE, "s", "--"),
}
"""Ways of partitioning, by variant."""
_SHARES = {"local": "rows read locally", "pruned": "scans of one partition",
           "failed": "transactions failed"}  # fmt: skip


def paint(figure: Figure, tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> Head:
    """Draw the ratios, and below throughput by servers and by partitioning."""
    runs, ratios = _runs(tables), _ratios(tables)
    lower = forest.leading(figure, ratios, "Ratio, of transactions/s unless said otherwise")
    left, right = lower.subplots(1, 2, sharey=True)
    plain_runs = runs[runs["variant"] == BY_WAREHOUSE]
    means = intervals.means(plain_runs, ["servers", "clients"], "tps")
    if len(means):
        curves.against_clients(left, means, TPS, "servers", style.servers(means["servers"]))
    left.set_title("By warehouse")
    most = int(runs["servers"].max())
    means = intervals.means(runs[runs["servers"] == most], ["variant", "clients"], "tps")
    curves.against_clients(right, means, TPS, "variant", WAYS)
    right.set_title(f"Two ways of partitioning, {count(most, 'server')}")
    right.set_ylabel("")
    right.set_ylim(0, 1.4 * runs.groupby(["variant", "servers", "clients"])["tps"].mean().max())
    counts = runs.groupby(["variant", "servers", "clients"]).size()
    notes = [intervals.described(counts), "All rows were checked after each run."]
    return Head(_title(runs, ratios), notes)


def describe(tables: Tables, anchors: Sequence[Anchor]) -> list[str]:
    """Describe each ratio, each way of partitioning, and the best throughput."""
    runs, ratios = _runs(tables), _ratios(tables)
    words = [f"{_title(runs, ratios)}."]
    said = [f"{row.name} {forest.words(row)}" for row in ratios.itertuples()]
    words += [f"Ratios: {'; '.join(said)}."] if said else []
    means = runs.groupby(["variant", "servers", "clients"])["tps"].mean()
    each = [
        f"{plain(tps)} {WAYS[variant].label} with {count(servers, 'server')} and "
        f"{count(clients, 'client')}"
        for (variant, servers, clients), tps in means.items()
        if variant in WAYS
    ]
    words.append(f"Transactions per second: {'; '.join(each)}.")
    top = runs[runs["servers"] == runs["servers"].max()]
    top = top[top["clients"] == top["clients"].max()]
    for variant, row in top.groupby("variant")[[f"{s}_share" for s in _SHARES]].mean().iterrows():
        parts = [f"{_percent(row[f'{s}_share'])} {what}" for s, what in _SHARES.items()]
        words.append(f"{WAYS[variant].label.capitalize()}: {', '.join(parts)}.")
    return words


def _runs(tables: Tables) -> pd.DataFrame:
    """Return the good runs; LabError if there is none."""
    try:
        return loads.runs(tables)
    except MissingData as missing:
        wrong = loads.inconsistent(tables)
        raise selection.nothing_to_draw(wrong[0] if wrong else str(missing)) from None


def _ratios(tables: Tables) -> pd.DataFrame:
    table = loads.ratios(tables)
    of_cpu = table["quantity"] != "transactions/s"
    names = table["compared"].where(~of_cpu, "likewise, node CPU per transaction")
    return table.assign(name=names, of_cpu=of_cpu)


def _title(runs: pd.DataFrame, ratios: pd.DataFrame) -> str:
    """Say what partitioning and more servers gain; without contrasts, the best throughput."""
    rows = ratios[~ratios["of_cpu"].astype(bool)].itertuples()
    said = [
        f"{row.compared} {forest.change(row.ratio)}"
        + ("" if forest.is_clear(row) else " (within the error)")
        for place, row in enumerate(rows)
        if place == 0 or forest.is_clear(row)
    ]
    if said:
        return f"Transactions/s: {'; '.join(said)}"
    means = runs.groupby(["servers", "clients"])["tps"].mean()
    return f"{count(means.idxmax()[0], 'server')} gave {plain(means.max())} transactions/s at best"


def _percent(share: float) -> str:
    return "an unknown share of" if share != share else f"{plain(round(100 * share, 1))} %"


FIGURES = {
    "tpc-c": Entry(
        "What do transactions gain from partitioning and more servers?",
        paint, describe,
        ("runs", "slices", "processes", "transactions", "aborts", "locality"), height_in=4.8,
    ),
}  # fmt: skip
