"""The points and contrasts of bulk loads, and of SQL against the NDB API."""

from __future__ import annotations

import pytest

from experiments.planned import contrasts
from ndblab.design import catalogue, time_needed
from ndblab.design.contrast import ALTERNATION, STARTS
from ndblab.experiments.bulk_load import LOADERS
from ndblab.planning import deployment

LOADS, LOOKUPS = (catalogue.find(name) for name in ("bulk-load", "api-ceiling"))


def test_every_way_to_load_is_measured_with_few_connections_and_many():
    """ndb_import has threads of its own, LOCAL is slow; the usual redo log, in one cluster."""
    todo = LOADS.sweep(LOADS.size("quick"))
    by_way = {name: set() for name in LOADERS}
    for point in todo.points:
        by_way[str(LOADS.variant(point.variant).options["way"])].add(point.clients)
    assert by_way.pop("ndb-import") == by_way.pop("load-data-local") == {4}
    assert set(map(frozenset, by_way.values())) == {frozenset({1, 4})}
    assert len(todo.clusters) == 1


def test_the_redo_log_is_compared_by_starts_and_ndb_import_in_turns():
    """Only the redo log needs another cluster."""
    redo, imported = contrasts(LOADS)["redo"], contrasts(LOADS)["import"]
    assert (redo.design, redo.claims) == (STARTS, ("B-load-redo",))
    assert (imported.design, imported.claims, imported.blocks) == (ALTERNATION, (), 4)
    assert (redo.b.point.variant, imported.b.point.variant) == ("inserts", "default")
    shapes = [
        LOADS.cluster_shape(LOADS.size("quick"), s.point.variant, "auto", deployment.Places())
        for s in (redo.a, redo.b)
    ]
    assert [shape.small_redo for shape in shapes] == [True, False]


def test_the_ndb_api_is_compared_with_sql_one_at_a_time_and_many_at_once():
    """With the same clients on the same cluster; the first one is judged."""
    planned = contrasts(LOOKUPS)
    assert planned["api"].claims == ("R-nosql",)
    assert planned["api-at-once"].blocks == 4
    for a, b in ((contrast.a.point, contrast.b.point) for contrast in planned.values()):
        assert (a.workload, b.workload) == ("ndb_api", "oltp_point_select")
        assert a.clients == b.clients == 64
    assert len(LOOKUPS.clusters()) == 1


@pytest.mark.parametrize("experiment", [LOADS, LOOKUPS], ids=lambda experiment: experiment.name)
def test_both_fit_their_time(experiment):
    """The quick profile with its least blocks, and the smoke profile with one block of each."""
    times = {}
    for size, blocks in (("quick", 4), ("smoke", 1)):
        wanted = experiment.size(size)
        planned = contrasts(experiment, size).values()
        blocks_s = sum(blocks * time_needed.block_s(c, experiment, wanted) for c in planned)
        times[size] = time_needed.sweep_s(experiment, wanted) + blocks_s
    assert times["quick"] < 15 * 60
    assert times["smoke"] < 90
