"""SQL and the NDB API: lookups per CPU time, and the CPU time of a lookup by role."""

from __future__ import annotations

import pandas as pd

from ndblab.dataset import Dataset
from ndblab.experiments.api_ceiling import analysis as interfaces
from ndblab.figures import bars, curves, forest, ratio_axis, sheet, style
from ndblab.figures.entry import Anchors, Caption, Entry, Figure, Head, Tables
from ndblab.figures.quantity import Quantity
from ndblab.figures.style import Look
from ndblab.formatting import count, in_sentences, plain
from ndblab.statistics import intervals

LOOKUPS = Quantity("qps", "Throughput", "lookups/s", style.THROUGHPUT, log=True)
_COMPARED = {
    interfaces.SINGLE: "NDB API over SQL, one at once",
    interfaces.BATCH: "NDB API over SQL, many at once",
}


def paint(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw the ratios, and below the rates and the cost of a lookup for each interface."""
    means, ratios = interfaces.costs(tables["runs"], tables["processes"]), _ratios(tables)
    lower = forest.leading(figure, ratios, "Lookups per CPU time, ratio", 2.5)
    rates, cost = sheet.panels(lower, 2)
    colours = zip(means["interface"].unique(), _COLOURS * 2, strict=False)
    looks = {name: Look(name.replace(", ", ",\n"), *look) for name, look in colours}
    lines = means.rename(columns={"qps": "mean"})
    curves.against_clients(rates, lines, LOOKUPS, "interface", looks)
    most = means[(means["clients"] == means["clients"].max()) & means["cpu_us"].notna()]
    if len(most):
        names = most["interface"].str.replace(", ", ",\n")
        clients = count(int(most["clients"].iloc[0]), "client")
        label = f"CPU of a lookup with {clients}, \N{MICRO SIGN}s"
        bars.stacked(cost, most.assign(name=names), label)
    notes = [intervals.described(means["runs"], least=2)]
    most_recordings = int(ratios["recordings"].max()) if len(ratios) else 1
    if most_recordings > 1:
        notes.append(f"Ratios: {most_recordings} recordings together. Below: the newest alone.")
    return Head(_title(means, ratios), notes)


def describe(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe the ratios of lookups per CPU time, and each interface at its best."""
    means, ratios = interfaces.costs(tables["runs"], tables["processes"]), _ratios(tables)
    words = [f"{_title(means, ratios)}.", *forest.sentence(ratios)]
    best = means.loc[means.groupby("interface", sort=False)["qps"].idxmax()]
    phrases = [
        f"{row.interface}: {plain(row.qps)} lookups/s with {count(int(row.clients), 'client')}, "
        f"{plain(row.cpu_us)} \N{MICRO SIGN}s of CPU each"
        for row in best.itertuples()
    ]
    return [*words, *in_sentences("Key lookups per second, each interface at its best", phrases)]


_COLOURS = [(style.THROUGHPUT,), (style.ORANGE, "s", "--"), (style.VIOLET, "^", ":")]


def _title(means: pd.DataFrame, ratios: pd.DataFrame) -> str:
    """Say how many times as many lookups as SQL the NDB API does with equal CPU.

    Ratios that are not clear, or whose intervals span more than a factor of `ratio_axis.WIDEST`,
    are left out.
    """
    times = {
        row.contrast: f"{plain(row.ratio)} times"
        for row in ratios.itertuples()
        if forest.is_clear(row) and row.high / row.low <= ratio_axis.WIDEST
    }
    if single := times.get(interfaces.SINGLE):
        batch = times.get(interfaces.BATCH)
        more = f", with many at once {batch}" if batch else ""
        return f"Per CPU time, the NDB API did {single} the lookups of SQL{more}"
    best = means.loc[means["qps"].idxmax()]
    return f"{best['interface']} is fastest: {plain(best['qps'])} lookups/s"


def _ratios(tables: Tables) -> pd.DataFrame:
    ratios = tables["ratios"]
    return ratios.assign(name=ratios["contrast"].map(_COMPARED))


def _computed(data: Dataset) -> dict[str, pd.DataFrame]:
    """Return the ratios of all recordings together, as in the verdict."""
    return {"ratios": interfaces.ratios((*data.earlier, data))}


FIGURES = {
    "api-ceiling": Entry(
        "What do key lookups cost through SQL, and through the NDB API?",
        paint, describe, ("runs", "processes", "ratios"), height_in=4.6,
        computed=_computed,
    ),
}  # fmt: skip
