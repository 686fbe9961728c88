"""Settings that the installed programs do not take, refused before anything is measured."""

from __future__ import annotations

import pytest

from ndblab import install
from ndblab.design import grids
from ndblab.design.contrast import ALTERNATION, Contrast, Side
from ndblab.design.experiment import Experiment
from ndblab.design.variant import Variant
from ndblab.error import LabError
from ndblab.planning.point import Point
from ndblab.publishing import trial

pytestmark = pytest.mark.skipif(install.find() is None, reason="NDB Cluster is not installed")
SPIN = {"ndbd default": {"SchedulerSpinTimer": 100}}


def check(variant: Variant, *contrasts: Contrast) -> None:
    experiment = Experiment(
        "mine", "Is it so?", "notebook.ipynb", (), (), grid=grids.every_variant,
        workload="oltp_read_only", variants=(Variant(), variant),
        contrasts=lambda *asked: contrasts,
    )  # fmt: skip
    trial.check(experiment, experiment.size("smoke"))


def test_settings_that_the_programs_take_are_measured():
    """Each program has read them, and nothing was started."""
    check(Variant("v", config_ini=SPIN, my_cnf={"ndb_join_pushdown": "OFF"}))
    check(Variant("v", options={"range_size": 10}))


@pytest.mark.parametrize(
    ("variant", "words"),
    [
        (Variant("v", config_ini={"ndbd default": {"SchedulerSpinTimr": 1}}), "SchedulerSpinTimr"),
        (Variant("v", config_ini={"ndbd defaults": SPIN["ndbd default"]}), "Parse error"),
        (Variant("v", my_cnf={"ndb_join_pushdwn": 0}), "unknown variable 'ndb_join_pushdwn=0'"),
        (Variant("v", options={"range_sizze": 10}), "invalid option: --range_sizze=10"),
    ],
)
def test_a_misspelt_setting_is_refused_in_the_words_of_its_program(variant: Variant, words: str):
    """The message names the variant too."""
    with pytest.raises(LabError, match="variant v has a setting") as caught:
        check(variant)
    assert words in caught.value.found


def test_a_side_with_more_servers_than_the_cluster_is_refused():
    """As the load of its first slice would be, once the sweep is done."""
    sides = (Side(Point(servers, 64)) for servers in (32, 1))
    with pytest.raises(LabError, match="too few MySQL servers"):
        check(Variant("v"), Contrast("c", ALTERNATION, *sides, ()))
