"""The figures: each has its answer as a title, and published numbers beside measured ones.

They are drawn from the tables of a dataset or a forecast, or from a plan, and never mix runs of two
kinds.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from matplotlib.figure import Figure

from ndblab import formatting
from ndblab.error import LabError, MissingData
from ndblab.figures import selection, sheet
from ndblab.figures.entry import DATASET, FORECAST, PLAN, Entry, entries
from ndblab.figures.selection import Tables
from ndblab.figures.sheet import Caption
from ndblab.judging.publication import Anchor
from ndblab.machine.host import Host
from ndblab.planning.deployment import Plan

__all__ = ["Caption", "describe", "describe_plan", "draw", "draw_plan", "entries"]


def draw(key: str | int, tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> Figure:
    """Draw a figure of a dataset or a forecast.

    LabError if the figure is unknown, or the tables have nothing that it could show.

    Parameters
    ----------
    tables : tables by name, at least those of the figure's entry.
    anchors : the published numbers of this figure.
    """
    entry, tables, anchors, workload = _prepared(key, tables, anchors)
    with sheet.page(entry.height_in) as figure, _explained():
        head = entry.paint(figure, tables, anchors, caption)
        head = head._replace(title=_under_quotas(head.title, entry, caption))
        sheet.sign(figure, head, caption.line(workload, head.undivided))
    return figure


def describe(
    key: str | int, tables: Tables, anchors: Sequence[Anchor], caption: Caption | None = None
) -> str:
    """Describe in a few sentences what a figure shows, for readers who cannot see it.

    LabError if the figure is unknown, or the tables have nothing that it could show.
    """
    entry, tables, anchors, workload = _prepared(key, tables, anchors)
    named = [f"Workload: {workload}."] if workload else []
    with _explained():
        words = " ".join([*entry.describe(tables, anchors), *named])
    return _under_quotas(words, entry, caption)


def _under_quotas(title: str, entry: Entry, caption: Caption | None) -> str:
    """Say in a title that quotas divide the CPUs, where they do and its figure asks for it."""
    if not (entry.under_quotas and caption and caption.is_scaled):
        return title
    first, *_ = title.split()
    is_name = first[1:] != first[1:].lower()
    return f"Under CPU quotas, {title if is_name else title[0].lower() + title[1:]}"


def draw_plan(key: str | int, plan: Plan, host: Host) -> Figure:
    """Draw a figure of a plan and its host: Figure 2 or 3."""
    entry = _find(key, PLAN)
    with sheet.diagram(entry.height_in) as figure:
        head = entry.paint(figure, plan, host)
        budget = f"CPU budget {plan.budget.kind}: {plan.budget.reason}."
        source = " ".join([f"{host.describe()}.", budget, *head.notes])
        sheet.sign(figure, head._replace(notes=()), source)
    return figure


def describe_plan(key: str | int, plan: Plan, host: Host) -> str:
    """Describe in words what `draw_plan` shows."""
    return " ".join(_find(key, PLAN).describe(plan, host))


@contextmanager
def _explained() -> Iterator[None]:
    """Tell the user that the tables have nothing that a figure could show."""
    try:
        yield
    except MissingData as missing:
        raise selection.nothing_to_draw(str(missing)) from None


def _prepared(
    key: str | int, tables: Tables, anchors: Sequence[Anchor]
) -> tuple[Entry, Tables, Sequence[Anchor], str]:
    """Check a figure's tables; narrow the runs to one workload, which is returned last."""
    entry = _find(key, DATASET, FORECAST)
    missing = [name for name in entry.tables if name not in tables]
    if missing:
        expected, step = "", "Choose a dataset of the experiment that the figure belongs to."
        if entry.source == FORECAST:
            expected = ", which only a forecast has"
            step = "Draw it with ./lab reproduce --experiment capacity-model --recorded."
        raise LabError(
            "The figure has no data to draw",
            found=f"no table {formatting.listed(missing)}",
            expected=f"{formatting.listed(entry.tables)}{expected}",
            next_step=step,
        )
    if not entry.one_workload:
        return entry, tables, anchors, ""
    runs = selection.of_one_kind(tables["runs"])
    workload = str(runs["workload"].iloc[0])
    # What was published is about the default workload only.
    anchors = anchors if workload == selection.POINT_SELECT else []
    return entry, ChainMap({"runs": runs}, tables), anchors, workload


def _find(key: str | int, *sources: str) -> Entry:
    known = [name for name, entry in entries().items() if entry.source in sources]
    if str(key) not in known:
        raise LabError(
            f"Unknown figure of a {' or '.join(sources)}",
            found=key,
            expected=", ".join(known),
            next_step="Choose one of these.",
        )
    return entries()[str(key)]
