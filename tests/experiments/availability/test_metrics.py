"""Throughput and latency from a made-up history."""

from __future__ import annotations

import pandas as pd

from ndblab.experiments.availability import client, metrics
from ndblab.workloads.load_generator import METRICS


def operations(*rows: tuple) -> pd.DataFrame:
    """Rows of client, server, t_s, latency_ms, outcome; all other columns have one value."""
    table = [
        (number, seq, "write", server, server, t_s, latency_ms, outcome, 1, 0)
        for seq, (number, server, t_s, latency_ms, outcome) in enumerate(rows)
    ]
    return pd.DataFrame(table, columns=list(client.Row._fields))


HISTORY = operations(
    (1, 1, 0.2, 1.0, "ok"),
    (2, 2, 0.4, 3.0, "ok"),
    (1, 1, 0.9, 2.0, "ok"),
    (2, 1, 3.1, 2600.0, "ok"),
    (1, 1, 3.2, 2200.0, "unknown"),
    (1, 2, 3.3, 90.0, "failed"),
    (2, 1, 3.4, 1.0, "wrong"),
    (2, 1, 4.2, 1.0, "ok"),
)


def test_a_second_without_an_answer_is_a_second_of_zero():
    """An outage shows in the table of intervals, with no latency rather than a good one."""
    table = metrics.intervals(HISTORY, 2, 4.3)
    assert list(table["t_s"]) == [1, 2, 3, 4]
    assert list(table["qps"]) == [3, 0, 0, 1]
    assert list(table["latency_p95_ms"].isna()) == [False, True, True, False]
    assert list(table["errors_per_s"]) == [0, 0, 0, 2]
    assert table["latency_p95_ms"].iloc[3] == 2600


def test_a_client_that_moves_to_another_server_is_a_reconnect():
    """Client 2 went from server 2 to 1, client 1 from 1 to 2: twice in the same second."""
    table = metrics.intervals(HISTORY, 2, 4.3)
    assert list(table["reconnects_per_s"]) == [0, 0, 0, 2]


def test_only_what_was_answered_counts_as_a_query():
    """Given-up operations are errors; their latency is not averaged in."""
    row = metrics.totals(HISTORY, 4.0)
    assert tuple(row) == METRICS
    assert (row["queries"], row["errors"], row["reconnects"]) == (5, 2, 2)
    assert row["qps"] == 1.25
    assert row["latency_max_ms"] == 2600


def test_a_load_without_any_answer_has_no_latency():
    """A cluster that was dead from the start is a row of nothing, not a crash."""
    row = metrics.totals(operations((1, 1, 0.5, 1.0, "failed")), 2.0)
    assert (row["queries"], row["errors"]) == (0, 1)
    assert pd.isna(row["latency_p95_ms"])
