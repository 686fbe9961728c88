"""OLTP read/write and its variations: the ratios of the contrasts, and transactions by servers."""

from __future__ import annotations

import pandas as pd

from ndblab.experiments.read_write import TRANSACTION_QUERIES, lookups
from ndblab.experiments.read_write import analysis as variations
from ndblab.experiments.read_write.analysis import LOOKUPS, SERVERS
from ndblab.figures import bars, curves, forest, sheet, style
from ndblab.figures.entry import Anchors, Caption, Entry, Figure, Head, Tables
from ndblab.figures.quantity import Quantity
from ndblab.formatting import count, in_sentences, listed, plain
from ndblab.statistics import intervals

TPS = Quantity("tps", "Throughput", "transactions/s", style.THROUGHPUT)


def paint(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw the ratio of each contrast, and below keys by length of a list and transactions."""
    runs = variations.transactions(tables["runs"])
    ratios = _ratios(tables)
    lower = forest.leading(figure, ratios, "Keys looked up or transactions per second, ratio")
    means = intervals.means(runs, ["servers", "clients"], TPS.metric)
    looks, lists = style.servers(means["servers"]), _lists(tables)
    *of_lists, of_servers = sheet.panels(lower, 2 if len(lists) else 1)
    for ax in of_lists:
        bars.draw(ax, lists, "mean", "Keys looked up, keys/s")
    curves.against_clients(of_servers, means, TPS, "servers", looks)
    notes = [intervals.described(means["runs"])]
    notes.append(f"A transaction has {TRANSACTION_QUERIES} queries.")
    notes += ["Keys: at the best number of clients."] if len(lists) else []
    notes += forest.notes(ratios)
    return Head(_title(runs, tables), notes)


def describe(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe each ratio, and the peaks."""
    runs = variations.transactions(tables["runs"])
    ratios = _ratios(tables)
    peaks = [
        f"{plain(tps)} with {count(servers, 'server')}" for servers, tps in _peaks(runs).items()
    ]
    best = f"Best means in transactions/s: {listed(peaks)}."
    keys = [f"{plain(row.mean)} {row.name}" for row in _lists(tables).itertuples()]
    keys = in_sentences("Keys looked up per second", keys)
    return [f"{_title(runs, tables)}.", *keys, *forest.sentence(ratios), best]


def _lists(tables: Tables) -> pd.DataFrame:
    """Average the keys looked up per second, one by one and in lists of each length."""
    means = intervals.means(lookups.best(tables["runs"]), ["keys", "single"], "lookups_per_s")
    rows = means.sort_values(["single", "keys"], ascending=[False, True], ignore_index=True)
    names = [
        "one by one" if row.single else f"in lists of {row.keys:g}" for row in rows.itertuples()
    ]
    return rows.assign(name=names)


def _ratios(tables: Tables) -> pd.DataFrame:
    """Return the ratios of the contrasts, those of lists of keys first."""
    rows = variations.ratios(tables["slices"]).rename(columns={"compared": "name"})
    lists = rows["name"].str.startswith("lookups").astype(bool)
    return pd.concat([rows[lists], rows[~lists]], ignore_index=True)


def _peaks(runs: pd.DataFrame) -> dict[int, float]:
    """Return the best mean transactions/s by number of servers."""
    means = runs.groupby(["servers", "clients"])["tps"].mean()
    return {int(n): float(tps) for n, tps in means.groupby("servers").max().items()}


def _title(runs: pd.DataFrame, tables: Tables) -> str:
    """Say what lists of keys gain, or else a second server; without contrasts, the best rate."""
    rows = variations.ratios(tables["slices"])
    for name, said in (
        (LOOKUPS, "IN lists looked up {} times the keys of single selects"),
        (SERVERS, "2 servers gave {} times the transactions of 1"),
    ):
        for row in rows[rows["contrast"] == name].itertuples():
            doubt = " (within the error)" if row.low == row.low else " (no interval)"
            return said.format(plain(row.ratio)) + ("" if forest.is_clear(row) else doubt)
    servers, tps = max(_peaks(runs).items(), key=lambda peak: peak[1])
    return f"{count(servers, 'server')} gave {plain(tps)} transactions/s at best"


FIGURES = {
    "read-write": Entry(
        "What do more servers, filters and IN lists gain?",
        paint, describe, ("runs", "slices"), height_in=5.6, under_quotas=True,
    ),
}  # fmt: skip
