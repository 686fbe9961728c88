"""Who gets what of a host: a small machine, and any other."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ndblab.error import LabError
from ndblab.machine import host
from ndblab.planning import data_node, deployment
from ndblab.planning.data_node import Threads
from ndblab.planning.node import API_NODE_IDS
from ndblab.planning.shape import Overlay

GIB = 2**30
WRITABLE = host.CpuController("cgroup1", "/sys/fs/cgroup/cpu", "the cpu hierarchy is writable")


def machine(cores: int, threads: int = 1, nodes: int = 1, controller=WRITABLE) -> host.Host:
    """A made-up machine, numbered as Linux does: all first threads, then all second ones."""
    per_node = -(-cores // nodes)
    cpus = tuple(
        host.Cpu(thread * cores + core, core, core // per_node, core // per_node)
        for thread in range(threads)
        for core in range(cores)
    )
    numa = tuple(host.NumaNode(n, 16 * GIB) for n in sorted({c.node for c in cpus}))
    return host.Host(
        "a CPU", cpus, numa, None, 32 * GIB, 32 * GIB, None, "6.1", "Linux", "", controller
    )


def shape(**changes) -> deployment.Shape:
    return dataclasses.replace(
        deployment.Shape(servers=16, rows=80_000, max_clients=256), **changes
    )


def test_a_small_host_gets_the_briefs_shares_as_quotas():
    """Two CPUs: 30/256 of them for each server, 32/256 for each data node, 192/256 for SQL."""
    plan = deployment.make(machine(2), shape())
    assert plan.budget.kind == "scaled"
    assert plan.servers[0].share.quota_cpus == pytest.approx(2 * 30 / 256)
    assert plan.data_nodes[0].share.quota_cpus == pytest.approx(2 * 32 / 256)
    assert plan.sql_side.quota_cpus == pytest.approx(1.5)
    assert plan.threads == Threads(None, ldm=2, query=2, recover=2, tc=1, send=1, recv=1)


@pytest.mark.parametrize(
    ("cores", "budget", "message"),
    [(2, "pinned", "divided by affinity"), (2, "greedy", "Unknown CPU budget")],
)
def test_an_impossible_budget_is_refused(cores, budget, message):
    """Requested by name, a budget is used or refused, never replaced."""
    with pytest.raises(LabError, match=message):
        deployment.make(machine(cores), shape(budget=budget))


def test_more_servers_than_node_ids_are_refused():
    """NDB node ids end at 255, and some are for tools."""
    with pytest.raises(LabError, match="do not fit the node ids"):
        deployment.make(machine(2), shape(servers=60, connection_pools=(4,)))


def pools_of(plan: deployment.Plan) -> list[int]:
    return [len(server.node_ids) for server in plan.servers]


def test_a_connection_pool_gives_every_connection_an_id_of_its_own():
    """Sixteen servers with four connections, or with 1, 4, 8 and 16 in turns: no id is shared."""
    for pools, connections in (((4,), 64), ((1, 4, 8, 16), 116)):
        plan = deployment.make(machine(2), shape(connection_pools=pools))
        ids = [i for s in plan.servers for i in s.node_ids]
        assert len(set(ids)) == len(ids) == connections
        assert not set(ids) & set(API_NODE_IDS)
        assert [s.node_id for s in plan.servers] == list(range(11, 27))
    assert pools_of(plan) == [1, 4, 8, 16] * 4


def test_servers_are_found_by_their_pools():
    """And any pool will do where none is asked for."""
    plan = deployment.make(machine(2), shape(servers=4, connection_pools=(1, 8), tcp_servers=1))
    assert [s.number for s in plan.servers_by("shm", 8)] == [2]
    assert [s.number for s in plan.servers_by("shm")] == [1, 2, 3]
    assert plan.servers_by("tcp", 1) == ()


def test_pools_and_transporters_are_dealt_again_from_the_last_server():
    """A server keeps its id, socket and share; on two halves of a host each pool changes sides."""
    wanted = shape(servers=4, connection_pools=(1, 4, 8, 16), tcp_servers=1, budget="pinned")
    plan = deployment.make(machine(8), wanted)
    turned = deployment.turned(plan)
    assert pools_of(turned) == [16, 8, 4, 1]
    assert [s.transporter for s in turned.servers] == ["tcp", "shm", "shm", "shm"]
    assert {i for s in turned.servers for i in s.node_ids} == {
        i for s in plan.servers for i in s.node_ids
    }
    for pool in (1, 4, 8, 16):
        [before], [after] = (
            [s for s in one.servers if len(s.node_ids) == pool] for one in (plan, turned)
        )
        assert before.share != after.share
    assert deployment.turned(turned) == plan


def test_pools_are_part_of_a_plans_identity():
    """Servers with one connection each have the identity that recorded datasets have."""
    plain = deployment.make(machine(2), shape()).identity()
    assert all(server["pool_node_ids"] == [] for server in plain["servers"])
    pooled = deployment.make(machine(2), shape(connection_pools=(1, 2))).identity()
    assert pooled != plain
    assert deployment.make(machine(2), shape(connection_pools=(1, 1))).identity() == plain


def test_data_nodes_can_choose_their_threads_for_more_cpus_than_they_have():
    """NumCPUs=32 on 2 CPUs: threads, log parts and memory are those of 32."""
    usual = deployment.make(machine(2), shape())
    many = deployment.make(machine(2), shape(num_cpus=32))
    assert (usual.threads.automatic_cpus, many.threads.automatic_cpus) == (None, 32)
    assert many.memory.fragment_log_parts == 8
    assert many.memory_bytes - usual.memory_bytes > 4 * 2**30


def test_a_host_too_small_in_memory_is_refused_with_the_difference():
    """The brief's rows on a laptop: the message says how much is missing."""
    small = machine(2)
    plan = deployment.make(small, shape(rows=80_000_000, max_clients=4096))
    with pytest.raises(LabError, match="too little memory") as caught:
        plan.check(small, disk_free_bytes=10**13)
    assert "GiB short" in str(caught.value)


def test_a_host_too_small_on_disk_is_refused():
    """Before anything is started."""
    plan = deployment.make(machine(2), shape())
    with pytest.raises(LabError, match="too little disk"):
        plan.check(machine(2), disk_free_bytes=GIB // 2)


def test_a_field_added_to_the_plan_changes_the_identity_only_where_it_is_set():
    """Datasets that were recorded before the field existed stay comparable."""
    plain = deployment.make(machine(2), shape())
    assert not {"overlay", "places"} & set(plain.identity())
    assert not {"address", "port", "socket", "data_dir"} & set(plain.identity()["servers"][0])
    overlaid = deployment.make(machine(2), shape(overlay=Overlay(my_cnf={"sort_buffer_size": 1})))
    assert overlaid.identity()["overlay"]["my_cnf"] == {"sort_buffer_size": 1}
    first = dataclasses.replace(plain.servers[0], address="db1")
    moved = dataclasses.replace(plain, servers=(first, *plain.servers[1:]))
    assert moved.identity()["servers"][0]["address"] == "db1"
    assert moved.identity()["servers"][1] == plain.identity()["servers"][1]


def test_folders_and_ports_do_not_change_what_is_measured():
    """The same cluster elsewhere has the same identity; another thread count has not."""
    here = deployment.make(machine(2), shape(places=deployment.Places("/a", "/a", 11860)))
    there = deployment.make(machine(2), shape(places=deployment.Places("/b", "/b", 21860)))
    assert here.identity() == there.identity()
    assert here.identity() != deployment.make(machine(4), shape()).identity()


@settings(deadline=None)
@given(st.integers(1, 1024), st.integers(1, 16))
def test_scaled_shares_add_up_on_any_host(cores, servers):
    """Both data nodes and the SQL side together are the whole host, and no part has more."""
    plan = deployment.make(machine(cores), shape(servers=servers, budget="scaled"))
    data = [n.share.quota_cpus for n in plan.data_nodes]
    assert sum(data) + plan.sql_side.quota_cpus == pytest.approx(cores)
    assert all(0 < s.share.quota_cpus <= plan.sql_side.quota_cpus for s in plan.servers)


@settings(deadline=None)
@given(st.integers(4, 512), st.sampled_from([1, 2]), st.integers(1, 8))
def test_pinned_gives_no_cpu_twice_on_any_host(cores, threads, nodes):
    """Data nodes have CPUs of their own, everybody has some, and both halves have as many.

    None is left unused but the last core of an odd number.
    """
    here = machine(cores, threads, min(nodes, cores))
    plan = deployment.make(here, shape(budget="pinned"))
    first, second = (set(n.share.cpus) for n in plan.data_nodes)
    odd, even = (set(s.share.cpus) for s in plan.servers[:2])
    groups = [first, second, odd, even]
    assert all(groups)
    assert (len(first), len(odd)) == (len(second), len(even))
    used = len(here.cpus) - cores % 2 * threads
    assert sum(map(len, groups)) == len(set().union(*groups)) == used
    assert set(plan.sysbench.cpus) == odd | even
    assert set(plan.management_node.share.cpus) <= odd | even


@settings(deadline=None)
@given(st.integers(1, 1024))
def test_threads_and_log_parts_are_what_ndb_takes_on_any_host(cores):
    """query is a multiple of ldm; the log parts are one of the values of the manual."""
    plan = deployment.make(machine(cores), shape())
    threads = plan.threads
    assert threads.automatic_cpus is None or 8 <= threads.automatic_cpus <= 1024
    assert threads.query % threads.ldm == 0
    assert plan.memory.fragment_log_parts in data_node.LOG_PARTS
