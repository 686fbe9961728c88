"""The sweep and the contrasts of read/write."""

from __future__ import annotations

import functools

import pandas as pd
import pytest

from experiments import planned
from experiments.read_write import made_up
from ndblab.design import catalogue
from ndblab.experiments.read_write import FILTERED, IN_LISTS
from ndblab.planning.workload import POINT_SELECT, READ_WRITE
from ndblab.statistics import summary

EXPERIMENT = catalogue.find("read-write")
contrasts = functools.partial(planned.contrasts, EXPERIMENT)


def swept() -> pd.DataFrame:
    return summary.points(made_up.runs())


@pytest.mark.parametrize("size", [{}, {"clients": "2"}, {"servers": "1", "clients": "1"}])
def test_no_point_leaves_a_server_or_a_process_without_a_client(size: dict):
    wanted = EXPERIMENT.size("quick", size)
    for point in EXPERIMENT.grid(EXPERIMENT, wanted):
        processes = EXPERIMENT.variant(point.variant).processes
        assert max(point.servers, processes) <= point.clients


def test_everything_runs_on_one_cluster():
    """Variants differ in what the load does, and in quotas."""
    assert len(EXPERIMENT.clusters()) == 1


def test_sides_have_the_clients_of_their_own_best():
    by_name = contrasts(points=swept())
    best = {("filter", "a"): FILTERED, ("filter", "b"): READ_WRITE, ("lookups", "b"): POINT_SELECT}
    for (name, side), workload in best.items():
        assert by_name[name].side(side).point.workload == workload
        assert by_name[name].side(side).point.clients == 32
    assert by_name["lookups"].a.point.workload == IN_LISTS
    assert by_name["lookups"].a.point.variant == "in-100"


def test_half_of_the_data_nodes_cpus_is_half_of_their_share():
    """In both variants nothing else is limited."""
    contrast = contrasts()["data-nodes"]
    sides = (contrast.a, contrast.b)
    whole, half = (EXPERIMENT.variant(side.point.variant).quotas for side in sides)
    assert whole == {"mysqld": None}
    assert half == {"mysqld": None, "ndbmtd": 1 / 16}


def test_what_no_claim_waits_for_has_blocks_of_its_own():
    """Enough for an interval; the smoke profile leaves it out."""
    made = contrasts().values()
    assert {contrast.blocks for contrast in made if not contrast.claims} == {4}
    assert {contrast.blocks for contrast in made if contrast.claims} == {0}
    assert all(contrast.claims for contrast in contrasts("smoke").values())


@pytest.mark.parametrize("profile", ["smoke", "quick", "brief"])
def test_every_side_can_be_measured(profile: str):
    """Its variant exists, its servers run, its clients fit the connections of the cluster."""
    size = EXPERIMENT.size(profile)
    for contrast in contrasts(profile).values():
        for side in (contrast.a, contrast.b or contrast.a):
            assert EXPERIMENT.variant(side.point.variant)
            assert side.point.servers <= side.point.clients <= 2 * max(size.clients)
            assert side.point.servers <= EXPERIMENT.servers(size)
