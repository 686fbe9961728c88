"""TPC-C: the ratios of the contrasts, and transactions by servers and by partitioning.

Inconsistent runs have failed and are not drawn.
"""

from __future__ import annotations

import pandas as pd

from ndblab.error import MissingData
from ndblab.experiments.tpc_c import analysis as loads
from ndblab.experiments.tpc_c.analysis import BY_KEY, BY_WAREHOUSE
from ndblab.figures import curves, forest, sheet, style
from ndblab.figures.entry import Anchors, Caption, Entry, Figure, Head, Tables
from ndblab.figures.quantity import Quantity
from ndblab.figures.style import Look
from ndblab.formatting import count, in_sentences, moved, plain
from ndblab.statistics import intervals

TPS = Quantity("tps", "Throughput", "transactions/s", style.THROUGHPUT)
WAYS = {
    BY_WAREHOUSE: Look("by warehouse", style.THROUGHPUT),
    BY_KEY: Look("by whole key", style.ORANGE, "s", "--"),
}
"""Ways of partitioning, by variant."""
_QUOTAS = "Servers and data nodes have CPU quotas, which decide what more servers gain."


def paint(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw the ratios, and below throughput by servers and by partitioning."""
    runs, ratios = _runs(tables), _ratios(tables)
    lower = forest.leading(figure, ratios, "Transactions/s unless the row says otherwise, ratio")
    left, right = sheet.panels(lower, 2, sharey=True)
    plain_runs = runs[runs["variant"] == BY_WAREHOUSE]
    means = intervals.means(plain_runs, ["servers", "clients"], "tps")
    most = int(runs["servers"].max())
    ways = intervals.means(runs[runs["servers"] == most], ["variant", "clients"], "tps")
    if len(means):
        looks = style.servers(means["servers"])
        curves.against_clients(left, means, TPS, "servers", looks, beside=[ways])
    left.set_title("By warehouse")
    curves.against_clients(right, ways, TPS, "variant", WAYS, beside=[means])
    right.set_title(f"Two ways of partitioning, {count(most, 'server')}")
    right.set_ylabel("")
    counts = runs.groupby(["variant", "servers", "clients"]).size()
    notes = forest.notes(ratios)
    notes += [intervals.described(counts), "All rows were checked after each run."]
    notes += [_QUOTAS] if caption.is_scaled else []
    return Head(_title(runs, ratios), notes)


def describe(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe each ratio, each way of partitioning, and the best throughput."""
    runs, ratios = _runs(tables), _ratios(tables)
    means = runs[runs["variant"].isin(WAYS)].groupby(["variant", "servers", "clients"])["tps"]
    phrases = [
        f"{plain(tps)} {WAYS[variant].label} with {count(servers, 'server')} and "
        f"{count(clients, 'client')}"
        for (variant, servers, clients), tps in means.mean().items()
    ]
    per_second = in_sentences("Transactions per second", phrases)
    return [f"{_title(runs, ratios)}.", *forest.sentence(ratios), *per_second]


def _runs(tables: Tables) -> pd.DataFrame:
    """Return the good runs; MissingData if there is none."""
    try:
        return loads.runs(tables)
    except MissingData as missing:
        raise MissingData(*loads.inconsistent(tables)[:1] or missing.args) from None


def _ratios(tables: Tables) -> pd.DataFrame:
    table = loads.ratios(tables)
    of_cpu = table["quantity"] != "transactions/s"
    names = table["compared"].where(~of_cpu, "data nodes' CPU per transaction, likewise")
    return table.assign(name=names, of_cpu=of_cpu)


def _title(runs: pd.DataFrame, ratios: pd.DataFrame) -> str:
    """Say what partitioning gave, or else the best throughput: quotas may decide on servers."""
    rates = ratios[~ratios["of_cpu"].astype(bool)]
    for row in rates[rates["contrast"] == loads.PARTITIONING].itertuples():
        did = moved(row.ratio, row.low, row.high, "transactions/s of TPC-C")
        return f"Partitioning by warehouse {did}"
    means = runs.groupby(["servers", "clients"])["tps"].mean()
    servers = count(means.idxmax()[0], "server")
    return f"{servers} gave {plain(means.max())} transactions/s of TPC-C at best"


FIGURES = {
    "tpc-c": Entry(
        "What do transactions gain from partitioning and more servers?",
        paint, describe,
        ("runs", "slices", "processes", "transactions", "aborts", "locality"), height_in=4.8,
        under_quotas=True,
    ),
}  # fmt: skip
