"""What loads of TPC-C committed, why they failed, how local they were. The runs are made up."""

from __future__ import annotations

import pytest

from experiments.tpc_c import made_up
from ndblab.error import MissingData
from ndblab.experiments.tpc_c import TRANSACTIONS
from ndblab.experiments.tpc_c import analysis as loads

WRONG = "inconsistent rows, condition 3: new_order of district (1, 1) has 9 rows from 1 to 10"


def test_new_orders_a_minute_are_their_share_of_all_transactions() -> None:
    """45 % of what commits; what fails is a share of all."""
    found = loads.runs(made_up.tables())
    assert (found["tpm_c"] / found["tps"]).to_numpy() == pytest.approx(60 * 0.45)
    assert found["failed_share"].to_numpy() == pytest.approx(3 / 203)


def test_reads_and_scans_are_told_apart_by_partitioning() -> None:
    """As the counters have them."""
    points = loads.points(made_up.tables()).groupby("variant").last()
    assert points["local_share"].to_dict() == {"default": 0.9, "by-key": 0.6}
    assert points["pruned_share"].to_dict() == {"default": 0.75, "by-key": 0.0}


def test_kinds_come_in_the_order_of_the_specification() -> None:
    """Runs and slices together, each way of partitioning by itself."""
    made = made_up.tables()
    found = loads.kinds(made)
    plain = found[found["variant"] == "default"]
    assert list(plain["transaction"]) == list(TRANSACTIONS)
    number = int((made["locality"]["local_reads"] == 900).sum())
    assert list(plain["committed"]) == [2 * w * number for w in (45, 43, 4, 4, 4)]
    assert plain["latency_avg_ms"].to_numpy() == pytest.approx(10)


def test_aborts_are_counted_by_error_and_statement() -> None:
    """The most frequent first, a column for each way of partitioning."""
    found = loads.aborts(made_up.tables())
    assert list(found["error"]) == [1205, 1297]
    assert found["statement"].iloc[0] == "SELECT new_order FOR UPDATE"
    assert (found["default"] > found["by-key"]).all()


def test_ratios_have_intervals_and_the_cpu_of_the_data_nodes() -> None:
    """That is compared between ways of partitioning alone."""
    found = loads.ratios(made_up.tables())
    assert list(found["contrast"]) == ["partitioning", "partitioning", "servers-1-2", "servers-2-4"]
    assert found["ratio"].to_numpy() == pytest.approx([1.3, 0.5 / 1.3, 1.8, 1.4], rel=0.1)
    assert (found["low"] < found["ratio"]).all()


def test_inconsistent_rows_give_no_number_but_their_message() -> None:
    """However many transactions such a run committed."""
    made = made_up.tables()
    made["runs"]["status"] = WRONG
    with pytest.raises(MissingData, match="no good run of TPC-C"):
        loads.runs(made)
    assert loads.inconsistent(made) == [WRONG]


def test_a_dataset_without_aborts_has_an_empty_table() -> None:
    """And no transaction failed."""
    made = made_up.tables()
    made["aborts"] = made["aborts"].iloc[:0]
    made["transactions"]["failed"] = 0
    assert loads.aborts(made).empty
    assert (loads.runs(made)["failed_share"] == 0).all()
