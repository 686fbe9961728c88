"""When local checkpoints ran."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ndblab.experiments.stability import checkpoints as spans
from ndblab.experiments.stability.checkpoints import COMPLETED, STARTED, Span


def events(*rows: tuple[float, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["t_s", "event"])


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([(10, STARTED), (15, COMPLETED), (30, STARTED), (37, COMPLETED)], [(10, 15), (30, 37)]),
        ([(4, COMPLETED), (30, STARTED)], [(0, 4), (30, 60)]),
        ([(30, STARTED), (10, STARTED), (15, COMPLETED)], [(10, 15), (30, 60)]),
        ([(10, STARTED), (20, STARTED), (25, COMPLETED)], [(10, 20), (20, 25)]),
        ([(10, "warning")], []),
        ([], []),
    ],
    ids=["whole", "cut", "unordered", "lost end", "other events", "none"],
)
def test_starts_and_ends_are_paired(rows, expected) -> None:
    """A checkpoint that reaches beyond the run is cut; one whose end is lost ends with the next."""
    assert spans.of_run(events(*rows), 60.0) == expected


def test_checkpoints_close_together_are_one() -> None:
    """Two seconds between two of them hold hardly a whole one."""
    joined = spans.apart([Span(1, 5), Span(7, 12), Span(13, 15), Span(30, 31)])
    assert joined == [(1, 15), (30, 31)]


def test_a_second_lies_in_a_checkpoint_in_part() -> None:
    """The sample that ends at 3 s is the second from 2 to 3."""
    part = spans.inside(np.array([1.0, 2.0, 3.0, 4.0]), [Span(1.25, 2.5)])
    assert part == pytest.approx([0, 0.75, 0.5, 0])
