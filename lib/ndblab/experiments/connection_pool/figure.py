"""Connection pools: throughput of a server with more connections over one with fewer."""

from __future__ import annotations

import math
import re

import matplotlib
import pandas as pd
from matplotlib.colors import to_hex

from ndblab.error import MissingData
from ndblab.figures import curves, forest, selection, sheet
from ndblab.figures.entry import Anchors, Caption, Entry, Figure, Head, Tables
from ndblab.figures.quantity import QPS
from ndblab.figures.selection import DEFAULT
from ndblab.figures.style import Look
from ndblab.formatting import count, in_sentences, plain
from ndblab.statistics import intervals

_VARIANT = re.compile(r"pool-(?P<pool>\d+)(?P<whole>-whole)?")
_SHARE = "-share"
_CONTRAST = re.compile(rf"pools-(\d+)-(\d+)({_SHARE})?")
_MARKERS = ("o", "s", "^", "D", "v", "P")


def paint(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw the ratios of the contrasts, and below throughput against clients by connections."""
    means, ratios = _means(tables), _ratios(tables)
    lower = forest.leading(figure, ratios, "Throughput with more connections over fewer, ratio")
    quotas = "Under CPU quotas" if caption.is_scaled else "Without CPU quotas, once more"
    panels = sheet.panels(lower, 2)
    for (whole, title), panel in zip(
        {True: "Without CPU quotas", False: quotas}.items(), panels, strict=True
    ):
        shown = means[means["whole"] == whole]
        if len(shown):
            curves.against_clients(panel, shown, QPS, "pool", _looks(means["pool"]), not whole)
        panel.set_title(title)
    if panels[1].get_ylabel() == panels[0].get_ylabel():
        panels[1].set_ylabel("")
    notes = [*forest.notes(ratios), intervals.described(means["runs"])]
    notes.append("One server was loaded at a time.")
    return Head(_title(means, ratios), notes)


def describe(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe the ratios, and each pool at its best throughput."""
    means, ratios = _means(tables), _ratios(tables)
    words = [f"{_title(means, ratios)}.", *forest.sentence(ratios)]
    for whole, quotas in ((True, "Without CPU quotas"), (False, "With those of the CPU budget")):
        mine = means[means["whole"] == whole]
        best = mine.loc[mine.groupby("pool")["mean"].idxmax()]
        phrases = [
            f"{count(row.pool, 'connection')} {plain(row.mean)} queries/s with "
            f"{count(row.clients, 'client')}"
            for row in best.itertuples()
        ]
        words += in_sentences(f"{quotas}, each at its best", phrases)
    return words


def _title(means: pd.DataFrame, ratios: pd.DataFrame) -> str:
    """Say what the first contrast with an interval found; without one, which pool was best."""
    known = ratios[ratios["low"].notna()]
    if len(known):
        row = next(known.itertuples())
        change = forest.compared(row.ratio, "queries/s", row.fewer, "more", "fewer")
        clear = "" if forest.is_clear(row) else ", within the error"
        where = "Beside another server" if row.contrast.endswith(_SHARE) else "Alone"
        return f"{where}, {row.pool} connections gave {change}{clear}"
    best = means.loc[means["mean"].idxmax()]
    return f"Throughput was best with {count(int(best['pool']), 'connection')}"


def _ratios(tables: Tables) -> pd.DataFrame:
    """Return the ratio of each contrast, with the connections of both sides."""
    names = {}
    for contrast in tables["slices"]["contrast"].astype(str).unique():
        if match := _CONTRAST.fullmatch(contrast):
            where = "beside another server" if match[3] else "alone"
            names[contrast] = f"{match[2]} connections over {match[1]}, {where}"
    rows = forest.of_contrasts(tables["slices"], names)
    sides = rows["contrast"].str.extract(_CONTRAST)
    return rows.assign(fewer=sides[0], pool=sides[1])


def _means(tables: Tables) -> pd.DataFrame:
    """Return mean throughput, with `whole`, `pool`, `clients`; MissingData if there is none."""
    runs = selection.good(tables["runs"])
    names = runs["variant"].astype(str).replace(DEFAULT, "pool-1").str.extract(_VARIANT)
    runs = runs.assign(pool=names["pool"].astype(float), whole=names["whole"].notna())
    runs = runs[runs["pool"].notna()].astype({"pool": int})
    if runs.empty:
        raise MissingData("no run of a server with a connection pool")
    return intervals.means(runs, ["whole", "pool", "clients"], "qps")


def _looks(pools: pd.Series) -> dict[int, Look]:
    """Return the look of each pool: more connections are darker."""
    shades = matplotlib.colormaps["viridis_r"]
    return {
        pool: Look(
            count(pool, "connection"), to_hex(shades(min(1.0, 0.35 + math.log2(pool) / 6))), marker
        )
        for pool, marker in zip(sorted(pools.unique()), _MARKERS * 2, strict=False)
    }


FIGURES = {
    "connection-pool": Entry(
        "Does a MySQL server need more than one connection to the cluster?",
        paint, describe, ("runs", "slices"), height_in=5.0,
    ),
}  # fmt: skip
