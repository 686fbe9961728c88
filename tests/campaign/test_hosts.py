"""Hosts of a campaign: what is left on them is found, and other processes use and end them."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from campaign import hosts
from campaign.hosts import SHARED_FILES, Hosts
from ndblab.hosts import namespaces, remote

LISTEN = "import socket, time; s = socket.create_server(('', 7000)); time.sleep(60)"


@pytest.fixture
def own(namespaces_usable: None, tmp_path: Path) -> Iterator[Hosts]:
    """One host of a network of two."""
    with namespaces.network("ab", tmp_path / "hosts") as network:
        yield Hosts(network, "a")


def test_a_process_a_port_and_a_file_that_are_left_on_a_host_are_named(own: Hosts):
    """Nothing is found on a host that no cluster has used; those of others are not looked at."""
    assert not any(own.leaks().values())
    host, other = own.network.hosts["a"], own.network.hosts["b"]
    (other.folder / SHARED_FILES).mkdir()
    argv = host.argv([sys.executable, "-c", LISTEN])
    with subprocess.Popen(argv) as listening:
        folder = host.folder / SHARED_FILES
        folder.mkdir()
        (folder / "state.json").touch()
        deadline = time.monotonic() + 10
        while not (found := own.leaks())["ports"] and time.monotonic() < deadline:
            time.sleep(0.1)
        listening.kill()
    assert str(listening.pid) in found["processes"]
    assert found["ports"] == "a: port left: 7000"
    assert found["files"] == "a: file left: state.json"
    assert found["segments"] == found["groups"] == ""


def test_another_process_ends_a_host_and_the_campaign_starts_it_again(own: Hosts):
    """A target has a description only; the campaign restores what it has done to the network."""
    network = hosts.borrowed(own.to_json())
    network.drop("", "a")
    network.power_off("a")
    assert own.network.hosts["a"].server.poll() is not None
    own.restore()
    with remote.connect("a", Path("/tmp/ndblab-restored"), settings=str(network.settings)) as there:
        assert there.run(["hostname"], what="no") == "a\n"
