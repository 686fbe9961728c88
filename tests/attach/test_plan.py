"""What an attached cluster is, and when it is refused."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import pytest

from attached_facts import PORT, facts, server
from ndblab.attach import plan as attached
from ndblab.attach.endpoint import Endpoint
from ndblab.cluster.management_client import DEACTIVATED, Shown
from ndblab.error import LabError
from ndblab.planning import config
from ndblab.planning.shape import Places


def test_a_plan_is_what_was_read() -> None:
    """Nodes, memory and threads are the cluster's own; nothing of it has a share or a folder."""
    plan = attached.plan(facts(), Places("/x", "/x"), 64)
    assert (plan.budget.kind, config.connectstring(plan)) == ("attached", f"127.0.0.1:{PORT}")
    assert [node.node_id for node in plan.nodes] == [1, 2, 3, 11, 12]
    assert [node.socket for node in plan.servers] == ["/run/1.sock", "/run/2.sock"]
    assert plan.memory.data_bytes == 2**28
    assert (plan.threads.ldm, plan.threads.tc, plan.threads.automatic_cpus) == (2, 1, None)
    assert all(node.share == plan.sysbench and not node.data_dir for node in plan.nodes)


def test_links_are_shared_memory_only_if_all_are() -> None:
    """In the capture one server has shared memory, the other TCP."""
    assert facts().transporter == "tcp"
    assert facts(servers=(server(1),)).transporter == "shm"
    untold = tuple((node, other, "") for node, other, _ in facts().links)
    assert facts(links=untold).transporter == "tcp"
    shm = {node: values | {"UseShm": "1"} for node, values in facts().config.items()}
    assert facts(links=untold, config=shm).transporter == "shm"


def test_connections_of_a_pool_belong_to_one_process() -> None:
    """They have its process id and its address."""
    known = facts()
    mine = next(process for process in known.processes if process.node_id == 11)
    more = dataclasses.replace(mine, node_id=247)
    pooled = facts(processes=(*known.processes, more))
    assert pooled.connections_of(pooled.servers[0]) == (11, 247)
    assert pooled.connections_of(pooled.servers[1]) == (12,)


def nodes(**changes: object):
    """The nodes of the capture, the data node 3 changed."""
    return tuple(
        dataclasses.replace(node, **changes) if node.node_id == 3 else node
        for node in facts().nodes
    )


ENCRYPTED = server(
    1, endpoint=Endpoint(host="db1", port=3306), variables={"require_secure_transport": "ON"}
)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"nodes": nodes(state="starting")}, "not complete"),
        ({"nodes": nodes(version="", address="")}, "not complete"),
        ({"nodes": nodes(version="mysql-9.7.5 ndb-9.7.5")}, "different versions"),
        ({"nodes": nodes(version="mysql-5.7.44 ndb-7.6.28")}, "does not know this version"),
        ({"nodes": nodes(version="built by hand")}, "does not know this version"),
        ({"servers": (server(1, node_id=13),)}, "another cluster"),
        ({"servers": (server(1, data_nodes=(2, 4)),)}, "another cluster"),
        ({"management": ("127.0.0.1", 1186)}, "another cluster"),
        ({"servers": (server(1), server(2, node_id=11))}, "the same MySQL server"),
        ({"servers": (server(1), server(2, variables=server(1).variables))}, "the same MySQL"),
        ({"servers": (ENCRYPTED,)}, "encrypted connections only"),
    ],
)
def test_another_cluster_than_the_one_named_is_refused(changes: dict, word: str) -> None:
    """Each for one reason, with what was found and what to do."""
    with pytest.raises(LabError, match=word) as caught:
        attached.check(facts(**changes))
    assert caught.value.found
    assert caught.value.next_step


def test_deactivated_nodes_of_rondb_are_left_out() -> None:
    """Those of any kind; a replica that is left has no more rows than with them."""
    idle = (Shown(4, "NDB", state=DEACTIVATED), Shown(5, "MGM", state=DEACTIVATED))
    replicas = {node: values | {"NoOfReplicas": "3"} for node, values in facts().config.items()}
    known = facts(
        nodes=(*idle, *facts().nodes, Shown(6, "API", state=DEACTIVATED)),
        servers=(server(1, data_nodes=(2, 3, 4)), server(2, data_nodes=(2, 3, 4))),
        config=replicas,
    )
    attached.check(known)
    assert [node.node_id for node in known.deactivated] == [4, 5, 6]
    planned = attached.plan(known, Places("/x", "/x"), 64)
    assert [node.node_id for node in planned.nodes] == [1, 2, 3, 11, 12]
    fits = size(tables=1, table_size=200_000, rows=200_000)
    for cluster in (known, facts()):
        attached.check_room(cluster, fits)


def size(**changes: object) -> SimpleNamespace:
    known = {"tables": 8, "table_size": 10_000, "clients": (1, 64), "rows": 80_000}
    return SimpleNamespace(**(known | changes))


def test_rows_that_do_not_fit_are_refused_before_they_are_written() -> None:
    """A tenth of the memory stays free for others."""
    attached.check_room(facts(), size())
    with pytest.raises(LabError, match="too little data memory") as caught:
        attached.check_room(facts(), size(table_size=100_000, rows=800_000))
    assert "--table-size" in str(caught.value)
    full = {2: (0, 2**28), 3: (2**28 - 2**20, 2**28)}
    with pytest.raises(LabError, match="Data node 3"):
        attached.check_room(facts(memory=full), size())


def test_clients_that_a_server_does_not_accept_are_refused() -> None:
    """With the numbers of clients that it does."""
    with pytest.raises(LabError, match="too few connections") as caught:
        attached.check_room(facts(), size(clients=(1, 64, 256)))
    assert "--clients: 1,64" in str(caught.value)


def test_two_clusters_are_two_measurements() -> None:
    """By their nodes, their servers or one parameter; other programs connected to it do not count.

    The identity is plain data.
    """
    other = {node: values | {"RedoBuffer": "1"} for node, values in facts().config.items()}
    api = [dataclasses.replace(n, version="x") if n.node_id == 250 else n for n in facts().nodes]
    same = facts().identity()
    assert facts(nodes=tuple(api)).identity() == same
    for changed in (
        facts(config=other), facts(nodes=nodes(address="192.0.2.1")), facts(servers=(server(1),)),
        facts(connectstring="db1"), facts(servers=(server(1), server(2, node_id=13))),
    ):  # fmt: skip
        assert changed.identity() != same
