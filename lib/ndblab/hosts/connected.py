"""Several hosts, from what the user gives with --hosts to hosts that are ready for a cluster.

They are connected, described, and have the programs in place, for the length of a `with` block.
Afterwards nothing of the lab's is left on them but the programs.
"""

from __future__ import annotations

import contextlib
import dataclasses
import ipaddress
import os
import signal
import socket
import string
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab import discovery
from ndblab.cluster import datadir, keys, start_stop
from ndblab.cluster.cluster import Site
from ndblab.error import LabError
from ndblab.hosts import namespaces, programs, remote, roles, spread
from ndblab.hosts.roles import DATA, SQL, PlacedHost
from ndblab.install import requirements
from ndblab.machine import Machine, commands, files, host
from ndblab.machine.local import LOCAL
from ndblab.planning import fitness
from ndblab.workloads import registry, sysbench

if TYPE_CHECKING:
    from ndblab.design.experiment import Experiment
    from ndblab.hosts.namespaces import Network
    from ndblab.install import Binaries
    from ndblab.machine.host import Host
    from ndblab.planning.deployment import Plan

CLOCKS_APART_LIMIT_MS = 1000
"""Logs and datasets date what happens by the hosts' clocks, to the second."""


@dataclass(frozen=True)
class Connected:
    """Hosts that are ready: described, and each as a cluster uses it, by name.

    `clocks_ms` is how much a host's clock is ahead of this one's, in milliseconds. There is a
    `network` only if the hosts are namespaces of this machine.
    """

    hosts: spread.Hosts
    sites: Mapping[str, Site]
    clocks_ms: Mapping[str, float]
    network: Network | None = None

    @property
    def data_host(self) -> Host:
        """Describe the smallest host of a data node, which a dataset is named after."""
        names = [placed.name for placed in self.hosts.placed if DATA in placed.roles]
        return min((self.hosts.described[name] for name in names), key=lambda h: h.usable_cpus)

    def describe(self) -> str:
        """Describe the hosts, a line for each."""
        described = self.hosts.described
        return "\n".join(
            f"{placed.name} ({', '.join(placed.roles)}): {described[placed.name].describe()}"
            for placed in self.hosts.placed
        )

    def check(self, *plans: Plan) -> None:
        """Refuse plans for which a host has too little memory or disk; LabError names it."""
        for name, site in self.sites.items():
            free_bytes = files.free_bytes(site.machine, site.folder)
            try:
                for plan in plans:
                    plan.of_host(name).check(self.hosts.described[name], free_bytes)
            except LabError as error:
                error.what = f"Host {name}: {error.what}"
                error.next_step = (
                    f"Free some there, name another folder than {site.folder} (in a TOML file), "
                    "or use a smaller --table-size or fewer --servers."
                )
                raise
            for plan in plans:
                fitness.check_tasks(plan.of_host(name), self.hosts.described[name])

    def to_dict(self) -> dict[str, object]:
        """Return what a dataset says of the hosts, as plain data for JSON."""
        return {
            placed.name: {
                "roles": list(placed.roles),
                "address": placed.address,
                "clock_ms": self.clocks_ms[placed.name],
                **self.hosts.described[placed.name].to_dict(),
            }
            for placed in self.hosts.placed
        }


def lacks() -> str:
    """Say in one line why hosts cannot be namespaces of this machine; nothing if they can."""
    if packages := namespaces.missing():
        return requirements.package_manager().next_step(packages)
    return namespaces.refused()


@contextlib.contextmanager
def opened(
    given: str,
    ours: Binaries | None,
    wanted: Sequence[tuple[str, ...]] = (),
    insecure_network: bool = False,
) -> Iterator[Connected]:
    """Connect to the hosts of --hosts and make them ready, for the length of a `with` block.

    LabError as `roles.read` and `connected` do, if hosts have other roles, or if no namespaces can
    be made here.

    Parameters
    ----------
    given : "namespaces", or what `roles.read` takes.
    ours : the programs that the hosts get; None to look at the hosts only.
    wanted : the roles that the hosts must have; if left out, namespaces have the usual ones of
        three hosts, and other hosts may have any.
    insecure_network : leave NDB's own links between the hosts plain text.
    """
    if given != roles.NAMESPACES:
        with connected(roles.suitable(given, wanted), ours, insecure_network) as there:
            yield there
        return
    if why := lacks():
        raise LabError(
            "This machine cannot stand in for several hosts",
            found=why,
            expected="root, and the programs of network namespaces and SSH",
            next_step="Or give hosts of their own: --hosts user@a,user@b,user@c.",
        )
    wanted = wanted or roles.usual_roles(roles.USUAL_NAMESPACES)
    names = string.ascii_lowercase[: len(wanted)]
    with (
        commands.exit_on_signals(signal.SIGTERM, signal.SIGHUP),
        tempfile.TemporaryDirectory(prefix=f"{namespaces.FOLDERS}{os.getpid()}-") as folder,
        namespaces.network(names, Path(folder)) as network,
    ):
        placed = tuple(
            PlacedHost(
                name, name, space.address, f"{space.folder}/cluster", mine, str(network.settings)
            )
            for (name, space), mine in zip(network.hosts.items(), wanted, strict=True)
        )
        with connected(placed, ours, insecure_network) as there:
            share_template(there)
            yield dataclasses.replace(there, network=network)


def share_template(there: Connected) -> None:
    """Copy the template of servers' data folders to namespaces, which share this machine's files.

    If the lab has not made one for a cluster of its own yet, each host makes its own.
    """
    made = start_stop.home() / datadir.template_name(next(iter(there.sites.values())))
    for placed in there.hosts.placed:
        if SQL in placed.roles and made.exists():
            datadir.copy(made, Path(placed.folder) / made.name)


def refuse_unsuitable(experiment: Experiment, given: str = roles.NAMESPACES) -> None:
    """Refuse an experiment that only one host can carry, or that the hosts given cannot.

    The former need more than sysbench's own scripts, or act on processes of this host; the latter
    act on links between hosts, which must be the lab's own.
    """
    variants = experiment.variants
    if experiment.hosts and any(v.fault for v in variants):
        if given != roles.NAMESPACES:
            raise LabError(
                f"{experiment.name} cuts links between hosts",
                found=f"--hosts {given}",
                expected="network namespaces of this machine, whose links are the lab's own",
                next_step="Drop --hosts.",
            )
        return
    why = [
        reason
        for reason, holds in (
            ("its load is not one of sysbench's own scripts", _has_own_load(experiment)),
            ("it injects faults", any(v.fault for v in variants)),
            ("its clients use loopback", any(v.tcp_clients for v in variants)),
            ("it compares installations", experiment.compares_engines),
        )
        if holds
    ]
    if why:
        raise LabError(
            f"{experiment.name} cannot be measured over several hosts",
            found=", and ".join(why),
            expected="an experiment about numbers of servers, clients or threads, such as "
            "multi-server-scaling",
            next_step="Drop --hosts, or choose another experiment.",
        )


def _has_own_load(experiment: Experiment) -> bool:
    size = experiment.size("smoke")
    names = {point.workload for point in experiment.grid(experiment, size)}
    return any(
        registry.find(name) is not sysbench or discovery.file(f"{name}.lua") for name in names
    )


@contextlib.contextmanager
def connected(
    placed: tuple[PlacedHost, ...], ours: Binaries | None, insecure_network: bool = False
) -> Iterator[Connected]:
    """Connect to hosts and make them ready, for the length of a `with` block.

    LabError if one cannot be reached or used, or its clock is wrong; it names the host. Also if
    NDB's links cannot be encrypted, unless on an `insecure_network`.
    """
    if ours and not insecure_network:
        keys.program(ours)
    with contextlib.ExitStack() as stack:
        sites: dict[str, Site] = {}
        addressed: list[PlacedHost] = []
        described, clocks_ms, known = {}, {}, {}
        for one in placed:
            name = one.name
            if one.is_local:
                machine, folder = LOCAL, start_stop.home()
                described[name], clocks_ms[name] = host.read(), 0.0
            else:
                machine = stack.enter_context(
                    remote.connect(one.destination, Path(one.folder), settings=one.settings)
                )
                folder = machine.folder
                described[name], clocks_ms[name] = machine.host(), _clock_ms(name, machine)
            roles.refuse_twice(one, known.setdefault(_identity(machine), one))
            if ours and not one.is_local:
                programs.ensure(machine, ours, one.roles)
            sites[name] = Site(machine, folder, ours)
            address = one.address or _address(one, alone=len(placed) == 1)
            addressed.append(dataclasses.replace(one, address=address, folder=str(folder)))
        roles.check(addressed)
        hosts = spread.Hosts(tuple(addressed), described, insecure_network)
        yield Connected(hosts, sites, clocks_ms)


def _clock_ms(name: str, machine: remote.Remote) -> float:
    offset_ms = machine.clock_offset_ms()
    if abs(offset_ms) > CLOCKS_APART_LIMIT_MS:
        raise LabError(
            f"The clock of host {name} is wrong",
            found=f"{offset_ms / 1000:+.1f} s from this host's",
            expected=f"at most {CLOCKS_APART_LIMIT_MS / 1000:g} s apart",
            next_step="Have both hosts set their clocks by NTP (timedatectl set-ntp true).",
        )
    return round(offset_ms, 1)


def _identity(machine: Machine) -> str:
    """Return what only this host has: its kernel's boot id, and its network namespace."""
    line = "cat /proc/sys/kernel/random/boot_id && readlink /proc/self/ns/net"
    return machine.run(["sh", "-c", line], what="The host cannot be told from others")


def _address(placed: PlacedHost, alone: bool) -> str:
    """Return the IP address of the host that ssh would connect to.

    LabError if it is unknown, or one that only the host itself reaches, unless it is `alone`.
    """
    name = socket.gethostname()
    if not placed.is_local:
        what = f"ssh does not know the host {placed.name}"
        settings = LOCAL.run(["ssh", "-G", "--", placed.destination], what=what)
        known = dict(line.partition(" ")[::2] for line in settings.splitlines())
        name = known["hostname"]
    try:
        known = socket.getaddrinfo(name, None, socket.AF_INET, socket.SOCK_STREAM)
    except OSError as error:
        raise LabError(
            f"The address of host {placed.name} is unknown",
            found=f"{name}: {error.strerror}",
            expected="a name that this host can resolve",
            next_step='Give its address in a TOML file: address = "10.0.0.1".',
        ) from None
    address = str(known[0][4][0])
    if ipaddress.ip_address(address).is_loopback and not alone:
        raise LabError(
            f"The other hosts cannot reach {placed.name}",
            found=f"{name} is {address} here, as /etc/hosts often says",
            expected="an address in the network of the hosts",
            next_step='Give its address in a TOML file: address = "10.0.0.1".',
        )
    return address
