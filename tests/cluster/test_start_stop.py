"""A real cluster: two data nodes, two MySQL servers, real faults."""

from __future__ import annotations

import dataclasses
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from ndblab import dataset, install
from ndblab.cluster import readiness, start_stop
from ndblab.design import catalogue
from ndblab.error import LabError
from ndblab.machine import host
from ndblab.machine.local import LOCAL, SEGMENTS, Local
from ndblab.measuring import measured_run, measurement
from ndblab.planning import deployment, profile
from ndblab.planning.point import Point
from ndblab.workloads import sysbench
from ndblab.workloads.load_generator import Job

pytestmark = pytest.mark.cluster

PORT = 12860
SMOKE = profile.get("smoke", {"servers": "2", "clients": "4"})


@pytest.fixture(scope="module")
def binaries() -> install.Binaries:
    """The real programs."""
    return install.ensure(progress=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for clusters of its own, so that a user's one is left alone."""
    return tmp_path_factory.mktemp("ndb") / "cluster"


@pytest.fixture(scope="module")
def decided(folder: Path) -> deployment.Plan:
    """The plan for two servers on this machine."""
    places = start_stop.places(folder, PORT)
    return deployment.make(host.read(), deployment.Shape(2, SMOKE.rows, 64, places=places))


@pytest.fixture(autouse=True)
def pids(decided: deployment.Plan, monkeypatch: pytest.MonkeyPatch):
    """Ids of the processes that a test starts, none of which leaves anything behind.

    No process, port, socket, shared-memory segment or control group of the cluster exists.
    """
    started: set[int] = set()
    spawn = Local.spawn

    def recorded(self, *arguments, **options):
        child = spawn(self, *arguments, **options)
        started.add(child.pid)
        return child

    monkeypatch.setattr(Local, "spawn", recorded)
    yield started
    folder = Path(decided.places.cluster_dir)
    assert LOCAL.marked(folder) == []
    for port in range(PORT, PORT + 3):
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.1", port)) != 0
    assert not list(Path(decided.places.socket_dir).glob("*.sock"))
    controller = host.read().cpu_controller
    if controller.path:
        assert not list(Path(controller.path).glob(f"{start_stop.groups_name(folder)}*"))
    segments = [line.split() for line in SEGMENTS.read_text().splitlines()[1:]]
    assert [shmid for _, shmid, _, _, creator, *_ in segments if int(creator) in started] == []


def test_a_cluster_serves_and_leaves_nothing_behind(decided, binaries):
    """Both servers reach both data nodes over shared memory, and a run measures all of it."""
    with start_stop.running(decided, binaries, progress=False) as running:
        types = {kind for _, remote, kind in readiness.transporters(running) if remote in (11, 12)}
        assert types == {"SHM"}
        pids = {pid for _, _, pid, _ in running.pids()}
        listening = {
            c.laddr.ip
            for c in psutil.net_connections("tcp")
            if c.pid in pids and c.status == "LISTEN"
        }
        assert listening == {"127.0.0.1"}
        size = dataclasses.replace(SMOKE, warmup_s=1, duration_s=3)
        job = Job(binaries, size, Point(2, 4), decided.servers)
        sysbench.prepare(running, job)
        assert running.query("SELECT COUNT(*) FROM sbtest.sbtest2", server=2) == [(1000,)]
        running.limit()
        run = measured_run.measure(running, job, 1)
        row = run.tables["runs"].iloc[0]
        assert (row.status, row.errors) == ("ok", 0)
        assert row.queries == pytest.approx(row.qps * row.duration_s, rel=0.01)
        # sysbench may end before its reporter wakes for the last second.
        assert len(run.tables["intervals"]) in (2, 3)
        seen = run.tables["processes"].groupby("role")["node_id"].nunique().to_dict()
        assert seen == {"lab": 1, "mysqld": 2, "ndb_mgmd": 1, "ndbmtd": 2, "sysbench": 1}
        threads = run.tables["ndb_threads"]
        assert {"ldm", "query", "tc", "send", "recv", "main"} <= set(threads["thread"])
        busy = threads.groupby("thread")[["os_user_pct", "os_system_pct"]].mean().sum(axis=1)
        assert busy["recv"] > busy["recover"]
        if decided.budget.kind == "scaled":
            cpu = (
                run.tables["processes"]
                .query("role == 'mysqld'")
                .groupby("node_id")["cpu_pct"]
                .mean()
            )
            assert (cpu <= 100 * decided.servers[0].share.quota_cpus * 1.15).all()


def test_servers_of_one_cluster_have_their_own_connection_pools(decided, binaries):
    """Each has the connections of its plan, all of them up and over shared memory."""
    shape = deployment.Shape(2, SMOKE.rows, 64, connection_pools=(1, 4), places=decided.places)
    plan = deployment.make(host.read(), shape)
    asked = "SHOW VARIABLES LIKE 'ndb_cluster_connection_pool'"
    with start_stop.running(plan, binaries, progress=False) as running:
        assert [int(running.query(asked, number)[0][1]) for number in (1, 2)] == [1, 4]
        links = [t for t in readiness.transporters(running) if t[1] in range(11, 16)]
        assert sorted(remote for _, remote, _ in links) == sorted([11, 12, 13, 14, 15] * 2)
        assert {kind for *_, kind in links} == {"SHM"}


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


def test_a_server_that_dies_in_a_run_ends_the_sweep_with_its_name(decided, binaries):
    """The message names the server; the cluster is stopped."""
    with start_stop.running(decided, binaries, progress=False) as running:
        size = dataclasses.replace(SMOKE, warmup_s=0)
        job = Job(binaries, size, Point(2, 4), decided.servers)
        sysbench.prepare(running, job)
        running.processes["mysqld.2"].kill()
        running.processes["mysqld.2"].wait(30)
        with pytest.raises(LabError, match=r"mysqld\.2 .* ended by itself, killed by signal 9"):
            measured_run.measure(running, job, 1)


def test_a_server_that_is_moved_out_of_its_group_ends_the_run(decided, binaries):
    """It would be measured without its limit; the cluster is stopped, and nothing of it stays."""
    if decided.budget.kind != "scaled":
        pytest.skip("CPUs cannot be limited here")

    def move_a_server() -> None:
        with start_stop.running(decided, binaries, progress=False) as running:
            running.limit()
            running.check_alive()
            running.groups[""].place("sql/clients", running.processes["mysqld.1"].pid)
            running.check_alive()
            pytest.fail("it was not noticed")

    with pytest.raises(LabError, match="lost its CPU limit"):
        move_a_server()


def test_a_cluster_by_hand_stays_until_it_is_stopped(decided, binaries, folder):
    """It survives the process that started it, and a second one in its folder is refused."""
    started = start_stop.start(decided, binaries, progress=False)
    assert {row["process"] for row in start_stop.status(folder)} == {"ndb_mgmd", "ndbmtd", "mysqld"}
    with (
        pytest.raises(LabError, match="started by hand"),
        start_stop.running(decided, binaries, progress=False),
    ):
        pass
    assert started.query("SELECT 1") == [(1,)]
    assert start_stop.stop(folder) == 5


@pytest.mark.parametrize(
    ("name", "differing", "kinds"),
    [
        ("shm-vs-tcp", "transporter", {"shm", "tcp"}),
        ("thread-balance", "variant", {"default", "balanced-threads"}),
    ],
)
def test_an_experiment_of_several_clusters_measures_every_kind(
    decided, folder, tmp_path, monkeypatch, name, differing, kinds
):
    """Each kind has its runs, and each cluster its own configuration."""
    monkeypatch.setenv("NDBLAB_CLUSTER_DIR", str(folder))
    monkeypatch.setattr(measurement, "RUNS", tmp_path)
    experiment = catalogue.find(name)
    size = {"clients": (8,), "duration_s": 1}
    clusters = experiment.sweep(experiment.size("smoke", size)).clusters
    data = measurement.measure(experiment, "smoke", "auto", size, PORT, progress=False)
    assert set(data.runs[differing]) == kinds
    assert set(data.runs["status"]) == {"ok"}
    assert len(list(data.path.glob("config/*config.ini"))) >= len(clusters)
    assert data.manifest["filled"]["data_memory_bytes"].keys() == {"2", "3"}
    again = measurement.measure(
        experiment, "smoke", "auto", size, PORT, progress=False, again=False
    )
    assert again.id == data.id


def test_a_sweep_killed_in_the_middle_is_resumed_where_it_stopped(decided, tmp_path, folder, pids):
    """After SIGKILL nothing runs, complete runs are saved, and the resumed sweep repeats none."""
    program = (
        "import sys, pathlib; from ndblab.experiments import catalogue, measurement\n"
        "measurement.RUNS = pathlib.Path(sys.argv[1])\n"
        "measurement.measure(catalogue.find(figure=6), 'smoke', port=int(sys.argv[2]),"
        " progress=False)\n"
    )
    environment = {**os.environ, "NDBLAB_CLUSTER_DIR": str(folder)}
    argv = [sys.executable, "-c", program, str(tmp_path), str(PORT)]

    def whole_runs() -> dict[str, float]:
        return {p.name: p.stat().st_mtime for p in tmp_path.glob("*/*/parts/s*")}

    lab = subprocess.Popen(argv, env=environment)
    readiness.wait_until(lambda: len(whole_runs()) >= 2 or lab.poll() is not None, 180, "two runs")
    pids.update(found.pid for found in LOCAL.marked(folder))
    lab.send_signal(signal.SIGKILL)
    lab.wait()
    saved = whole_runs()
    assert len(saved) >= 2
    readiness.wait_until(lambda: LOCAL.marked(folder) == [], 30, "the end of all processes")
    readiness.wait_until(
        lambda: not list(Path(decided.places.socket_dir).glob("*.sock")), 10, "clean sockets"
    )
    unfinished = dataset.read(next(tmp_path.glob("*/*")))
    assert not unfinished.complete
    before = unfinished.runs.set_index("run_id")["started_utc"]
    assert subprocess.run(argv, env=environment, check=False).returncode == 0
    data = dataset.read(next(tmp_path.glob("*/*")))
    assert data.complete
    after = data.runs.set_index("run_id")["started_utc"]
    assert len(after) == len(catalogue.find(figure=6).sweep(profile.get("smoke")))
    assert after[before.index].tolist() == before.tolist()
