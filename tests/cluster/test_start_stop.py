"""The life of a real cluster: started, damaged, stopped, and nothing left of it."""

from __future__ import annotations

import dataclasses
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from campaign import checks
from conftest import left_at_once
from ndblab.cluster import readiness, start_stop
from ndblab.error import LabError
from ndblab.machine import host
from ndblab.measuring import measured_run
from ndblab.planning import deployment, profile
from ndblab.planning.point import Point
from ndblab.workloads import sysbench
from ndblab.workloads.load_generator import Job

pytestmark = pytest.mark.cluster

PORT = 13260
SMOKE = profile.get("smoke", {"warmup_s": 0})


@pytest.fixture
def decided(tmp_path: Path) -> Iterator[deployment.Plan]:
    """The plan for two servers in a folder, where nothing is left of a cluster after the test."""
    folder, before = tmp_path / "cluster", checks.orphaned_segments()
    places = start_stop.places(folder, PORT)
    yield deployment.make(host.read(), deployment.Shape(2, SMOKE.rows, 64, places=places))
    left = left_at_once(folder, PORT, before)
    start_stop.stop(folder)
    assert not any(left.values())


def test_a_data_node_that_dies_at_start_says_why(decided, binaries):
    """The reason is the node's own."""
    broken = dataclasses.replace(decided, threads=deployment.Threads(ldm=2, query=3))
    with (
        pytest.raises(LabError, match="ended by itself") as caught,
        start_stop.running(broken, binaries, progress=False),
    ):
        pass
    assert "query" in str(caught.value).lower()


def test_a_taken_port_is_named_before_anything_starts(decided, binaries):
    """The message names the port, who has it, and the option."""
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", PORT + 1))
        other.listen()
        with (
            pytest.raises(LabError, match=f"Port {PORT + 1} is taken") as caught,
            start_stop.running(decided, binaries, progress=False),
        ):
            pass
    assert str(os.getpid()) in str(caught.value)
    assert "--base-port" in str(caught.value)


def test_a_server_without_its_limit_or_dead_ends_the_run_with_its_name(decided, binaries):
    """One moved out of its group would be measured without a limit; the cluster is stopped."""

    def measured_without_a_server() -> None:
        with start_stop.running(decided, binaries, progress=False) as running:
            if decided.budget.kind == "scaled":
                running.limit()
                running.check_alive()
                pid = running.processes["mysqld.1"].pid
                running.groups[""].place("sql/clients", pid)
                with pytest.raises(LabError, match="lost its CPU limit"):
                    running.check_alive()
                running.groups[""].place("sql/mysqld.1", pid)
            job = Job(binaries, SMOKE, Point(2, 4), decided.servers)
            sysbench.prepare(running, job)
            running.processes["mysqld.2"].kill()
            running.processes["mysqld.2"].wait(30)
            measured_run.measure(running, job, 1)

    with pytest.raises(LabError, match=r"mysqld\.2 .* ended by itself, killed by signal 9"):
        measured_without_a_server()


def test_a_cluster_by_hand_stays_until_it_is_stopped(decided, binaries):
    """It survives the process that started it; a second one in its folder is refused.

    Each server has as many connections as its plan says, all of them up and over shared memory.
    """
    folder = Path(decided.places.cluster_dir)
    shape = deployment.Shape(2, SMOKE.rows, 64, connection_pools=(1, 4), places=decided.places)
    started = start_stop.start(deployment.make(host.read(), shape), binaries, progress=False)
    assert {row["process"] for row in start_stop.status(folder)} == {"ndb_mgmd", "ndbmtd", "mysqld"}
    with (
        pytest.raises(LabError, match="started by hand"),
        start_stop.running(decided, binaries, progress=False),
    ):
        pass
    pools = "SHOW VARIABLES LIKE 'ndb_cluster_connection_pool'"
    assert [int(started.query(pools, number)[0][1]) for number in (1, 2)] == [1, 4]
    links = [t for t in readiness.transporters(started) if t[1] in range(11, 16)]
    assert sorted(remote for _, remote, _ in links) == sorted([11, 12, 13, 14, 15] * 2)
    assert {kind for *_, kind in links} == {"SHM"}
    assert start_stop.stop(folder) == 5
