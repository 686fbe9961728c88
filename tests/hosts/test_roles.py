"""Several hosts as the user names them: a list, or a TOML file."""

from __future__ import annotations

import pytest

from ndblab.error import LabError
from ndblab.hosts import roles as hosts

FILE = """
[[host]]
name = "db1"
ssh = "me@db1.example.org"
address = "10.0.0.1"
folder = "/data/lab"
roles = ["data", "sql"]

[[host]]
name = "driver"
ssh = "local"
roles = ["management", "load"]
"""


def test_a_list_gives_each_host_its_usual_roles():
    """Of three hosts one arbitrates and loads; the others carry data nodes and servers."""
    listed = hosts.listed("me@a, b,c")
    assert [(h.name, h.destination, h.roles) for h in listed] == [
        ("a", "me@a", ("management", "load")),
        ("b", "b", ("data", "sql")),
        ("c", "c", ("data", "sql")),
    ]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 8])
def test_any_number_of_hosts_can_carry_a_cluster(count):
    """Usual roles are complete; from four hosts on servers have hosts of their own."""
    listed = hosts.listed(",".join(f"h{n}" for n in range(count)))
    assert sum("data" in h.roles for h in listed) == min(2, count)
    assert hosts.node_groups(listed) == 1
    if count >= 4:
        assert all(("sql" in h.roles) != ("data" in h.roles) for h in listed[1:])


def test_a_file_says_all_of_a_host():
    """Destination, address, folder and roles; the destination "local" is this host."""
    first, second = hosts.parsed(FILE, "hosts.toml")
    assert first == hosts.PlacedHost(
        "db1", "me@db1.example.org", "10.0.0.1", "/data/lab", ("data", "sql")
    )
    assert (second.is_local, second.address, second.folder) == (True, "", hosts.FOLDER)


def test_a_file_of_a_windows_editor_is_read(tmp_path):
    """It begins with a byte order mark, and its lines end with a carriage return."""
    file = tmp_path / "hosts.toml"
    file.write_bytes(b"\xef\xbb\xbf" + FILE.replace("\n", "\r\n").encode())
    assert hosts.read(str(file)) == hosts.parsed(FILE, "hosts.toml")
    file.write_bytes(b'[[host]]\nname = "b\xfcro"\n')
    with pytest.raises(LabError, match="cannot be read"):
        hosts.read(str(file))


def test_four_hosts_of_data_nodes_make_two_node_groups():
    """A data node a host."""
    text = "".join(f'[[host]]\nname = "h{n}"\nroles = ["data", "sql"]\n' for n in range(4))
    text += '[[host]]\nname = "m"\nroles = ["management", "load"]\n'
    assert hosts.node_groups(hosts.parsed(text, "f")) == 2


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[[host]", "line 1"),
        ("hosts = 1", "hosts"),
        ("host = 1", "host"),
        ("[[host]]\nssh = 'a'", "name = None"),
        ("[[host]]\nname = 'a b'", "name = 'a b'"),
        ("[[host]]\nname = 'a'\nport = 22", "port"),
        ("[[host]]\nname = 'a'\nssh = '-oProxyCommand=x'", "-oProxyCommand"),
        ("[[host]]\nname = 'a'\nfolder = '/'", "folder = '/'"),
        ("[[host]]\nname = 'a'\nfolder = 'x/y'", "folder = 'x/y'"),
        ("[[host]]\nname = 'a'\nroles = ['mysql']", "mysql"),
        ("[[host]]\nname = 'a'\nroles = 'data'", "data"),
    ],
)
def test_a_file_that_says_something_else_is_refused(text, found):
    """The message names the file, what stands there and what is expected."""
    with pytest.raises(LabError) as caught:
        hosts.parsed(text, "hosts.toml")
    assert "hosts.toml" in caught.value.what
    assert found in caught.value.found
    assert caught.value.expected
    assert caught.value.next_step


@pytest.mark.parametrize("given", ["", ",", "a,b,a", "me@a,you@a"])
def test_a_list_that_names_no_host_or_one_twice_is_refused(given):
    """Two lines for the same host would give its CPUs away twice."""
    with pytest.raises(LabError):
        hosts.listed(given)


@pytest.mark.parametrize(
    ("roles", "words"),
    [
        ([["data", "sql", "load"]], "management"),
        ([["management", "load", "data"]], "sql"),
        ([["management", "load", "sql", "data"], ["management"]], "exactly one"),
        ([["management", "load", "sql", "data"], ["data"], ["data"]], "pairs"),
    ],
)
def test_roles_that_make_no_cluster_are_refused(roles, words):
    """One management node and one host of load generators, and an even number of data hosts."""
    text = "".join(f"[[host]]\nname = 'h{n}'\nroles = {mine}\n" for n, mine in enumerate(roles))
    with pytest.raises(LabError, match=words):
        hosts.parsed(text, "f")


WANTED = (("management", "load"), ("data", "sql"), ("data", "sql"), ("sql",), ("sql",))


def test_hosts_without_roles_get_those_that_an_experiment_needs():
    """In their order, from a list as from a file; another number of hosts gets the usual ones."""
    assert tuple(h.roles for h in hosts.listed("a,b,c,d,e", WANTED)) == WANTED
    file = "".join(f'[[host]]\nname = "{name}"\n' for name in "abcde")
    assert tuple(h.roles for h in hosts.parsed(file, "hosts.toml", WANTED)) == WANTED
    assert hosts.listed("a,b,c", WANTED) == hosts.listed("a,b,c")


def test_hosts_with_other_roles_than_an_experiment_needs_are_refused(tmp_path):
    """The message has the roles of each host and those that are needed; their order is free."""
    file, named = tmp_path / "hosts.toml", zip("abcde", WANTED[::-1], strict=True)
    file.write_text("".join(f'[[host]]\nname = "{n}"\nroles = {[*mine]}\n' for n, mine in named))
    assert len(hosts.suitable(str(file), WANTED)) == len(WANTED)
    with pytest.raises(LabError, match="other roles") as caught:
        hosts.suitable("a,b,c", WANTED)
    assert caught.value.found == "a: management, load; b: data, sql; c: data, sql"
    assert caught.value.expected.startswith("5 hosts: management, load; data, sql; ")
    assert "--hosts" in caught.value.next_step
