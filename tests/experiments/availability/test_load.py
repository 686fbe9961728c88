"""How the clients of checked writes are started and stopped."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import psutil
import pytest

from ndblab.cluster.account import Account
from ndblab.error import LabError
from ndblab.experiments.availability import client
from ndblab.experiments.availability import load as generator
from ndblab.machine.local import LOCAL
from ndblab.planning import profile
from ndblab.planning.point import Point
from ndblab.workloads.load_generator import METRICS, Job


class Cluster:
    """A cluster over several hosts that only starts processes; no load runs on its own."""

    machine, load_site = LOCAL, SimpleNamespace(machine=None)

    def __init__(self, folder: Path) -> None:
        self.folder, self.account = folder, None
        (folder / "logs").mkdir()

    def spawn_beside_lab(self, argv, env, **streams) -> subprocess.Popen:
        return subprocess.Popen(argv, env={**os.environ, **env}, **streams)


def job(*sockets: str) -> Job:
    size = profile.get("smoke", {"warmup_s": 0, "duration_s": 1})
    servers = [SimpleNamespace(socket=socket) for socket in sockets]
    return Job(None, size, Point(1, 2, workload="checked_writes"), servers)


def test_clients_run_for_the_seconds_of_the_profile(tmp_path):
    """Without a server too, which is a run of errors and not a crash."""
    with generator.running(Cluster(tmp_path), job(f"{tmp_path}/no.sock")) as load:
        report = load.finish()
    assert 1 <= report.lasted_s < 5
    assert (report.status, report.metrics["queries"]) == ("ok", 0)
    assert report.metrics["errors"] == len(report.tables["history"]) > 0
    assert report.intervals["qps"].tolist()[:1] == [0]


def test_clients_of_a_run_that_is_interrupted_end(tmp_path):
    """Ctrl-C stays Ctrl-C, wherever the cluster's own load would run."""
    with (
        pytest.raises(KeyboardInterrupt),
        generator.running(Cluster(tmp_path), job(f"{tmp_path}/no.sock")) as load,
    ):
        raise KeyboardInterrupt
    [pid] = load.pids
    assert not psutil.pid_exists(pid)


def test_clients_that_do_not_begin_say_why(tmp_path):
    """The reason is the program's own."""
    with (
        pytest.raises(LabError, match="did not begin") as caught,
        generator.running(Cluster(tmp_path), job()),
    ):
        pass
    assert "sockets" in str(caught.value)


def test_clients_reach_servers_of_other_hosts_by_address_and_account(tmp_path):
    """The password is in a private file that is gone once they have read it."""
    cluster = Cluster(tmp_path)
    authority, key = tmp_path / "ca.pem", tmp_path / "key.pem"
    argv = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=lab"]
    argv += ["-keyout", str(key), "-out", str(authority)]
    subprocess.run(argv, check=True, capture_output=True)
    cluster.account = Account("a password", authority.read_text())
    remote = job("")
    remote.servers[0].endpoint, remote.servers[0].port = "127.0.0.1", 9
    [command] = generator.commands(remote)
    assert command.argv[-1] == "127.0.0.1:9"
    with generator.running(cluster, remote) as load:
        assert not (tmp_path / "client.json").exists()
        report = load.finish()
    assert set(report.tables["history"]["error"]) == {2003}


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
    table = generator.intervals(HISTORY, 2, 4.3)
    assert list(table["t_s"]) == [1, 2, 3, 4]
    assert list(table["qps"]) == [3, 0, 0, 1]
    assert list(table["latency_p95_ms"].isna()) == [False, True, True, False]
    assert list(table["errors_per_s"]) == [0, 0, 0, 2]
    assert table["latency_p95_ms"].iloc[3] == 2600


def test_a_client_that_moves_to_another_server_is_a_reconnect():
    """Client 2 went from server 2 to 1, client 1 from 1 to 2: twice in the same second."""
    table = generator.intervals(HISTORY, 2, 4.3)
    assert list(table["reconnects_per_s"]) == [0, 0, 0, 2]


def test_only_what_was_answered_counts_as_a_query():
    """Given-up operations are errors; their latency is not averaged in."""
    row = generator.totals(HISTORY, 4.0)
    assert tuple(row) == METRICS
    assert (row["queries"], row["errors"], row["reconnects"]) == (5, 2, 2)
    assert row["qps"] == 1.25
    assert row["latency_max_ms"] == 2600


def test_a_load_without_any_answer_has_no_latency():
    """A cluster that was dead from the start is a row of nothing, not a crash."""
    row = generator.totals(operations((1, 1, 0.5, 1.0, "failed")), 2.0)
    assert (row["queries"], row["errors"]) == (0, 1)
    assert pd.isna(row["latency_p95_ms"])
