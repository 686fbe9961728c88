"""What a fault did to the service. The runs are made up, never a measurement."""

from __future__ import annotations

import math

import pandas as pd
import pytest

import small_runs
from experiments.availability import made_up as faults
from ndblab.experiments.availability import analysis as outage

# The ends of operations of all clients are this far apart.
STEP_S = faults.EVERY_S / faults.CLIENTS


def of_run(**what: object) -> outage.Outage:
    tables = faults.run(**what)
    return outage.of_run(tables["history"], tables["events"])


def test_a_fault_that_no_client_notices_has_no_gap() -> None:
    """The longest time without a success is that between two operations, as before."""
    effect = of_run(gap_s=0.0)
    assert effect.longest_gap_s == pytest.approx(STEP_S)
    assert effect.gap_before_s == pytest.approx(STEP_S)
    assert (effect.failed, effect.retried, effect.gave_up_clients) == (0, 0, 0)


def test_a_node_that_never_serves_again_leaves_the_outage_open() -> None:
    """Though another has served again since the fault."""
    tables = faults.run("rolling-restart", served_s=12.0, ends_s=30.0)
    faults.log(tables, (13.0, 3, "fault", "stop ndbmtd.2"), (14.0, 3, "restart", "start"))
    effect = outage.of_run(tables["history"], tables["events"])
    assert math.isnan(effect.served_again_s)
    assert math.isnan(effect.qps_after)


def test_the_gap_begins_with_the_last_success() -> None:
    """It is not cut at the fault: what ended just before it was the last that clients had."""
    effect = of_run(gap_s=3.0, fault_s=10.0)
    assert effect.longest_gap_s == pytest.approx(3.0, abs=2 * STEP_S)
    assert effect.gap_began_s == pytest.approx(10.0, abs=2 * STEP_S)
    assert effect.gap_began_s < 10.0


def test_a_pause_before_the_fault_is_not_the_faults() -> None:
    """It is reported separately, so that stalls of the host can be seen."""
    tables = faults.run(gap_s=0.5)
    history = tables["history"]
    paused = history[(history["t_s"] < 4) | (history["t_s"] > 6)]
    effect = outage.of_run(paused, tables["events"])
    assert effect.longest_gap_s == pytest.approx(0.5, abs=2 * STEP_S)
    assert effect.gap_before_s == pytest.approx(2.0, abs=2 * STEP_S)


def test_a_service_that_never_comes_back_has_a_gap_to_the_end() -> None:
    """Operations that fail until the end of the load do not shorten it."""
    tables = faults.run(served_s=None)
    history = tables["history"]
    history.loc[history["t_s"] >= 10, ["outcome", "attempts"]] = ["failed", 2]
    effect = outage.of_run(history, tables["events"])
    assert effect.longest_gap_s == pytest.approx(10.0, abs=0.3)
    assert effect.gave_up_clients == faults.CLIENTS
    assert math.isnan(effect.restarted_s)
    assert math.isnan(effect.served_again_s)
    assert effect.qps_during == 0
    assert math.isnan(effect.p95_during_ms)
    assert math.isnan(effect.qps_after)


def test_clients_that_give_up_are_counted_once() -> None:
    """Operations and clients are two numbers; what failed before the fault is in neither."""
    tables = faults.run(gave_up=3)
    history = tables["history"]
    of_first = history.index[(history["client"] == 0) & (history["t_s"] > 12)]
    history.loc[of_first[:4], ["outcome", "attempts"]] = ["unknown", 2]
    history.loc[history.index[5], ["outcome", "attempts"]] = ["failed", 2]
    effect = outage.of_run(history, tables["events"])
    assert (effect.failed, effect.gave_up_clients) == (7, 3)


def test_an_operation_that_its_retry_saved_did_not_fail() -> None:
    """It is counted as retried and as nothing else."""
    effect = of_run(elsewhere=2)
    assert (effect.retried, effect.failed) == (2, 0)


def test_throughput_is_given_before_during_and_after() -> None:
    """`during` is from the fault until the last hurt node serves again."""
    effect = of_run(gap_s=2.0, fault_s=10.0, served_s=14.0, ends_s=20.0)
    usual = faults.CLIENTS / faults.EVERY_S
    assert (effect.restarted_s, effect.served_again_s) == pytest.approx((2.0, 4.0))
    assert effect.qps_before == pytest.approx(usual, rel=0.05)
    assert effect.qps_during == pytest.approx(usual / 2, rel=0.05)
    assert effect.qps_after == pytest.approx(usual, rel=0.05)
    assert effect.p95_before_ms == effect.p95_after_ms == 4.0


def test_the_last_of_several_nodes_ends_an_outage() -> None:
    """A rolling restart is over when the last node is back, and began with the first stop."""
    tables = faults.run("rolling-restart", served_s=12.0, ends_s=30.0)
    faults.log(tables, (13.0, 2, "fault", "STOP ndbmtd.2"), (18.0, 2, "served", "ndbmtd.2"))
    effect = outage.of_run(tables["history"], tables["events"])
    assert (effect.fault_s, effect.restarted_s, effect.served_again_s) == (10.0, 1.0, 8.0)


def test_a_run_without_a_fault_is_refused() -> None:
    """There is nothing to measure its times from."""
    tables = faults.run()
    with pytest.raises(ValueError, match="needs operations and a fault"):
        outage.of_run(tables["history"], tables["events"].iloc[1:])


def test_every_run_has_a_row_in_the_order_of_the_faults() -> None:
    """Repeats are adjacent; runs that never reached their fault have no row."""
    parts = [
        faults.run("rolling-restart", 1), faults.run("kill-data-node", 2),
        faults.run("kill-data-node", 1), faults.run("kill-server", 1),
    ]  # fmt: skip
    parts[3]["events"] = parts[3]["events"].iloc[:0]
    outages = outage.of_runs(small_runs.together(*parts))
    assert list(outages.columns) == outage.COLUMNS
    assert list(zip(outages["fault"], outages["repeat"], strict=True)) == [
        ("kill-data-node", 1), ("kill-data-node", 2), ("rolling-restart", 1),
    ]  # fmt: skip


def test_lost_writes_are_reported_with_their_age() -> None:
    """The oldest lost write is dated by how long before the gap it was acknowledged."""
    tables = faults.run("lose-arbitrator", gap_s=5.0, lost=4)
    [row] = outage.of_runs(tables).itertuples()
    assert (row.lost, row.wrong, row.replicas) == (4, 4, 2)
    oldest = tables["history"].query("kind == 'write' and t_s < 10")["t_s"].iloc[-4]
    assert row.lost_up_to_s == pytest.approx(row.gap_began_s - oldest)
    assert row.lost_up_to_s > 0
    assert "4 acknowledged writes lost" in row.writes


def test_a_dataset_without_faults_has_no_outages() -> None:
    """Other experiments have no row."""
    tables = faults.run()
    empty = {name: tables[name].iloc[:0] for name in ("events", "history", "copies", "counters")}
    outages = outage.of_runs({**tables, **empty})
    assert outages.empty
    assert list(outages.columns) == outage.COLUMNS


@pytest.mark.parametrize(
    ("text", "expected"),
    [("SIGKILL mysqld.2", 2), ("SIGKILL ndbmtd.2", None), ("kill mysqld 12", 12)],
)
def test_the_struck_server_is_known_by_its_number(text: str, expected: int | None) -> None:
    """The fault's text names it; a fault of a data node names no server."""
    assert outage.struck(faults.run("kill-server", text=text)["events"], "mysqld") == expected


@pytest.mark.parametrize(
    ("first_server", "server", "attempts", "outcome", "expected"),
    [
        (1, 1, 1, "ok", 0),
        (2, 1, 2, "ok", 0),
        (2, 2, 2, "failed", 0),
        (1, 2, 2, "ok", 1),
        (2, 1, 2, "failed", 1),
        (1, 1, 2, "unknown", 1),
    ],
)
def test_failures_on_the_other_server_are_counted_separately(
    first_server: int, server: int, attempts: int, outcome: str, expected: int
) -> None:
    """Server 2 is struck: what failed there is its own, a retry that fails on 1 is not."""
    row = ("run", 0, 0, "read", server, first_server, 12.0, 4.0, outcome, attempts, 0)
    table = pd.DataFrame([row], columns=faults.HISTORY)
    assert outage.failed_elsewhere(table, server=2, since_s=10.0) == expected
    assert outage.failed_elsewhere(table, server=2, since_s=13.0) == 0
