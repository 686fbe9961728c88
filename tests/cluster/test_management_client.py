"""What a management node says, as NDB 9.7.4 said it."""

from __future__ import annotations

import pytest

from attached_facts import CAPTURED, SHOW, STATUS
from ndblab.cluster import management_client
from ndblab.error import LabError
from ndblab.machine.commands import ChildFailed


def test_nodes_are_read_with_address_version_and_state() -> None:
    """Those that are not connected have neither."""
    nodes = {node.node_id: node for node in management_client.nodes(SHOW, STATUS)}
    assert [n for n, node in nodes.items() if node.version] == [2, 3, 1, 11, 12]
    assert (nodes[2].kind, nodes[2].state, nodes[2].address) == ("NDB", "started", "127.0.0.1")
    assert (nodes[1].kind, nodes[11].kind, nodes[250].kind) == ("MGM", "API", "API")
    assert nodes[2].version == "mysql-9.7.4 ndb-9.7.4"
    assert management_client.server(SHOW) == ("127.0.0.1", 13860)


def test_deactivated_nodes_of_rondb_are_told_from_those_that_are_awaited() -> None:
    """As its own tests show them, of every kind."""
    show = """[ndbd(NDB)]\t3 node(s)
id=1\t@192.168.0.101  (RonDB-22.10.0, Nodegroup: 0, *)
id=2 (not connected, accepting connect from 192.168.0.101)
id=3 (not connected, node is deactivated)

[ndb_mgmd(MGM)]\t2 node(s)
id=65 (not connected, node is deactivated)

[mysqld(API)]\t2 node(s)
id=67 (not connected, accepting connect from 192.168.0.101)
id=68 (not connected, node is deactivated)
"""
    status = "Node 1: started (RonDB-22.10.0)\nNode 2: not connected\nNode 3: not connected\n"
    states = {n.node_id: n.state for n in management_client.nodes(show, status)}
    idle = management_client.DEACTIVATED
    assert states == {1: "started", 2: "not connected", 3: idle, 65: idle, 67: "", 68: idle}


def test_an_older_client_names_the_management_node_in_other_words() -> None:
    """As the manual of 8.0 shows it."""
    text = "Connected to Management Server at: db1:1186\n"
    assert management_client.server(text) == ("db1", 1186)


def test_nobody_and_somebody_else_are_told_apart_from_a_cluster() -> None:
    """The message has what the client said."""

    def fails(command: str) -> str:
        said = (CAPTURED / "ndb_mgm/nobody_answers.txt").read_text().strip()
        raise ChildFailed("No management node answers", found=said)

    with pytest.raises(LabError, match="answers at db1:1186") as caught:
        management_client._asked(fails, "db1:1186")
    assert "Unable to connect" in str(caught.value)
    with pytest.raises(LabError, match="answers at db1:3306"):
        management_client._asked(lambda command: "garbage", "db1:3306")
