"""What the network costs: ratios of throughput by the places of clients and servers, and curves."""

from __future__ import annotations

import pandas as pd

from ndblab.dataset import Dataset
from ndblab.error import MissingData
from ndblab.figures import curves, forest, selection, style
from ndblab.figures.entry import Anchors, Caption, Entry, Figure, Head, Tables
from ndblab.figures.quantity import QPS
from ndblab.figures.style import Look
from ndblab.figures.variants import Kind
from ndblab.formatting import count, in_sentences, less_or_more, listed, plain
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
_NAMESPACES, _PLACE = "namespaces", "place"
_IN_NAMESPACES = {
    "on another host": "in another namespace",
    "other host": "other namespace",
    "the same host": "the same namespace",
}
"""Words for hosts that are network namespaces of one machine."""
_TITLES = {
    "servers": ("A server on another host gave", "beside the data nodes"),
    "clients": ("Clients on another host got", "beside their server"),
}
_ROW_IN, _AROUND_IN = 0.42, 2.1


def paint(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw the contrasts; without any, throughput against clients by place."""
    means, ratios = _means(tables), _ratios(tables)
    if ratios.empty:
        looks = {
            kind.name: Look(_placed(kind.name, tables), kind.colour, kind.marker) for kind in KINDS
        }
        curves.against_clients(figure.subplots(), means, QPS, "name", looks)
        return Head(_title(means, ratios, tables), [intervals.described(means["runs"])])
    figure.set_figheight(_AROUND_IN + _ROW_IN * len(ratios))
    label = _placed("Queries/s on another host over the same host, ratio", tables)
    forest.draw(figure.subplots(), ratios, label)
    places = "Server: beside the data nodes, or on another host. Both sides loaded at once."
    notes = [_placed(places, tables)]
    notes += [forest.REPEATED] if ratios["low"].notna().any() else []
    if ratios["low"].isna().any():
        notes.append(forest.FEW_BLOCKS)
    one_start = _of_one_start(tables["slices"], ratios)
    notes += [f"Measured in one cluster start only: {listed(one_start)}."] if one_start else []
    if _of_namespaces(tables):
        notes.append("The network is memory: the kernel's path is measured, not a cable.")
    return Head(_title(means, ratios, tables), notes)


def describe(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe the contrasts, and each curve at its best throughput."""
    means, ratios = _means(tables), _ratios(tables)
    phrases = [
        f"{_placed(row.name, tables)} {plain(row.mean)} queries/s with "
        f"{count(row.clients, 'client')}"
        for row in means.loc[means.groupby("name")["mean"].idxmax()].itertuples()
    ]
    words = [f"{_title(means, ratios, tables)}.", *forest.sentence(ratios)]
    return [*words, *in_sentences("Each at its best", phrases)]


def _ratios(tables: Tables) -> pd.DataFrame:
    names = {contrast: _placed(words, tables) for contrast, words in SIDES.items()}
    return forest.of_contrasts(tables["slices"], names)


def _placed(words: str, tables: Tables) -> str:
    """Call hosts namespaces where they are."""
    if _of_namespaces(tables):
        for of_host, of_namespace in _IN_NAMESPACES.items():
            words = words.replace(of_host, of_namespace)
    return words


def _of_namespaces(tables: Tables) -> bool:
    return _PLACE in tables and _NAMESPACES in set(tables[_PLACE])


def _computed(data: Dataset) -> dict[str, pd.Series]:
    """Return whether the hosts are network namespaces of one machine."""
    kind = _NAMESPACES if data.manifest.get("namespaces") else "hosts"
    return {_PLACE: pd.Series([kind])}


def _title(means: pd.DataFrame, ratios: pd.DataFrame, tables: Tables) -> str:
    """Say what distance costs; without contrasts, what throughput was."""
    rows = ratios.set_index("contrast")
    for name, (words, beside) in _TITLES.items():
        if name in rows.index:
            ends = rows.loc[name, ["ratio", "low", "high"]]
            of = (f"fewer queries/s than {beside}", f"more queries/s than {beside}")
            did = less_or_more(*ends, *of)
            doubt = "" if ends["low"] == ends["low"] else " (no interval)"
            return f"{_placed(words, tables)} {did}{doubt}"
    best = means.loc[means["mean"].idxmax()]
    return f"Throughput was best with the server {_placed(best['name'], tables)}"


def _of_one_start(slices: pd.DataFrame, ratios: pd.DataFrame) -> list[str]:
    """Return the first words of contrasts of one start, if others have several."""
    starts = slices.groupby(slices["contrast"].astype(str))["start"].nunique()
    starts = starts.reindex(ratios["contrast"])
    if starts.max() < STARTS:
        return []
    few = ratios.loc[(starts < STARTS).to_numpy(), "name"]
    return [name[0].lower() + " ".join(name[1:].split()) for name in few]


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
        paint, describe, ("runs", "slices"), height_in=4.8, computed=_computed, under_quotas=True,
    ),
}  # fmt: skip
