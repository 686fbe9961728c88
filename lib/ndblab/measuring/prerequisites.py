"""What a host lacks that only root can give it: one list, and one line to type.

In: a host, a plan, what is installed. Out: a list of `Lack`, and the line that mends all of them;
or a LabError with both. It changes nothing.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import resource
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ndblab import install
from ndblab.error import LabError
from ndblab.experiments.tpc_c import go_tpc
from ndblab.install import package_manager, requirements
from ndblab.machine import own_cgroup
from ndblab.machine.host import Host
from ndblab.machine.local import LOCAL
from ndblab.planning.deployment import Plan

_SEGMENTS = 4096
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""Programs in which tests look at the report."""


@dataclass(frozen=True)
class Lack:
    """One thing that only root can provide, as packages or by a command.

    What is not `needed` has a substitute, or only some experiments or tests use it. `again` tells
    that the user must log in again after it.
    """

    what: str
    use: str
    needed: bool = False
    packages: tuple[str, ...] = ()
    command: str = ""
    again: bool = False

    def __str__(self) -> str:
        return f"{self.what}: {self.use}"


def every(
    host: Host, *plans: Plan, tarball: str | None = None, release: str | None = None
) -> list[Lack]:
    """List everything that this host lacks for the lab's commands, with plans that it chose.

    Parameters
    ----------
    tarball, release : what is to be installed, as `install.ensure` has them.
    """
    lacks: list[Lack] = []
    for part in (_of_sysbench(), _of_ndb(tarball, release)):
        with contextlib.suppress(LabError):  # The doctor and the installation say what is wrong.
            lacks += part
    return [*lacks, *_of_plans(plans), *_of_host(host), *_of_tests()]


def next_step(lacks: Sequence[Lack]) -> str:
    """Return the one line to type that provides everything that is lacking."""
    packages = (name for lack in lacks for name in lack.packages)
    commands = (lack.command for lack in lacks if lack.command)
    again = ", then log in again" if any(lack.again for lack in lacks) else ""
    return package_manager.here().next_step(packages, commands, verb=f"Type once{again}")


def require(
    host: Host,
    *plans: Plan,
    installing: bool = False,
    tarball: str | None = None,
    release: str | None = None,
) -> None:
    """Refuse to start if something is lacking without which plans or an installation fail.

    Parameters
    ----------
    installing : whether NDB Cluster and sysbench are wanted, which are installed unless present.
    tarball, release : what is to be installed, as `install.ensure` has them.

    Raises
    ------
    LabError
        It lists everything that is lacking, so that one line suffices. Or what is installed cannot
        be used, or no release fits.
    """
    found = _of_plans(plans)
    if installing:
        found += [*_of_ndb(tarball, release), *_of_sysbench()]
    if any(lack.needed for lack in found):
        lacks = every(host, *plans, tarball=tarball, release=release)
        raise LabError(
            "This host lacks what only root can give it",
            found="\n            ".join(map(str, lacks)),
            next_step=next_step(lacks),
        )


def _of_sysbench() -> Iterator[Lack]:
    if install.find_sysbench() is None and not install.has_debian():
        yield _required(requirements.SYSBENCH)


def _of_ndb(tarball: str | None, release: str | None) -> Iterator[Lack]:
    """What installing NDB Cluster takes. On Debian root is given it by the lab itself."""
    if tarball is not None or (release is None and install.find_ndb() is not None):
        return
    if chosen := install.release_for(release):
        yield from map(_required, install.releases.missing(install.location(), chosen))
    elif os.geteuid() != 0 and (missing := install.missing_build_packages()):
        yield Lack("build packages", "to build NDB's data node", True, tuple(missing))


def _required(thing: str) -> Lack:
    use, package, command = requirements.provision(thing, package_manager.here())
    return Lack(thing, use, True, (package,), command)


def _of_plans(plans: Iterable[Plan]) -> list[Lack]:
    return list(dict.fromkeys(lack for plan in plans for lack in _of_plan(plan)))


def _of_plan(plan: Plan) -> Iterator[Lack]:
    if plan.budget.kind == "pinned" and not shutil.which("numactl"):
        use = "to bind CPUs and memory, as the brief did (or use --budget scaled)"
        yield Lack("numactl", use, True, ("numactl",))
    segments = int(LOCAL.get(Path("/proc/sys/kernel/shmmni")) or 0)
    if segments and segments < 2 * len(plan.servers):
        command = package_manager.as_root(f"sysctl -w kernel.shmmni={_SEGMENTS}")
        what = f"shared-memory segments (kernel.shmmni is {segments})"
        yield Lack(what, "transporters between servers and data nodes", True, command=command)
    files, (_, hard) = plan.open_files, resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard not in (resource.RLIM_INFINITY, -1) and hard < files:
        command = package_manager.as_root(f"prlimit --pid $$ --nofile={files}:{files}")
        yield Lack(f"open files (at most {hard} here)", "a socket a client", True, command=command)


def _of_host(host: Host) -> Iterator[Lack]:
    """What the `scaled` budget takes of systemd."""
    use = "CPU quotas, for the `scaled` budget"
    if host.cpu_controller.kind == own_cgroup.UNDELEGATED:
        what = f"the cpu controller ({host.cpu_controller.reason})"
        yield Lack(what, use, command=own_cgroup.DELEGATE, again=True)
    without = host.cpu_controller.kind == "none" and os.geteuid() != 0
    if without and Path("/run/systemd/system").exists():
        if Path(f"/run/user/{os.getuid()}/bus").exists():
            return  # It runs, and cannot help: the cpu controller is in version 1.
        has_apt = package_manager.here().program == "apt-get"
        packages = ("dbus-user-session",) if has_apt else ()
        linger = package_manager.as_root(f"loginctl enable-linger {getpass.getuser()}")
        yield Lack("a systemd user manager", use, packages=packages, command=linger)


def _of_tests() -> Iterator[Lack]:
    manager = package_manager.here().program or ""
    if go_tpc.lacks():
        yield Lack("Go", "to build go-tpc, for TPC-C", packages=(go_tpc.go_package(),))
    if os.geteuid() == 0 or any(map(shutil.which, BROWSERS)):
        return
    # Elsewhere apt's package of this name may be something else, such as a Snap.
    if manager != "apt-get" or install.has_debian():
        yield Lack("Chromium", "tests that open the report", packages=("chromium",))
