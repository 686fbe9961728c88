"""SQL and the NDB API: lookups per second by clients, and the CPU time of a lookup by role.

In: runs of key lookups and their CPU, and slices. Out: a painted figure and its description.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ndblab.error import MissingData
from ndblab.experiments.api_ceiling import analysis as interfaces
from ndblab.figures import intervals, selection
from ndblab.figures import old_bars as bars
from ndblab.figures import old_sheet as sheet
from ndblab.figures import old_style as style
from ndblab.figures.entry import Entry
from ndblab.figures.old_sheet import Caption
from ndblab.figures.quantity import Quantity
from ndblab.figures.selection import Tables
from ndblab.formatting import count, listed, plain
from ndblab.judging.publication import Anchor
from ndblab.planning.workload import CLIENT
from ndblab.statistics import contrasts

LOOKUPS = Quantity("qps", "Throughput", "lookups/s", style.THROUGHPUT)
_LOOKS = (("#1f5fa8", "o", "-"), ("#c8691c", "s", "--"), ("#5b3a8c", "^", ":"))
_ROLES = {"mysqld": ("mysqld", style.SERVER), "ndbmtd": ("ndbmtd", style.DATA_NODE),
          CLIENT: ("sysbench or flexAsynch", style.QUIET)}  # fmt: skip
_COMPARED = {interfaces.SINGLE: "one at once", interfaces.BATCH: "many at once"}


def paint(figure: Figure, tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> list[str]:
    """Draw a line for each interface, and a bar for each with the most clients."""
    means = _means(tables)
    [[rates, cost]] = sheet.panels(
        figure, columns=(1.15, 1), wspace=0.5, above_in=sheet.ABOVE_WITH_LEGEND_IN
    )
    sheet.legend(figure, [Patch(fc=colour, label=label) for label, colour in _ROLES.values()])
    rates.set_title(caption.title())
    lines = means.groupby("interface", sort=False)
    for (interface, line), (colour, marker, dashes) in zip(lines, _LOOKS, strict=False):
        style.whiskers(rates, line["clients"], line["qps"], line["low"], line["high"])
        look = {"color": colour, "marker": marker, "ls": dashes, "label": interface, "zorder": 5}
        rates.plot(line["clients"], line["qps"], **look)
    LOOKUPS.against_clients(rates, means["clients"], means["qps"].max())
    rates.set_ylim(0, 1.15 * means[["qps", "high"]].max().max())
    sheet.trim_ticks(rates)
    rates.legend(fontsize=8, loc="best")
    most = means[means["clients"] == means["clients"].max()]
    clients = count(int(most["clients"].iloc[0]), "client")
    cost.set_title(f"CPU time of a lookup, {clients}")
    bars.stacked(cost, most, {f"{role}_us": c for role, (_, c) in _ROLES.items()}, "cpu_us")
    longest = most["cpu_us"].max()
    bars.finish(cost, longest if longest > 0 else 1.0, "CPU time, \N{MICRO SIGN}s")
    names = [name.replace(", ", "\n") for name in most["interface"]]
    cost.set_yticks(range(len(most)), names, fontsize=8)
    notes = [intervals.described(means["runs"], bands="whiskers")]
    if said := _ratios(tables):
        notes.append(f"Lookups per CPU time, NDB API over SQL, in turns: {listed(said)}.")
    return notes


def describe(tables: Tables, anchors: Sequence[Anchor]) -> list[str]:
    """Describe each interface at its best, and the ratios of lookups per CPU time."""
    means = _means(tables)
    best = means.loc[means.groupby("interface", sort=False)["qps"].idxmax()]
    each = [
        f"{row.interface}: {plain(row.qps)} lookups/s with {count(int(row.clients), 'client')}, "
        f"{plain(row.cpu_us)} \N{MICRO SIGN}s of CPU each"
        for row in best.itertuples()
    ]
    words = [f"Key lookups per second, each interface at its best: {'; '.join(each)}."]
    if said := _ratios(tables):
        words.append(f"Lookups per CPU time through the NDB API over SQL: {listed(said)}.")
    return words


def _means(tables: Tables) -> pd.DataFrame:
    try:
        return interfaces.costs(tables["runs"], tables["processes"])
    except MissingData as missing:
        raise selection.nothing_to_draw(str(missing)) from None


def _ratios(tables: Tables) -> list[str]:
    slices = tables["slices"]
    if slices.empty:
        return []
    per_cpu = 1 / interfaces.lookup_us(slices, tables["processes"])["cpu_us"]
    found = []
    for name, words in _COMPARED.items():
        try:
            logs = contrasts.log_ratios(slices, name, per_cpu)
        except MissingData:
            continue
        value, low, high = contrasts.ratio(logs)
        interval = f" ({plain(low)} to {plain(high)})" if low == low else ""
        found.append(f"{words} {plain(value)}{interval}")
    return found


FIGURES = {
    "api-ceiling": Entry(
        "What do key lookups cost through SQL, and through the NDB API?",
        paint, describe, ("runs", "processes", "slices"),
    ),
}  # fmt: skip
