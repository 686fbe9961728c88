"""Four data nodes in two node groups: CPUs, memory, and which data nodes are near a server."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from ndblab.error import LabError
from ndblab.judging import publication
from ndblab.machine import host, topology
from ndblab.planning import config, deployment

BRIEF_HOST = host.load(publication.FOLDER / "host.json")
SMALL_HOST = host.read(Path(__file__).parents[1] / "captured/hosts/vm-2cpu-cgroup1")
USUAL = deployment.Shape(4, 80_000, 256, places=deployment.Places("/lab", "/lab"))
TWO_GROUPS = dataclasses.replace(USUAL, node_groups=2)
DOMAINS = dataclasses.replace(TWO_GROUPS, domains=True)


def made(shape: deployment.Shape, machine: host.Host = SMALL_HOST) -> deployment.Plan:
    return deployment.make(machine, shape)


def test_they_share_the_cpus_of_two():
    """A quarter of the host in all, as with one node group."""
    quotas = [[n.share.quota_cpus for n in made(s).data_nodes] for s in (USUAL, TWO_GROUPS)]
    assert quotas == [[0.25] * 2, [0.125] * 4]
    plan = made(TWO_GROUPS)
    assert [node.node_id for node in plan.data_nodes] == [2, 3, 4, 5]
    assert len({node.port for node in plan.nodes if node.port}) == 5


def test_each_has_the_memory_of_one():
    """The plan counts all four."""
    more = made(TWO_GROUPS).memory_bytes - made(USUAL).memory_bytes
    assert more == 2 * made(USUAL).memory.data_node_bytes


def test_each_server_has_a_data_node_and_the_domain_of_that():
    """Both domains have a data node of each node group (ids 2 and 3, 4 and 5)."""
    plan = made(DOMAINS)
    own = [plan.own_data_node(server) for server in plan.servers]
    assert [node.node_id for node in own] == [2, 3, 4, 5]
    assert [node.domain for node in own] == [1, 2, 1, 2]
    assert [server.domain for server in plan.servers] == [1, 2, 1, 2]
    assert [node.node_id for node in plan.near(plan.servers[3])] == [3, 5]


def test_without_domains_only_the_own_data_node_is_near():
    """And no node has a domain, so that other plans keep their identity."""
    plan = made(dataclasses.replace(TWO_GROUPS, servers=6))
    assert [node.node_id for node in plan.near(plan.servers[5])] == [3]
    assert not any("domain" in node for node in plan.identity()["data_nodes"])


def test_by_affinity_each_half_of_a_host_has_one_of_each_group():
    """On the brief's server: 8 of the 16 cores that one data node has there."""
    plan = made(TWO_GROUPS, BRIEF_HOST)
    cpus = [topology.format_cpu_list(node.share.cpus) for node in plan.data_nodes]
    assert cpus == ["0-7,128-135", "64-71,192-199", "8-15,136-143", "72-79,200-207"]
    assert topology.format_cpu_list(plan.servers[0].share.cpus) == "16-63,144-191"


def test_a_host_with_too_few_cores_is_refused():
    """Two cores on each half are one for a data node and one for the servers."""
    cpus = tuple(host.Cpu(number, number, 0, 0) for number in range(4))
    four = dataclasses.replace(SMALL_HOST, cpus=cpus)
    assert made(dataclasses.replace(USUAL, budget="pinned"), four).data_nodes
    with pytest.raises(LabError, match="too few cores for so many data nodes"):
        made(dataclasses.replace(TWO_GROUPS, budget="pinned"), four)


@pytest.mark.parametrize(("shape", "of_data_nodes"), [(DOMAINS, "1212"), (TWO_GROUPS, "")])
def test_the_configuration_has_the_domains_of_nodes(shape: deployment.Shape, of_data_nodes: str):
    """Of data nodes and of all connections of a server; without domains there is no parameter."""
    pooled = dataclasses.replace(shape, servers=2, connection_pools=(2,))
    sections = config.config_ini(made(pooled)).split("\n[")
    assert "NoOfReplicas=2" in sections[0]
    domains = {"ndbd": "", "mysqld": ""}
    for section in sections:
        name, _, text = section.partition("]")
        for line in text.splitlines():
            key, _, value = line.partition("=")
            if key == "LocationDomainId":
                domains[name] += value
    assert domains == {"ndbd": of_data_nodes, "mysqld": "1122" if of_data_nodes else ""}
