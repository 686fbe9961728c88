"""Comparisons of kinds of runs: two variants, or two transporters.

Ratios are those of contrasts, measured close together, and of runs with the same repeat, clients
and workload.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.figure import FigureBase

from ndblab.error import MissingData
from ndblab.figures import curves, forest, published, sheet
from ndblab.figures.entry import Anchors, Caption, Entry, Figure, Head, Tables
from ndblab.figures.quantity import QPS
from ndblab.figures.style import Look
from ndblab.formatting import OPEN, listed
from ndblab.statistics import blocks, contrasts, intervals, ratio_tables, summary

_WORKLOADS = {"oltp_point_select": "point selects", "oltp_read_write": "read/write"}
_ROW_IN, _AROUND_IN, _CURVES_IN = 0.2, 3.9, 3.6
_MOST_CLEAR = 2
"""Clear ratios of a workload that a title has room for."""


@dataclass(frozen=True)
class Kind:
    """One side of a comparison."""

    name: str
    transporter: str
    variant: str
    colour: str
    marker: str = "o"

    def of(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the runs or slices of this kind."""
        mine = table["transporter"].astype(str) == self.transporter
        return table[mine & (table["variant"].astype(str) == self.variant)]


@dataclass(frozen=True)
class Comparison:
    """The kinds that are compared, and the one that all are divided by.

    With `is_pooled`, claims on it take all recordings together, and the figure shows one of them.
    """

    over: Kind
    kinds: tuple[Kind, ...]
    scaled_note: str
    is_pooled: bool = False


def entry(question: str, kinds: Comparison) -> Entry:
    """Return the figure of a comparison of variants."""
    return Entry(question, partial(paint, kinds), partial(describe, kinds), under_quotas=True)


def paint(
    comparison: Comparison, figure: Figure, tables: Tables, anchors: Anchors, caption: Caption
) -> Head:
    """Draw the ratios with the published ones, and below them the throughputs behind them.

    Contrasts without an interval are not drawn.
    """
    runs, ratios = _runs(comparison, tables), _ratios(comparison, tables)
    known = _with_interval(ratios)
    theirs = pd.DataFrame(
        [(f"published: {a.series}", a, published.words(a)) for a in anchors],
        columns=["name", "anchor", "text"],
    )
    rows = pd.concat([known, theirs], ignore_index=True)
    lower: FigureBase = figure
    figure.set_figheight(_AROUND_IN + _ROW_IN * len(rows) if len(rows) else _CURVES_IN)
    if len(rows):
        lower = forest.leading(
            figure, rows, f"Throughput over that of {comparison.over.name}, ratio", 1.9,
            anchors={row.name: [row.anchor] for row in theirs.itertuples()},
        )  # fmt: skip
    counts = []
    looks = {k.name: Look(k.name, k.colour, k.marker) for k in (comparison.over, *comparison.kinds)}
    workloads = [w for w in runs["workload"].unique() if w in set(ratios["workload"])]
    panels = sheet.panels(lower, len(workloads))
    for workload, ax in zip(workloads, panels, strict=True):
        mine = runs[runs["workload"] == workload]
        means = intervals.means(mine, ["kind", "clients"], "qps")
        curves.against_clients(ax, means, QPS, "kind", looks, labelled=ax is panels[-1])
        counts.append(means["runs"])
        ax.set_title(_WORKLOADS.get(workload, workload).capitalize())
    for ax in panels[1:]:
        if ax.get_ylabel() == panels[0].get_ylabel():
            ax.set_ylabel("")
    notes = _notes(ratios, known, pd.concat(counts))
    notes += published.note(anchors)
    return Head(
        _title(comparison, ratios), notes + ([comparison.scaled_note] if caption.is_scaled else [])
    )


def describe(comparison: Comparison, tables: Tables, anchors: Anchors) -> list[str]:
    """Describe each ratio with its interval."""
    ratios = _ratios(comparison, tables)
    return [
        f"{_title(comparison, ratios)}.",
        *forest.sentence(_with_interval(ratios)),
        *published.sentence(anchors, by_series=True),
    ]


def _runs(comparison: Comparison, tables: Tables) -> pd.DataFrame:
    """Return the good runs of all kinds, with the column `kind`."""
    runs = summary.good(tables["runs"]).astype({"workload": str})
    sides = [kind.of(runs).assign(kind=kind.name) for kind in (comparison.over, *comparison.kinds)]
    return pd.concat(sides, ignore_index=True)


def _ratios(comparison: Comparison, tables: Tables) -> pd.DataFrame:
    """Return the ratio of each kind, from contrasts first, computed as for the verdicts."""
    runs = _runs(comparison, tables)
    slices = tables.get("slices")
    rows = []
    for kind in comparison.kinds:
        rows += _of_contrasts(comparison, kind, slices) if slices is not None else []
        for workload, of_workload in runs.groupby("workload"):
            sides = [of_workload[of_workload["kind"] == k.name] for k in (kind, comparison.over)]
            try:
                logs = blocks.log_ratios(*sides)
            except MissingData:
                continue
            for clients, of_point in logs.groupby("clients"):
                ratio = blocks.ratio(logs, [clients])
                point = kind.name, workload, clients, clients, False
                rows.append((*point, len(of_point), *ratio))
    columns = ["kind", "workload", "clients", "clients_other", "in_turns"]
    table = pd.DataFrame(rows, columns=[*columns, "units", "ratio", "low", "high"])
    if table["in_turns"].all():
        raise MissingData("no pair of runs of both kinds with equal repeat, clients and workload")
    # Verdicts rest on contrasts: where a kind has some, its pairs of runs would only blur them.
    decided = table.groupby("kind")["in_turns"].transform("any")
    table = table[table["in_turns"] | ~decided].reset_index(drop=True)
    return table.assign(name=[_name(comparison, row) for row in table.itertuples()])


def _of_contrasts(comparison: Comparison, kind: Kind, slices: pd.DataFrame) -> list[tuple]:
    """Return the ratio of each contrast of a kind with the one that all are divided by."""
    rows = []
    for row in ratio_tables.of_contrasts(slices).itertuples():
        mine = slices[slices["contrast"].astype(str) == row.contrast]
        a, b = (mine[mine["side"].astype(str) == side] for side in (contrasts.A, contrasts.B))
        if len(kind.of(a)) == len(a) and len(comparison.over.of(b)) == len(b):
            point = kind.name, str(a["workload"].iloc[0]), row.clients, row.clients_other, True
            rows.append((*point, row.units, row.ratio, row.low, row.high))
    return rows


def _name(comparison: Comparison, row: object) -> str:
    workload = _WORKLOADS.get(row.workload, row.workload)
    what = f"{row.kind}, " if len(comparison.kinds) > 1 else f"{workload}, "
    return f"{what}{forest.clients(row)}"


def _with_interval(ratios: pd.DataFrame) -> pd.DataFrame:
    """Return the ratios of pairs, and those of contrasts that have an interval."""
    return ratios[~ratios["in_turns"] | ratios["low"].notna()]


def _notes(ratios: pd.DataFrame, known: pd.DataFrame, runs: pd.Series) -> list[str]:
    """Say what the ratios are made from, and what the bands of so many runs are."""
    notes, pairs_of = [], known.loc[~known["in_turns"], "units"]
    if len(known) < len(ratios):
        notes.append("Not shown: contrasts of fewer than 4 blocks, which have no interval.")
    if known["in_turns"].any():
        notes += forest.notes(known)
    if len(pairs_of):
        notes.append(intervals.described(pairs_of, "Whiskers", "ratio", "pair", 2))
        notes.append("Pairs are of equal repeat, clients and workload.")
    return [*notes, intervals.described(runs)]


def _title(comparison: Comparison, ratios: pd.DataFrame) -> str:
    """Say which ratios are clear, with their intervals, and where none is."""
    over = comparison.over.name
    if len(comparison.kinds) > 1:
        return _largest(over, ratios)
    found = [_found(rows) for _, rows in ratios.groupby("workload", sort=False)]
    alone = ", one recording" * comparison.is_pooled
    title = f"{comparison.kinds[0].name} instead of {over}{alone}: {'; '.join(found)}"
    return title[0].upper() + title[1:]


def _largest(over: str, ratios: pd.DataFrame) -> str:
    """Count the clear ratios of several kinds, and name the largest."""
    clear = _clear(ratios)
    are = "is" if len(clear) == 1 else "are"
    said = f"{len(clear)} of {len(ratios)} comparisons with {over} {are} clear"
    if clear.empty:
        return said
    row = next(clear.itertuples())
    return f"{said}, the largest {_signed(row)}: {row.kind}, {forest.clients(row)}"


def _found(rows: pd.DataFrame) -> str:
    """Say what ratios of a workload are clear: one or two with their clients, or the largest."""
    first = next(rows.itertuples())
    workload = _WORKLOADS.get(first.workload, first.workload)
    if rows["low"].isna().all():
        return f"too few {'blocks' if rows['in_turns'].all() else 'pairs'} to tell in {workload}"
    clear = _clear(rows)
    others = rows[~rows.index.isin(clear.index)]
    if len(rows) == 1 and clear.empty:
        open_yet = "too uncertain to tell" if first.high / first.low > OPEN else "unclear"
        return f"{workload} {open_yet}"
    if clear.empty:
        wide = (rows["high"] / rows["low"]).max() > OPEN
        return f"{workload} {'too uncertain to tell' if wide else 'no clear change'}"
    shown = clear if len(clear) <= _MOST_CLEAR else clear.head(1)
    values = [_signed(row) for row in shown.itertuples()]
    if len(rows) > 1 and len(shown) == len(clear):
        named = [forest.clients(row, n == 0) for n, row in enumerate(shown.itertuples())]
        values = [" with ".join(words) for words in zip(values, named, strict=True)]
    said = f"{workload} {'' if len(shown) == len(clear) else 'at most '}{listed(values)}"
    unclear = [forest.clients(row, named=False) for row in others.itertuples()]
    return said + (f", unclear with {listed(unclear)}" if unclear else "")


def _clear(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the ratios whose intervals exclude 1, the farthest from 1 first."""
    clear = rows[(rows["low"] > 1) | (rows["high"] < 1)]
    return clear.loc[np.log(clear["ratio"].astype(float)).abs().sort_values(ascending=False).index]


def _signed(row: object) -> str:
    return forest.words(row).replace("-", "\N{MINUS SIGN}")
