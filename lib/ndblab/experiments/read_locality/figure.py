"""Read locality: what each kind of table gains, and how far its reads stay near."""

from __future__ import annotations

import pandas as pd

from ndblab.error import MissingData
from ndblab.experiments.read_locality import analysis as shares
from ndblab.experiments.read_locality.analysis import (
    FULLY_REPLICATED,
    LOCAL,
    NEAR,
    PRIMARY_ONLY,
    READ_BACKUP,
)
from ndblab.figures import bars, forest, selection, sheet, style
from ndblab.figures.entry import Anchors, Caption, Entry, Figure, Head, Tables
from ndblab.figures.selection import DEFAULT, POINT_SELECT
from ndblab.formatting import in_sentences, moved, plain
from ndblab.planning.workload import READ_ONLY

_WORKLOADS = {POINT_SELECT: "Single lookups", READ_ONLY: "Transactions of ten lookups"}
_SHARES_IN, _ROW_IN, _ROOM, _FOLD = 2.0, 0.42, 1.3, "\n"
_NAMES = {
    PRIMARY_ONLY: "primary replica only",
    DEFAULT: "read backup, node not told",
    READ_BACKUP: "read backup",
    FULLY_REPLICATED: "fully replicated",
}
_SIDES = {
    READ_ONLY: {
        "fully-replicated": "Fully replicated\nover read backup",
        "read-backup": "Read backup\nover primary replica only",
        "domains": "Read backup over primary\nonly, with location domains",
    },
    POINT_SELECT: {
        "lookups-fully-replicated": "Fully replicated\nover read backup",
        "lookups-read-backup": "Read backup\nover primary replica only",
        "lookups-told": "Read backup, node told\nover node not told",
    },
}
"""What is compared in each contrast, by what its clients do."""
_SHARES = {
    NEAR: ("From the server's own node", "bytes", style.DATA_NODE),
    LOCAL: ("Local to the transaction", "rows", style.OTHER_DATA_NODE),
}


def paint(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw the shares by kind of table, and below what they do to throughput.

    Only one load is shown, transactions if they were measured; `describe` covers all.
    """
    table, ratios = _shares(tables), _ratios(tables)
    workload = _shown(table)
    mine, compared = table[table["workload"] == workload], ratios[ratios["workload"] == workload]
    upper, lower = figure.subfigures(2, height_ratios=(_SHARES_IN, 0.6 + _ROW_IN * len(compared)))
    panels = sheet.panels(upper, len(_SHARES))
    for (share, (title, unit, colour)), ax in zip(_SHARES.items(), panels, strict=True):
        texts = [f"{plain(percent)} %" for percent in mine[share]]
        bars.draw(ax, mine.assign(text=texts), share, f"Share of {unit}, %", colour)
        ax.set_title(title)
        ax.set_xlim(0, 100 * _ROOM)
        ax.set_xticks(range(0, 101, 25))
        if ax is not panels[0] and not sheet.is_tall(figure):
            ax.tick_params(labelleft=False)
    if len(compared):
        forest.draw(ax := lower.subplots(), compared, "Queries/s, ratio")
        ax.set_title("What that does to throughput")
    else:
        sheet.nothing(lower.subplots(), "no contrast was measured")
    notes = [f"{_WORKLOADS[workload]}. Each of four data nodes has a MySQL server of its own."]
    if compared["low"].isna().any():
        notes.append(forest.FEW_BLOCKS)
    return Head(_title(mine, compared), notes)


def describe(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe the ratios, and the shares of each kind of table."""
    table, ratios = _shares(tables), _ratios(tables)
    workload = _shown(table)
    mine, compared = (rows[rows["workload"] == workload] for rows in (table, ratios))
    words = [f"{_title(mine, compared)}."]
    for name, title in _WORKLOADS.items():
        phrases = [
            f"{row.name.replace(_FOLD, ' ')} {forest.words(row)}"
            for row in ratios[ratios["workload"] == name].itertuples()
        ]
        words += in_sentences(f"{title}, throughput", phrases)
    for workload, title in _WORKLOADS.items():
        mine = table[table["workload"] == workload]
        phrases = [
            f"{row.name}: {plain(row.near)} % of bytes from the server's own data node, "
            f"{plain(row.local)} % of rows local to the transaction"
            for row in mine.itertuples()
        ]
        words += in_sentences(title, phrases)
    return words


def _shown(table: pd.DataFrame) -> str:
    """Return the load that is shown: transactions, unless only lookups were measured."""
    return READ_ONLY if (table["workload"] == READ_ONLY).any() else POINT_SELECT


def _title(table: pd.DataFrame, ratios: pd.DataFrame) -> str:
    """Say how near the nearest kind of tables keeps reads, what that gains, and what to do."""
    near = table.set_index("variant")["near"]
    best = near.idxmax()
    title = (
        f"{_NAMES[best].capitalize()} tables: {plain(near.max())} % of bytes come from the "
        "server's own data node"
    )
    for row in ratios[ratios["contrast"].str.endswith(FULLY_REPLICATED)].itertuples():
        if row.low <= 1 <= row.high:
            # Its interval is beside the row below.
            title += (
                f"; that {moved(row.ratio, row.low, row.high, 'throughput').partition(' (')[0]}"
            )
        else:
            title += f", and {forest.gain(row, 'more', 'fewer')} queries/s than read backup"
    return title


def _ratios(tables: Tables) -> pd.DataFrame:
    slices, columns = tables.get("slices"), ["contrast", "name", "ratio", "low", "high"]
    parts = [
        (pd.DataFrame(columns=columns) if slices is None else forest.of_contrasts(slices, names))
        .assign(workload=workload)
        for workload, names in _SIDES.items()
    ]  # fmt: skip
    return pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)


def _shares(tables: Tables) -> pd.DataFrame:
    """Return the mean shares in percent, with `workload`, `variant` and `name`."""
    table = shares.of_variants(selection.good(tables["runs"]), tables["reads"])
    table = table[table["variant"].isin(_NAMES) & table[NEAR].notna()]
    if table.empty:
        raise MissingData("no run that tells where its reads were answered")
    table = table.assign(name=table["variant"].map(_NAMES))
    table[[LOCAL, NEAR]] *= 100
    order = list(_NAMES).index
    return table.sort_values("variant", key=lambda names: names.map(order), ignore_index=True)


FIGURES = {
    "read-locality": Entry(
        "Which settings keep reads on the nearest data node?",
        paint, describe, ("runs", "reads"), height_in=5.0,
    ),
}  # fmt: skip
