"""Figures 4 and 8: throughput and CPU of one server, and how steady a run is."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ndblab.error import MissingData
from ndblab.figures import curves, forest, published, selection, sheet, style
from ndblab.figures.entry import Anchors, Caption, Entry, Figure, Head, Tables
from ndblab.figures.quantity import QPS, Quantity
from ndblab.figures.style import Look
from ndblab.formatting import count, in_sentences, listed, plain
from ndblab.judging.evidence import SERVER_SHARE
from ndblab.planning.cpu_budget import BRIEF_CPUS
from ndblab.statistics import blocks, cpu_use, estimate, intervals, summary

CPU = Quantity("cpu_pct", "CPU", "% of one logical CPU", style.INK)
HOST_CPU = Quantity("cpu_pct", "CPU", "% of the host", style.INK)
_ROLES = {
    "mysqld": Look("mysqld", style.SERVER, "^"),
    "ndbmtd": Look("both ndbmtd", style.DATA_NODE, "s", "--"),
}
_QUOTA = "mysqld's quota imposes its CPU limit, which is therefore not a finding."
_VARYING = {
    "qps_cv": ("Throughput", style.THROUGHPUT),
    "latency_p95_ms_cv": ("95th percentile latency", style.LATENCY),
}


def paint_one_server(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw throughput of one MySQL server against clients, and beside it the CPU of each role."""
    qps, cpu = _one_server(tables)
    left, right = sheet.panels(figure, 2)
    look = {"qps": Look("", style.THROUGHPUT)}
    curves.against_clients(left, qps.assign(line="qps"), QPS, "line", look)
    notes = [intervals.described(qps["runs"])]
    if cpu.empty:
        sheet.nothing(right, "no CPU was recorded")
    else:
        notes += _draw_cpu(right, cpu, anchors, caption)
    return Head(_one_server_title(tables, qps), notes)


def _draw_cpu(ax: Axes, cpu: pd.DataFrame, anchors: Anchors, caption: Caption) -> list[str]:
    """Draw the CPU of each role, what was published and mysqld's share; return the notes."""
    of_host = caption.cpus is not None
    if of_host:
        cpu[["mean", "low", "high"]] /= caption.cpus
    notes = []
    theirs = [a for a in anchors if a.unit != QPS.unit] if of_host else []
    marks = [(anchor.clients, anchor.value / BRIEF_CPUS) for anchor in theirs]
    beside = [pd.DataFrame(marks, columns=["clients", "mean"])] if marks else []
    curves.against_clients(ax, cpu, HOST_CPU if of_host else CPU, "role", _ROLES, beside=beside)
    for anchor in theirs:
        published.mark(ax, anchor, anchor.clients, anchor.value / BRIEF_CPUS, style.SERVER)
    if caption.is_scaled and of_host:
        ax.axhline(100 * SERVER_SHARE, color=style.SERVER, ls=":", lw=1.4)
        notes.append(f"Dotted: mysqld's share, {plain(100 * SERVER_SHARE)} %. {_QUOTA}")
    if theirs:
        notes += published.note(theirs)
        notes.append(f"Published ones: percent of {BRIEF_CPUS} logical CPUs.")
    return notes


def describe_one_server(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe the best throughput, and the CPU use there."""
    qps, cpu = _one_server(tables)
    best = qps.loc[qps["mean"].idxmax()]
    words = [f"{_one_server_title(tables, qps)}."]
    used = [
        f"{_ROLES[row.role].label} {plain(row.mean)} %"
        for row in cpu[cpu["clients"] == best["clients"]].itertuples()
    ]
    words += [f"CPU there, in percent of one logical CPU: {listed(used)}."] if used else []
    return [*words, *published.sentence(anchors, by_series=True)]


def _one_server(tables: Tables) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Average throughput, and CPU of the server and of both data nodes, by clients."""
    runs = tables["runs"]
    runs = selection.good(runs[runs["servers"] == 1])
    # Of all servers of a sweep, the busiest is the one with clients.
    usage, ids = cpu_use.Usage(tables["processes"]), runs["run_id"]
    qps = intervals.means(runs, ["clients"], "qps")
    try:
        roles = {"mysqld": usage.of_serving(ids, 1), "ndbmtd": usage.of_roles(ids)["ndbmtd"]}
    except MissingData:
        return qps, pd.DataFrame(columns=["role", "clients", "runs", "mean", "low", "high"])
    used = pd.concat([runs.assign(role=name, cpu_pct=ids.map(pct)) for name, pct in roles.items()])
    return qps, intervals.means(used, ["role", "clients"], "cpu_pct")


def _one_server_title(tables: Tables, qps: pd.DataFrame) -> str:
    """Say with which clients one server did best, and what it lost with the most clients.

    Best are all numbers of clients whose throughput the runs do not tell apart from the best mean.
    """
    over_best = _over_best(tables)
    known = over_best["high"].notna()
    is_alike = (over_best["high"] >= 1).where(known, over_best["ratio"] >= 1 - summary.FLAT)
    alike = qps[qps["clients"].isin(over_best.index[is_alike])]
    number, last = float(alike["mean"].mean()), qps.iloc[-1]
    about = "at most " if len(alike) == 1 else "about "
    title = f"1 server gave {about}{plain(number)} queries/s with {_clients(alike['clients'], qps)}"
    if last["clients"] not in set(alike["clients"]):
        less = forest.change(last["mean"] / number, "more", "fewer")
        title += f" and {less} with {int(last['clients'])}"
    return title


def _over_best(tables: Tables) -> pd.DataFrame:
    """Return the throughput of one server over its best mean, by clients: `ratio`, `low`, `high`.

    As in Figure 6, drift between repeats is taken out, and all points say how much runs vary. The
    best is picked from all, so the confidence is that of as many tests.
    """
    runs = tables["runs"]
    runs = selection.good(runs[runs["servers"] == 1])
    adjusted, pooled = blocks.block_adjusted(runs, "qps"), blocks.variability(runs, "qps")
    sides = dict(iter(adjusted.groupby(runs["clients"])))
    best = sides[runs.groupby("clients")["qps"].mean().idxmax()]
    sure = estimate.sidak(len(sides) - 1)
    ratios = {n: estimate.ratio(own, best, sure, pooled) for n, own in sides.items()}
    return pd.DataFrame.from_dict(ratios, orient="index", columns=["ratio", "low", "high"])


def _clients(alike: pd.Series, qps: pd.DataFrame) -> str:
    """Write numbers of clients, as a range if no other lies between them."""
    numbers = [int(clients) for clients in alike]
    between = qps["clients"].between(numbers[0], numbers[-1]).sum()
    if len(numbers) > 2 and between == len(numbers):
        return f"{numbers[0]} to {count(numbers[-1], 'client')}"
    return f"{listed(map(str, numbers))} client{'' if numbers == [1] else 's'}"


def paint_steadiness(figure: Figure, tables: Tables, anchors: Anchors, caption: Caption) -> Head:
    """Draw how much throughput and p95 vary within a run, against clients."""
    steady = _steadiness(tables)
    for ax, (column, (name, colour)) in zip(
        sheet.panels(figure, 2, sharey=True), _VARYING.items(), strict=True
    ):
        shown = steady.dropna(subset=column)
        means = intervals.means(shown, ["clients"], column)
        means = means.assign(line=name, low=np.nan, high=np.nan)
        if shown.empty:
            # No run has two whole seconds: the title says so.
            ax.set(title=name, xticks=[], yticks=[])
            continue
        quantity = Quantity(column, "Variation", "% of the mean", colour)
        curves.against_clients(ax, means, quantity, "line", {name: Look("", colour)})
        ax.set_title(name)
        ax.plot(shown["clients"], shown[column], "o", mfc="white", mec=style.INK, ms=4, zorder=5)
        ax.set_ylim(0, 1.1 * float(steady[list(_VARYING)].max(axis=None)))
    ax.set_ylabel("")
    notes = ["Circles: standard deviation of the seconds of each run; line: mean of the runs."]
    if caption.is_scaled:
        notes.append("Latency includes the period of the CPU quotas.")
    return Head(_steadiness_title(steady), notes)


def describe_steadiness(tables: Tables, anchors: Anchors) -> list[str]:
    """Describe how much the seconds of a run differ, by client count."""
    steady = _steadiness(tables)
    means = steady.groupby("clients")[list(_VARYING)].mean().dropna()
    variations = (
        f"{row.qps_cv:.0f} and {row.latency_p95_ms_cv:.0f} % at {count(int(row.Index), 'client')}"
        for row in means.itertuples()
    )
    servers = count(int(steady["servers"].iloc[0]), "server")
    lead = f"Coefficients of variation within a run with {servers}, throughput and p95 latency"
    words = [f"{_steadiness_title(steady)}.", *in_sentences(lead, variations)]
    return words + published.sentence(anchors)


def _steadiness(tables: Tables) -> pd.DataFrame:
    """Return the variation within each good run with the most servers, in percent."""
    runs = selection.good(tables["runs"])
    runs = runs[runs["servers"] == runs["servers"].max()]
    samples = tables["intervals"].drop(columns="clients", errors="ignore")
    samples = samples.merge(runs[["run_id", "servers", "clients"]], on="run_id")
    if samples.empty:
        raise MissingData("no interval of a good run")
    steady = summary.steadiness(samples)
    steady = steady.merge(runs[["run_id", "servers", "duration_s"]], on="run_id")
    steady[list(_VARYING)] *= 100
    return steady


def _steadiness_title(steady: pd.DataFrame) -> str:
    means = steady.groupby("clients")["qps_cv"].mean().dropna()
    seconds = f"{plain(round(steady['duration_s'].median()))} s"
    if means.empty:
        return f"Runs of {seconds} are too short to say how steady throughput is"
    ends = means.iloc[[0, -1]].items()
    variations = dict.fromkeys(f"{cv:.0f} % with {count(int(n), 'client')}" for n, cv in ends)
    return f"Within a run of {seconds}, throughput varied by {listed(variations)}"


FIGURES = {
    "4": Entry(
        "What limits one MySQL server, and how much CPU does it use?",
        paint_one_server, describe_one_server, ("runs", "processes"),
        height_in=3.6, one_workload=True, under_quotas=True,
    ),
    "8": Entry(
        "How steady are throughput and latency, second by second?",
        paint_steadiness, describe_steadiness, ("runs", "intervals"),
        height_in=3.6, one_workload=True,
    ),
}  # fmt: skip
