"""The points and contrasts of bulk loads."""

from __future__ import annotations

from experiments.planned import contrasts
from ndblab.design import catalogue
from ndblab.design.contrast import ALTERNATION, STARTS
from ndblab.experiments.bulk_load import LOADERS
from ndblab.planning import deployment

EXPERIMENT = catalogue.find("bulk-load")


def test_every_way_to_load_is_measured_with_few_connections_and_many():
    """ndb_import has threads of its own, LOCAL is slow; the usual redo log, in one cluster."""
    todo = EXPERIMENT.sweep(EXPERIMENT.size("quick"))
    by_way = {name: set() for name in LOADERS}
    for point in todo.points:
        by_way[str(EXPERIMENT.variant(point.variant).options["way"])].add(point.clients)
    assert by_way.pop("ndb-import") == by_way.pop("load-data-local") == {4}
    assert set(map(frozenset, by_way.values())) == {frozenset({1, 4})}
    assert len(todo.clusters) == 1


def test_the_redo_log_is_compared_by_starts_and_ndb_import_in_turns():
    """Only the redo log needs another cluster."""
    redo, imported = contrasts(EXPERIMENT)["redo"], contrasts(EXPERIMENT)["import"]
    assert (redo.design, redo.claims) == (STARTS, ("B-load-redo",))
    assert (imported.design, imported.claims, imported.blocks) == (ALTERNATION, (), 4)
    assert (redo.b.point.variant, imported.b.point.variant) == ("inserts", "default")
    quick, places = EXPERIMENT.size("quick"), deployment.Places()
    shapes = [
        EXPERIMENT.cluster_shape(quick, side.point.variant, "auto", places)
        for side in (redo.a, redo.b)
    ]
    assert [shape.small_redo for shape in shapes] == [True, False]
