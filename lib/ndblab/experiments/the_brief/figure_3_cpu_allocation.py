"""Figure 3: the CPUs of each process: core by core under affinity, as bandwidth under quotas.

It shows what a plan decides, not what a process used.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from ndblab.experiments.the_brief import roles
from ndblab.figures import sheet, style
from ndblab.figures.sheet import Head
from ndblab.machine.host import Cpu, Host
from ndblab.planning.deployment import Plan

_MARGIN_IN, _GAP_IN, _LINE_IN = 0.18, 0.22, 0.2
_TITLE_IN, _HEADER_IN, _CELL_IN, _BELOW_ROW_IN = 0.55, 0.32, 0.185, 0.07
_CHARACTER_IN = 0.064
"""Width of a letter in the key."""
_TALL_LINE = 12
"""Characters of a line beside the bars of a tall sheet."""
_SHARED = "#e9e9e9"


def paint(figure: Figure, plan: Plan, host: Host) -> Head:
    """Draw how a plan divides a host's CPUs.

    Under `pinned` each logical CPU is a cell, siblings of a core are stacked, and a block is a NUMA
    node. Under `scaled` no process has CPUs of its own: bars are bandwidth. Under `shared` one bar
    is for all.
    """
    if plan.budget.kind == "pinned":
        return Head(_answer(plan, host), _by_core(figure, plan, host))
    return Head(_answer(plan, host), _by_bandwidth(figure, plan, host))


def _answer(plan: Plan, host: Host) -> str:
    """Say what a data node and a MySQL server get of the host."""
    node, server = plan.data_nodes[0].share, plan.servers[0].share
    if plan.budget.kind == "pinned":
        together = {cpu for one in plan.servers for cpu in one.share.cpus}
        return (
            f"Of {host.usable_cpus:g} logical CPUs, each data node has {len(node.cpus)}, and "
            f"{len(plan.servers)} MySQL servers share {len(together)}"
        )
    if plan.budget.kind == "scaled":
        return (
            f"Each data node may use {roles.amount(node.quota_cpus)}, each MySQL server "
            f"{roles.amount(server.quota_cpus)}"
        )
    return f"Every process may use all {host.usable_cpus:g} logical CPUs"


def describe(plan: Plan, host: Host) -> list[str]:
    """Describe the allocation in words."""
    start = f"{_answer(plan, host)}. On {host.describe()}, budget {plan.budget.kind}."
    if plan.budget.kind == "pinned":
        keys, nodes = [_key(group, host) for group in roles.groups(plan)], len(plan.data_nodes)
        return [
            f"{start} Data nodes: {'; '.join(keys[:nodes])}.",
            f"Others: {'; '.join(keys[nodes:])}. sysbench runs on the CPUs of all MySQL servers.",
        ]
    if plan.budget.kind != "scaled":
        return [start, "Nothing is divided: every process may use all CPUs."]
    data, server = plan.data_nodes[0].share, plan.servers[0].share
    return [
        start,
        f"No process has dedicated CPUs; each may use part of the time of all "
        f"{host.usable_cpus:g}. That is each data node at most {roles.amount(data.quota_cpus)}, "
        f"each of {len(plan.servers)} MySQL servers at most {roles.amount(server.quota_cpus)}, "
        f"and these with sysbench at most {roles.amount(plan.sql_side.quota_cpus)} together. The "
        "management node has no limit.",
    ]


def _by_core(figure: Figure, plan: Plan, host: Host) -> list[str]:
    groups = roles.groups(plan)
    blocks = [[core for core in host.cores if core[0].node == node.id] for node in host.numa_nodes]
    across = 1 if sheet.is_tall(figure) else min(2, len(blocks))
    columns = 2 ** math.ceil(math.log2(max(4, math.sqrt(max(map(len, blocks))))))
    siblings = max(len(core) for core in host.cores)
    row_in = siblings * _CELL_IN + _BELOW_ROW_IN
    block_in = _HEADER_IN + math.ceil(max(map(len, blocks)) / columns) * row_in + _GAP_IN
    blocks_in = block_in * math.ceil(len(blocks) / across)
    keys = _keys(groups, host, figure.get_figwidth())
    lines = sum(text.count("\n") + 1 for text in keys)
    height_in = _TITLE_IN + blocks_in + _LINE_IN * (lines + 0.4) + 0.75
    figure.set_figheight(height_in)
    ax = sheet.canvas(figure)
    width_in = (figure.get_figwidth() - 2 * _MARGIN_IN - (across - 1) * _GAP_IN) / across
    for i, block in enumerate(blocks):
        left = _MARGIN_IN + (i % across) * (width_in + _GAP_IN)
        top = height_in - _TITLE_IN - (i // across) * block_in
        ax.text(left, top - 0.06, roles.block_title(host, block), fontsize=8.5, va="top")
        for k, core in enumerate(block):
            x = left + (k % columns) * width_in / columns
            y = top - _HEADER_IN - (k // columns) * row_in
            _core(ax, core, x, y, width_in / columns - 0.05, groups)
    _draw_keys(ax, groups, keys, height_in - _TITLE_IN - blocks_in)
    return ["A frame is a core; its letters apply to all of it."]


def _core(ax: Axes, core: tuple[Cpu, ...], x: float, top: float, width: float, groups) -> None:
    """Draw a core: a cell for each logical CPU with its number, and letters at the left."""
    mine = [group for group in groups if core[0].id in group.share.cpus]
    strip = min(0.15, width / 3)
    size = min(7.0, width * 17)
    for i, cpu in enumerate(core):
        y = top - (i + 1) * _CELL_IN
        here = [group for group in groups if cpu.id in group.share.cpus]
        face = here[0].colour if here else "white"
        ax.add_patch(Rectangle((x, y), width, _CELL_IN, fc=face, ec="white", lw=0.4))
        middle = x + (strip + width) / 2
        ax.text(middle, y + _CELL_IN / 2, str(cpu.id), color=roles.ink(face), fontsize=size,
                ha="center", va="center_baseline")  # fmt: skip
    for i, group in enumerate(mine):
        # If a core has fewer cells than groups, the last letter is at the right.
        left = x if i < len(core) else x + width - strip
        y = top - (min(i, len(core) - 1) + 1) * _CELL_IN
        if i > 0:
            ax.add_patch(Rectangle((left, y), strip, _CELL_IN, fc=group.colour, ec="white", lw=0.4))
        ax.text(left + strip / 2, y + _CELL_IN / 2, group.letter, color=roles.ink(group.colour),
                fontsize=size * 0.75, fontweight="bold", ha="center",
                va="center_baseline")  # fmt: skip
    height = len(core) * _CELL_IN
    ax.add_patch(Rectangle((x, top - height), width, height, fc="none", ec="#666666", lw=0.7))


def _keys(groups: Sequence[roles.Group], host: Host, width_in: float) -> list[str]:
    """Write name and CPUs of each group, folded to what fits a sheet."""
    characters = round((width_in - 2 * _MARGIN_IN - 0.4) / _CHARACTER_IN)
    return [textwrap.fill(_key(group, host), characters) for group in groups]


def _key(group: roles.Group, host: Host) -> str:
    return f"{group.name}: {roles.cpus_and_part(group.share, host)}"


def _draw_keys(ax: Axes, groups: Sequence[roles.Group], keys: Sequence[str], top: float) -> None:
    """Draw the key of each group: its letter on its colour, and its words."""
    y = top
    for group, text in zip(groups, keys, strict=True):
        y -= _LINE_IN
        box = Rectangle((_MARGIN_IN, y), 0.3, 0.16, fc=group.colour, ec="#666666", lw=0.6)
        ax.add_patch(box)
        ax.text(_MARGIN_IN + 0.15, y + 0.08, group.letter, color=roles.ink(group.colour),
                fontsize=7, fontweight="bold", ha="center", va="center_baseline")  # fmt: skip
        for line in text.split("\n"):
            ax.text(_MARGIN_IN + 0.4, y + 0.08, line, fontsize=8, va="center_baseline")
            y -= _LINE_IN
        y += _LINE_IN


def _by_bandwidth(figure: Figure, plan: Plan, host: Host) -> list[str]:
    scaled = plan.budget.kind == "scaled"
    tall = sheet.is_tall(figure)
    height_in = (5.4 if tall else 4.4) if scaled else 3.0
    figure.set_figheight(height_in)
    below, above = 1.22 / height_in, 1 - 0.95 / height_in
    left, wide = (0.24, 0.69) if tall else (0.15, 0.825)
    ax = figure.add_axes((left, below, wide, above - below))
    total = host.usable_cpus
    rows = {"the host": 0}
    for i in range(math.ceil(total) if total <= 32 else 1):
        width = min(1.0, total - i) if total <= 32 else total
        text = f"logical CPU {i + 1}" if total <= 8 else ("" if total <= 32 else f"{total:g}")
        _bar(ax, 0, i, width, _SHARED, text)
    if scaled:
        rows |= {"data nodes,\nSQL side": 1, "each MySQL\nserver": 2}
        _scaled_rows(ax, plan)
    else:
        rows |= {"every process": 1}
        words = "management node, data nodes, MySQL servers, sysbench"
        _bar(ax, 1, 0, total, _SHARED, textwrap.fill(words, 30 if tall else len(words)))
    ax.set_yticks(list(rows.values()), list(rows))
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlim(0, total)
    if tall:
        ax.xaxis.set_major_locator(MaxNLocator(4))
    ax.set_xlabel("CPU bandwidth, logical CPUs")
    ax.grid(visible=False)
    ax.tick_params(left=False)
    ax.spines["left"].set_visible(False)
    of_host = (lambda x: 100 * x / total, lambda percent: percent * total / 100)
    ax.secondary_xaxis("top", functions=of_host).set_xlabel("percent of the host", labelpad=4)
    if not scaled:
        return ["Every process may use all CPUs."]
    return ["No process has dedicated CPUs. Bars are limits; the management node has none."]


def _scaled_rows(ax: Axes, plan: Plan) -> None:
    """Draw data nodes and SQL side; below that, as many servers at their limit as fill it."""
    tall = sheet.is_tall(ax.figure)
    left, between, line = (0.0, " ", "\n") if tall else (0.0, "\n", " ")
    for node in plan.data_nodes:
        width = node.share.quota_cpus
        text = f"data node {node.number}\n{width:.3g}{between}({roles.OF_THE_BRIEF['data node']})"
        _bar(ax, 1, left, width, roles.DATA_NODE, text, upright=tall)
        left += width
    side, server = plan.sql_side.quota_cpus, plan.servers[0].share.quota_cpus
    share = roles.OF_THE_BRIEF["sql side"]
    text = f"all MySQL servers{line}and sysbench together\n{side:.3g} ({share})"
    _bar(ax, 1, left, side, roles.SERVER_PALE, text)
    fit = side / server
    for i in range(min(len(plan.servers), math.floor(fit))):
        _bar(ax, 2, left + i * server, server, roles.SERVER, f"{i + 1}\n{server:.3g}")
    if len(plan.servers) > fit:
        start = left + math.floor(fit) * server
        _bar(ax, 2, start, left + side - start, "white", "...")
        text = f"{fit:.3g} servers at their limit\nfill the SQL side;\n"
        text += f"all {len(plan.servers)} share it"
        text = textwrap.fill(text, _TALL_LINE) if tall else text
        ax.text(left / 2, 2, text, ha="center", va="center", fontsize=7.5, color=style.QUIET)


def _bar(
    ax: Axes, row: int, left: float, width: float, colour: str, text: str, upright: bool = False
) -> None:
    ax.barh(row, width, left=left, height=0.74, color=colour, edgecolor="#666666", linewidth=0.8)
    size_pt = 7 if sheet.is_tall(ax.figure) else 8
    ax.text(left + width / 2, row, text, ha="center", va="center", fontsize=size_pt,
            color=roles.ink(colour), rotation=90 if upright else 0)  # fmt: skip
