"""The points and contrasts of TPC-C."""

from __future__ import annotations

import pandas as pd
import pytest

from ndblab.design import catalogue, time_needed
from ndblab.error import LabError
from ndblab.experiments.tpc_c import database as tables
from ndblab.experiments.tpc_c import load as generator
from ndblab.machine import host
from ndblab.planning.shape import Places

EXPERIMENT = catalogue.find("tpc-c")
QUICK, SMOKE = (EXPERIMENT.size(name) for name in ("quick", "smoke"))


def test_both_ways_of_partitioning_share_a_cluster() -> None:
    """They are databases, and the one by whole key has the most servers only."""
    todo = EXPERIMENT.sweep(QUICK)
    assert todo.clusters == (("default", "by-key"),)
    by_key = [point for point in todo.points if point.variant == "by-key"]
    assert {point.servers for point in by_key} == {4}
    assert all(point.clients >= point.servers for point in todo.points)


def test_each_contrast_changes_one_thing() -> None:
    """Partitioning, or servers with as many clients for each."""
    found = {c.name: c for c in EXPERIMENT.contrasts(EXPERIMENT, QUICK, pd.DataFrame())}
    a, b = found["partitioning"].a.point, found["partitioning"].b.point
    assert (a.servers, a.clients) == (b.servers, b.clients)
    assert (a.variant, b.variant) == ("default", "by-key")
    for name in ("servers-1-2", "servers-2-4"):
        a, b = found[name].a.point, found[name].b.point
        assert (a.servers, a.clients) == (2 * b.servers, 2 * b.clients)
        assert a.variant == b.variant
    [smoke] = EXPERIMENT.contrasts(EXPERIMENT, SMOKE, pd.DataFrame())
    assert smoke.name == "partitioning"


def test_the_profiles_fit_their_time() -> None:
    """Filling the tables included."""
    for size, blocks, most_s in ((SMOKE, 1, 75), (QUICK, 6, 800)):
        contrasts = EXPERIMENT.contrasts(EXPERIMENT, size, pd.DataFrame())
        blocks_s = sum(blocks * time_needed.block_s(c, EXPERIMENT, size) for c in contrasts)
        assert time_needed.sweep_s(EXPERIMENT, size) + blocks_s < most_s


def test_memory_is_that_of_its_rows() -> None:
    """They are smaller than those of the brief, of which there would be no room for as many."""
    shape = EXPERIMENT.cluster_shape(QUICK, "default", "shared", Places("/x", "/x"))
    assert shape.networking
    plan = EXPERIMENT.plans(QUICK, "shared", host.read(), Places("/x", "/x"))["default"]
    assert plan.memory.data_bytes == QUICK.rows * shape.row_bytes < 2**31
    assert all(node.port for node in plan.servers)


def test_the_command_names_servers_database_and_warehouses() -> None:
    """One execution has warm-up, run and end; transactions that fail do not stop it."""
    plan = EXPERIMENT.plans(QUICK, "shared", host.read(), Places("/x", "/x"))["default"]
    [_, point] = [p for p in EXPERIMENT.grid(EXPERIMENT, QUICK) if p.variant == "by-key"]
    [command] = generator.commands(EXPERIMENT.job(QUICK, None, plan, point))
    words = " ".join(command.argv)
    ports = ",".join(str(node.port) for node in plan.servers)
    assert f"-H 127.0.0.1 -P {ports}" in words
    assert f"-D {tables.BY_KEY} -T {point.clients} --warehouses 4 --time 8s" in words
    assert "--ignore-error" in words


def test_another_number_of_rows_is_refused() -> None:
    """A warehouse has as many as it has."""
    with pytest.raises(LabError, match="fixed number of rows"):
        tables.warehouses(EXPERIMENT.size("quick", {"table_size": 1000}))
