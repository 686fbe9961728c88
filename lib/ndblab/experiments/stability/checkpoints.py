"""When local checkpoints ran, by the events of the cluster log, and cycles around them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd

STARTED, COMPLETED = "local_checkpoint_started", "local_checkpoint_completed"
LEAST_GAP_S = 4.0
"""Checkpoints less than this apart count as one: hardly a whole second lies between them."""
PARTS = ["whole", "inside", "outside"]
"""Of a cycle: all its samples, those that touch its checkpoint, and the others."""


class Span(NamedTuple):
    """When a checkpoint began and ended, in seconds of its run."""

    begin_s: float
    end_s: float


def of_run(events: pd.DataFrame, run_s: float) -> list[Span]:
    """Pair the starts and ends of a run of `run_s`; cut a checkpoint that reaches beyond it."""
    kind = events["event"].astype(str)
    started, completed = (
        np.sort(events.loc[kind == name, "t_s"].to_numpy(float)) for name in (STARTED, COMPLETED)
    )
    spans = []
    if len(completed) and (not len(started) or completed[0] < started[0]):
        spans.append(Span(0.0, float(completed[0])))
    for begin, following in pairwise([*started, run_s]):
        ends = completed[(completed >= begin) & (completed <= following)]
        spans.append(Span(float(begin), float(ends[0]) if len(ends) else float(following)))
    return spans


def apart(spans: Sequence[Span]) -> list[Span]:
    """Join checkpoints with less than `LEAST_GAP_S` between them."""
    joined: list[Span] = []
    for span in spans:
        if joined and span.begin_s - joined[-1].end_s < LEAST_GAP_S:
            span = Span(joined.pop().begin_s, span.end_s)
        joined.append(span)
    return joined


def inside(ends_s: np.ndarray, spans: Sequence[Span]) -> np.ndarray:
    """Return how much of each one-second sample, by its end, lies in a checkpoint: 0 to 1."""
    part = np.zeros(len(ends_s))
    for begin_s, end_s in spans:
        overlap = np.minimum(ends_s, end_s) - np.maximum(ends_s - 1.0, begin_s)
        part += np.clip(overlap, 0, None)
    return part


def cycles(values: pd.Series, spans: Sequence[Span]) -> pd.DataFrame:
    """Compare each checkpoint with its surroundings, from the middle of a gap to that of the next.

    Parameters
    ----------
    values : one-second samples, by when they end.

    Returns
    -------
    One row per cycle: `begin_s`, `end_s`, and the means of all its samples, `whole`, of those that
    touch a checkpoint, `inside`, and of the others, `outside`. The first and the last checkpoint
    of a run have no row.
    """
    ends_s = values.index.to_numpy(float)
    joined = apart(spans)
    cuts = [(one.end_s + other.begin_s) / 2 for one, other in pairwise(joined)]
    cycle = pd.Series(np.searchsorted(cuts, ends_s - 0.5), values.index, name="cycle")
    within = cycle.between(1, len(cuts) - 1)
    touched = inside(ends_s, spans) > 0
    of_part = {"whole": within, "inside": within & touched, "outside": within & ~touched}
    means = {part: values[own].groupby(cycle[own]).mean() for part, own in of_part.items()}
    table = pd.DataFrame(means, columns=PARTS).dropna()
    table.insert(0, "begin_s", [cuts[number - 1] for number in table.index])
    table.insert(1, "end_s", [cuts[number] for number in table.index])
    return table
