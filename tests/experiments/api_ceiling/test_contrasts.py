"""The contrasts of SQL with the NDB API."""

from __future__ import annotations

from experiments.planned import contrasts
from ndblab.design import catalogue

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
