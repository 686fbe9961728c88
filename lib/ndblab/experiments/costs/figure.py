"""CPU time of a query and throughput, by number of MySQL servers, and by clients of one server."""

from __future__ import annotations

import pandas as pd

from ndblab.error import MissingData
from ndblab.experiments.costs import analysis
from ndblab.experiments.costs.experiment import AT_EACH, AT_TOTAL, FALLING, RISING
from ndblab.figures import curves, forest, published, sheet, style
from ndblab.figures.entry import Anchors, Caption, Entry, Figure, Head, Tables
from ndblab.figures.quantity import QPS, Quantity
from ndblab.figures.style import Look
from ndblab.formatting import count, in_sentences, plain
from ndblab.statistics import intervals

COST = Quantity("us", "CPU time per query", "\N{MICRO SIGN}s", style.INK)
_ROLES = {
    analysis.SERVER: Look("mysqld", style.SERVER),
    analysis.DATA_NODES: Look("ndbmtd", style.DATA_NODE, "s"),
    analysis.CLIENTS: Look("sysbench", style.QUIET, "^"),
}
_QUANTITIES = {
    analysis.ALL: "CPU per query",
    analysis.SERVER: "mysqld's part",
    analysis.DATA_NODES: "ndbmtd's part",
    "qps": "Throughput",
}
_SETTINGS = [("o", "-"), ("s", "--")]


def paint(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw the ratios of the most servers to one, and below cost and throughput by servers."""
    runs = analysis.each_good_run(tables["runs"], tables["processes"])
    rows, settings = _ratios(tables, (AT_TOTAL, AT_EACH)), analysis.compared(runs)
    if not settings:
        raise MissingData("no two numbers of servers with equal clients")
    most = count(int(runs["servers"].max()), "server")
    lower = forest.leading(figure, rows, f"{most} over 1, ratio", 2.6)
    cost, rate = sheet.panels(lower, 2)
    # As in the title: equal clients in all, if there are any.
    *_, (words, own) = settings.items()
    _costs(cost, own, "servers")
    cost.set_title(words)
    lines = pd.concat({w: intervals.means(own, ["servers"], "qps") for w, own in settings.items()})
    lines = lines.rename_axis(["setting", None]).reset_index("setting").reset_index(drop=True)
    looks = {w: Look(w, style.THROUGHPUT, *s) for w, s in zip(settings, _SETTINGS, strict=False)}
    lines = lines.rename(columns={"servers": "clients"})
    curves.against_clients(rate, lines, QPS, "setting", looks)
    for panel in (cost, rate):
        panel.set_xlabel("MySQL servers")
    notes = [*forest.notes(rows), intervals.described(lines["runs"]), _UNDIVIDED]
    return Head(_title(runs, rows), notes)


def describe(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe the ratios, and the cost of a query with each number of servers."""
    runs = analysis.each_good_run(tables["runs"], tables["processes"])
    rows = _ratios(tables, (AT_TOTAL, AT_EACH))
    words = [f"{_title(runs, rows)}.", *forest.sentence(rows)]
    for setting, own in analysis.compared(runs).items():
        means = own.groupby("servers")[[analysis.ALL, "qps"]].mean()
        said = [
            f"{plain(row.cpu_us)} \N{MICRO SIGN}s and {plain(row.qps)} queries/s with {row.Index}"
            for row in means.itertuples()
        ]
        words += in_sentences(f"CPU per query and throughput, {setting}", said)
    return words


def paint_one(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw one server against its clients: where throughput turns, and what a query costs."""
    runs = analysis.each_good_run(tables["runs"], tables["processes"])
    one, rows = runs[runs["servers"] == 1], _ratios(tables, (RISING, FALLING))
    turn = analysis.turn(runs)
    lower = forest.leading(figure, rows, "More clients over fewer, ratio", 2.6)
    rate, cost = sheet.panels(lower, 2)
    means = intervals.means(one, ["clients"], "qps").assign(series="")
    curves.against_clients(rate, means, QPS, "series", {"": Look("", style.THROUGHPUT)}, False)
    rate.plot(turn.clients, turn.qps, "o", ms=11, mfc="none", mec=style.INK, zorder=5)
    _costs(cost, one, "clients", anchors)
    for anchor in anchors:
        published.mark(cost, anchor, anchor.clients, anchor.value, style.SERVER)
    notes = [
        *forest.notes(rows),
        intervals.described(means["runs"]),
        "Ring: fewest clients within 3 % of the best.",
    ]
    notes += published.note(anchors)
    return Head(_title_of_one(turn), [*notes, _UNDIVIDED])


def describe_one(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe where throughput turns, the ratios, the cost by role and what was published."""
    runs = analysis.each_good_run(tables["runs"], tables["processes"])
    turn = analysis.turn(runs)
    rows = _ratios(tables, (RISING, FALLING))
    means = runs[runs["servers"] == 1].groupby("clients")[[*_ROLES, "qps"]].mean()
    said = [
        f"{plain(row.qps)} queries/s of {plain(row.mysqld_us)} \N{MICRO SIGN}s in mysqld and "
        f"{plain(row.ndbmtd_us)} in ndbmtd with {count(row.Index, 'client')}"
        for row in means.itertuples()
    ]
    of_one = in_sentences("One server", said)
    words = [f"{_title_of_one(turn)}.", *forest.sentence(rows), *of_one]
    return [*words, *published.sentence(anchors, by_series=True)]


_UNDIVIDED = "CPUs are not divided. What idle servers use does not count."


def _costs(ax, runs: pd.DataFrame, by: str, anchors: Anchors = ()) -> None:
    """Draw the CPU time of a query in each role, against servers or clients."""
    parts = {role: intervals.means(runs, [by], role) for role in _ROLES}
    means = pd.concat(parts, names=["role", None]).reset_index("role")
    means = means.rename(columns={by: "clients"}).dropna(subset="mean").reset_index(drop=True)
    if means.empty:
        raise MissingData("no CPU of processes was recorded")
    marks = [(anchor.clients, anchor.value) for anchor in anchors]
    beside = [pd.DataFrame(marks, columns=["clients", "mean"])] if marks else []
    curves.against_clients(ax, means, COST, "role", _ROLES, beside=beside)


def _ratios(tables: Tables, names: tuple[str, ...]) -> pd.DataFrame:
    """Return a row for each quantity of each contrast that was measured."""
    rows = []
    for name in names:
        try:
            ratios = analysis.ratios(tables["slices"], tables["processes"], name)
        except MissingData:
            continue
        head, _, tail = analysis.sides(tables["slices"], name).partition(", ")
        rows += [
            (name, quantity, f"{_QUANTITIES[quantity]}, {tail or head}", *ratios[quantity])
            for quantity in _QUANTITIES
        ]
    return pd.DataFrame(rows, columns=["contrast", "quantity", "name", "ratio", "low", "high"])


def _title(runs: pd.DataFrame, rows: pd.DataFrame) -> str:
    """Say how much more a query costs with the most servers, and how throughput changes.

    It is about equal clients in all, as the findings are, if they were compared.
    """
    most = count(int(runs["servers"].max()), "server")
    if rows.empty:
        cost = runs[runs["servers"] == runs["servers"].max()][analysis.ALL].mean()
        return f"A query costs {plain(cost)} \N{MICRO SIGN}s of CPU with {most}"
    first = rows[rows["contrast"] == rows["contrast"].iloc[0]].set_index("quantity", drop=False)
    cost, rate = (next(first.loc[[q]].itertuples()) for q in (analysis.ALL, "qps"))
    clients = cost.name.rpartition(", ")[2]
    return (
        f"{most} instead of one, {clients}: {_said(cost, 'CPU per query')}, "
        f"{_said(rate, 'throughput')}"
    )


def _said(row, of: str) -> str:
    """Write a change of something, and how far it can be trusted."""
    known = row.low == row.low
    doubt = "" if forest.is_clear(row) else f" ({'within the error' if known else 'no interval'})"
    said = forest.change(row.ratio)
    said = {"times": f"{said} the", "apart": "as much"}.get(said.rpartition(" ")[2], said)
    return f"{said} {of}{doubt}"


def _title_of_one(turn: analysis.Turn) -> str:
    words = f"{turn.words[0].upper()}{turn.words[1:]}"
    return f"{words}; with {turn.clients}, CPUs are {turn.busy_pct:.0f} % busy"


FIGURES = {
    "costs": Entry(
        "What does one more MySQL server cost?",
        paint, describe, ("runs", "processes", "slices"), height_in=5.8,
    ),
    "costs-one-server": Entry(
        "Where does one MySQL server stop gaining from clients, and what does a query cost?",
        paint_one, describe_one, ("runs", "processes", "slices"), height_in=5.8,
        published=lambda: [analysis.published()],
    ),
}  # fmt: skip
