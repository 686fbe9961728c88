"""Read locality: what each kind of table gains, and how far its reads stay near."""

from __future__ import annotations

import pandas as pd
import seaborn.objects as so

from ndblab.error import MissingData
from ndblab.experiments.read_locality import analysis as shares
from ndblab.experiments.read_locality.analysis import (
    FULLY_REPLICATED,
    LOCAL,
    NEAR,
    PRIMARY_ONLY,
    READ_BACKUP,
)
from ndblab.figures import forest, selection, sheet, style
from ndblab.figures.entry import Anchors, Caption, Entry, Figure, Head, Tables
from ndblab.figures.selection import DEFAULT, POINT_SELECT
from ndblab.formatting import plain
from ndblab.judging.answer import in_sentences
from ndblab.planning.workload import READ_ONLY

_WORKLOADS = {POINT_SELECT: "Single lookups", READ_ONLY: "Transactions of ten lookups"}
_NAMES = {
    PRIMARY_ONLY: "primary replica only",
    DEFAULT: "read backup, node not told",
    READ_BACKUP: "read backup",
    FULLY_REPLICATED: "fully replicated",
}
_SIDES = {
    "fully-replicated": "fully replicated over read backup, of ten",
    "read-backup": "read backup over primary only, of ten",
    "domains": "domains: read backup over primary only, of ten",
    "lookups-fully-replicated": "fully replicated over read backup, single",
    "lookups-read-backup": "read backup over primary only, single",
    "lookups-told": "read backup, node told over not told, single",
}
"""What is compared in each contrast, in transactions of ten lookups or in single ones."""
_SHARES = {
    NEAR: ("bytes from own data node", style.DATA_NODE),
    LOCAL: ("rows local to transaction", style.OTHER_DATA_NODE),
}


def paint(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw the ratios of the contrasts, and below the shares by kind of table."""
    table, ratios = _shares(tables), _ratios(tables)
    lower = forest.leading(figure, ratios, "Throughput, ratio")
    panels = sheet.panels(lower, len(_WORKLOADS), sharey=True)
    for (workload, title), ax in zip(_WORKLOADS.items(), panels, strict=True):
        mine = table[table["workload"] == workload]
        long = mine.melt("name", list(_SHARES), "share", "percent")
        (
            style.plot(long, y="name", x="percent", color="share")
            .add(so.Bar(alpha=1, width=0.8), so.Dodge(), legend=False)
            .scale(color={share: colour for share, (_, colour) in _SHARES.items()})
            .label(x="Share, %", y="")
            .on(ax)
            .plot()
        )
        ax.set_title(title)
        ax.set_xlim(0, 100)
        ax.tick_params(axis="y", length=0)
        ax.label_outer()
    keys = [ax.barh(0, 0, color=colour, label=words) for words, colour in _SHARES.values()]
    lower.legend(handles=keys, loc="outside upper right", ncols=1 if sheet.is_tall(lower) else 2)
    notes = [
        "Means of all runs. Each of four data nodes, in two node groups, has a MySQL server of its "
        "own."
    ]
    if ratios["low"].isna().any():
        notes.append("A contrast of fewer than 4 blocks has no interval.")
    return Head(_title(table, ratios), notes)


def describe(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe the ratios, and the shares of each kind of table."""
    table, ratios = _shares(tables), _ratios(tables)
    words = [f"{_title(table, ratios)}.", *forest.sentence(ratios)]
    for workload, title in _WORKLOADS.items():
        mine = table[table["workload"] == workload]
        each = [
            f"{row.name}: {plain(row.near)} % of bytes from the server's own data node, "
            f"{plain(row.local)} % of rows local to the transaction"
            for row in mine.itertuples()
        ]
        words += in_sentences(title, each)
    return words


def _title(table: pd.DataFrame, ratios: pd.DataFrame) -> str:
    """Say how near the kinds of tables keep reads, and what the nearest gains."""
    near = table.groupby("variant", sort=False)["near"].max()
    title = f"{_NAMES[near.idxmax()].capitalize()} tables read {near.max():.0f} % of bytes near"
    gain = ratios[ratios["contrast"] == "fully-replicated"]
    for row in gain.itertuples():
        title += f", with {forest.gain(row, 'more', 'fewer')} queries/s than read backup"
    return title


def _ratios(tables: Tables) -> pd.DataFrame:
    slices = tables.get("slices")
    if slices is None:
        return pd.DataFrame(columns=["contrast", "name", "ratio", "low", "high"])
    return forest.of_contrasts(slices, _SIDES)


def _shares(tables: Tables) -> pd.DataFrame:
    """Return the mean shares in percent, with `workload`, `variant` and `name`."""
    table = shares.of_variants(selection.good(tables["runs"]), tables["reads"])
    table = table[table["variant"].isin(_NAMES) & table[NEAR].notna()]
    if table.empty:
        raise MissingData("no run that tells where its reads were answered")
    table = table.assign(name=table["variant"].map(_NAMES))
    table[[LOCAL, NEAR]] *= 100
    place = {variant: place for place, variant in enumerate(_NAMES)}
    return table.sort_values("variant", key=lambda names: names.map(place), ignore_index=True)


FIGURES = {
    "read-locality": Entry(
        "How far do reads stay on the data node that is near?",
        paint, describe, ("runs", "reads"), height_in=5.0,
    ),
}  # fmt: skip
