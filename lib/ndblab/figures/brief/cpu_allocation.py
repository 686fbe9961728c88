"""Figure 3: who has which CPUs. Core by core where CPUs are bound, as bandwidth where they are not.

In: a plan and its host. Out: a matplotlib `Figure`, and its words.
It shows what a plan decides, not what a process used.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ndblab.analysis import formatting
from ndblab.figures import sheet, style
from ndblab.figures.brief import roles
from ndblab.machine.host import Cpu, Host
from ndblab.planning.deployment import Plan

_MARGIN_IN, _GAP_IN, _LINE_IN = 0.18, 0.22, 0.2
_TITLE_IN, _HEADER_IN, _CELL_IN, _BELOW_ROW_IN = 0.55, 0.32, 0.185, 0.07
_CAPTION_CHARACTERS = 132
_SHARED = "#e9e9e9"


def draw_allocation(plan: Plan, host: Host) -> Figure:
    """Draw how a plan divides a host's CPUs.

    Under `pinned` every logical CPU is a cell, siblings of a core stand below each other, and a
    block is a NUMA node. Under `scaled` nobody has CPUs of its own: bars are bandwidth. Under
    `shared` there is nothing to divide, and the bar says so.
    """
    return _by_core(plan, host) if plan.budget.kind == "pinned" else _by_bandwidth(plan, host)


def describe_allocation(plan: Plan, host: Host) -> str:
    """Say in words what `draw_allocation` shows."""
    start = f"CPU allocation on {host.describe()}, budget {plan.budget.kind}."
    if plan.budget.kind == "pinned":
        told = (
            f"{group.name}: {roles.cpus(group.share)} ({roles.part(group.share, host)})"
            for group in roles.groups(plan)
        )
        return f"{start} {'; '.join(told)}. sysbench runs on the CPUs of all MySQL servers."
    if plan.budget.kind == "scaled":
        data, server = plan.data_nodes[0].share, plan.servers[0].share
        return (
            f"{start} No process has CPUs of its own; each may use a part of the time of all "
            f"{host.usable_cpus:g}: each data node at most {roles.amount(data.quota_cpus)}, each "
            f"of {len(plan.servers)} MySQL servers at most {roles.amount(server.quota_cpus)}, and "
            f"these with sysbench at most {roles.amount(plan.sql_side.quota_cpus)} together. "
            "The management node has no limit."
        )
    return f"{start} Nothing is divided: every process may use all CPUs."


def _by_core(plan: Plan, host: Host) -> Figure:
    groups = roles.groups(plan)
    blocks = [[core for core in host.cores if core[0].node == node.id] for node in host.numa_nodes]
    across = min(2, len(blocks))
    columns = 2 ** math.ceil(math.log2(max(4, math.sqrt(max(map(len, blocks))))))
    siblings = max(len(core) for core in host.cores)
    row_in = siblings * _CELL_IN + _BELOW_ROW_IN
    block_in = _HEADER_IN + math.ceil(max(map(len, blocks)) / columns) * row_in + _GAP_IN
    blocks_in = block_in * math.ceil(len(blocks) / across)
    height_in = _TITLE_IN + blocks_in + _LINE_IN * (len(groups) + 0.4) + 0.75
    with sheet.page("Which process has which logical CPUs?", height_in) as figure:
        ax = canvas(figure)
        width_in = (sheet.WIDTH_IN - 2 * _MARGIN_IN - (across - 1) * _GAP_IN) / across
        for i, block in enumerate(blocks):
            left = _MARGIN_IN + (i % across) * (width_in + _GAP_IN)
            top = height_in - _TITLE_IN - (i // across) * block_in
            ax.text(left, top - 0.06, block_title(host, block), fontsize=8.5, va="top")
            for k, core in enumerate(block):
                x = left + (k % columns) * width_in / columns
                y = top - _HEADER_IN - (k // columns) * row_in
                _core(ax, core, x, y, width_in / columns - 0.05, groups)
        top = height_in - _TITLE_IN - blocks_in
        _keys(ax, groups, host, top)
        caption(ax, plan, host, "A frame is a core, and its letters hold for all of it.")
    return figure


def _core(ax: Axes, core: tuple[Cpu, ...], x: float, top: float, width: float, groups) -> None:
    """One core: a cell for each logical CPU, with its number, and letters at its left."""
    mine = [group for group in groups if core[0].id in group.share.cpus]
    strip = min(0.15, width / 3)
    size = min(7.0, width * 17)
    for i, cpu in enumerate(core):
        y = top - (i + 1) * _CELL_IN
        here = [group for group in groups if cpu.id in group.share.cpus]
        face = here[0].colour if here else "white"
        ink = "white" if face == roles.DATA_NODE else style.INK
        ax.add_patch(Rectangle((x, y), width, _CELL_IN, fc=face, ec="white", lw=0.4))
        middle = x + (strip + width) / 2
        ax.text(middle, y + _CELL_IN / 2, str(cpu.id), color=ink, fontsize=size,
                ha="center", va="center_baseline")  # fmt: skip
    for i, group in enumerate(mine):
        # Where a core has fewer cells than groups, the last letter stands at its other side.
        left = x if i < len(core) else x + width - strip
        y = top - (min(i, len(core) - 1) + 1) * _CELL_IN
        ink = "white" if group.colour == roles.DATA_NODE else style.INK
        if i > 0:
            ax.add_patch(Rectangle((left, y), strip, _CELL_IN, fc=group.colour, ec="white", lw=0.4))
        ax.text(left + strip / 2, y + _CELL_IN / 2, group.letter, color=ink, fontsize=size * 0.75,
                fontweight="bold", ha="center", va="center_baseline")  # fmt: skip
    height = len(core) * _CELL_IN
    ax.add_patch(Rectangle((x, top - height), width, height, fc="none", ec="#666666", lw=0.7))


def _keys(ax: Axes, groups: Sequence[roles.Group], host: Host, top: float) -> None:
    """One line for each group: its letter on its colour, its name, its CPUs."""
    for i, group in enumerate(groups):
        y = top - (i + 1) * _LINE_IN
        ink = "white" if group.colour == roles.DATA_NODE else style.INK
        box = Rectangle((_MARGIN_IN, y), 0.3, 0.16, fc=group.colour, ec="#666666", lw=0.6)
        ax.add_patch(box)
        ax.text(_MARGIN_IN + 0.15, y + 0.08, group.letter, color=ink, fontsize=7,
                fontweight="bold", ha="center", va="center_baseline")  # fmt: skip
        text = f"{group.name}: {roles.cpus(group.share)} ({roles.part(group.share, host)})"
        ax.text(_MARGIN_IN + 0.4, y + 0.08, text, fontsize=8, va="center_baseline")


def _by_bandwidth(plan: Plan, host: Host) -> Figure:
    scaled = plan.budget.kind == "scaled"
    question = (
        "How is CPU bandwidth shared when nobody has CPUs of its own?"
        if scaled
        else "Which process has which logical CPUs? Every one has all"
    )
    height_in = 4.4 if scaled else 3.0
    with sheet.page(question, height_in) as figure:
        below, above = 1.22 / height_in, 1 - 0.95 / height_in
        ax = figure.add_axes((0.15, below, 0.825, above - below))
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
            _bar(ax, 1, 0, total, _SHARED, "management node, data nodes, MySQL servers, sysbench")
        ax.set_yticks(list(rows.values()), list(rows))
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.set_xlim(0, total)
        ax.set_xlabel("CPU bandwidth, logical CPUs")
        ax.grid(visible=False)
        ax.tick_params(left=False)
        ax.spines["left"].set_visible(False)
        percent = ax.secondary_xaxis("top", functions=(lambda x: 100 * x / total,
                                                       lambda p: p * total / 100))  # fmt: skip
        percent.set_xlabel("percent of the host", labelpad=4)
        note = "Bars are limits; the management node has none." if scaled else ""
        caption(canvas(figure), plan, host, note)
    return figure


def _scaled_rows(ax: Axes, plan: Plan) -> None:
    """Data nodes beside the SQL side; below that, as many servers at their most as fill it."""
    left = 0.0
    for node in plan.data_nodes:
        width = node.share.quota_cpus
        text = f"data node {node.number}\n{width:.3g}\n({roles.OF_THE_BRIEF['data node']})"
        _bar(ax, 1, left, width, roles.DATA_NODE, text)
        left += width
    side, each = plan.sql_side.quota_cpus, plan.servers[0].share.quota_cpus
    share = roles.OF_THE_BRIEF["sql side"]
    text = f"all MySQL servers and sysbench together\n{side:.3g} ({share})"
    _bar(ax, 1, left, side, roles.SERVER_PALE, text)
    fit = side / each
    for i in range(min(len(plan.servers), math.floor(fit))):
        _bar(ax, 2, left + i * each, each, roles.SERVER, f"{i + 1}\n{each:.3g}")
    if len(plan.servers) > fit:
        start = left + math.floor(fit) * each
        _bar(ax, 2, start, left + side - start, "white", "...")
        text = f"{fit:.3g} servers at their limit\nfill the SQL side;\n"
        text += f"all {len(plan.servers)} share it"
        ax.text(left / 2, 2, text, ha="center", va="center", fontsize=7.5, color=style.QUIET)


def _bar(ax: Axes, row: int, left: float, width: float, colour: str, text: str) -> None:
    ax.barh(row, width, left=left, height=0.74, color=colour, edgecolor="#666666", linewidth=0.8)
    ink = "white" if colour == roles.DATA_NODE else style.INK
    ax.text(left + width / 2, row, text, ha="center", va="center", fontsize=8, color=ink)


def canvas(figure: Figure) -> Axes:
    """Give axes without frame over the whole sheet, in inches from its lower left corner."""
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set_xlim(0, figure.get_figwidth())
    ax.set_ylim(0, figure.get_figheight())
    ax.set_axis_off()
    return ax


def caption(ax: Axes, plan: Plan, host: Host, note: str) -> None:
    """Write below a drawing on a `canvas` of whom it is, and how to read it."""
    budget = f"CPU budget {plan.budget.kind}: {plan.budget.reason}. {note}"
    lines = [textwrap.fill(text, _CAPTION_CHARACTERS) for text in (f"{host.describe()}.", budget)]
    ax.text(_MARGIN_IN, 0.55, "\n".join(lines), fontsize=7.5, color=style.QUIET, va="top",
            linespacing=1.4)  # fmt: skip


def block_title(host: Host, cores: Sequence[tuple[Cpu, ...]]) -> str:
    """Name the part of a host that some cores are: NUMA node, socket, cores, CPUs, memory.

    Memory is told where there are several NUMA nodes, and of whole ones only.
    """
    nodes = sorted({cpu.node for core in cores for cpu in core})
    sockets = sorted({cpu.package for core in cores for cpu in core})
    whole = sum(core[0].node in nodes for core in host.cores) == len(cores)
    memory = sum(node.memory_bytes for node in host.numa_nodes if node.id in nodes) / roles.GIB
    return (
        f"{'' if whole else 'part of '}{roles.numa_nodes(nodes)}, "
        f"socket {formatting.listed(map(str, sockets))}: {formatting.count(len(cores), 'core')}, "
        f"{formatting.count(sum(map(len, cores)), 'logical CPU')}"
        + (f", {memory:.0f} GiB" if whole and len(host.numa_nodes) > 1 else "")
    )
