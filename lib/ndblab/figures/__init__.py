"""The figures: each a question, what was measured, and beside it what was published.

In: the tables of one dataset, the published numbers, whose measurement it is. Out: a matplotlib
`Figure`, and the same in words for those who cannot see it.
It never reads or writes a file, and never mixes runs of two kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

from matplotlib.figure import Figure

from ndblab.claims.publication import Anchor
from ndblab.error import LabError
from ndblab.figures.brief import clients, hour, one_server, seconds, threads
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

__all__ = ["FIGURES", "Caption", "describe", "draw"]


@dataclass(frozen=True)
class _Figure:
    question: str
    draw: Callable[[Tables, Sequence[Anchor], Caption], Figure]
    describe: Callable[[Tables, Sequence[Anchor]], str]


def _of(module: ModuleType, question: Any) -> _Figure:
    """Bind one question of a module that draws several."""
    return _Figure(
        question.text, partial(module.draw, question), partial(module.describe, question)
    )


FIGURES: Mapping[str, _Figure] = {
    "1": _Figure(hour.QUESTION, hour.draw, hour.describe),
    "4": _Figure(one_server.QUESTION, one_server.draw, one_server.describe),
    "5": _of(threads, threads.FIVE),
    "6": _of(clients, clients.SIX),
    "7": _of(clients, clients.SEVEN),
    "8": _Figure(seconds.QUESTION, seconds.draw, seconds.describe),
    "9": _of(threads, threads.NINE),
    "shm-vs-tcp": _of(transporters, transporters.TRANSPORTERS),
    "spinning": _of(transporters, transporters.SPINNING),
    "thread-balance": _of(transporters, transporters.THREADS),
    "faults": _Figure(faults.QUESTION, faults.draw, faults.describe),
    "capacity": _Figure(predictions.QUESTION, predictions.draw, predictions.describe),
    "bounds": _Figure(bounds.QUESTION, bounds.draw, bounds.describe),
    "bottlenecks": _Figure(bottlenecks.QUESTION, bottlenecks.draw, bottlenecks.describe),
    "errors": _Figure(
        prediction_errors.QUESTION, prediction_errors.draw, prediction_errors.describe
    ),
    "brief-predicted": _Figure(
        brief_predicted.QUESTION, brief_predicted.draw, brief_predicted.describe
    ),
}
"""By the number of the brief's figure, or by the name of one of the lab's own."""


def draw(key: str | int, tables: Tables, anchors: Sequence[Anchor], caption: Caption) -> Figure:
    """Draw a figure.

    Parameters
    ----------
    tables : of a dataset, by name; of a forecast for the figures of the capacity model.
    anchors : the published numbers of this figure.

    Raises
    ------
    LabError
        If there is no such figure, or the tables hold nothing that it could show.
    """
    return _find(key).draw(tables, anchors, caption)


def describe(key: str | int, tables: Tables, anchors: Sequence[Anchor]) -> str:
    """Say in a few sentences what a figure shows, from the data that it is drawn of.

    Raises
    ------
    LabError
        If there is no such figure, or the tables hold nothing that it could show.
    """
    return _find(key).describe(tables, anchors)


def _find(key: str | int) -> _Figure:
    if str(key) not in FIGURES:
        raise LabError(
            "The lab draws no such figure of measured data",
            found=key,
            expected=", ".join(FIGURES),
            next_step="Give one of these.",
        )
    return FIGURES[str(key)]
