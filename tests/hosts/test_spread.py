"""A cluster over several hosts: which node is where, and with which share of its host."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from ndblab.error import LabError
from ndblab.hosts import roles as hosts
from ndblab.hosts import spread
from ndblab.hosts.roles import PlacedHost
from ndblab.machine import host
from ndblab.planning import config, deployment
from ndblab.planning.node import is_grid
from ndblab.planning.shape import Places, Shape

SMALL = host.read(Path(__file__).parents[1] / "captured/hosts/vm-2cpu-cgroup1")
LARGE = dataclasses.replace(SMALL, cpus=tuple(host.Cpu(n, n, 0, 0) for n in range(16)))
SHAPE = Shape(4, 80_000, 256, budget="scaled", places=Places("/lab", "/lab"))


def placed(name: str, *roles: str) -> PlacedHost:
    return PlacedHost(name, name, f"10.0.0.{ord(name)}", f"/var/{name}", roles)


THREE = spread.Hosts(
    (placed("a", "management", "load"), placed("b", "data", "sql"), placed("c", "data", "sql")),
    {"a": SMALL, "b": LARGE, "c": SMALL},
)


@pytest.fixture(scope="module")
def plan() -> deployment.Plan:
    return spread.make(THREE, SHAPE)


def test_nodes_are_dealt_to_the_hosts_of_their_role(plan):
    """Each with the address and the folder of its host."""
    assert [(n.name, n.host, n.address, n.data_dir) for n in plan.nodes] == [
        ("ndb_mgmd.1", "a", "10.0.0.97", "/var/a/ndb_mgmd.1"),
        ("ndbmtd.1", "b", "10.0.0.98", "/var/b/ndbd.1"),
        ("ndbmtd.2", "c", "10.0.0.99", "/var/c/ndbd.2"),
        ("mysqld.1", "b", "10.0.0.98", "/var/b/mysqld.1"),
        ("mysqld.2", "c", "10.0.0.99", "/var/c/mysqld.2"),
        ("mysqld.3", "b", "10.0.0.98", "/var/b/mysqld.3"),
        ("mysqld.4", "c", "10.0.0.99", "/var/c/mysqld.4"),
    ]
    assert len({node.node_id for node in plan.nodes}) == 7


def test_each_node_has_its_share_of_its_own_host(plan):
    """32/256 and 30/256 of 16 CPUs, and of two."""
    quotas = {node.name: node.share.quota_cpus for node in plan.nodes}
    assert (quotas["ndbmtd.1"], quotas["ndbmtd.2"]) == (2, 0.25)
    assert quotas["mysqld.1"] == quotas["mysqld.3"] == pytest.approx(16 * 30 / 256)
    assert quotas["mysqld.2"] == quotas["mysqld.4"] == pytest.approx(2 * 30 / 256)


def test_all_data_nodes_suit_the_smallest_host(plan):
    """NDB wants the same threads and the same memory in all of them."""
    alone = deployment.make(SMALL, SHAPE)
    assert (plan.threads, plan.memory) == (alone.threads, alone.memory)


def test_ports_count_from_the_same_one_on_each_host(plan):
    """That is how sysbench can be given hosts and ports."""
    ports = {node.name: node.port for node in plan.servers}
    assert ports["mysqld.1"] == ports["mysqld.2"]
    assert ports["mysqld.3"] == ports["mysqld.4"] == ports["mysqld.1"] + 1


def test_the_part_of_a_host_has_its_nodes_only(plan):
    """Memory and disk are needed where a node is."""
    part = plan.of_host("c")
    assert [node.name for node in part.data_nodes] == ["ndbmtd.2"]
    assert [node.name for node in part.servers] == ["mysqld.2", "mysqld.4"]
    assert part.memory_bytes < plan.memory_bytes
    assert plan.of_host("a").disk_bytes == 0
    assert part.sql_side.quota_cpus == pytest.approx(2 * 192 / 256)


def test_a_server_prefers_the_data_node_of_its_host(plan):
    """Reads that can be local are."""
    for servers in (plan.servers, deployment.turned(plan).servers):
        own = [plan.own_data_node(server).name for server in servers]
        assert own == ["ndbmtd.1", "ndbmtd.2"] * 2


def test_load_generators_have_the_whole_of_a_host_without_servers(plan):
    """They are limited only beside servers."""
    assert plan.load_host == "a"
    assert plan.sysbench == deployment.Share()


def test_nothing_listens_beyond_the_named_addresses(plan):
    """Each node binds its own; nobody else may take the place of a node or a tool."""
    text = config.config_ini(plan)
    names = [line for line in text.splitlines() if line.startswith("HostName=")]
    sections = [s for s in ("[ndb_mgmd]", "[ndbd]", "[mysqld]", "[api]") if s in text]
    assert len(sections) == 4
    assert len(names) == sum(text.count(f"{section}\n") for section in sections)
    my_cnf = config.my_cnf(plan, "9.7.4")
    assert "bind-address=10.0.0.98" in my_cnf
    assert "bind-address=10.0.0.99" in my_cnf
    assert "skip-networking" not in my_cnf
    assert "tls-version" not in my_cnf
    assert "require-secure-transport=ON" in my_cnf


def test_some_servers_by_tcp_leave_shared_memory_to_pairs_on_one_host():
    """A section [shm] joins a server and a data node of the same host."""
    plan = spread.make(THREE, dataclasses.replace(SHAPE, tcp_servers=2))
    text = config.config_ini(plan)
    assert "UseShm=0" in text
    assert text.count("[shm]") == 2


def test_a_plan_over_several_hosts_is_another_one(plan):
    """Its identity names hosts and roles, not folders."""
    alone = deployment.make(SMALL, SHAPE).identity()
    assert "hosts" not in alone
    assert "host" not in alone["servers"][0]
    identity = plan.identity()
    assert next(h["roles"] for h in identity["hosts"]) == ["management", "load"]
    assert "folder" not in identity["hosts"][0]


@pytest.mark.parametrize(
    ("budget", "what", "next_step"),
    [("auto", "in different ways", "--budget shared"), ("scaled", "^Host c: ", "")],
)
def test_hosts_that_would_be_divided_in_different_ways_are_refused(budget, what, next_step):
    """A dataset has one budget; an error names the host that cannot."""
    without = host.CpuController("none", "", "no control group")
    mixed = {**THREE.described, "c": dataclasses.replace(SMALL, cpu_controller=without)}
    with pytest.raises(LabError, match=what) as caught:
        spread.make(spread.Hosts(THREE.placed, mixed), dataclasses.replace(SHAPE, budget=budget))
    assert next_step in caught.value.next_step


def test_several_node_groups_have_a_data_node_on_each_host():
    """The two data nodes of a group are on different hosts."""
    names = "bcde"
    given = spread.Hosts(
        (placed("a", *hosts.ROLES[:1], "load", "sql"), *(placed(n, "data") for n in names)),
        dict.fromkeys("a" + names, SMALL),
    )
    plan = spread.make(given, SHAPE)
    assert [node.host for node in plan.data_nodes] == list(names)
    on_two = spread.make(THREE, dataclasses.replace(SHAPE, node_groups=2))
    assert [node.host for node in on_two.data_nodes] == ["b", "c", "b", "c"]


def test_servers_that_sysbench_can_load_at_once_are_those_of_whole_rows(plan):
    """One a host, or equally many on each; not the second of one host beside the first of another.

    It connects to every port at every address.
    """
    one, two, three, four = plan.servers
    for servers in ([one], [two], [one, two], [three, four], [one, two, three, four]):
        assert is_grid(servers)
    for servers in ([two, three], [one, two, three]):
        assert not is_grid(servers)


def test_between_hosts_all_links_are_encrypted_unless_the_network_is_trusted(plan):
    """Management node and data nodes demand keys and TLS; on one host nothing is encrypted."""
    demands = "RequireCertificate=1\nRequireTls=1\n"
    assert config.config_ini(plan).count(demands) == 2
    trusting = spread.make(dataclasses.replace(THREE, insecure_network=True), SHAPE)
    for other in (trusting, deployment.make(SMALL, SHAPE)):
        assert "Require" not in config.config_ini(other)
        assert "tls" not in other.identity()
    assert plan.identity()["tls"] is True


def test_shared_memory_is_agreed_on_within_the_host(plan):
    """A data node listens in plain text for nobody else."""
    text = config.config_ini(plan)
    within = "HostName1=127.0.0.1\nHostName2=127.0.0.1\n"
    assert "UseShm=0" in text
    assert text.count("[shm]") == text.count(within) == 4


def test_each_host_gets_the_keys_of_its_own_nodes(plan):
    """By the types that ndb_sign_keys knows, bound to the host's address."""
    assert config.tls_keys(plan) == {
        "a": {"mgmd": "10.0.0.97", "api": "10.0.0.97"},
        "b": {"db": "10.0.0.98", "api": "10.0.0.98"},
        "c": {"db": "10.0.0.99", "api": "10.0.0.99"},
    }
