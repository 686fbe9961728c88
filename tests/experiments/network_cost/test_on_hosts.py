"""What the network costs: a cluster over five namespaces, its servers and clients in all places."""

from __future__ import annotations

import json

import pytest

from ndblab.design import catalogue
from ndblab.measuring import measured_run
from ndblab.workloads import sysbench

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

PORT, CLIENTS = 23460, 6


@pytest.mark.usefixtures("namespaces_usable")
def test_a_minimal_smoke_run_has_every_kind_and_both_contrasts(measure, monkeypatch):
    """Each server and client is where its kind says, and the dataset tells that hosts are made."""
    ran: set[tuple[str, ...]] = set()
    commands = sysbench.commands

    def noted(job):
        [place] = {(command.host, _target(command.argv)) for command in commands(job)}
        ran.add((job.point.variant, job.point.transporter, *place))
        return commands(job)

    encrypted: dict[str, int] = {}
    measure_run = measured_run.measure

    def counted(cluster, job, repeat):
        status, [server] = "SHOW GLOBAL STATUS LIKE 'Ssl_accepts'", job.servers
        before = cluster.query(status, server.number)
        run = measure_run(cluster, job, repeat)
        [[(_, first)], [(_, last)]] = before, cluster.query(status, server.number)
        encrypted[job.point.run_id(repeat)] = int(last) - int(first)
        return run

    monkeypatch.setattr(sysbench, "commands", noted)
    monkeypatch.setattr(measured_run, "measure", counted)
    overrides = {"clients": str(CLIENTS), "table_size": 100, "warmup_s": 0, "duration_s": 4}
    experiment = catalogue.find("network-cost")
    data = measure(experiment, "scaled", PORT, size=overrides)
    manifest = json.loads((data.path / "manifest.json").read_text())
    address = {name: host["address"] for name, host in manifest["hosts"].items()}
    assert manifest["namespaces"]
    assert {
        ("default", "shm", "a", address["b"]),
        ("default", "tcp", "a", address["b"]),
        ("servers-elsewhere", "tcp", "a", address["d"]),
        ("clients-beside", "shm", "b", "mysql.1.sock"),
    } <= ran
    assert list(data.runs["status"]) == ["ok"] * 4
    # The clients of each run, those on a socket too, and at most two sessions of the lab.
    assert min(encrypted.values()) >= CLIENTS
    assert data.runs["qps"].gt(0).all()
    assert data.runs["client_cpu_pct"].gt(0).all()
    assert set(data.slices["status"]) == {"ok"}
    assert set(data.slices["contrast"]) == {"clients", "servers"}
    assert "5 network namespaces of one machine" in data.describe_host()


def _target(argv: list[str]) -> str:
    """The address or the name of the socket that a command of sysbench connects to."""
    [word] = [w for w in argv if w.startswith(("--mysql-host=", "--mysql-socket="))]
    return word.partition("=")[2].rpartition("/")[2]
