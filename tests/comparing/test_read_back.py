"""No verdict without a node that shows its settings."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from ndblab.comparing import knobs, read_back, sides
from ndblab.design.contrast import ALTERNATION, TWINS
from ndblab.error import LabError


def cluster(batch: str = "65536", spin: str = "100") -> SimpleNamespace:
    """Return a cluster that shows these values."""

    def query(sql: str, server: int = 1) -> list[tuple]:
        if "ndbinfo" in sql:
            shown = {"SchedulerSpinTimer": spin, "SpinMethod": "1"}
            return [(node, name, value) for node in (2, 3) for name, value in shown.items()]
        return [("ndb_batch_size", batch)]

    server = SimpleNamespace(number=1, name="mysqld.1")
    return SimpleNamespace(plan=SimpleNamespace(servers=[server]), query=query)


BOTH = sides.parse(["ndb_batch_size=64K", "SchedulerSpinTimer=100", "SpinMethod=CostBasedSpinning"])


def test_a_cluster_that_shows_its_settings_is_good() -> None:
    """What it shows goes into the dataset, also in a form of its own; A has none of them."""
    seen = read_back.check(BOTH, TWINS, cluster(), "b")
    assert seen == {"ndb_batch_size": "65536", "SchedulerSpinTimer": "100", "SpinMethod": "1"}
    assert read_back.check(BOTH, TWINS, cluster("1", "0"), "default") == {}


def test_an_option_that_is_no_variable_is_shown_by_no_server() -> None:
    """mysqld itself refuses what it does not know."""
    known = [knobs.Knob("default_time_zone", "my.cnf", "mysqld", "", "initial", knobs.UNLISTED)]
    parsed = sides.parse(["default_time_zone=+00:00", "ndb_batch_size=64K"], known)
    assert read_back.check(parsed, TWINS, cluster(), "b") == {"ndb_batch_size": "65536"}


@pytest.mark.parametrize(
    ("shown", "message"),
    [
        ({"batch": "32768"}, r"mysqld\.1 of side B does not show the setting ndb_batch_size"),
        ({"spin": "0"}, "data node 2 of side B does not show the setting SchedulerSpinTimer"),
    ],
)
def test_a_cluster_with_another_value_ends_the_comparison(shown, message: str) -> None:
    """It names the node and the side."""
    with pytest.raises(LabError, match=message):
        read_back.check(BOTH, TWINS, cluster(**shown), "b")


def test_in_one_cluster_only_what_both_have_is_there_from_the_start() -> None:
    """The difference is set, and read back, before each slice."""
    parsed = sides.parse(["ndb_batch_size=64K"])
    assert read_back.check(parsed, ALTERNATION, cluster("32768"), "default") == {}
