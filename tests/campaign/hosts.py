"""Hosts of a campaign: network namespaces that outlive its targets, as hosts outlive a lab.

In: a network and the names of the hosts that a sandbox has in it. Out: their description for a
target, which connects to them by SSH, and what a target has left on them.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from campaign import checks
from ndblab.error import LabError
from ndblab.hosts import connected
from ndblab.hosts.namespaces import NamespacedHost, Network, program
from ndblab.hosts.roles import PlacedHost
from ndblab.install import Binaries
from ndblab.machine import commands

SSH_PORT = "22"
SHARED_FILES = "cluster"
"""The folder of a cluster's nodes on a host, below the host's own."""
_SERVERS = ("unshare", "sshd")


@dataclass(frozen=True)
class Hosts:
    """Some of the hosts of a network; `network` names them by letters."""

    network: Network
    names: Sequence[str]

    def to_json(self) -> str:
        """Describe them for another process."""
        hosts = [
            {
                "name": host.name, "address": host.address, "space": host.space,
                "folder": str(host.folder), "server": host.server.pid,
            }
            for host in self._hosts
        ]  # fmt: skip
        network = {"address": self.network.address, "folder": str(self.network.folder)}
        return json.dumps(network | {"hosts": hosts})

    def cut_from_lab(self, name: str) -> None:
        """Drop what comes from this machine on one of the hosts."""
        self.network.drop("", name)

    def restore(self) -> None:
        """Heal the network, and start the hosts again that are off."""
        for host in self._hosts:
            host.accept_all()
            if host.server.poll() is not None:
                self.network.power_on(host.name)

    def leaks(self) -> dict[str, str]:
        """Look for what a cluster has left on the hosts, by the name of a check."""
        return {
            name: "; ".join(f"{host.name}: {left}" for host in self._hosts if (left := look(host)))
            for name, look in CHECKS.items()
        }

    @property
    def _hosts(self) -> list[NamespacedHost]:
        return [self.network.hosts[name] for name in self.names]


class _Server(psutil.Process):
    """An SSH server that another process has started, and will reap."""

    def wait(self, timeout: float | None = None) -> None:
        """Wait until it has ended."""
        with contextlib.suppress(psutil.NoSuchProcess):
            while self.status() != psutil.STATUS_ZOMBIE:
                time.sleep(checks.POLL_S / 10)


def borrowed(text: str) -> Network:
    """Return the network that another process has described: its hosts and links."""
    known = json.loads(text)
    hosts = {
        host["name"]: NamespacedHost(
            host["name"], host["address"], host["space"], Path(host["folder"]),
            _Server(host["server"]),
        )
        for host in known["hosts"]
    }  # fmt: skip
    return Network(hosts, next(iter(hosts.values())), known["address"], Path(known["folder"]))


@contextlib.contextmanager
def opened(
    text: str, ours: Binaries, roles: Sequence[tuple[str, ...]], insecure_network: bool
) -> Iterator[connected.Connected]:
    """Connect to the hosts that another process has described, as `connected.opened` does."""
    network = borrowed(text)
    with contextlib.ExitStack() as stack:
        # A host that this process powers on runs for as long as it does.
        network = replace(network, _servers=stack.enter_context(contextlib.ExitStack()))
        placed = tuple(
            PlacedHost(
                name, name, host.address, str(host.folder / SHARED_FILES), mine,
                str(network.settings),
            )
            for (name, host), mine in zip(network.hosts.items(), roles, strict=True)
        )  # fmt: skip
        there = stack.enter_context(connected.connected(placed, ours, insecure_network))
        connected.share_template(there)
        yield replace(there, network=network)


def _processes(host: NamespacedHost) -> str:
    """Name the processes in the network of a host, other than its SSH server."""
    try:
        own = os.stat(f"/run/netns/{host.space}").st_ino
    except OSError:
        return f"no namespace {host.space}"
    left = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            inside = os.stat(f"/proc/{process.pid}/ns/net").st_ino == own
            if inside and process.name() not in _SERVERS:
                left.append(f"{process.name()} {process.pid}")
    return checks.left("process", left)


def _ports(host: NamespacedHost) -> str:
    listening = host.run("ss", "-Hltn").splitlines()
    ports = {line.split()[3].rpartition(":")[2] for line in listening} - {SSH_PORT}
    return checks.left("port", sorted(ports))


def _segments(host: NamespacedHost) -> str:
    with contextlib.suppress(psutil.Error, LabError, IndexError):
        [server] = psutil.Process(host.server.pid).children()
        argv = [program("nsenter"), f"--ipc=/proc/{server.pid}/ns/ipc", "cat", "/proc/sysvipc/shm"]
        table = commands.output(argv, what="No table of segments")
        return checks.left("memory segment", [line.split()[1] for line in table.splitlines()[1:]])
    return ""


def _groups(host: NamespacedHost) -> str:
    return checks.groups(host.folder / SHARED_FILES)


def _files(host: NamespacedHost) -> str:
    folder = host.folder / SHARED_FILES
    return checks.left("file", sorted(p.name for p in folder.iterdir()) if folder.exists() else [])


CHECKS = {
    "processes": _processes,
    "ports": _ports,
    "segments": _segments,
    "groups": _groups,
    "files": _files,
}
