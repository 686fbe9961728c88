"""Several hosts on one machine: network namespaces on a bridge, each with an SSH server of its own.

The lab reaches them by SSH and by their names, as it would any other, and can cut their
connections. Only root can make them.

A host has its own network, processes, System V segments, host name and mounts; it shares the files,
the CPUs and the control groups of this machine, so give each a folder of its own. Its monotonic
clock is ahead of this machine's, as that of another machine would be; its time of day is the same.
This machine is in the network too, and so is a stranger: a namespace without an SSH server.

What cuts a connection here (tried on Linux 6.18 in a virtual machine): `ip link set down`, and
nftables in each namespace, in one direction or both. `tc` has no qdisc, so it can make no
delay or random loss.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import re
import shutil
import socket
import string
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from ndblab.error import LabError
from ndblab.machine import THIS_MACHINE, cleanup, commands

PROGRAMS = {
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "sshd": "openssh-server",
    "ip": "iproute2",
    "nft": "nftables",
    "nsenter": "util-linux",
    "unshare": "util-linux",
}
"""Programs that make the hosts, and the Debian packages that have them."""
FOLDERS = "ndblab-hosts-"
"""A process id and random letters follow."""
PREFIX = "ndbl"
"""A link's name has 15 characters at most: this, a process id, a letter, a dot and a number."""
_letters = itertools.cycle(string.ascii_lowercase)
"""One for each network, since a process may make several."""
MONOTONIC_AHEAD_S = 1000
_SERVER_TIMEOUT_S = 10
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
_TABLE = "inet ndblab"


@dataclass(frozen=True)
class Namespace:
    """A place in the network: its name, its address, and the names of its namespace and link."""

    name: str
    address: str
    space: str
    folder: Path

    def argv(self, command: Sequence[str]) -> list[str]:
        """Return the command that runs another in this network, among this machine's processes."""
        return [program("nsenter"), f"--net=/run/netns/{self.space}", *command]

    def run(self, *command: str) -> str:
        """Run a command in this network; ChildFailed if it fails."""
        return commands.output(self.argv(command), what=f"{command} failed in {self.name}")

    def link(self, state: str) -> None:
        """Set the link to the bridge "up" or "down"."""
        self.run(program("ip"), "link", "set", "eth0", state)

    def drop_from(self, *addresses: str) -> None:
        """Drop packets from these addresses, and from no others; packets to them arrive."""
        self.accept_all()
        if addresses:
            chain = "chain input { type filter hook input priority 0; "
            rules = "; ".join(f"ip saddr {address} drop" for address in addresses)
            self.run(program("nft"), f"table {_TABLE} {{ {chain}{rules}; }}; }}")

    def accept_all(self) -> None:
        """Undo `drop_from`."""
        self.run(program("nft"), f"table {_TABLE}; delete table {_TABLE}")


@dataclass(frozen=True)
class NamespacedHost(Namespace):
    """A namespace with an SSH server; `server` is the first of its processes, as seen from here."""

    server: subprocess.Popen


@dataclass(frozen=True)
class Network:
    """The hosts by name, the stranger, this machine's address, and the folder of keys.

    It has the methods of `machine.Links`. A host that is powered on again has its files, and
    nothing else from before.
    """

    hosts: dict[str, NamespacedHost]
    stranger: Namespace
    address: str
    folder: Path
    _servers: contextlib.ExitStack = field(default_factory=contextlib.ExitStack, repr=False)
    _dropped: dict[str, set[str]] = field(default_factory=dict, repr=False)

    def drop(self, sender: str, receiver: str) -> None:
        """Drop what one host sends to another, from now on."""
        dropped = self._dropped.setdefault(receiver, set())
        dropped.add(self._address(sender))
        self.hosts[receiver].drop_from(*dropped)

    def heal(self) -> None:
        """Let everything arrive again."""
        for receiver in self._dropped:
            self.hosts[receiver].accept_all()
        self._dropped.clear()

    def power_off(self, host: str) -> None:
        """End a host without a word to anybody: its link first, then all its processes."""
        self.hosts[host].link("down")
        self.hosts[host].server.kill()
        self.hosts[host].server.wait()

    def power_on(self, host: str) -> None:
        """Restart a host that was powered off."""
        off = self.hosts[host]
        off.link("up")
        server = self._servers.enter_context(_serving(off, self.folder))
        self.hosts[host] = dataclasses.replace(off, server=server)

    def _address(self, name: str) -> str:
        return self.address if name == THIS_MACHINE else self.hosts[name].address

    @property
    def settings(self) -> Path:
        """The ssh_config by which the hosts are reached."""
        return self.folder / "ssh_config"


def program(name: str) -> str:
    """Return the path of a program, even of one that is not on an ordinary user's PATH."""
    return shutil.which(name, path=_PATH) or name


def missing() -> list[str]:
    """Return the packages, by their names in Debian, whose programs this machine lacks."""
    return sorted({PROGRAMS[name] for name in PROGRAMS if not shutil.which(name, path=_PATH)})


def refused() -> str:
    """Say why this user or this kernel can make no network namespaces; nothing if they can."""
    if os.geteuid() != 0:
        return "only root can make network namespaces"
    try:
        space = f"{PREFIX}-{os.getpid()}-try"
        _ip("netns", "add", space)
        _ip("netns", "del", space)
    except LabError as error:
        return f"no network namespaces here: {error.found}"
    return ""


@contextlib.contextmanager
def network(names: Sequence[str], folder: Path) -> Iterator[Network]:
    """Run hosts of these names for the length of a `with` block; nothing of them is left."""
    remove_dead()
    pid = os.getpid()
    letter = next(_letters)
    spread = pid + 97 * string.ascii_lowercase.index(letter)
    bridge, base = f"{PREFIX}{pid}{letter}", f"10.{213 + spread % 40}.{spread // 40 % 250}"
    folder.mkdir(parents=True, exist_ok=True)
    key = _key(folder / "key")
    shutil.copy(key.with_suffix(".pub"), folder / "authorized_keys")
    # sshd demands this folder, whatever its settings.
    Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    with contextlib.ExitStack() as stack:
        stack.callback(_remove, bridge)
        _ip("link", "add", bridge, "type", "bridge")
        _ip("addr", "add", f"{base}.254/24", "dev", bridge)
        _ip("link", "set", bridge, "up")
        hosts = {}
        for number, name in enumerate([*names, "stranger"], 1):
            place = Namespace(name, f"{base}.{number}", f"{bridge}-{name}", folder / name)
            _join(place, bridge, number)
            if name != "stranger":
                server = stack.enter_context(_serving(place, folder))
                hosts[name] = NamespacedHost(**vars(place), server=server)
        _write_settings(hosts.values(), key, folder)
        servers = stack.enter_context(contextlib.ExitStack())
        yield Network(hosts, place, f"{base}.254", folder, servers)


def _join(place: Namespace, bridge: str, number: int) -> None:
    """Make a namespace with a link to the bridge."""
    place.folder.mkdir()
    _ip("netns", "add", place.space)
    end = f"{bridge}.{number}"
    _ip("link", "add", end, "type", "veth", "peer", "name", "eth0", "netns", place.space)
    _ip("link", "set", end, "master", bridge, "up")
    _ip("-n", place.space, "addr", "add", f"{place.address}/24", "dev", "eth0")
    for link in ("lo", "eth0"):
        _ip("-n", place.space, "link", "set", link, "up")


@contextlib.contextmanager
def _serving(place: Namespace, folder: Path) -> Iterator[subprocess.Popen]:
    """Run an SSH server as the first process of a host, which takes all others with it."""
    if not (place.folder / "host_key").exists():
        _key(place.folder / "host_key")
    settings = place.folder / "sshd_config"
    settings.write_text(
        f"ListenAddress {place.address}\nHostKey {place.folder}/host_key\nPidFile none\n"
        f"AuthorizedKeysFile {folder}/authorized_keys\nStrictModes no\nUsePAM no\n"
        "PermitRootLogin prohibit-password\nPasswordAuthentication no\n"
        # Debian's bash reads root's own .bashrc at the first level only.
        "SetEnv SHLVL=2\n"
    )
    # The control groups' mounts stay, which `ip netns exec` would hide.
    apart = ["--pid", "--fork", "--kill-child", "--mount-proc", "--ipc", "--uts", "--time"]
    apart += ["--monotonic", str(MONOTONIC_AHEAD_S)]
    start = f"hostname {place.name} && exec {program('sshd')} -D -e -f {settings}"
    argv = place.argv([program("unshare"), *apart, "sh", "-c", start])
    tied = ["setpriv", "--pdeathsig", "KILL", "--", *argv]
    with (place.folder / "sshd.log").open("a") as log:
        server = subprocess.Popen(tied, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        until_s = time.monotonic() + _SERVER_TIMEOUT_S
        while True:
            with socket.socket() as probe:
                if probe.connect_ex((place.address, 22)) == 0:
                    break
            if server.poll() is not None or time.monotonic() > until_s:
                said = (place.folder / "sshd.log").read_text()
                raise LabError(f"The SSH server of {place.name} does not start", found=said)
            time.sleep(0.02)
        yield server
    finally:
        server.kill()
        server.wait()


def _write_settings(hosts: Sequence[NamespacedHost], key: Path, folder: Path) -> None:
    known = [f"{h.address} {(h.folder / 'host_key.pub').read_text()}" for h in hosts]
    (folder / "known_hosts").write_text("".join(known))
    entries = [
        f"Host {host.name}\n  HostName {host.address}\n  IdentityFile {key}\n" for host in hosts
    ]
    entries.append(
        f"Host *\n  User root\n  IdentitiesOnly yes\n"
        f"  UserKnownHostsFile {folder}/known_hosts\n  GlobalKnownHostsFile /dev/null\n"
    )
    (folder / "ssh_config").write_text("".join(entries))


def _key(path: Path) -> Path:
    argv = [program("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-C", path.name, "-f", path]
    commands.output(argv, what="No key could be made")
    return path


def remove_dead() -> None:
    """Remove the networks of processes that were killed, and the folders of their hosts."""
    spaces = Path("/run/netns")
    for space in spaces.iterdir() if spaces.is_dir() else ():
        made = re.match(rf"({PREFIX}(\d+)[a-z])-", space.name)
        if made and not psutil.pid_exists(int(made[2])):
            _remove(made[1])
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDERS}*"):
        made = re.match(rf"{FOLDERS}(\d+)-", folder.name)
        dead = made and not psutil.pid_exists(int(made[1]))
        if dead and folder.lstat().st_uid == os.geteuid():
            for cluster in folder.glob("*/cluster"):
                cleanup.clear(cluster)  # Its record names control groups.
            shutil.rmtree(folder, ignore_errors=True)


def _remove(bridge: str) -> None:
    """Remove namespaces and their bridge; links go with them."""
    for space in Path("/run/netns").glob(f"{bridge}-*"):
        _ip("netns", "del", space.name)
    with contextlib.suppress(LabError):
        _ip("link", "del", bridge)


def _ip(*words: str) -> None:
    commands.output([program("ip"), *words], what=f"ip {' '.join(words)} failed")
