"""A real cluster over three hosts, by SSH: it is measured, protected, and gone afterwards."""

from __future__ import annotations

import json
import ssl
from pathlib import Path

import psutil
import pymysql
import pytest

from hosts.named import described
from ndblab import dataset
from ndblab.cluster.cluster import Cluster
from ndblab.design import catalogue
from ndblab.hosts.namespaces import Network
from ndblab.hosts.roles import DATA
from ndblab.measuring import measurement
from ndblab.measuring.request import Request
from ndblab.planning.workload import is_good

pytestmark = pytest.mark.cluster

PORT = 21860


def test_a_login_takes_the_password_and_tls(cluster: Cluster):
    """The account has none without TLS; those without its password are tried by a stranger."""
    allowed = cluster.account.connection(cluster.plan.servers[0])
    plain = {name: value for name, value in allowed.items() if name != "ssl"}
    with pytest.raises((pymysql.Error, RuntimeError)):
        pymysql.connect(**plain, ssl_disabled=True)
    strict = ssl.create_default_context()
    with pytest.raises(pymysql.Error):
        pymysql.connect(**{**allowed, "ssl": strict})
    assert cluster.query("SELECT 1", server=2) == [(1,)]


def test_the_password_is_on_no_command_line(cluster: Cluster):
    """Nor in the environment of any process of the cluster."""
    password = cluster.account.password
    for site in cluster.sites.values():
        for process in site.machine.marked(site.folder):
            assert password not in " ".join(process.argv)
    for process in psutil.process_iter(["cmdline"]):
        assert password not in " ".join(process.info["cmdline"] or ())


def test_each_node_listens_on_its_own_address_only(cluster: Cluster, network: Network):
    """Not on all interfaces, as ndb_mgmd does by default."""
    for name, host in network.hosts.items():
        listening = host.run("ss", "-Hltn").splitlines()
        addresses = {line.split()[3].rpartition(":")[0] for line in listening}
        assert addresses <= {host.address, "127.0.0.1"}, name


def test_what_is_measured_names_every_host(
    network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A sweep of Figure 6, with CPU of every process, and roles, address and clock of each host."""
    monkeypatch.setattr(measurement, "RUNS", tmp_path / "runs")
    monkeypatch.setenv("NDBLAB_CLUSTER_DIR", str(tmp_path / "lab"))
    overrides = {"servers": "1,2", "clients": "4", "table_size": 100}
    experiment = catalogue.find(figure=6)
    hosts = described(tmp_path, a="", b="", c="")
    request = Request("smoke", "scaled", overrides, PORT + 300, progress=False, hosts=hosts)
    data = measurement.measure(experiment, request)
    assert data.runs["status"].map(is_good).all()
    assert data.runs["qps"].gt(0).all()
    seen = set(zip(data.processes["role"], data.processes["node_id"], strict=True))
    nodes = {("ndb_mgmd", 1), ("ndbmtd", 2), ("ndbmtd", 3), ("mysqld", 11), ("mysqld", 12)}
    assert seen >= {*nodes, ("sysbench", 0), ("lab", 0)}
    manifest = json.loads((data.path / "manifest.json").read_text())
    assert {name: host["roles"] for name, host in manifest["hosts"].items()} == {
        "a": ["management", "load"],
        "b": [DATA, "sql"],
        "c": [DATA, "sql"],
    }
    assert all(abs(host["clock_ms"]) < 1000 for host in manifest["hosts"].values())
    assert manifest["links_encrypted"] is True
    hosts = dataset.read(data.path).describe_host()
    assert hosts.startswith("3 hosts: a (management, load), b (data, sql), c (data, sql); ")
    assert hosts.endswith("; NDB's links encrypted")
    assert not [folder for folder in tmp_path.iterdir() if folder.name in "abc"]
    assert manifest["hosts"]["a"]["address"] not in (data.path / "runs.csv").read_text()
