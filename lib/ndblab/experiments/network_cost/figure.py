"""What the network costs: ratios of throughput by the places of clients and servers, and curves."""

from __future__ import annotations

import pandas as pd

from ndblab.error import MissingData
from ndblab.figures import curves, forest, selection, style
from ndblab.figures.entry import Anchors, Caption, Entry, Figure, Head, Tables
from ndblab.figures.quantity import QPS
from ndblab.figures.style import Look
from ndblab.figures.variants import Kind
from ndblab.formatting import count, listed, percent, plain
from ndblab.judging.clauses import in_sentences
from ndblab.judging.recordings import STARTS
from ndblab.planning.point import DEFAULT_VARIANT
from ndblab.statistics import intervals

KINDS = (
    Kind("beside, SHM", "shm", DEFAULT_VARIANT, style.THROUGHPUT),
    Kind("beside, SHM, clients too", "shm", "clients-beside", style.INK, "D"),
    Kind("beside, TCP", "tcp", DEFAULT_VARIANT, style.OVER_TCP, "s"),
    Kind("other host, TCP", "tcp", "servers-elsewhere", style.ORANGE, "^"),
)
"""Where the server of a curve is, and how it is connected to the data nodes."""
SIDES = {
    "clients": "Clients on another host\nthan their server",
    "servers": "Server on another host,\nTCP instead of shared memory",
    "servers-by-tcp": "Server on another host,\nTCP in both cases",
    "servers-few-clients": "Server on another host, few clients,\nTCP instead of shared memory",
}
"""What is compared in each contrast: on another host over the same host."""
_TITLES = {
    "servers": ("A server on another host gives", "beside the data nodes"),
    "clients": ("Clients on another host get", "beside their server"),
}
_ROW_IN, _AROUND_IN = 0.42, 2.1


def paint(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw the contrasts; without any, throughput against clients by place."""
    means, ratios = _means(tables), forest.of_contrasts(tables["slices"], SIDES)
    if ratios.empty:
        looks = {kind.name: Look(kind.name, kind.colour, kind.marker) for kind in KINDS}
        curves.against_clients(figure.subplots(), means, QPS, "name", looks)
        return Head(_title(means, ratios), [intervals.described(means["runs"])])
    figure.set_figheight(_AROUND_IN + _ROW_IN * len(ratios))
    forest.draw(figure.subplots(), ratios, "Queries/s on another host over the same host, ratio")
    notes = ["Server: beside the data nodes, or on another host. Both sides loaded at once."]
    notes += [forest.REPEATED] if ratios["low"].notna().any() else []
    if ratios["low"].isna().any():
        notes.append(forest.FEW_BLOCKS)
    one_start = _of_one_start(tables["slices"], ratios)
    notes += [f"Measured in one cluster start only: {listed(one_start)}."] if one_start else []
    if "namespaces" in caption.host_line:
        notes.append("The hosts' network is memory: the kernel's path is measured, not a cable.")
    return Head(_title(means, ratios), notes)


def describe(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe the contrasts, and each curve at its best throughput."""
    means, ratios = _means(tables), forest.of_contrasts(tables["slices"], SIDES)
    phrases = [
        f"{row.name} {plain(row.mean)} queries/s with {count(row.clients, 'client')}"
        for row in means.loc[means.groupby("name")["mean"].idxmax()].itertuples()
    ]
    words = [f"{_title(means, ratios)}.", *forest.sentence(ratios)]
    return [*words, *in_sentences("Each at its best", phrases)]


def _title(means: pd.DataFrame, ratios: pd.DataFrame) -> str:
    """Say what distance costs; without contrasts, what throughput was."""
    rows = ratios.set_index("contrast")
    for name, (words, beside) in _TITLES.items():
        if name in rows.index:
            row = rows.loc[name]
            advice = ": keep them together" if row["high"] < 1 else ""
            return f"{words} {_fewer(row)} queries/s than {beside}{advice}"
    best = means.loc[means["mean"].idxmax()]
    return f"Throughput was best with the server {best['name']}"


def _of_one_start(slices: pd.DataFrame, ratios: pd.DataFrame) -> list[str]:
    """Return the first words of contrasts of one start, if others have several."""
    starts = slices.groupby(slices["contrast"].astype(str))["start"].nunique()
    starts = starts.reindex(ratios["contrast"])
    if starts.max() < STARTS:
        return []
    few = ratios.loc[(starts < STARTS).to_numpy(), "name"]
    return [name[0].lower() + " ".join(name[1:].split()) for name in few]


def _fewer(row: pd.Series) -> str:
    """Write a ratio as a change, as precisely as beside its row."""
    if row["ratio"] >= 1 or not forest.is_clear(row):
        return forest.gain(row, "more", "fewer")
    return f"{percent(100 * (1 - row['ratio']))} % fewer"


def _means(tables: Tables) -> pd.DataFrame:
    """Return mean throughput, with `name` of the kind and `clients`."""
    runs = selection.good(tables["runs"])
    runs = pd.concat([kind.of(runs).assign(name=kind.name) for kind in KINDS])
    if runs.empty:
        raise MissingData("no run with servers in several places")
    return intervals.means(runs, ["name", "clients"], QPS.metric)


FIGURES = {
    "network-cost": Entry(
        "What does the network between clients, servers and data nodes cost?",
        paint, describe, ("runs", "slices"), height_in=4.8,
    ),
}  # fmt: skip
