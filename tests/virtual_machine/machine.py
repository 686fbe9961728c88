"""Debian in QEMU, with two sockets, two NUMA nodes and four logical CPUs.

In: an image, and commands. Out: what the commands print, as an ordinary user or as root, each in a
session of its own by SSH. What it writes to its disk is gone when it ends.
"""

from __future__ import annotations

import contextlib
import shlex
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ndblab.error import LabError
from ndblab.install import cache
from ndblab.machine import commands
from ndblab.measuring.measurement import ROOT
from virtual_machine.image import USER, Image

CPUS_OF_NODES = ("0-1", "2-3")
MEMORY_OF_NODES = (5, 5)
"""In GiB; a node may have none."""
BOOT_TIMEOUT_S = 300
"""Emulated, it boots in 40 s on two CPUs."""


@dataclass(frozen=True)
class VirtualMachine:
    """A booted machine: the port of this host that leads to its SSH, and the key."""

    port: int
    key: Path

    def argv(self, command: str, user: str = USER) -> list[str]:
        """Return the command line that executes a shell command in the checkout there."""
        options = ("StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR")
        argv = ["ssh", "-F", "none", "-i", str(self.key), "-p", str(self.port), "-n"]
        argv += [f"-o{option}" for option in options]
        # Root has a folder of its own for the cluster, since the cache is the user's.
        own = " NDBLAB_CLUSTER_DIR=~/cluster" if user == "root" else ""
        settings = f"export XDG_CACHE_HOME={shlex.quote(str(cache.location().parent))}{own}"
        return [*argv, f"{user}@127.0.0.1", f"{settings}; cd {shlex.quote(str(ROOT))}; {command}"]

    def run(self, command: str, user: str = USER, timeout_s: float = 300) -> str:
        """Execute a shell command and return everything it prints.

        Raises
        ------
        ChildFailed
            If it fails or takes longer.
        """
        what = f"In the virtual machine, as {user}, this failed: {command}"
        return commands.output(self.argv(command, user), what=what, timeout_s=timeout_s)

    @contextlib.contextmanager
    def logged_in(self, user: str) -> Iterator[None]:
        """Stay logged in: systemd ends a user's scopes 10 s after the last session.

        Source: logind.conf(5), UserStopDelaySec=.
        """
        # It ends with its input, so that nothing keeps the session open afterwards.
        login = [word for word in self.argv("exec cat", user) if word != "-n"]
        session = subprocess.Popen(login, stdin=subprocess.PIPE)
        try:
            yield
        finally:
            session.communicate()


@contextlib.contextmanager
def booted(
    image: Image, console: Path, memory_of_nodes: tuple[int, int] = MEMORY_OF_NODES
) -> Iterator[VirtualMachine]:
    """Boot a machine with the tracked and the new files of this checkout in it.

    Parameters
    ----------
    console : the file for what it prints while booting.
    memory_of_nodes : of each NUMA node, in GiB.

    Raises
    ------
    LabError
        If it does not boot.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    qemu = subprocess.Popen(
        _command(image, port, console, memory_of_nodes),
        stdin=subprocess.DEVNULL,
        stderr=console.open("w"),
    )
    machine = VirtualMachine(port, image.key)
    try:
        _wait_booted(qemu, machine, console)
        _send_checkout(machine)
        yield machine
    finally:
        qemu.kill()
        qemu.wait()


def _command(image: Image, port: int, console: Path, memory_of_nodes: tuple[int, int]) -> list[str]:
    argv = ["setpriv", "--pdeathsig", "KILL", "--", "qemu-system-x86_64"]
    argv += ["-nodefaults", "-display", "none", "-no-reboot", "-serial", f"file:{console}"]
    # Emulation of a newer CPU, with AVX, makes numpy fail.
    argv += ["-machine", "q35", "-accel", "tcg,thread=multi", "-cpu", "Nehalem"]
    argv += ["-smp", "4,sockets=2,cores=2,threads=1", "-m", f"{sum(memory_of_nodes)}G"]
    for node, (cpus, gib) in enumerate(zip(CPUS_OF_NODES, memory_of_nodes, strict=True)):
        memory = f",memdev=memory{node}" if gib else ""
        if gib:
            argv += ["-object", f"memory-backend-ram,id=memory{node},size={gib}G"]
        argv += ["-numa", f"node,nodeid={node},cpus={cpus}{memory}"]
    argv += ["-kernel", str(image.kernel), "-initrd", str(image.initrd)]
    argv += ["-append", "root=/dev/vda rw console=ttyS0 mitigations=off"]
    drive = f"file={image.disk},format=raw,if=virtio,snapshot=on,cache=unsafe"
    argv += ["-drive", drive, "-device", "virtio-rng-pci"]
    forward = f"hostfwd=tcp:127.0.0.1:{port}-:22"
    return [*argv, "-nic", f"user,model=virtio-net-pci,restrict=on,{forward}"]


def _wait_booted(qemu: subprocess.Popen, machine: VirtualMachine, console: Path) -> None:
    """Wait until a user may log in; systemd refuses that before it has started everything."""
    until_s = time.monotonic() + BOOT_TIMEOUT_S
    while True:
        try:
            machine.run("true", timeout_s=30)
            return
        except commands.ChildFailed as failure:
            if qemu.poll() is not None or time.monotonic() > until_s:
                raise LabError(
                    "The virtual machine does not boot",
                    found=console.read_text(errors="replace")[-2000:] or failure.found,
                    expected="an answer by SSH",
                    next_step=f"See {console}.",
                ) from None
        time.sleep(1)


def _send_checkout(machine: VirtualMachine) -> None:
    """Copy the files of the checkout, those that git ignores left out."""
    listed = ["git", "-C", str(ROOT), "ls-files", "-z", "-co", "--exclude-standard"]
    files = subprocess.run(listed, stdout=subprocess.PIPE, check=True).stdout
    there = b"\0".join(f for f in files.split(b"\0") if f and (ROOT / f.decode()).exists())
    pack = ["tar", "-C", str(ROOT), "--null", "-T", "-", "-c", "-f", "-"]
    packed = subprocess.run(pack, input=there, stdout=subprocess.PIPE, check=True).stdout
    unpack = [word for word in machine.argv("tar -x -f -") if word != "-n"]
    subprocess.run(unpack, input=packed, check=True, timeout=BOOT_TIMEOUT_S)
