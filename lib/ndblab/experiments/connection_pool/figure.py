"""Connection pools: throughput of a server with more connections over one with fewer."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import matplotlib
import pandas as pd
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from ndblab.figures import curves, forest, intervals, selection
from ndblab.figures.entry import Entry
from ndblab.figures.quantity import P95, QPS, Quantity
from ndblab.figures.selection import DEFAULT, Tables
from ndblab.figures.sheet import Caption, Head
from ndblab.figures.style import INK, Look
from ndblab.formatting import count, plain
from ndblab.judging.publication import Anchor
from ndblab.statistics import cpu_use

CPU = Quantity("cpu_us", "CPU time per query", "\N{MICRO SIGN}s", INK)
_VARIANT = re.compile(r"pool-(?P<pool>\d+)(?P<whole>-whole)?")
_CONTRAST = re.compile(r"pools-(\d+)-(\d+)(-share)?")
_MARKERS = ("o", "s", "^", "D", "v", "P")


def paint(figure: Figure, tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> Head:
    """Draw the ratios of the contrasts, and below throughput against clients by connections."""
    means, ratios = _means(tables), _ratios(tables)
    lower = forest.leading(figure, ratios, "Throughput with more connections over fewer, ratio")
    quotas = "Under CPU quotas" if caption.is_scaled else "Without CPU quotas, once more"
    panels = lower.subplots(1, 2)
    for (whole, title), panel in zip(
        {True: "Without CPU quotas", False: quotas}.items(), panels, strict=True
    ):
        shown = means[(means["quantity"] == QPS.metric) & (means["whole"] == whole)]
        if len(shown):
            curves.against_clients(panel, shown, QPS, "pool", _looks(means["pool"]), not whole)
        panel.set_title(title)
    panels[1].set_ylabel("")
    notes = [intervals.described(means["runs"]), "One server was loaded at a time."]
    return Head(_title(means, ratios), notes)


def describe(tables: Tables, anchors: Sequence[Anchor]) -> list[str]:
    """Describe the ratios, and each pool at its best throughput."""
    means, ratios = _means(tables), _ratios(tables)
    words = [f"{_title(means, ratios)}."]
    words += [f"{row.name}: {forest.words(row)}." for row in ratios.itertuples()]
    by_quantity = means.pivot_table("mean", ["whole", "pool", "clients"], "quantity").reset_index()
    for whole, quotas in ((True, "Without CPU quotas"), (False, "With those of the CPU budget")):
        of_setting = by_quantity[by_quantity["whole"] == whole]
        best = of_setting.loc[of_setting.groupby("pool")["qps"].idxmax()]
        each = [
            f"{count(int(row.pool), 'connection')} {plain(row.qps)} queries/s with "
            f"{count(int(row.clients), 'client')}, {plain(row.latency_p95_ms)} ms and "
            f"{plain(getattr(row, 'cpu_us', math.nan))} \N{MICRO SIGN}s of CPU per query"
            for row in best.itertuples()
        ]
        words += [f"{quotas}, each at its best: {'; '.join(each)}."] if each else []
    return words


def _title(means: pd.DataFrame, ratios: pd.DataFrame) -> str:
    """Say what the first contrast with an interval found; without one, which pool was best."""
    known = ratios[ratios["low"].notna()]
    if len(known):
        row = next(known.itertuples())
        more, less = row.pool, row.fewer
        gain = forest.change(row.ratio, "more", "fewer")
        clear = "" if forest.is_clear(row) else ", within the error"
        return f"{more} connections gave {gain} queries/s than {less}{clear}"
    best = means[means["quantity"] == QPS.metric]
    best = best.loc[best["mean"].idxmax()]
    return f"Throughput was best with {count(int(best['pool']), 'connection')}"


def _ratios(tables: Tables) -> pd.DataFrame:
    """Return the ratio of each contrast, with the connections of both sides."""
    names = {}
    for contrast in tables["slices"]["contrast"].astype(str).unique():
        if found := _CONTRAST.fullmatch(contrast):
            where = "beside another server" if found[3] else "alone"
            names[contrast] = f"{found[2]} connections over {found[1]}, {where}"
    rows = forest.of_contrasts(tables["slices"], names)
    sides = rows["contrast"].str.extract(_CONTRAST)
    return rows.assign(fewer=sides[0], pool=sides[1])


def _means(tables: Tables) -> pd.DataFrame:
    """Return the mean of each quantity, with `quantity`, `whole`, `pool`, `clients`.

    Raises
    ------
    LabError
        If no good run is of a known pool.
    """
    runs = selection.good(tables["runs"])
    found = runs["variant"].astype(str).replace(DEFAULT, "pool-1").str.extract(_VARIANT)
    runs = runs.assign(pool=found["pool"].astype(float), whole=found["whole"].notna())
    runs = runs[runs["pool"].notna()].astype({"pool": int})
    if runs.empty:
        raise selection.nothing_to_draw("no run of a server with a connection pool")
    runs = runs.assign(cpu_us=cpu_use.serving_query_us(runs, tables["processes"]))
    return intervals.of_quantities(runs, ["whole", "pool", "clients"], (QPS, P95, CPU))


def _looks(pools: pd.Series) -> dict[int, Look]:
    """Return the look of each pool: more connections are darker."""
    shades = matplotlib.colormaps["viridis_r"]
    return {
        pool: Look(
            count(pool, "connection"), to_hex(shades(min(1.0, 0.15 + math.log2(pool) / 5))), marker
        )
        for pool, marker in zip(sorted(pools.unique()), _MARKERS * 2, strict=False)
    }


FIGURES = {
    "connection-pool": Entry(
        "Does a MySQL server need more than one connection to the cluster?",
        paint, describe, ("runs", "processes", "slices"), height_in=5.0,
    ),
}  # fmt: skip
