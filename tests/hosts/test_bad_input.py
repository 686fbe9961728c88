"""Hosts that cannot carry a cluster: the command says so in one message, and leaves nothing."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest
from stand_ins import put_program

from hosts.left import check_nothing, programs_of
from hosts.named import add_settings, alias, as_other_user, described, shell
from ndblab import install
from ndblab.hosts import namespaces
from ndblab.hosts.namespaces import NamespacedHost, Network
from ndblab.install import cache
from ndblab.machine import commands
from ndblab.measuring.manifest import ROOT
from ndblab.planning.shape import Places

pytestmark = pytest.mark.cluster

PARTS = ("lab: ", "  found:    ", "  expected: ", "  next:     ")
PORT = 23860


@contextlib.contextmanager
def typed(folder: Path, hosts: str, *options: str) -> Iterator[subprocess.Popen]:
    """Type the command in a copy of the lab, which gets the datasets."""
    lab = folder / "lab"
    if not lab.exists():
        shutil.copytree(ROOT / "lib", lab / "lib", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(ROOT / "data/brief", lab / "data/brief")
        shutil.copytree(ROOT / "notebooks", lab / "notebooks")
        shutil.copy(ROOT / "tasks.py", lab)
    own = {"PYTHONPATH": str(lab / "lib"), "NDBLAB_CLUSTER_DIR": str(lab / "cluster")}
    program = Path(sys.executable).with_name("invoke")
    arguments = ["reproduce", "--figure=6", "--profile=smoke", "--insecure-network", "--hosts"]
    with subprocess.Popen(
        [program, *arguments, hosts, *options],
        cwd=lab,
        env=os.environ | own,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def refused(
    network: Network, folder: Path, hosts: str, *options: str, ports: Collection[int] = ()
) -> tuple[str, ...]:
    """Type the command; return what, found, expected and next step of its one message.

    Nothing is left on any host, where others listen on `ports`.
    """
    with typed(folder, hosts, *options) as process:
        _, said = process.communicate(timeout=100)
    message = parts(said)
    assert process.returncode == 1
    check_nothing(network, folder, ports)
    return message


def parts(said: str) -> tuple[str, ...]:
    """What, found, expected and next step of the one message that a command ends with."""
    assert "Traceback" not in said
    _, start, message = said.partition("lab: ")
    lines = (start + message).splitlines()
    assert len(lines) == len(PARTS), said
    assert all(line.startswith(part) for line, part in zip(lines, PARTS, strict=True))
    return tuple(line.removeprefix(part) for line, part in zip(lines, PARTS, strict=True))


def inside(host: NamespacedHost, *argv: str | Path) -> None:
    """Run a program among the mounts of a host."""
    mounts = [namespaces.program("nsenter"), f"--target={first_process(host)}", "--mount"]
    commands.output([*mounts, *argv], what=f"{argv[0]} failed")


def first_process(host: NamespacedHost) -> int:
    """The SSH server, whose parent has the mounts of this machine."""
    children = Path(f"/proc/{host.server.pid}/task/{host.server.pid}/children").read_text()
    return int(children.split()[0])


@contextlib.contextmanager
def small_disk(host: NamespacedHost, folder: Path, size: str) -> Iterator[None]:
    """A disk of its own at a folder, which only this host has."""
    folder.mkdir(parents=True, exist_ok=True)
    inside(host, "mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder)
    try:
        yield
    finally:
        inside(host, "umount", folder)


def test_hosts_that_let_nobody_in(network: Network, tmp_path: Path):
    """Unknown, silent, another one than before, or without this user's key: two others wait."""
    b = network.hosts["b"]
    other = (network.hosts["c"].folder / "host_key.pub").read_text()
    (tmp_path / "known_hosts").write_text(f"{b.address} {other}")
    subprocess.run(["ssh-keygen", "-q", "-N", "", "-f", tmp_path / "key"], check=True)
    add_settings(network, "Host nowhere\n HostName nowhere.invalid\n")
    alias(network, "changed", "b", more=f" UserKnownHostsFile {tmp_path}/known_hosts\n")
    alias(network, "denied", "b", key=tmp_path / "key")
    expected = {
        "nowhere": ("The host nowhere is unknown", "nowhere.invalid"),
        "changed": ("The host key of changed has changed", "SHA256:"),
        "denied": ("denied does not let you in", "Permission denied (publickey"),
    }
    for name, (what, found) in expected.items():
        message = refused(network, tmp_path, described(tmp_path, a="", c="", b=f'ssh = "{name}"'))
        assert what in message[0]
        assert found in message[1]
    b.link("down")
    try:
        message = refused(network, tmp_path, described(tmp_path, a="", c="", b=""))
    finally:
        b.link("up")
    assert message[0] == "b cannot be reached."
    assert b.address in message[1]


def test_a_host_that_is_named_twice(network: Network, tmp_path: Path):
    """By its name, its destination, its address, another of its names or of its addresses."""
    b = network.hosts["b"]
    second = b.address.rpartition(".")[0] + ".77"
    alias(network, "second", "b")
    assert "same name, b" in refused(network, tmp_path, "a,b,root@b")[0]
    same = described(tmp_path, a="", b="", x='ssh = "b"')
    assert "same destination, b" in refused(network, tmp_path, same)[0]
    for address in (b.address, second):
        other = f'ssh = "second"\naddress = "{address}"'
        message = refused(network, tmp_path, described(tmp_path, a="", b="", x=other))
        assert message[0] == "b and x are the same host."
        assert "b and second" in message[1]
        assert "Name each host once" in message[3]
    shared = f'ssh = "second"\nfolder = "{tmp_path}/b"'
    message = refused(network, tmp_path, described(tmp_path, a="", b="", x=shared))
    assert "b and second are two names" in message[1]


@pytest.fixture
def late(network: Network, tmp_path: Path) -> str:
    """A name for host c, on which every Python program has the time of three minutes ago."""
    earlier = "import time; now = time.time; time.time = lambda: now() - 180"
    python = put_program(
        tmp_path / "programs/python3",
        "#!/bin/sh\n"
        'while [ $# -gt 1 ]; do options="$options $1"; [ "$1" = -c ] && break; shift; done\n'
        f'exec {shutil.which("python3", path="/usr/bin")} $options "{earlier}; $2"\n',
    )
    return alias(network, "late", "c", shell(f"PATH={python.parent}:$PATH"))


def test_a_clock_that_is_off_by_minutes(network: Network, late: str, tmp_path: Path):
    """The message says which host's, and by how much."""
    hosts = described(tmp_path, a="", b="", c=f'ssh = "{late}"')
    message = refused(network, tmp_path, hosts)
    assert message[0] == "The clock of host c is wrong."
    assert message[1].startswith("-180.")
    assert "NTP" in message[3]


def test_a_port_that_is_taken_on_one_host(network: Network, tmp_path: Path):
    """The message has the host, the port and who listens there; no other host starts anything."""
    c, hosts = network.hosts["c"], described(tmp_path, a="", b="", c="")
    listen = "import socket, sys, time; s = socket.create_server((sys.argv[1], int(sys.argv[2])))"
    listen += "; print(flush=True); time.sleep(600)"
    taken = Places("", "", PORT).port("mysqld", 1, networking=True)
    argv = c.argv([sys.executable, "-c", listen, c.address, str(taken)])
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as listener:
        try:
            listener.stdout.readline()
            option = "--base-port", str(PORT)
            message = refused(network, tmp_path, hosts, *option, ports=[taken])
        finally:
            listener.kill()
    assert message[0] == f"On c: Port {taken} is taken."
    assert "Address already in use" in message[1]
    assert "--base-port" in message[3]


def own_folder(binaries: install.Binaries) -> Path:
    """The folder of the lab's cache that has the programs."""
    folders = (folder for folder in cache.location().glob("*/"))
    own = [folder for folder in folders if binaries.basedir.is_relative_to(folder)]
    if not own:
        pytest.skip("NDB Cluster is not in the lab's cache")
    return own[0]


def test_a_disk_that_is_full(network: Network, tmp_path: Path):
    """That of the programs, or that of the cluster's folder."""
    own, c = own_folder(install.ensure(progress=False)), network.hosts["c"]
    hosts = described(tmp_path, a="", b="", c=f'folder = "{tmp_path}/small/c"')
    with small_disk(c, own.parent, "8m"):
        message = refused(network, tmp_path, hosts)
    assert message[0] == "On c: there is too little disk space for NDB Cluster and sysbench."
    assert message[1].startswith("0.0 GB free")
    with small_disk(c, tmp_path / "small", "64m"):
        message = refused(network, tmp_path, hosts)
    assert message[0] == "Host c: This host has too little disk space for the plan."


def test_a_path_that_the_user_there_may_not_write(network: Network, tmp_path: Path):
    """The programs are at the same path everywhere, so the message names another path."""
    own, b = own_folder(install.ensure(progress=False)), network.hosts["b"]
    alias(network, "other", "b", as_other_user("/tmp"))
    lines = 'ssh = "other"\nfolder = "/var/tmp/ndblab-other"'
    hosts = described(tmp_path, a="", c="", b=lines)
    with small_disk(b, own.parent, "8m,mode=755"):
        message = refused(network, tmp_path, hosts)
    assert message[0] == f"On other: the lab's programs cannot be copied to {own}."
    assert "Permission denied" in message[1]
    assert "export XDG_CACHE_HOME=" in message[3]


def test_a_disk_that_gets_full_while_the_cluster_starts(network: Network, tmp_path: Path):
    """The message says which node ended and why, with the place of its logs; nothing runs on."""
    c, small = network.hosts["c"], tmp_path / "small"
    hosts = described(tmp_path, a="", b="", c=f'folder = "{small}/c"')
    with small_disk(c, small, "2g"):
        with typed(tmp_path, hosts, "--servers", "1", "--clients", "4") as process:
            while not any("ndbmtd" in line for line in programs_of(network, "c")):
                assert process.poll() is None
                time.sleep(0.02)
            with pytest.raises(commands.ChildFailed):
                inside(c, "dd", "if=/dev/zero", f"of={small}/other", "bs=1M")
            _, said = process.communicate(timeout=100)
        message = parts(said)
        inside(c, "rm", small / "other")
        inside(c, "test", "!", "-e", small / "c")
    check_nothing(network, tmp_path)
    assert process.returncode == 1
    assert message[0].startswith("ndbmtd.")
    assert message[1] == f"no space left in {small}/c of host c"
    assert message[3].startswith("Free some space there. Its logs are in ")
    folder = Path(message[3].partition("logs are in ")[2].partition(" and ")[0])
    assert list(folder.glob("ndb_*.log"))
