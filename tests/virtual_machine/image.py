"""The disk of the virtual machine: Debian, the lab's environment and its installation.

In: Debian's packages, `.venv` of this checkout, the installation in the lab's cache. Out: a kernel
and a disk in that cache. Debian is unpacked once, and the disk made anew if the environment or the
installation has changed. The lab in it has the paths that it has here.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from ndblab import install
from ndblab.error import LabError
from ndblab.install import apt, cache, requirements
from ndblab.install.progress import Phases
from ndblab.machine import commands
from ndblab.measuring.measurement import ROOT

USER = "tester"
SUITE, PYTHON = "bookworm", (3, 11)
"""A release of Debian and its Python, for which the environment's packages must be made."""
PROGRAMS = {
    "qemu-system-x86_64": "qemu-system-x86",
    "mmdebstrap": "mmdebstrap",
    "mke2fs": "e2fsprogs",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
}
"""What makes and runs the machine, and the Debian packages that have it."""
PACKAGES = (
    "systemd", "systemd-sysv", "dbus-user-session", "udev", "kmod", "linux-image-cloud-amd64",
    "openssh-server", "procps", "python3", "numactl", "netbase", "sudo",
)  # fmt: skip
FILES = {
    "etc/hostname": "numa\n",
    "etc/hosts": "127.0.0.1 localhost numa\n",
    # QEMU's user-mode network is always this one (its manual, "Network options").
    "etc/systemd/network/user-mode.network": (
        "[Match]\nType=ether\n[Network]\nAddress=10.0.2.15/24\nGateway=10.0.2.2\n"
    ),
    "etc/ssh/sshd_config.d/key.conf": "AuthorizedKeysFile /etc/ssh/test_key.pub\n",
    # Debian empties /tmp when it boots, and the checkout or the cache may be there.
    "etc/tmpfiles.d/tmp.conf": "d /tmp 1777 root root -\n",
}
ROOT_COMMANDS = (
    f"useradd --create-home --shell /bin/bash --uid 1000 {USER}",
    "systemctl enable systemd-networkd",
)
DISK = "12G"
"""Most of it is a hole in the disk's file."""
_DISK_BYTES = 5_000_000_000


@dataclass(frozen=True)
class Image:
    """What QEMU boots, and the private key that opens it."""

    kernel: Path
    initrd: Path
    disk: Path
    key: Path


def ensure() -> Image:
    """Return the image from the cache, made first if it is missing or out of date.

    Raises
    ------
    LabError
        If a program, the environment or the installation that it takes is not here.
    """
    phases = Phases()
    with commands.exit_on_sigterm(), cache.locked(phases.say) as place:
        folder = place / "hosts"
        folder.mkdir(exist_ok=True)
        log = folder / "image.log"
        require_environment(Path(sys.prefix), sys.version_info[:2])
        installed = _installed()
        ensure_programs(log)
        key = folder / "key"
        if not key.exists():
            argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key]
            commands.run(argv, what="No key for the virtual machine", log=log)
        root = folder / f"{SUITE}-{_digest(PACKAGES, FILES, ROOT_COMMANDS, key.read_text())}"
        if not root.exists():
            _require_root()
            cache.need_space(folder, _DISK_BYTES, "the virtual machine's disk")
            for old in folder.glob(f"{SUITE}-*/"):
                shutil.rmtree(old)
            with phases.timed("virtual machine: Debian"):
                _unpack(root, key, log)
        disk = root.with_suffix(f".{_digest(installed, _stamp(), ROOT)}.img")
        if not disk.exists():
            _require_root()
            for old in folder.glob("*.img"):
                old.unlink()
            with phases.timed("virtual machine: disk"):
                _make_disk(disk, root, installed, log)
    kernel, initrd = (next(root.glob(f"boot/{name}-*")) for name in ("vmlinuz", "initrd.img"))
    return Image(kernel, initrd, disk, key)


def ensure_programs(log: Path) -> None:
    """Find the programs on PATH, or as root on Debian install their packages.

    Raises
    ------
    LabError
        If one is missing and cannot be installed by this user on this machine.
    """
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if not missing:
        return
    packages = sorted({PROGRAMS[name] for name in missing})
    if os.geteuid() != 0 or not install.has_debian():
        raise LabError(
            "The virtual machine cannot be made or run here",
            found=f"no {', no '.join(missing)} on PATH",
            expected="QEMU, and what makes Debian's root file system",
            next_step=requirements.DEBIAN.next_step(packages),
        )
    requirements.install_packages(packages, log)


def require_environment(prefix: Path, python: tuple[int, int]) -> None:
    """Refuse an environment that would not work in the virtual machine."""
    if prefix != ROOT / ".venv" or python != PYTHON:
        wanted = ".".join(map(str, PYTHON))
        raise LabError(
            "The virtual machine cannot use this Python environment",
            found=f"{prefix} with Python {'.'.join(map(str, python))}",
            expected=f"{ROOT / '.venv'} with Python {wanted}, as in Debian's {SUITE}",
            next_step=f"Deactivate other environments, remove .venv, and make it with {wanted}: "
            f"put python{wanted} on PATH and no newer one.",
        )


def _installed() -> Path:
    """Return the folder of the lab's own installation, which works wherever it has this path."""
    for found in cache.receipts(cache.location()):
        if found.ndb and found.sysbench:
            return found.root
    raise LabError(
        "The virtual machine needs an installation of the lab's own",
        found=f"none in {cache.location()}",
        expected="NDB Cluster and sysbench from Debian's packages",
        next_step="Run: env -u NDB_HOME ./lab install",
    )


def _require_root() -> None:
    if os.geteuid() != 0:
        line = f"sudo XDG_CACHE_HOME={cache.location().parent} ./lab test --virtual-machine"
        raise LabError(
            "Only root can make the virtual machine's disk, with files of several users in it",
            found=f"user {os.geteuid()}",
            next_step=f"Type: {line}",
        )


def _unpack(root: Path, key: Path, log: Path) -> None:
    """Unpack and configure Debian in a folder; it gets its name when it is complete."""
    dump = commands.output(["apt-config", "dump", "--format", '%F "%v";%n', "Acquire"], what="apt")
    partial = root.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    argv = ["mmdebstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}"]
    argv += [f"--aptopt={line}" for line in apt.network_settings(dump)]
    argv += [f'--customize-hook=chroot "$1" {line}' for line in ROOT_COMMANDS]
    argv += [SUITE, str(partial), f"deb {apt.mirror()} {SUITE} main"]
    commands.run(argv, what=f"Debian's {SUITE} cannot be unpacked", log=log)
    for name, text in FILES.items():
        (partial / name).parent.mkdir(parents=True, exist_ok=True)
        (partial / name).write_text(text)
    shutil.copy(key.with_suffix(".pub"), partial / "etc/ssh/test_key.pub")
    partial.rename(root)


def _make_disk(disk: Path, root: Path, installed: Path, log: Path) -> None:
    """Make a disk of Debian's folder with the environment and the installation in it."""
    environment = ROOT / ".venv"
    with_all = root.with_suffix(".disk")
    shutil.rmtree(with_all, ignore_errors=True)
    # Hard links: copies would take as long again as making the disk.
    _copy(root, with_all, log)
    for each in (environment, installed):
        _copy(each, with_all / each.relative_to("/"), log)
    for name in ("python", "python3", f"python3.{PYTHON[1]}"):
        (with_all / environment.relative_to("/") / "bin" / name).unlink(missing_ok=True)
        link = with_all / environment.relative_to("/") / "bin" / name
        link.symlink_to(f"/usr/bin/python3.{PYTHON[1]}")
    settings = with_all / environment.relative_to("/") / "pyvenv.cfg"
    settings.unlink()
    settings.write_text("home = /usr/bin\ninclude-system-site-packages = false\n")
    for each in (ROOT, installed.parent, installed.parent.parent):
        (with_all / each.relative_to("/")).chmod(0o1777)
        for parent in each.parents[:-1]:
            place = with_all / parent.relative_to("/")
            place.chmod(place.stat().st_mode | 0o755)
    partial = disk.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    argv = ["mke2fs", "-q", "-t", "ext4", "-d", with_all, partial, DISK]
    commands.run(argv, what="The virtual machine's disk cannot be made", log=log)
    shutil.rmtree(with_all)
    partial.rename(disk)


def _copy(source: Path, target: Path, log: Path) -> None:
    """Copy a folder by hard links where one file system holds both."""
    target.parent.mkdir(parents=True, exist_ok=True)
    same = source.stat().st_dev == target.parent.stat().st_dev
    argv = ["cp", "-a", *(["--link"] if same else []), source, target]
    commands.run(argv, what=f"{source} cannot be copied", log=log)


def _stamp() -> str:
    return (ROOT / ".venv/made-from").read_text()


def _digest(*content: object) -> str:
    return hashlib.sha256(repr(content).encode()).hexdigest()[:12]
