"""What the network costs: ratios of throughput by the places of clients and servers, and curves."""

from __future__ import annotations

import math

import pandas as pd

from ndblab.error import MissingData
from ndblab.figures import curves, forest, selection, sheet, style
from ndblab.figures.entry import Anchors, Caption, Entry, Figure, Head, Tables
from ndblab.figures.quantity import QPS, Quantity
from ndblab.figures.style import Look
from ndblab.figures.variants import Kind
from ndblab.formatting import count, plain
from ndblab.judging.answer import in_sentences
from ndblab.planning.point import DEFAULT_VARIANT
from ndblab.statistics import cpu_use, intervals

CPU = Quantity("cpu_us", "CPU per query", "\N{MICRO SIGN}s", style.INK)
KINDS = (
    Kind("beside, SHM", "shm", DEFAULT_VARIANT, style.THROUGHPUT),
    Kind("beside, SHM, clients too", "shm", "clients-beside", style.INK, "D"),
    Kind("beside, TCP", "tcp", DEFAULT_VARIANT, "#8a4fa0", "s"),
    Kind("other host, TCP", "tcp", "servers-elsewhere", style.ORANGE, "^"),
)
"""Where the server of a curve is, and how it is connected to the data nodes."""
SIDES = {
    "clients": "clients on another host over beside",
    "servers": "server on another host over beside, SHM",
    "servers-by-tcp": "server on another host over beside, TCP",
    "servers-few-clients": "likewise, SHM, fewest clients",
}
"""What is compared in each contrast."""
_TITLES = {"servers": "A server on another host gives", "clients": "Clients on another host give"}


def paint(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw the contrasts, and below throughput and CPU time of a query against clients."""
    means, ratios = _means(tables), forest.of_contrasts(tables["slices"], SIDES)
    lower = forest.leading(figure, ratios, "Throughput, ratio")
    looks = {kind.name: Look(kind.name, kind.colour, kind.marker) for kind in KINDS}
    for quantity, ax in zip((QPS, CPU), sheet.panels(lower, 2), strict=True):
        shown = means[means["quantity"] == quantity.metric]
        if len(shown):
            curves.against_clients(ax, shown, quantity, "name", looks, quantity is CPU)
    notes = [intervals.described(means["runs"])]
    notes.append("Ratios: one server of each side loaded at once. Below: one at a time.")
    if ratios["low"].isna().any():
        notes.append("A contrast of fewer than 4 blocks has no interval.")
    if "namespaces" in caption.host_line:
        notes.append("The hosts' network is memory: the kernel's path is measured, not a cable.")
    return Head(_title(means, ratios), notes)


def describe(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe the contrasts, and each curve at its best throughput."""
    means, ratios = _means(tables), forest.of_contrasts(tables["slices"], SIDES)
    qps = means[means["quantity"] == QPS.metric]
    each = [
        f"{row.name} {plain(row.mean)} queries/s with {count(row.clients, 'client')}"
        for row in qps.loc[qps.groupby("name")["mean"].idxmax()].itertuples()
    ]
    words = [f"{_title(means, ratios)}.", *forest.sentence(ratios)]
    return [*words, *in_sentences("Each at its best", each)]


def _title(means: pd.DataFrame, ratios: pd.DataFrame) -> str:
    """Say what distance costs; without contrasts, what throughput was."""
    said = [
        f"{_TITLES[row.contrast]} {forest.gain(row, 'more', 'fewer')} queries/s"
        for row in ratios.itertuples()
        if row.contrast in _TITLES
    ]
    if said:
        return "; ".join([said[-1], *(one[0].lower() + one[1:] for one in said[:-1])])
    best = means.loc[means[means["quantity"] == QPS.metric]["mean"].idxmax()]
    return f"Throughput was best with the server {best['name']}"


def _means(tables: Tables) -> pd.DataFrame:
    """Return the mean of each quantity, with `quantity`, `name` of the kind, `clients`."""
    runs = selection.good(tables["runs"])
    runs = pd.concat([kind.of(runs).assign(name=kind.name) for kind in KINDS])
    if runs.empty:
        raise MissingData("no run with servers in several places")
    try:
        runs = runs.assign(cpu_us=cpu_use.serving_query_us(runs, tables["processes"]))
    except MissingData:
        runs = runs.assign(cpu_us=math.nan)
    return intervals.of_columns(runs, ["name", "clients"], (QPS.metric, CPU.metric))


FIGURES = {
    "network-cost": Entry(
        "What does the network between clients, servers and data nodes cost?",
        paint, describe, ("runs", "processes", "slices"), height_in=4.8,
    ),
}  # fmt: skip
