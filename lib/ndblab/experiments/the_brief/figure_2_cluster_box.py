"""Figure 2: the cluster in a box: its processes, their connections, and where they run.

It shows what a plan decides; nothing in it was measured.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from ndblab import formatting
from ndblab.experiments.the_brief import roles
from ndblab.figures import sheet
from ndblab.figures.sheet import Head
from ndblab.machine.host import Host
from ndblab.planning.data_node import GIB
from ndblab.planning.deployment import Node, Plan

_MARGIN_IN, _GAP_IN, _PAD_IN = 0.18, 0.16, 0.12


class _Edges(NamedTuple):
    """Lower and upper edges, in inches from the lower edge of the sheet."""

    half: tuple[float, float]
    management: tuple[float, float]
    data_node: tuple[float, float]
    servers: tuple[float, float]
    server: tuple[float, float]
    sysbench: tuple[float, float]


_WIDE = _Edges((0.72, 5.95), (0.86, 1.24), (1.62, 2.42), (3.3, 4.46), (4.04, 4.38), (5.02, 5.44))
_TALL = _Edges((0.72, 7.05), (0.8, 1.3), (1.66, 3.0), (3.85, 5.36), (4.94, 5.28), (5.86, 6.28))
_TALLER_IN = _TALL.half[1] - _WIDE.half[1]
_CHARACTER_IN = 0.066
"""Width of a letter, about."""
_SOCKET, _SHM, _TCP = "#4a7fb5", "#2b6e4f", "#777777"


def paint(figure: Figure, plan: Plan, host: Host) -> Head:
    """Draw all processes of a cluster on one host, their connections and their shares.

    Under `pinned` the two halves of the host are side by side; without affinity there is one box.
    """
    halves = _halves(plan)
    tall = sheet.is_tall(figure)
    at = _TALL if tall else _WIDE
    sheet.grow(figure, _TALLER_IN if tall else 0)
    width_in = (figure.get_figwidth() - 2 * _MARGIN_IN - _GAP_IN * (len(halves) - 1)) / len(halves)
    ax = sheet.canvas(figure)
    places: dict[str, float] = {}
    for i, (servers, data_nodes) in enumerate(halves):
        left = _MARGIN_IN + i * (width_in + _GAP_IN)
        _rectangle(ax, left, at.half, width_in, "#fafafa", "#aaaaaa")
        title = _folded(ax, _title(plan, host, data_nodes), width_in)
        ax.text(left + 0.08, at.half[1] - 0.12, title, fontsize=8, va="top")
        places |= _place(servers, left + 2 * _PAD_IN, width_in - 4 * _PAD_IN, 0)
        places |= _place(data_nodes, left + _PAD_IN, width_in - 2 * _PAD_IN, _GAP_IN * 2)
        inner = left + _PAD_IN, width_in - 2 * _PAD_IN
        _servers(ax, at, plan, host, servers, *inner, places)
        share = (width_in - 2 * _PAD_IN - _GAP_IN * 2 * (len(data_nodes) - 1)) / len(data_nodes)
        for node in data_nodes:
            x, text = places[node.name] - share / 2, _data_node(plan, node, host)
            _process(ax, x, at.data_node, share, roles.DATA_NODE, text)
    _connections(ax, at, plan, places)
    _across(ax, at, plan, figure.get_figwidth())
    return Head(_answer(plan, host), ["Not drawn: management node to MySQL servers."])


def describe(plan: Plan, host: Host) -> list[str]:
    """Describe the box in words."""
    servers = formatting.count(len(plan.servers), "MySQL server")
    text = (
        f"A cluster in a box on {host.describe()}. sysbench, with up to {plan.max_clients} "
        f"clients, connects to {servers} over Unix sockets; each of them is connected to "
        f"{len(plan.data_nodes)} data nodes over {_transporters(plan)}. Each data node holds a "
        "copy of the data; they are connected over TCP, as is the management node with all others. "
        f"Example: {_data_node(plan, plan.data_nodes[0], host)}. MySQL servers: "
        f"{_share(plan, plan.servers[0], host)}. Budget {plan.budget.kind}."
    )
    return [f"{_answer(plan, host)}.", text.replace("\n", ", ")]


def _answer(plan: Plan, host: Host) -> str:
    """Say what runs on the host, and how it is connected."""
    servers = formatting.count(len(plan.servers), "MySQL server")
    nodes = formatting.count(len(plan.data_nodes), "data node")
    cpus = formatting.count(host.usable_cpus, "logical CPU")
    return f"{cpus} run {nodes} and {servers}, over {_transporters(plan).split(' (')[0]}"


def _halves(plan: Plan) -> list[tuple[Sequence[Node], Sequence[Node]]]:
    """Return MySQL servers and data nodes of each frame: those in the same half of the host."""
    if plan.budget.kind != "pinned":
        return [(plan.servers, plan.data_nodes)]
    return [(plan.servers[i::2], (node,)) for i, node in enumerate(plan.data_nodes)]


def _title(plan: Plan, host: Host, data_nodes: Sequence[Node]) -> str:
    if plan.budget.kind != "pinned":
        return roles.block_title(host, host.cores)
    middle = len(host.cores) // 2
    first = data_nodes[0] is plan.data_nodes[0]
    return roles.block_title(host, host.cores[:middle] if first else host.cores[middle:])


def _place(nodes: Sequence[Node], left: float, width: float, gap: float) -> dict[str, float]:
    """Return the centres of boxes of equal width in a row, by name."""
    box = (width - gap * (len(nodes) - 1)) / max(1, len(nodes))
    return {node.name: left + i * (box + gap) + box / 2 for i, node in enumerate(nodes)}


def _servers(
    ax: Axes, at: _Edges, plan: Plan, host: Host, servers: Sequence[Node], left: float,
    width: float, places,
) -> None:  # fmt: skip
    """Draw MySQL servers at their `places` in a frame."""
    if not servers:
        return
    _rectangle(ax, left, at.servers, width, roles.SERVER_PALE, "#666666")
    box = min(0.4, 0.8 * (width - 2 * _PAD_IN) / len(servers))
    for node in servers:
        x = places[node.name]
        number = str(node.number) if box > 0.15 else ""
        _process(ax, x - box / 2, at.server, box, roles.SERVER, number)
    ids = roles.series(node.node_id for node in servers)
    text = (
        f"MySQL servers {roles.numbered(servers)} (mysqld, node ids {ids})\n"
        f"{_share(plan, servers[0], host)}"
    )
    text = _folded(ax, text, width)
    ax.text(left + width / 2, (at.servers[0] + at.server[0]) / 2, text, fontsize=8, ha="center",
            va="center", linespacing=1.45, zorder=6)  # fmt: skip


def _share(plan: Plan, server: Node, host: Host) -> str:
    if plan.budget.kind == "pinned":
        return roles.cpus_and_part(server.share, host)
    if plan.budget.kind == "scaled":
        limit, side = server.share.quota_cpus or 0, plan.sql_side.quota_cpus or 0
        return (
            f"each at most {roles.amount(limit)} ({roles.OF_THE_BRIEF['server']}), with sysbench "
            f"at most {roles.amount(side)} ({roles.OF_THE_BRIEF['sql side']})"
        )
    return "no limit"


def _data_node(plan: Plan, node: Node, host: Host) -> str:
    memory = f"DataMemory {plan.memory.data_bytes / GIB:g} GiB"
    threads = plan.threads
    chosen = (
        f"NumCPUs {threads.automatic_cpus}"
        if threads.automatic_cpus
        else f"{threads.ldm} ldm, {threads.query} query, {threads.tc} tc, "
        f"{threads.send} send, {threads.recv} recv"
    )
    share = {
        "pinned": roles.cpus_and_part(node.share, host),
        "scaled": f"at most {roles.amount(node.share.quota_cpus or 0)} "
        f"({roles.OF_THE_BRIEF['data node']})",
    }.get(plan.budget.kind, "no limit")
    return f"data node {node.number} (ndbmtd, node id {node.node_id})\n{share}\n{memory}, {chosen}"


def _connections(ax: Axes, at: _Edges, plan: Plan, places: dict[str, float]) -> None:
    """Draw Unix sockets above, shared memory or TCP below, TCP beside and at the bottom."""
    for node in plan.servers:
        x = places[node.name]
        ax.plot([x, x], [at.server[1], at.sysbench[0]], color=_SOCKET, lw=0.9, zorder=3)
        line = {"shm": (_SHM, "-", 0.8), "tcp": (_TCP, "--", 0.9)}[node.transporter or "shm"]
        for data in plan.data_nodes:
            end = places[data.name] + (x - places[data.name]) * 0.3
            end = places[data.name] + max(-0.9, min(0.9, end - places[data.name]))
            ax.plot([x, end], [at.servers[0], at.data_node[1]], color=line[0], ls=line[1],
                    lw=line[2], alpha=0.75, zorder=2)  # fmt: skip
    first, *_, last = (places[node.name] for node in plan.data_nodes)
    middle = (first + last) / 2
    y = sum(at.data_node) / 2
    ax.plot([first, last], [y, y], color=_TCP, lw=1.2, ls="--", zorder=0.9)
    for x in (first, last):
        end = middle + (x - middle) * 0.5
        ax.plot([end, x], [at.management[1], at.data_node[0]], color=_TCP, lw=0.9, ls="--")
    _label(ax, middle, (at.servers[0] + at.data_node[1]) / 2, _transporters(plan), _SHM)
    _label(ax, middle, (at.servers[1] + at.sysbench[0]) / 2, "Unix sockets", _SOCKET)
    _label(ax, middle, at.data_node[0] - 0.17, "TCP", _TCP)


def _transporters(plan: Plan) -> str:
    by = {kind: plan.servers_by(kind) for kind in ("shm", "tcp")}
    words = {"shm": "shared memory (SHM transporters)", "tcp": "TCP"}
    if all(by.values()):
        return " and ".join(f"{words[kind]}: {roles.numbered(by[kind])}" for kind in by)
    return next(words[kind] for kind in by if by[kind])


def _across(ax: Axes, at: _Edges, plan: Plan, width_in: float) -> None:
    """Draw what runs in both halves: sysbench above, the management node below."""
    left = _MARGIN_IN + _PAD_IN
    width = width_in - 2 * left
    pinned = plan.budget.kind == "pinned"
    load = f"sysbench, up to {plan.max_clients} clients: "
    load += "on the CPUs of all MySQL servers" if pinned else "no limit of its own"
    _process(ax, left, at.sysbench, width, roles.SYSBENCH, load)
    manager = f"management node (ndb_mgmd, node id {plan.management_node.node_id})\n"
    manager += roles.cpus(plan.management_node.share) if pinned else "no limit"
    aside = 0 if sheet.is_tall(ax.figure) else width * 0.2
    _process(ax, left + aside, at.management, width - 2 * aside, roles.MANAGEMENT, manager)


def _process(
    ax: Axes, left: float, edges: tuple[float, float], width: float, colour: str, text: str
) -> None:
    _rectangle(ax, left, edges, width, colour, "#555555")
    text = _folded(ax, text, width)
    ax.text(left + width / 2, sum(edges) / 2, text, fontsize=8, color=roles.ink(colour),
            ha="center", va="center", linespacing=1.4, zorder=6)  # fmt: skip


def _folded(ax: Axes, text: str, width: float) -> str:
    """Fold lines that would not fit a box of a tall sheet."""
    if not sheet.is_tall(ax.figure):
        return text
    characters = max(2, round((width - 0.1) / _CHARACTER_IN))
    return "\n".join(textwrap.fill(line, characters) for line in text.split("\n"))


def _rectangle(
    ax: Axes, left: float, edges: tuple[float, float], width: float, face: str, edge: str
) -> None:
    style_ = "round,pad=0,rounding_size=0.05"
    patch = FancyBboxPatch((left, edges[0]), width, edges[1] - edges[0], boxstyle=style_,
                           fc=face, ec=edge, lw=0.8,
                           zorder=0.5 if face == "#fafafa" else 4)  # fmt: skip
    ax.add_patch(patch)


def _label(ax: Axes, x: float, y: float, text: str, colour: str) -> None:
    box = {"fc": "white", "ec": colour, "lw": 0.6, "boxstyle": "round,pad=0.25"}
    ax.text(x, y, text, fontsize=8, color=colour, ha="center", va="center", bbox=box, zorder=7)
