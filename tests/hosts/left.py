"""What a lab has left on the hosts of a network."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection
from pathlib import Path

import psutil

from ndblab.cluster import start_stop
from ndblab.hosts import namespaces
from ndblab.hosts.namespaces import Network
from ndblab.machine import commands


def programs_of(network: Network, name: str) -> list[str]:
    """Command lines on a host, those of its SSH server apart."""
    running = []
    for process in psutil.Process(network.hosts[name].server.pid).children(recursive=True):
        with contextlib.suppress(psutil.Error):
            running.append((process.name(), " ".join(process.cmdline())))
    return [line for program, line in running if program != "sshd" and line]


def wait_for_nothing(network: Network, name: str, folder: Path, timeout_s: float = 20) -> float:
    """Wait until a host has no process and no folder of a cluster; return how long that took."""
    began = time.monotonic()
    while (left := programs_of(network, name)) or folder.exists():
        assert time.monotonic() - began < timeout_s, (left, folder.exists())
        time.sleep(0.05)
    return time.monotonic() - began


def check_nothing(network: Network, folders: Path, ports: Collection[int] = ()) -> None:
    """No process, folder, control group, segment or port is left of a cluster.

    Parameters
    ----------
    folders : where each host has a folder of its name.
    ports : those on which others listen.
    """
    for name, host in network.hosts.items():
        wait_for_nothing(network, name, folders / name)
        assert not list(Path("/sys/fs/cgroup").rglob(start_stop.groups_name(folders / name)))
        inside = [namespaces.program("nsenter"), f"--target={host.server.pid}", "--ipc"]
        segments = commands.output([*inside, "cat", "/proc/sysvipc/shm"], what="no segments")
        assert len(segments.splitlines()) == 1, segments
        listening = host.run("ss", "-Hltn").splitlines()
        taken = {int(line.split()[3].rpartition(":")[2]) for line in listening}
        assert taken <= {22, *ports}
