"""OLTP read/write and its variations: the ratios of the contrasts, and transactions by servers."""

from __future__ import annotations

from ndblab.experiments.read_write import TRANSACTION_QUERIES
from ndblab.experiments.read_write import analysis as variations
from ndblab.experiments.read_write.analysis import LOOKUPS, SERVERS, Variations
from ndblab.figures import curves, forest, intervals, style
from ndblab.figures.entry import Anchors, Caption, Entry, Figure, Head, Tables
from ndblab.figures.quantity import Quantity
from ndblab.formatting import count, listed, plain

TPS = Quantity("tps", "Throughput", "transactions/s", style.THROUGHPUT)


def paint(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw the ratio of each contrast, and below transactions by servers and clients."""
    parts = variations.of(tables)
    ratios = variations.ratios(tables["slices"]).rename(columns={"compared": "name"})
    lower = forest.leading(figure, ratios, "Rate of transactions or of keys looked up, ratio")
    means = intervals.means(parts.plain, ["servers", "clients"], TPS.metric)
    looks = style.servers(means["servers"])
    curves.against_clients(lower.subplots(), means, TPS, "servers", looks)
    notes = [intervals.described(means["runs"])]
    notes.append(f"A transaction has {TRANSACTION_QUERIES} queries.")
    notes += ["Ratios: intervals hold at all looks together."] if len(ratios) else []
    return Head(_title(parts, tables), notes)


def describe(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe each ratio, and the peaks."""
    parts = variations.of(tables)
    ratios = variations.ratios(tables["slices"]).rename(columns={"compared": "name"})
    each = [
        f"{plain(tps)} with {count(servers, 'server')}" for servers, tps in _peaks(parts).items()
    ]
    best = f"Best means in transactions/s: {listed(each)}."
    return [f"{_title(parts, tables)}.", *forest.sentence(ratios), best]


def _peaks(parts: Variations) -> dict[int, float]:
    """Return the best mean transactions/s by number of servers."""
    means = parts.plain.groupby(["servers", "clients"])["tps"].mean()
    return {int(n): float(tps) for n, tps in means.groupby("servers").max().items()}


def _title(parts: Variations, tables: Tables) -> str:
    """Say what lists of keys and a second server gain; without contrasts, the best throughput."""
    ratios = variations.ratios(tables["slices"]).set_index("contrast")["ratio"]
    said = []
    if LOOKUPS in ratios:
        said.append(f"IN lists looked up {plain(ratios[LOOKUPS])} times the keys of single selects")
    if SERVERS in ratios:
        said.append(f"2 servers gave {plain(ratios[SERVERS])} times the transactions of 1")
    if said:
        return "; ".join(said)
    servers, tps = max(_peaks(parts).items(), key=lambda peak: peak[1])
    return f"{count(servers, 'server')} gave {plain(tps)} transactions/s at best"


FIGURES = {
    "read-write": Entry(
        "What do read/write transactions, filters and IN lists carry?",
        paint, describe, ("runs", "slices", "processes"), height_in=5.6,
    ),
}  # fmt: skip
