"""The contrasts of SQL with the NDB API."""

from __future__ import annotations

from experiments.planned import contrasts
from ndblab.design import catalogue, time_needed

EXPERIMENT = catalogue.find("api-ceiling")


def test_the_ndb_api_is_compared_with_sql_one_at_a_time_and_many_at_once():
    """With the same clients on the same cluster; the first one is judged."""
    planned = contrasts(EXPERIMENT)
    assert planned["api"].claims == ("R-nosql",)
    assert planned["api-at-once"].blocks == 4
    for a, b in ((contrast.a.point, contrast.b.point) for contrast in planned.values()):
        assert (a.workload, b.workload) == ("ndb_api", "oltp_point_select")
        assert a.clients == b.clients == 64
    assert len(EXPERIMENT.clusters()) == 1


def test_it_fits_its_time():
    """The quick profile with its least blocks, and the smoke profile with one block of each."""
    for profile, blocks, most_s in (("quick", 4, 15 * 60), ("smoke", 1, 90)):
        size = EXPERIMENT.size(profile)
        planned = contrasts(EXPERIMENT, profile).values()
        blocks_s = sum(blocks * time_needed.block_s(c, EXPERIMENT, size) for c in planned)
        assert time_needed.sweep_s(EXPERIMENT, size) + blocks_s < most_s
