"""Who runs where: the hosts of a planned cluster, their processes, and the CPUs of each.

It shows what the plan in a dataset's manifest decides; nothing in it was measured.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from ndblab.figures import sheet, style
from ndblab.formatting import count, in_sentences, plain

KEY = "who-runs-where"
Fields = Mapping[str, Any]
"""A part of a manifest."""
_LOAD, _SERVER, _DATA_NODE, _MANAGEMENT = "load", "mysqld", "ndbmtd", "ndb_mgmd"
_COLOURS = {
    _LOAD: ("#cfe0f1", style.INK), _SERVER: ("#fbe3b0", style.INK),
    _DATA_NODE: (style.DATA_NODE, "white"), _MANAGEMENT: ("#e4e4e4", style.INK),
}  # fmt: skip
_WIDE = {_LOAD: 1.15, _SERVER: 1.6, _DATA_NODE: 1.55, _MANAGEMENT: 1.0}
_BOX_IN, _GAP_IN, _MARGIN_IN, _HEAD_IN, _LINK_IN = 0.46, 0.1, 0.1, 0.3, 0.45
_LINE_IN, _FONT_PT, _TALL_TITLE = 0.15, 8, 52


class Box(NamedTuple):
    """Equal processes of a host: their role, their number and name, and the CPUs they may use."""

    role: str
    name: str
    limit: str


def draw(plan: Fields, cpus: float, clients: int) -> Figure:
    """Draw a frame for each host with its processes in it.

    Parameters
    ----------
    cpus : logical CPUs of one host.
    clients : the largest number that was run.
    """
    hosts = _hosts(plan)
    boxes = {host: _boxes(plan, host, clients) for host in hosts}
    with sheet.page() as figure:
        tall = sheet.is_tall(figure)
        across = 1 if tall else len(hosts)
        in_columns = len(hosts) == 1 and not tall
        titles = {
            host: _together(plan, cpus) if len(hosts) == 1 else f"host {host}" for host in hosts
        }
        if tall:
            titles = {host: textwrap.fill(title, _TALL_TITLE) for host, title in titles.items()}
        heads = {host: _HEAD_IN + _LINE_IN * titles[host].count("\n") for host in hosts}
        rows = {host: _rows(boxes[host], in_columns) for host in hosts}
        high = {host: heads[host] + rows[host] * (_BOX_IN + _GAP_IN) + _MARGIN_IN for host in hosts}
        if not tall:
            high = dict.fromkeys(hosts, max(high.values()))
        below_each_other = hosts if tall else hosts[:1]
        top = sum(high[host] + _MARGIN_IN for host in below_each_other)
        figure.set_figheight(top + _MARGIN_IN)
        ax = sheet.canvas(figure)
        wide = (figure.get_figwidth() - _MARGIN_IN * (across + 1)) / across
        for place, host in enumerate(hosts):
            left = _MARGIN_IN + place % across * (wide + _MARGIN_IN)
            frame = (left, top - high[host], wide, high[host])
            _rectangle(ax, frame, "#fafafa", "#aaaaaa")
            where = left + 0.08, top - _MARGIN_IN
            ax.text(*where, titles[host], fontsize=_FONT_PT, va="top", fontweight="bold")
            inner = *frame[:3], high[host] - heads[host]
            if in_columns:
                _columns(ax, boxes[host], inner)
            else:
                _stack(ax, boxes[host], inner, linked=len(hosts) == 1)
            top -= high[host] + _MARGIN_IN if tall else 0
    return figure


def _rows(boxes: Sequence[Box], in_columns: bool) -> int:
    """Return how many boxes are stacked."""
    return max(Counter(box.role for box in boxes).values()) if in_columns else len(boxes)


def describe(plan: Fields, cpus: float, clients: int) -> str:
    """Describe in words what `draw` shows."""
    hosts = _hosts(plan)
    parts = [
        words
        for host in hosts
        for words in in_sentences(
            f"Host {host}" if host else "On it",
            (f"{box.name} ({box.limit})" for box in _boxes(plan, host, clients)),
        )
    ]
    return " ".join(["Who runs where.", f"{_together(plan, cpus)}.", *parts])


def _hosts(plan: Fields) -> list[str]:
    return [host["name"] for host in plan.get("hosts", ())] or [""]


def _together(plan: Fields, cpus: float) -> str:
    side = plan["sql_side"]["quota_cpus"]
    shared = f"; servers and clients together: at most {plain(side)} CPUs" if side else ""
    which = "One host" if _hosts(plan) == [""] else "Each host"
    return f"{which}, {plain(cpus)} logical CPUs{shared}"


def _boxes(plan: Fields, host: str, clients: int) -> list[Box]:
    """Return the processes of a host, equal ones together, in the order a query meets them."""
    here = {
        role: [node for node in plan[key] if node.get("host", "") == host]
        for role, key in ((_SERVER, "servers"), (_DATA_NODE, "data_nodes"))
    }
    load = [of for of in plan.get("hosts", ()) if of["name"] == host and _LOAD in of["roles"]]
    boxes = []
    if load or not host:
        most = f"{'up to ' if clients > 1 else ''}{count(clients, 'client')}"
        limit = _limit(plan["sysbench"])
        together = plan["sql_side"]["quota_cpus"]
        if together and limit == _UNLIMITED:
            limit = f"of these {plain(together)} CPUs"
        boxes.append(Box(_LOAD, most, limit))
    for role, nodes in here.items():
        beside_data = bool(here[_DATA_NODE])
        alike = Counter((_kind(node, beside_data), _limit(node["share"])) for node in nodes)
        for (kind, limit), number in alike.items():
            every = "each " if number > 1 and limit != _UNLIMITED else ""
            boxes.append(Box(role, f"{number} {role}{kind}", every + limit))
    if plan["management_node"].get("host", "") == host:
        boxes.append(Box(_MANAGEMENT, _MANAGEMENT, _limit(plan["management_node"]["share"])))
    return boxes


_UNLIMITED = "no limit"


def _kind(node: Fields, beside_data: bool) -> str:
    """Say how a MySQL server is connected; return nothing for a data node.

    Memory is shared within a host: without a data node there, the server connects over TCP.
    """
    if not node["transporter"]:
        return ""
    transporter = node["transporter"] if beside_data else "tcp"
    pool = len(node["pool_node_ids"])
    return f", {transporter.upper()}" + (f" x {pool + 1}" if pool else "")


def _limit(share: Fields) -> str:
    if share["cpus"]:
        return f"{len(share['cpus'])} CPUs of its own"
    quota = share["quota_cpus"]
    return f"at most {plain(quota)} CPU{'s' if quota > 1 else ''}" if quota else _UNLIMITED


def _columns(ax: Axes, boxes: Sequence[Box], frame: tuple[float, float, float, float]) -> None:
    """Draw a column for each role, with a line to the next one."""
    roles = list(dict.fromkeys(box.role for box in boxes))
    left, bottom, wide, high = frame
    free = wide - 2 * _MARGIN_IN - _LINK_IN * (len(roles) - 1)
    unit, x, y = free / sum(_WIDE[role] for role in roles), left + _MARGIN_IN, bottom + high / 2
    for role in roles:
        mine = [box for box in boxes if box.role == role]
        size = unit * _WIDE[role]
        tall = len(mine) * (_BOX_IN + _GAP_IN)
        _stack(ax, mine, (x - _MARGIN_IN, y - tall / 2, size + 2 * _MARGIN_IN, tall))
        x += size
        if role != roles[-1]:
            ax.plot([x, x + _LINK_IN], [y, y], color=style.QUIET, lw=1.2, zorder=1)
        x += _LINK_IN


def _stack(
    ax: Axes, boxes: Sequence[Box], frame: tuple[float, float, float, float], linked: bool = False
) -> None:
    """Stack boxes downwards from the top of a frame, with a line from role to role."""
    left, bottom, wide, high = frame
    top = bottom + high - _GAP_IN / 2
    for place, box in enumerate(boxes):
        low = top - place * (_BOX_IN + _GAP_IN) - _BOX_IN
        face, ink = _COLOURS[box.role]
        if linked and place and box.role != boxes[place - 1].role:
            link = [left + wide / 2] * 2
            ax.plot(link, [low + _BOX_IN, low + _BOX_IN + _GAP_IN], color=style.QUIET, lw=1.2)
        _rectangle(ax, (left + _MARGIN_IN, low, wide - 2 * _MARGIN_IN, _BOX_IN), face, "#555555")
        ax.text(
            left + wide / 2, low + _BOX_IN / 2, f"{box.name}\n{box.limit}", fontsize=_FONT_PT,
            color=ink, ha="center", va="center", linespacing=1.35, zorder=6,
        )  # fmt: skip


def _rectangle(ax: Axes, at: tuple[float, float, float, float], face: str, edge: str) -> None:
    shape = "round,pad=0,rounding_size=0.05"
    ax.add_patch(FancyBboxPatch(at[:2], *at[2:], boxstyle=shape, fc=face, ec=edge, lw=0.8))
