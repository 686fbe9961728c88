"""The configuration's text and the command lines, for the brief's server and for a small one."""

from __future__ import annotations

import configparser
import dataclasses
from pathlib import Path
from types import SimpleNamespace

import pytest

from ndblab.judging import publication
from ndblab.machine import host
from ndblab.planning import config, deployment
from ndblab.planning.shape import Overlay

CAPTURED = Path(__file__).parents[1] / "captured/hosts/vm-2cpu-cgroup1"
BINARIES = SimpleNamespace(
    mysqld="/ndb/bin/mysqld", ndbmtd="/ndb/bin/ndbmtd", ndb_mgmd="/ndb/bin/ndb_mgmd",
    ndb_mgm="/ndb/bin/ndb_mgm", mysqld_version="9.7.4", mysqld_args=("--basedir=/ndb",),
)  # fmt: skip


@pytest.fixture(scope="module")
def published() -> deployment.Plan:
    """The plan for the brief's own server."""
    shape = deployment.Shape(16, 80_000_000, 4096, places=deployment.Places(brief=True))
    return deployment.make(host.load(publication.FOLDER / "host.json"), shape)


@pytest.fixture(scope="module")
def small() -> deployment.Plan:
    """The plan for a machine of two CPUs."""
    return other()


def sections(text: str) -> list[tuple[str, dict[str, str]]]:
    """Read an NDB config.ini, in which sections repeat."""
    parts: list[tuple[str, dict[str, str]]] = []
    for line in text.splitlines():
        if line.startswith("["):
            parts.append((line.strip("[]"), {}))
        elif "=" in line and not line.startswith("#"):
            key, _, value = line.partition("=")
            parts[-1][1][key] = value
    return parts


def my_cnf(plan: deployment.Plan, version: str = "9.7.4") -> configparser.ConfigParser:
    """Read the my.cnf of a plan."""
    parser = configparser.ConfigParser(allow_no_value=True)
    parser.read_string(config.my_cnf(plan, version))
    return parser


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


def test_the_briefs_config_ini_says_where_each_node_runs_and_keeps_its_files(published):
    """All on localhost, word for word the same, since SHM needs equal names; tools anywhere."""
    parts = sections(config.config_ini(published))[1:]
    by_id = {values["NodeId"]: values for _, values in parts}
    assert by_id["1"] == {"NodeId": "1", "HostName": "localhost", "DataDir": "/nvme/1/ndb_mgmd.1"}
    assert by_id["2"] == {"NodeId": "2", "HostName": "localhost", "DataDir": "/nvme/1/ndbd.1"}
    assert by_id["3"] == {"NodeId": "3", "HostName": "localhost", "DataDir": "/nvme/2/ndbd.2"}
    assert all(v.get("HostName") == "localhost" for name, v in parts if name == "mysqld")
    assert all(set(v) == {"NodeId"} for name, v in parts if name == "api")


@pytest.mark.parametrize(
    ("version", "known"), [("8.0.26", True), ("8.4.0", False), ("9.7.4", False)]
)
def test_an_option_that_a_version_does_not_know_is_left_out(published, version, known):
    """8.4 removed default_authentication_plugin; before, the brief's own line is there."""
    text = config.my_cnf(published, version)
    assert ("default_authentication_plugin=mysql_native_password" in text) is known


def test_the_briefs_my_cnf_has_the_published_settings_and_no_others(published):
    """The section of all servers, and one for each: ids from 11 on, ports from 3306 on."""
    parser = my_cnf(published, "8.0.26")
    assert dict(parser["mysqld"]) == {
        "ndbcluster": None,
        "ndb-connectstring": "localhost",
        "max_connections": "8200",
        "user": "root",
        "default_authentication_plugin": "mysql_native_password",
        "mysqlx": "0",
    }
    assert parser.sections() == ["mysqld", *(f"mysqld.{n}" for n in range(1, 17))]
    for number in range(1, 17):
        folder = f"/nvme/{3 if number % 2 else 4}/mysqld.{number}"
        assert dict(parser[f"mysqld.{number}"]) == {
            "ndb-nodeid": f"{10 + number}",
            "port": f"{3305 + number}",
            "socket": f"/tmp/mysql.{number}.sock",
            "basedir": folder,
            "datadir": f"{folder}/data",
        }


def test_nothing_of_a_small_cluster_listens_beyond_loopback(small):
    """Servers have no network at all, the management node binds loopback, data nodes localhost."""
    assert "skip-networking" in my_cnf(small)["mysqld"]
    assert "--bind-address=127.0.0.1" in config.node_argv(small, small.management_node, BINARIES)
    hosts = {v["HostName"] for _, v in sections(config.config_ini(small)) if "HostName" in v}
    assert hosts == {"localhost"}


def test_commands_bind_processes_as_the_brief_did(published):
    """numactl with the published CPUs, and memory from the same node."""
    argv = config.node_argv(published, published.data_nodes[1], BINARIES)
    assert argv[:5] == ["numactl", "-C", "64-79,192-207", "-m", "1"]
    assert "--foreground" in argv
    argv = config.node_argv(published, published.management_node, BINARIES)
    assert argv[:5] == ["numactl", "-C", "60-63,124-127,188-191,252-255", "-m", "0,1"]
    argv = config.node_argv(published, published.servers[15], BINARIES)
    assert argv[:5] == ["numactl", "-C", "80-127,208-255", "-m", "1"]
    sysbench = config.binding(published.sysbench)
    assert sysbench == ["numactl", "-C", "16-63,80-127,144-191,208-255", "-m", "0,1"]


def test_no_node_reads_an_option_file_of_the_users(small):
    """MySQL's programs read ~/.my.cnf unless their first option says otherwise."""
    for node in small.nodes:
        first = config.node_argv(small, node, BINARIES)[1]
        assert first.startswith(("--no-defaults", "--defaults-file=/lab/my.cnf"))


def test_a_server_is_started_by_its_group(small):
    """One defaults file, one group suffix, and what this mysqld needs to run from its place."""
    argv = config.node_argv(small, small.servers[1], BINARIES)
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


def other(**changes) -> deployment.Plan:
    """The small plan with other wishes."""
    places = deployment.Places("/lab", "/lab")
    return deployment.make(
        host.read(CAPTURED), deployment.Shape(2, 80_000, 256, places=places, **changes)
    )


def test_shared_memory_and_tcp_share_a_cluster_with_checksums_alike():
    """The server with [shm] sections to both data nodes has shared memory, the other has none."""
    parts = sections(config.config_ini(other(tcp_servers=1)))
    values = {name: v for name, v in parts if "default" in name}
    assert values["ndbd default"]["UseShm"] == "0"
    same = {"Checksum": "0", "SendSignalId": "0"}
    assert values["tcp default"] == values["shm default"] == same
    links = {(v["NodeId1"], v["NodeId2"]) for name, v in parts if name == "shm"}
    assert links == {("2", "11"), ("3", "11")}


def test_every_connection_of_a_pool_has_its_section_and_its_link():
    """Each server has its own pool: config.ini names all ids, my.cnf those of each server."""
    plan = other(connection_pools=(1, 3))
    parts = sections(config.config_ini(plan))
    assert [v["NodeId"] for name, v in parts if name == "mysqld"] == ["11", "12", "13", "14"]
    parser = my_cnf(plan)
    pool = "ndb-cluster-connection-pool"
    assert not {pool, f"{pool}-nodeids"} & {*parser["mysqld"], *parser["mysqld.1"]}
    assert parser["mysqld.2"]["ndb-nodeid"] == "12"
    assert parser["mysqld.2"][pool] == "3"
    assert parser["mysqld.2"][f"{pool}-nodeids"] == "12,13,14"
    mixed = sections(config.config_ini(other(connection_pools=(3, 1), tcp_servers=1)))
    links = [v["NodeId2"] for name, v in mixed if name == "shm" and v["NodeId1"] == "2"]
    assert links == ["11", "13", "14"]


def test_threads_of_data_nodes_spin_where_it_helps():
    """The tc and ldm threads, and no others."""
    threads = dict(sections(config.config_ini(other(thread_spin_us=100))))["ndbd default"]
    assert "ldm={count=2,spintime=100}" in threads["ThreadConfig"]
    assert "tc={count=1,spintime=100}" in threads["ThreadConfig"]
    assert threads["ThreadConfig"].count("spintime") == 2


@pytest.mark.parametrize(("version", "query"), [("21.4.17", True), ("22.10.4", False)])
def test_a_rondb_is_told_what_it_would_decide_for_a_host_of_its_own(version, query):
    """Memory, threads and spinning are the lab's; from 22 on there are no query threads."""
    plain, values = (
        dict(sections(config.config_ini(other(), known)))["ndbd default"]
        for known in ("9.7.4", version)
    )
    added = {"AutomaticMemoryConfig": "0", "AutomaticThreadConfig": "0"}
    added["SpinMethod"] = "StaticSpinning"
    threads = plain.pop("ThreadConfig")
    assert values.pop("ThreadConfig") == threads.replace("" if query else "query={count=2},", "")
    assert values == plain | added


def overlaid(**parameters) -> deployment.Plan:
    """The small plan with some parameters replaced."""
    return other(overlay=Overlay(**parameters))


def test_an_overlay_sets_any_parameter_of_config_ini():
    """One that is there is replaced, one that is not is added, None removes one."""
    values = {"RedoBuffer": "64M", "TimeBetweenGlobalCheckpoints": 500, "UseShm": None}
    parts = dict(sections(config.config_ini(overlaid(config_ini={"ndbd default": values}))))
    changed = parts["ndbd default"]
    plain = dict(sections(config.config_ini(other())))["ndbd default"]
    assert (changed["RedoBuffer"], changed["TimeBetweenGlobalCheckpoints"]) == ("64M", "500")
    assert plain["UseShm"]
    assert "UseShm" not in changed
    assert plain.keys() - changed.keys() == {"UseShm"}


def test_an_overlay_adds_a_section_of_defaults_before_the_nodes():
    """NDB reads defaults before what they are for; a section that is there is not repeated."""
    spin = {"shm default": {"ShmSpintime": 200}}
    names = [name for name, _ in sections(config.config_ini(overlaid(config_ini=spin)))]
    assert names[:3] == ["ndbd default", "shm default", "ndb_mgmd"]
    both = other(tcp_servers=1, overlay=Overlay(config_ini=spin))
    parts = [values for name, values in sections(config.config_ini(both)) if name == "shm default"]
    assert parts == [{"Checksum": "0", "SendSignalId": "0", "ShmSpintime": "200"}]


def test_an_overlay_sets_any_parameter_of_my_cnf():
    """For all servers, whether it is written with "-" or "_"."""
    section = my_cnf(overlaid(my_cnf={"innodb-buffer-pool-size": "64M", "x": 1}))["mysqld"]
    assert section["innodb-buffer-pool-size"] == "64M"
    assert "innodb_buffer_pool_size" not in section
    assert section["x"] == "1"


def test_what_an_overlay_sets_is_not_on_the_command_line_of_a_server():
    """It would overrule my.cnf."""
    args = ("--basedir=/ndb", "--secure-file-priv=NULL")
    programs = SimpleNamespace(**{**vars(BINARIES), "mysqld_args": args})
    for plan, expected in ((other(), args), (overlaid(my_cnf={"secure_file_priv": "/"}), args[:1])):
        argv = config.node_argv(plan, plan.servers[0], programs)
        assert tuple(word for word in argv if word in args) == expected


def test_addresses_come_from_the_nodes(small):
    """A node on another host is named in config.ini, and found and bound at its address."""
    away = [dataclasses.replace(node, address="db2") for node in small.nodes]
    moved = dataclasses.replace(
        small, management_node=away[0], data_nodes=tuple(away[1:3]), servers=tuple(away[3:])
    )
    hosts = {v["HostName"] for _, v in sections(config.config_ini(moved)) if "HostName" in v}
    assert hosts == {"db2"}
    assert "ndb-connectstring=db2:11860" in config.my_cnf(moved, "9.7.4")
    assert "--bind-address=db2" in config.node_argv(moved, away[0], BINARIES)
    assert "--ndb-connectstring=db2:11860" in config.node_argv(moved, away[1], BINARIES)


def test_a_restarted_node_has_its_data_still(small):
    """Only the first start of an NDB node is an initial one."""
    for node in small.nodes:
        first = config.node_argv(small, node, BINARIES)
        again = config.node_argv(small, node, BINARIES, initial=False)
        assert set(first) - set(again) == ({"--initial"} if node.role != "mysqld" else set())


def test_a_small_redo_log_still_takes_the_load():
    """A fraction of the buffer and of the files, but twice what loading the rows writes."""
    usual, small_ = (sections(config.config_ini(other(small_redo=s)))[0][1] for s in (False, True))
    assert (usual["RedoBuffer"], small_["RedoBuffer"]) == ("32M", "4M")
    assert small_["FragmentLogFileSize"] == "4M"
    files, parts = int(small_["NoOfFragmentLogFiles"]), int(small_["NoOfFragmentLogParts"])
    assert 2 * 80_000 * 750 < files * parts * 4 * 2**20 < 4 * 80_000 * 750


def test_servers_with_a_port_listen_on_loopback_without_encryption():
    """TCP/IP clients are compared with sockets, not TLS with none."""
    plan = other(networking=True)
    parser = my_cnf(plan)
    assert parser["mysqld"]["bind-address"] == "127.0.0.1"
    assert parser["mysqld"]["tls-version"] == ""
    assert "skip-networking" not in parser["mysqld"]
    assert parser["mysqld.2"]["port"] == str(plan.servers[1].port)


def test_programs_look_for_keys_only_where_links_are_encrypted(small):
    """Elsewhere in an empty folder, and before 8.3 nowhere: no option for it was known."""
    node = small.data_nodes[0]
    plain = config.node_argv(small, node, BINARIES)
    assert "--ndb-tls-search-path=/lab/no-tls" in plain
    encrypted = config.node_argv(dataclasses.replace(small, tls=True), node, BINARIES)
    assert {"--ndb-tls-search-path=/lab/ndb-tls", "--ndb-mgm-tls=strict"} <= set(encrypted)
    assert not {"--ndb-tls-search-path=/lab/no-tls"} & set(encrypted)
    assert config.tls_options("/lab", "8.2.0") == []


def test_the_pass_phrase_of_the_authority_is_on_no_command_line():
    """It is in a file that only the lab can read."""
    argv = config.authority_argv("/ndb/sign", "/lab/o.cnf", "/lab/ca")
    argv += config.key_argv("/ndb/sign", "/lab/o.cnf", "/lab/ca/b", config.DATA_KEY, "10.0.0.2")
    text = config.authority_options("/lab/ca", "geheim")
    assert "passphrase=geheim" in text
    assert not any("geheim" in word for word in argv)
    assert "--bound-hostname=10.0.0.2" in argv


def test_all_servers_can_be_connected_by_tcp():
    """Then no link of a host is shared memory, which has no TLS."""
    plan = other(transporter="tcp", tls=True)
    text = config.config_ini(plan)
    assert {node.transporter for node in plan.servers} == {"tcp"}
    assert "UseShm=0" in text
    assert "[shm]\n" not in text
    assert config.tls_keys(plan) == {"": dict.fromkeys(("mgmd", "api", "db"), "localhost")}
