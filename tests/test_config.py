"""The configuration's text and the command lines, for the brief's server and for a small one."""

from __future__ import annotations

import configparser
from pathlib import Path
from types import SimpleNamespace

import pytest

from ndblab import brief, config, host, plan

CAPTURED = Path(__file__).parent / "captured/hosts/vm-2cpu-cgroup1"
BINARIES = SimpleNamespace(
    mysqld="/ndb/bin/mysqld", ndbmtd="/ndb/bin/ndbmtd", ndb_mgmd="/ndb/bin/ndb_mgmd",
    ndb_mgm="/ndb/bin/ndb_mgm", mysqld_version="9.7.4", mysqld_args=("--basedir=/ndb",),
)  # fmt: skip


@pytest.fixture(scope="module")
def published() -> plan.Plan:
    """The plan for the brief's own server."""
    shape = plan.Shape(16, 80_000_000, 4096, places=plan.Places(brief=True))
    return plan.make(host.load(brief.FOLDER / "host.json"), shape)


@pytest.fixture(scope="module")
def small() -> plan.Plan:
    """The plan for a machine of two CPUs."""
    return plan.make(
        host.read(CAPTURED), plan.Shape(2, 80_000, 256, places=plan.Places("/lab", "/lab"))
    )


def sections(text: str) -> list[tuple[str, dict[str, str]]]:
    """Read an NDB config.ini, in which sections repeat."""
    found: list[tuple[str, dict[str, str]]] = []
    for line in text.splitlines():
        if line.startswith("["):
            found.append((line.strip("[]"), {}))
        elif "=" in line and not line.startswith("#"):
            key, _, value = line.partition("=")
            found[-1][1][key] = value
    return found


def test_the_briefs_config_ini_has_its_parameters_and_no_others(published):
    """Section [ndbd default] as printed in the brief."""
    name, values = sections(config.config_ini(published))[0]
    assert name == "ndbd default"
    assert values == {
        "NoOfReplicas": "2",
        "DataMemory": "128G",
        "AutomaticThreadConfig": "1",
        "NumCPUs": "32",
        "NoOfFragmentLogParts": "8",
        "LockPagesInMainMemory": "1",
        "UseShm": "1",
        "RedoBuffer": "256M",
        "FragmentLogFileSize": "1G",
        "NoOfFragmentLogFiles": "256",
    }


def test_the_briefs_config_ini_has_its_nodes(published):
    """One management node, two data nodes, sixteen servers, and tools on 247 to 254."""
    nodes = [
        (name, values.get("NodeId")) for name, values in sections(config.config_ini(published))
    ]
    assert nodes[1:4] == [("ndb_mgmd", "1"), ("ndbd", "2"), ("ndbd", "3")]
    assert [i for name, i in nodes if name == "mysqld"] == [str(i) for i in range(11, 27)]
    assert [i for name, i in nodes if name == "api"] == [str(i) for i in range(247, 255)]


@pytest.mark.parametrize(
    ("version", "known"), [("8.0.26", True), ("8.4.0", False), ("9.7.4", False)]
)
def test_an_option_that_a_version_does_not_know_is_left_out(published, version, known):
    """8.4 removed default_authentication_plugin; before, the brief's own line is there."""
    text = config.my_cnf(published, version)
    assert ("default_authentication_plugin=mysql_native_password" in text) is known


def test_the_briefs_my_cnf_has_a_group_for_each_server(published):
    """Ids, ports and sockets count up from 11, 3306 and /tmp/mysql.1.sock."""
    parser = configparser.ConfigParser(allow_no_value=True)
    parser.read_string(config.my_cnf(published, "8.0.26"))
    assert parser["mysqld"]["max_connections"] == "8200"
    assert parser["mysqld.16"]["ndb-nodeid"] == "26"
    assert parser["mysqld.16"]["port"] == "3321"
    assert parser["mysqld.2"]["socket"] == "/tmp/mysql.2.sock"


def test_nothing_of_a_small_cluster_listens_beyond_loopback(small):
    """Servers have no network at all, the management node binds loopback, data nodes localhost."""
    parser = configparser.ConfigParser(allow_no_value=True)
    parser.read_string(config.my_cnf(small, "9.7.4"))
    assert "skip-networking" in parser["mysqld"]
    assert "--bind-address=127.0.0.1" in config.management_argv(small, BINARIES, "/lab")
    hosts = {v["HostName"] for _, v in sections(config.config_ini(small)) if "HostName" in v}
    assert hosts == {"localhost"}


def test_commands_bind_processes_as_the_brief_did(published):
    """numactl with the published CPUs, and memory from the same node."""
    argv = config.data_node_argv(published, published.data_nodes[1], BINARIES)
    assert argv[:5] == ["numactl", "-C", "64-79,192-207", "-m", "1"]
    assert "--foreground" in argv


def test_a_server_is_started_by_its_group(small):
    """One defaults file, one group suffix, and what this mysqld needs to run from its place."""
    argv = config.server_argv(small.servers[1], BINARIES, "/lab")
    assert argv[:3] == [
        "/ndb/bin/mysqld",
        "--defaults-file=/lab/my.cnf",
        "--defaults-group-suffix=.2",
    ]
    assert argv[-1] == "--basedir=/ndb"


@pytest.mark.parametrize(
    ("value", "text"), [(128 * 2**30, "128G"), (16 * 2**20, "16M"), (1000, "1000")]
)
def test_sizes_are_written_as_mysql_writes_them(value, text):
    """The largest unit that divides the value."""
    assert config.size(value) == text
