"""Figure 4: throughput, mysqld CPU and ndbmtd CPU of one MySQL server against clients.

In: runs and processes of a dataset, the published numbers. Out: a painted figure and its
description. Throughput is on the left axis and CPU on the right one, as in the brief.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ndblab import formatting
from ndblab.figures import intervals, published_panel, selection, sheet, style
from ndblab.figures.quantity import DATA_NODES_CPU, QPS, SERVER_CPU, Quantity
from ndblab.figures.selection import Tables
from ndblab.figures.sheet import Caption
from ndblab.judging.evidence import SERVER_SHARE
from ndblab.judging.publication import Anchor

_LOOKS = {
    "Throughput": (QPS, "o", "-"),
    "mysqld CPU": (SERVER_CPU, "^", "-"),
    "ndbmtd CPU, both data nodes": (DATA_NODES_CPU, "s", "--"),
}
_ROOM = 1.6
"""Upper end of the vertical axes over the largest mean, to leave room for the legend."""


def paint(figure: Figure, tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> list[str]:
    """Draw the runs with one MySQL server."""
    lines = _lines(tables)
    scaled = caption.is_scaled and caption.cpus
    [[measured, beside]] = sheet.panels(figure, columns=(1.7, 1), wspace=0.52, right=0.9)
    measured.set_title(caption.title())
    _measured(measured, lines, 100 * SERVER_SHARE * caption.cpus if scaled else None)
    _published(beside, anchors)
    notes = [intervals.described(lines["Throughput"]["runs"])]
    imposed = (
        "The quota of mysqld (30/256 of the CPUs, what one used in the brief) imposes its CPU "
        "limit, which is therefore not a finding."
    )
    return notes + ([imposed] if caption.is_scaled else [])


def describe(tables: Tables, anchors: Sequence[Anchor]) -> list[str]:
    """Describe the best throughput, the CPU use there, and the highest CPU use of mysqld."""
    qps, server, nodes = _lines(tables).values()
    best = qps.loc[qps["mean"].idxmax()]
    used = [
        f"{name} {formatting.plain(at['mean'].iloc[0])}"
        for name, line in (("mysqld uses", server), ("both ndbmtd together use", nodes))
        if len(at := line[line["clients"] == best["clients"]])
    ]
    words = [
        "Throughput (queries/s), mysqld CPU and ndbmtd CPU (percent of one logical CPU) of one "
        f"MySQL server against {qps['clients'].min()} to {qps['clients'].max()} clients.",
        f"The best mean throughput is {formatting.plain(best['mean'])} at "
        + formatting.count(int(best["clients"]), "client")
        + (f", where {' % and '.join(used)} %." if used else "."),
    ]
    if len(server):
        most = server.loc[server["mean"].idxmax()]
        at = formatting.count(int(most["clients"]), "client")
        words.append(f"mysqld uses most at {at}: {formatting.plain(most['mean'])} %.")
    each = (
        f"{a.series} {published_panel.words(a)} at {formatting.count(a.clients, 'client')}"
        for a in anchors
    )
    return words + published_panel.sentence(anchors, each)


def _lines(tables: Tables) -> dict[str, pd.DataFrame]:
    """Average throughput, CPU of the server and CPU of both data nodes over runs, by clients."""
    runs = tables["runs"]
    runs = selection.good(runs[runs["servers"] == 1])
    processes = tables["processes"]
    processes = processes[processes["run_id"].isin(runs["run_id"])]
    each = processes.groupby(["run_id", "role", "node_id"], observed=True)["cpu_pct"].mean()
    by_role = each.groupby(level=["run_id", "role"], observed=True)
    # Of all servers of a cluster, the busiest is the one with clients.
    used = {"mysqld": by_role.max(), "ndbmtd": by_role.sum()}
    lines = [intervals.means(runs, ["clients"], "qps")]
    for role, by_run in used.items():
        of_role = by_run[by_run.index.get_level_values("role") == role].droplevel("role")
        table = runs.assign(cpu_pct=runs["run_id"].map(of_role)).dropna(subset="cpu_pct")
        lines.append(intervals.means(table, ["clients"], "cpu_pct"))
    return dict(zip(_LOOKS, lines, strict=True))


def _measured(ax: Axes, lines: dict[str, pd.DataFrame], share_pct: float | None) -> None:
    clients = lines["Throughput"]["clients"]
    cpu = ax.twinx()
    cpu_most = max(
        (line["mean"].max() for name, line in lines.items() if name != "Throughput" and len(line)),
        default=100.0,
    )
    for name, line in lines.items():
        quantity, marker, dashes = _LOOKS[name]
        on = ax if quantity is QPS else cpu
        on.fill_between(
            line["clients"], line["low"], line["high"], color=quantity.colour, alpha=0.16, lw=0
        )
        on.plot(
            line["clients"], line["mean"], dashes, marker=marker, color=quantity.colour, zorder=3
        )
    handles = [
        Line2D([], [], color=q.colour, marker=marker, ls=dashes, label=name)
        for name, (q, marker, dashes) in _LOOKS.items()
    ]
    if share_pct is not None:
        cpu.axhline(share_pct, color=style.SERVER, ls=":", lw=1.4)
        label = f"CPU share of mysqld: {formatting.plain(share_pct)} %"
        handles.insert(2, Line2D([], [], color=style.SERVER, ls=":", lw=1.4, label=label))
        cpu_most = max(cpu_most, share_pct)
    _two_axes(ax, cpu, clients, lines["Throughput"]["mean"].max(), cpu_most)
    ax.legend(handles=handles, loc="upper left", handlelength=2.8, ncols=1, fontsize=8)


def _published(ax: Axes, anchors: Sequence[Anchor]) -> None:
    published_panel.note(ax, anchors, width=34)
    cpu = ax.twinx()
    of_cpu = [a for a in anchors if a.unit != QPS.unit]
    of_qps = [a for a in anchors if a.unit == QPS.unit]
    clients = sorted({a.clients for a in anchors}) or [1]
    most = max((a.value for a in of_qps), default=1.0)
    _two_axes(ax, cpu, clients, most, max((a.value for a in of_cpu), default=100.0))
    ax.set_xlim(clients[0] / 2.6, clients[-1] * 2.2)
    ax.set_xticks(clients if anchors else [])
    for on, shown, shade in ((ax, of_qps, QPS.colour), (cpu, of_cpu, SERVER_CPU.colour)):
        for anchor in shown:
            published_panel.mark(on, anchor, anchor.clients, shade)
            value = published_panel.words(anchor).removesuffix(f" {anchor.unit}")
            text = f"{value}\nqueries/s" if on is ax else f"mysqld\n{value} %"
            published_panel.label(on, anchor, anchor.clients, text, 7.5)


def _two_axes(
    ax: Axes, cpu: Axes, clients: Sequence[int] | pd.Series, qps: float, cpu_pct: float
) -> None:
    QPS.against_clients(ax, clients, qps)
    right = Quantity("cpu_pct", "CPU", SERVER_CPU.unit, style.SERVER)
    right.against_clients(cpu, clients, cpu_pct)
    cpu.grid(False)
    cpu.set_xlabel("")
    cpu.spines["right"].set_visible(True)
    for on, most in ((ax, qps), (cpu, cpu_pct)):
        on.set_ylim(0, most * _ROOM)
