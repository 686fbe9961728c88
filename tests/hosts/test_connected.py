"""Several hosts as the user gives them, and what is refused before anything is started on them."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from ndblab.design import catalogue
from ndblab.error import LabError
from ndblab.hosts import connected, roles, spread
from ndblab.hosts.roles import PlacedHost
from ndblab.machine import host
from ndblab.planning.point import Point
from ndblab.planning.shape import Places

CAPTURED = Path(__file__).parents[1] / "captured/hosts/vm-2cpu-cgroup1"


def test_a_name_with_toml_is_a_file_and_anything_else_a_list(tmp_path: Path):
    """A file that is not there is one message."""
    assert [h.name for h in roles.read("me@db1,db2")] == ["db1", "db2"]
    file = tmp_path / "hosts.toml"
    file.write_text('[[host]]\nname = "box"\n')
    assert [h.name for h in roles.read(str(file))] == ["box"]
    with pytest.raises(LabError, match="cannot be read") as caught:
        roles.read(str(tmp_path / "none.toml"))
    assert caught.value.found == "No such file or directory"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("availability", "faults"),
        ("tpc-c", "sysbench's own scripts"),
        ("tpc-h", "sysbench's own scripts"),
        ("engines", "installations"),
    ],
)
def test_an_experiment_that_only_one_host_can_carry_is_refused(name: str, why: str):
    """The message says why, and names one that can be measured."""
    with pytest.raises(LabError, match=name) as caught:
        connected.refuse_unsuitable(catalogue.find(name))
    assert why in caught.value.found
    assert "multi-server-scaling" in caught.value.expected


@pytest.mark.parametrize("name", ["multi-server-scaling", "thread-balance"])
def test_experiments_about_servers_and_threads_are_not(name: str):
    """They need nothing but sysbench's own scripts, and addresses of servers."""
    connected.refuse_unsuitable(catalogue.find(name))


def test_links_between_hosts_that_are_not_the_labs_are_not_cut():
    """Faults of a network take namespaces of this machine, and no other hosts."""
    experiment = catalogue.find("network-faults")
    connected.refuse_unsuitable(experiment)
    with pytest.raises(LabError, match="cuts links") as caught:
        connected.refuse_unsuitable(experiment, "me@a,me@b,me@c")
    assert "me@a" in caught.value.found
    assert caught.value.next_step == "Drop --hosts."


def test_servers_left_to_others_come_in_whole_rows():
    """A slice that would begin with the second host's server begins with the first one's."""
    experiment = catalogue.find(figure=6)
    size = experiment.size("smoke", {"servers": "4", "clients": "8"})
    alone = host.read(CAPTURED)
    names = {"a": ("management", "load"), "b": ("data", "sql"), "c": ("data", "sql")}
    placed = tuple(
        PlacedHost(name, name, f"10.0.0.{number}", f"/var/{name}", mine)
        for number, (name, mine) in enumerate(names.items(), 1)
    )
    hosts = spread.Hosts(placed, dict.fromkeys(names, alone))
    plan = experiment.plans(size, "scaled", alone, Places("/lab", "/lab"), hosts)["default"]
    for servers, skip, first in ((1, 1, 2), (2, 1, 1), (2, 2, 3), (4, 0, 1)):
        job = experiment.job(size, None, plan, Point(servers, 8), skip=skip)
        assert [node.number for node in job.servers] == list(range(first, first + servers))
        assert not any(node.socket for node in job.servers)


def test_hosts_of_a_user_that_do_not_suit_an_experiment_are_refused_before_they_are_reached(
    tmp_path: Path,
):
    """Nothing is connected to: these hosts do not exist."""
    file = tmp_path / "hosts.toml"
    file.write_text("".join(f'[[host]]\nname = "{name}.invalid"\n' for name in "abc"))
    wanted = catalogue.find("network-cost").hosts
    with (
        pytest.raises(LabError, match="needs hosts with other roles") as caught,
        connected.opened(str(file), None, wanted),
    ):
        pass
    assert "a.invalid: management, load" in caught.value.found


def test_an_address_that_only_its_own_host_reaches_is_refused(monkeypatch: pytest.MonkeyPatch):
    """Debian's installer gives a host's own name 127.0.1.1; a host that is alone may have it."""
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: [(2, 1, 6, "", ("127.0.1.1", 0))])
    here = PlacedHost("box", roles.LOCAL, "", "/var/box", roles.ROLES)
    with connected.connected((here,), None) as there:
        assert there.hosts.placed[0].address == "127.0.1.1"
    other = PlacedHost("b", "b.invalid", "", "/var/b", ("data", "sql"))
    with (
        pytest.raises(LabError, match="cannot reach box") as caught,
        connected.connected((here, other), None),
    ):
        pass
    assert "address =" in caught.value.next_step
