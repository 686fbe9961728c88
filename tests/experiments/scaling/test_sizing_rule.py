"""The sizing rule. The dataset is made up, never a measurement."""

from __future__ import annotations

import pytest

from made_up import CLAIMS, double
from ndblab.experiments.scaling import sizing_rule
from ndblab.judging.evidence import Evidence


def test_the_rule_divides_what_is_left_by_what_one_server_uses() -> None:
    """On 2 CPUs half of three quarters is 0.75; a server that uses 0.25 fits three times."""
    data = double(servers=(1,), mysqld_cpus=lambda servers, clients: 0.25, cpus=2)
    table = sizing_rule.rule(Evidence(data), CLAIMS)
    assert table["here"].iloc[:2].to_list() == [2, 0.75]
    division = table.loc["servers per half, by division"]
    assert division["here"] == pytest.approx(3)
    assert division["low"] <= division["here"] <= division["high"]


def test_the_briefs_own_division_does_not_give_its_own_number() -> None:
    """96 by 14 is just below 7, which the brief raises to 8: both are in the table."""
    data = double(servers=(1,))
    brief = sizing_rule.rule(Evidence(data), CLAIMS)["brief"]
    assert brief["servers per half, by division"] == pytest.approx(96 / 14)
    assert brief["servers per half, as published"] == 8
