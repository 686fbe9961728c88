"""Lookups counted by their keys. The tables are made up, never a measurement."""

from __future__ import annotations

import pytest

from experiments.read_write import made_up
from ndblab.experiments.read_write import lookups

RUNS = made_up.runs()


def test_a_list_counts_each_of_its_keys() -> None:
    """A variant of its own workload alone says how many; any other query is one lookup."""
    rows = RUNS[RUNS["repeat"] == 1]
    rate = lookups.per_s(rows)
    at = rows.set_index("run_id")
    for name, keys in (("in-1", 1), ("in-10", 10), ("in-100", 100)):
        mine = at.index[at["variant"] == name]
        assert len(mine)
        assert list(rate[mine]) == pytest.approx(list(keys * at.loc[mine, "qps"]))
    others = at.index[~at["variant"].str.startswith("in-")]
    assert list(rate[others]) == pytest.approx(list(at.loc[others, "qps"]))
    moved = rows.assign(workload="oltp_point_select")
    assert set(lookups.keys(moved)) == {1}


def test_the_cost_of_a_query_is_shared_by_its_keys() -> None:
    """By role, ordered from single lookups to the longest lists."""
    tables = made_up.tables()
    runs = tables["runs"]
    processes = tables["processes"].drop_duplicates("role").drop(columns="run_id")
    used = processes.merge(runs[["run_id"]], how="cross")
    table = lookups.costs(runs, used)
    assert list(dict.fromkeys(table["lookups"])) == ["one by one", "in-1", "in-10", "in-100"]
    row = table[(table["lookups"] == "in-10") & (table["clients"] == 32)].iloc[0]
    assert row["lookups_per_s"] == pytest.approx(10 * row["queries_per_s"])
    assert row["mysqld_us"] == pytest.approx(60 * 1e4 / row["lookups_per_s"], rel=0.01)
    assert row["cpu_us"] == pytest.approx(100 * 1e4 / row["lookups_per_s"], rel=0.01)


def test_the_best_clients_stand_for_each_length() -> None:
    """All runs of the best mean, and no others."""
    table = lookups.best(RUNS)
    assert set(table["clients"]) == {32}
    assert len(table) == 4 * 3
    assert set(table.loc[table["single"], "keys"]) == {1}
