"""Take from a host what only root can give back, as if it had never had it.

Executed in the virtual machine by root. In: Debian. Out: systemd delegates no cpu controller to
users, as before its release 252; the kernel allows few shared-memory segments; and apt has an
archive on the disk, as there is no network, in which packages of the lab's list are stand-ins:
nothing that is tested here executes what is in them.
"""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

PACKAGES = ("golang-go", "chromium")
ARCHIVE, SOURCES = Path("/srv/archive"), Path("/etc/apt/sources.list.d/archive.list")
UNDELEGATED = "[Service]\nDelegate=\nDelegate=memory pids\n"
"""Drop-ins are read in the order of their names: the lab's own comes after this one."""
SEGMENTS = 3


def package(name: str) -> str:
    """Make a package with a program of its name, and return its entry for the index."""
    tree = ARCHIVE / name
    program = tree / "usr/bin" / name.removesuffix("lang-go")
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    control = f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: nobody\n"
    (tree / "DEBIAN").mkdir()
    (tree / "DEBIAN/control").write_text(f"{control}Description: a stand-in\n")
    file = ARCHIVE / f"{name}.deb"
    run("dpkg-deb", "--build", "-Znone", str(tree), str(file))
    content = file.read_bytes()
    where = f"Filename: ./{file.name}\nSize: {len(content)}\n"
    return f"{control}{where}SHA256: {hashlib.sha256(content).hexdigest()}\n"


def run(*argv: str) -> None:
    """Execute a program that must not fail."""
    subprocess.run(argv, check=True)


def main() -> None:
    """Take it all away."""
    ARCHIVE.mkdir(parents=True)
    (ARCHIVE / "Packages").write_text("\n".join(map(package, PACKAGES)))
    SOURCES.write_text(f"deb [trusted=yes] file:{ARCHIVE} ./\n")
    only = ("-o", f"Dir::Etc::sourcelist={SOURCES}", "-o", "Dir::Etc::sourceparts=-")
    run("apt-get", "update", *only)
    drop_in = Path("/etc/systemd/system/user@.service.d/cpu.conf")
    drop_in.parent.mkdir(parents=True)
    drop_in.write_text(UNDELEGATED)
    run("systemctl", "daemon-reload")
    run("sysctl", "-w", f"kernel.shmmni={SEGMENTS}")


if __name__ == "__main__":
    main()
