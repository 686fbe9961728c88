"""Locks of reads, drawn. The locks are made up."""

from __future__ import annotations

import small_runs
from drawn import caption, said, title, written
from experiments.locking_reads import made_up
from ndblab import figures
from ndblab.experiments.locking_reads import (
    CREATE_SELECT,
    READ_COMMITTED,
    REPEATABLE_READ,
    SET_VARIABLE,
)
from ndblab.experiments.locking_reads.client import STATEMENTS


def test_every_cell_says_what_its_colour_means():
    """Number, mode, index, and what becomes of them."""
    held = dict.fromkeys(((name, "SERIALIZABLE") for name in STATEMENTS), "X,REC_NOT_GAP")
    held |= {(SET_VARIABLE, READ_COMMITTED): "S,REC_NOT_GAP", (CREATE_SELECT, REPEATABLE_READ): "S"}
    tables = small_runs.together(made_up.locks(held), made_up.locks(held, repeat=2))
    figure = figures.draw("locks", tables, [], caption("shared"))
    assert len(figure.axes[0].patches) == 3 * len(STATEMENTS)
    assert "200 S,REC_NOT_GAP on k_1 kept" in written(figure)
    assert "2 runs." in said(figure)
    count = len(STATEMENTS)
    assert title(figure) == (
        f"Of {count} statements, 1 in READ COMMITTED, 1 in REPEATABLE READ and {count} in "
        "SERIALIZABLE lock records they read"
    )
    words = figures.describe("locks", tables, [])
    assert f"{SET_VARIABLE}: 200 S,REC_NOT_GAP on k_1, kept" in words
