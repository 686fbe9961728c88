"""Shares of local reads. The runs are made up."""

from __future__ import annotations

import pandas as pd
import pytest

from experiments.read_locality import made_up
from ndblab.dataset import table
from ndblab.error import LabError
from ndblab.experiments.read_locality import analysis as shares
from ndblab.planning.workload import POINT_SELECT, READ_ONLY


def test_servers_are_weighted_by_what_they_read():
    """A server that reads twice as much counts twice."""
    reads = pd.DataFrame(
        [("x", 11, 100, 100, 1000, 0), ("x", 12, 200, 50, 3000, 3000)],
        columns=["run_id", "node_id", "rows", "local_rows", "received_bytes", "near_bytes"],
    )
    means = shares.of_runs(reads).loc["x"]
    assert means["local"] == pytest.approx(0.5)
    assert means["near"] == pytest.approx(0.75)


def test_each_variant_has_its_means_under_each_workload():
    """A lookup by itself is always local, however far its row is from the server."""
    data = made_up.tables()
    means = shares.of_variants(**data).set_index(["workload", "variant"])
    assert means.at[(POINT_SELECT, "primary-only"), "local"] == 1.0
    assert means.at[(POINT_SELECT, "primary-only"), "near"] == pytest.approx(0.25)
    assert means.at[(READ_ONLY, "primary-only"), "local"] == pytest.approx(0.325)
    assert (means["runs"] == 9).all()


def test_each_side_of_a_contrast_has_its_means():
    """Contrasts without a whole block have no row."""
    pieces = made_up.slices(2, ("domains",))
    other = made_up.slices(1, ("lookups-told",)).assign(status="failed")
    reads = made_up.reads(pd.concat([pieces, other]))
    means = shares.of_contrasts(pd.concat([pieces, other]), reads).set_index("side")
    assert list(means["contrast"]) == ["domains", "domains"]
    assert means.at["a", "near"] == pytest.approx(0.99)
    assert means.at["b", "variant"] == "domains-primary-only"
    assert (means["blocks"] == 2).all()


def test_without_slices_there_is_an_empty_table():
    """A sweep that has only begun."""
    empty = made_up.slices(1).iloc[:0]
    assert shares.of_contrasts(empty, made_up.reads(empty)).empty


def test_chance_gives_a_quarter_half_and_all_of_the_rows_after_the_first():
    """Of four data nodes; with two, every row is on both of them."""
    assert list(shares.expected(4)["local"]) == [0.325, 0.55, 1.0]
    assert list(shares.expected(2)["local"]) == [0.55, 1.0, 1.0]


def test_more_local_rows_than_rows_are_refused():
    """Such counters are those of something else."""
    reads = made_up.reads(made_up.runs(1).iloc[:1])
    table.render("reads", reads, "reads.csv")
    with pytest.raises(LabError, match="no more local rows"):
        table.render("reads", reads.assign(local_rows=reads["rows"] + 1), "reads.csv")
    with pytest.raises(LabError, match="near bytes"):
        table.render("reads", reads.assign(near_bytes=reads["received_bytes"] + 1), "reads.csv")
