"""Mistakes in an experiment, refused before anything is measured: one message each."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ndblab.design import contract, grids
from ndblab.design.contrast import ALTERNATION, DUET, TWINS, Contrast, Side
from ndblab.design.experiment import Experiment
from ndblab.design.variant import Variant
from ndblab.error import LabError
from ndblab.planning.point import Point

BUSY = Variant("busy", config_ini={"ndbd default": {"SchedulerSpinTimer": 100}})
WIDE = Variant("wide", options={"range_size": 100})


def mine(*contrasts: Contrast, **changes: object) -> Experiment:
    """Return an experiment with these contrasts, otherwise without a mistake."""
    good = Experiment(
        "mine", "Is it so?", "notebook.ipynb", (), (), grid=grids.every_variant,
        variants=(Variant(), WIDE, BUSY), contrasts=lambda *asked: contrasts,
    )  # fmt: skip
    return replace(good, **changes)


def between(a: str, b: str, design: str = ALTERNATION, name: str = "c") -> Contrast:
    """Return a contrast of two variants."""
    return Contrast(name, design, *(Side(Point(1, 8, variant=v)) for v in (a, b)), ())


def check(experiment: Experiment) -> None:
    contract.check(experiment, experiment.size("smoke"))


@pytest.mark.parametrize(
    "good",
    [
        mine(),
        mine(between("wide", "default")),
        mine(between("busy", "default", TWINS)),
        mine(workload="oltp_read_write"),
    ],
)
def test_an_experiment_without_a_mistake_is_measured(good: Experiment):
    """Variants that share a cluster take turns; others have twins."""
    check(good)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (mine(between("busy", "default")), ("not in one cluster", "alternation of busy", "TWINS")),
        (mine(between("busy", "default", DUET)), ("not in one cluster", "duet of busy")),
        (mine(between("wid", "default")), ("variant of contrast c", "wid", "perhaps wide")),
        (mine(between("wide", "default"), between("wide", "wide")), ("Two contrasts", "c")),
        (mine(variants=(Variant(), Variant())), ("Two variants", "default")),
        (mine(variants=(Variant(), Variant("big_rows"))), ("cannot store", "big_rows")),
        (mine(variants=(WIDE, BUSY)), ("No variant is the default", "wide, busy")),
        (mine(between("wide", "default", name="a_b")), ("cannot store", "a_b")),
        (mine(workload="oltp_point_selekt"), ("oltp_point_selekt", "perhaps oltp_point_select")),
        (mine(shape={"node_group": 2}), ("the shape", "node_group", "node_groups")),
        (mine(variants=(Variant(shape={"small_red": 1}),)), ("the shape", "small_redo")),
        (mine(grid=lambda *asked: 1 / 0), ("grid of mine", "ZeroDivisionError")),
        (mine(grid=lambda *asked: (Point(1, 8, variant="wid"),)), ("wid", "Change the grid")),
        (mine(contrasts=lambda *asked: [][0]), ("contrasts of mine", "IndexError")),
    ],
)
def test_a_mistake_is_one_message_with_what_would_do(wrong: Experiment, words: tuple[str, ...]):
    """It names the offender, and says where to change it."""
    with pytest.raises(LabError) as caught:
        check(wrong)
    message = str(caught.value)
    assert all(word in message for word in words), message


def test_sides_of_a_duet_run_at_the_same_time():
    """They are on one cluster, so its variables cannot differ."""
    joins = Variant("joins", set_global={"ndb_join_pushdown": "OFF"})
    variants = (Variant(), joins)
    with pytest.raises(LabError, match="cannot run at the same time"):
        check(mine(between("joins", "default", DUET), variants=variants))
    check(mine(between("joins", "default"), variants=variants))
