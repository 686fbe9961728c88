"""The figures: each answers a question, with published numbers beside measured ones.

In: the tables of a dataset or a forecast, or a plan; the published numbers; whose measurement it
is. Out: a matplotlib `Figure`, and a description in words. It never reads or writes a file, and
never mixes runs of two kinds.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from matplotlib.figure import Figure

from ndblab.analysis import formatting
from ndblab.claims.publication import Anchor
from ndblab.error import LabError
from ndblab.figures import selection, sheet
from ndblab.figures.brief import (
    clients,
    cluster_box,
    cpu_allocation,
    hour,
    one_server,
    seconds,
    threads,
)
from ndblab.figures.lab import (
    bottlenecks,
    bounds,
    brief_predicted,
    faults,
    prediction_errors,
    predictions,
    transporters,
)
from ndblab.figures.selection import Tables
from ndblab.figures.sheet import Caption
from ndblab.machine.host import Host
from ndblab.planning.deployment import Plan

__all__ = ["FIGURES", "Caption", "describe", "describe_plan", "draw", "draw_plan"]

DATASET, FORECAST, PLAN = "dataset", "forecast", "plan"


@dataclass(frozen=True)
class Entry:
    """A figure: its question, how it is painted and described, and what it is drawn from.

    `paint` draws on an empty sheet and returns notes for the caption; `describe` returns sentences.
    `tables` are those it needs of its `source`. With `one_workload` it shows the runs of only one.
    """

    question: str
    paint: Callable[..., list[str]]
    describe: Callable[..., list[str]]
    tables: tuple[str, ...] = ("runs",)
    source: str = DATASET
    height_in: float = sheet.HEIGHT_IN
    one_workload: bool = False


def _brief(question: str, paint, describe, *tables: str, height_in=sheet.HEIGHT_IN) -> Entry:
    return Entry(question, paint, describe, ("runs", *tables), DATASET, height_in, True)


def _compared(question: str, kinds: transporters.Comparison) -> Entry:
    paint, words = partial(transporters.paint, kinds), partial(transporters.describe, kinds)
    return Entry(question, paint, words, height_in=7.4)


def _forecast(question: str, module, *tables: str, height_in: float = sheet.HEIGHT_IN) -> Entry:
    return Entry(question, module.paint, module.describe, tables, FORECAST, height_in)


FIGURES = {
    "1": _brief(
        "How stable are throughput and latency over a long run?",
        hour.paint, hour.describe, "intervals", height_in=6.6,
    ),
    "2": Entry(
        "What runs where, and how is it connected?",
        cluster_box.paint, cluster_box.describe, (), PLAN, 6.5,
    ),
    "3": Entry(
        "Which logical CPUs does each process get?",
        cpu_allocation.paint, cpu_allocation.describe, (), PLAN,
    ),
    "4": _brief(
        "What limits one MySQL server, and how much CPU does it use?",
        one_server.paint, one_server.describe, "processes",
    ),
    "5": _brief(
        "Which NDB thread is busiest under one MySQL server?",
        partial(threads.paint, False), partial(threads.describe, False), "ndb_threads",
    ),
    "6": _brief(
        "How far does doubling the MySQL servers raise throughput?",
        partial(clients.paint, clients.SIX), partial(clients.describe, clients.SIX),
    ),
    "7": _brief(
        "Can twice the MySQL servers serve twice the clients at the same latency?",
        partial(clients.paint, clients.SEVEN), partial(clients.describe, clients.SEVEN),
    ),
    "8": _brief(
        "How steady are throughput and latency, second by second?",
        seconds.paint, seconds.describe, "intervals", height_in=6.6,
    ),
    "9": _brief(
        "Which NDB thread is the bottleneck at peak throughput?",
        partial(threads.paint, True), partial(threads.describe, True), "ndb_threads",
    ),
    "shm-vs-tcp": _compared(
        "How much faster are shared-memory transporters than TCP?", transporters.TRANSPORTERS
    ),
    "spinning": _compared(
        "How much does spinning gain over shared memory without it?", transporters.SPINNING
    ),
    "thread-balance": _compared(
        "Do balanced NDB threads raise throughput?", transporters.THREADS
    ),
    "faults": Entry(
        "What do clients see when a part of the cluster fails?",
        faults.paint, faults.describe, ("outages", "intervals", "events"),
    ),
    "capacity": _forecast(
        "How well does a one-server sweep predict many servers?",
        predictions, "points", "predicted", "simulated", height_in=6.8,
    ),
    "bounds": _forecast(
        "Which bounds limit one MySQL server?", bounds, "bounds", "balance", "alone"
    ),
    "bottlenecks": _forecast(
        "Which resource saturates first as MySQL servers are added?",
        bottlenecks, "use", "measured_use",
    ),
    "errors": _forecast(
        "How accurate are the predictions, and would a simpler method do?",
        prediction_errors, "errors", "verdicts", height_in=6.0,
    ),
    "brief-predicted": _forecast(
        "What does the model predict for the brief's own server?",
        brief_predicted, "brief_predicted", "brief_simulated", height_in=6.0,
    ),
}  # fmt: skip
"""By the number of the brief's figure, or by the name of one of the lab's own."""


def draw(key: str | int, tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> Figure:
    """Draw a figure of a dataset or a forecast.

    Parameters
    ----------
    tables : by name; `FIGURES[key].tables` at least.
    anchors : the published numbers of this figure.

    Raises
    ------
    LabError
        If there is no such figure, or the tables have nothing that it could show.
    """
    entry, tables, anchors, workload = _prepared(key, tables, anchors)
    with sheet.page(entry.question, entry.height_in) as figure:
        notes = entry.paint(figure, tables, anchors, caption)
        sheet.sign(figure, caption, notes, workload)
    return figure


def describe(key: str | int, tables: Tables, anchors: Sequence[Anchor]) -> str:
    """Describe in a few sentences what a figure shows, for readers who cannot see it.

    Raises
    ------
    LabError
        If there is no such figure, or the tables have nothing that it could show.
    """
    entry, tables, anchors, workload = _prepared(key, tables, anchors)
    named = [f"Workload: {workload}."] if workload else []
    return " ".join([*entry.describe(tables, anchors), *named])


def draw_plan(key: str | int, plan: Plan, host: Host) -> Figure:
    """Draw a figure of a plan and its host: Figure 2 or 3."""
    entry = _find(key, PLAN)
    with sheet.page(entry.question, entry.height_in) as figure:
        notes = entry.paint(figure, plan, host)
        budget = f"CPU budget {plan.budget.kind}: {plan.budget.reason}."
        lines = [f"{host.describe()}.", " ".join([budget, *notes])]
        sheet.write_caption(figure, lines, 0.55)
    return figure


def describe_plan(key: str | int, plan: Plan, host: Host) -> str:
    """Describe in words what `draw_plan` shows."""
    return " ".join(_find(key, PLAN).describe(plan, host))


def _prepared(
    key: str | int, tables: Tables, anchors: Sequence[Anchor]
) -> tuple[Entry, Tables, Sequence[Anchor], str]:
    """Check a figure's tables; narrow the runs to one workload, which is returned last."""
    entry = _find(key, DATASET, FORECAST)
    missing = [name for name in entry.tables if name not in tables]
    if missing:
        expected, experiment = "", " of the figure's experiment"
        if entry.source == FORECAST:
            expected, experiment = ", which only a forecast has", " capacity-model --recorded"
        raise LabError(
            "The figure has no data to draw",
            found=f"no table {formatting.listed(missing)}",
            expected=f"{formatting.listed(entry.tables)}{expected}",
            next_step=f"Draw it with ./lab reproduce --experiment{experiment}.",
        )
    if not entry.one_workload:
        return entry, tables, anchors, ""
    runs = selection.of_one_kind(tables["runs"])
    workload = str(runs["workload"].iloc[0])
    # What was published is about the default workload only.
    anchors = anchors if workload == selection.POINT_SELECT else []
    return entry, ChainMap({"runs": runs}, tables), anchors, workload


def _find(key: str | int, *sources: str) -> Entry:
    known = [name for name, entry in FIGURES.items() if entry.source in sources]
    if str(key) not in known:
        raise LabError(
            f"There is no such figure of a {' or '.join(sources)}",
            found=key,
            expected=", ".join(known),
            next_step="Choose one of these.",
        )
    return FIGURES[str(key)]
