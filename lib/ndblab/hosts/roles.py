"""Several hosts as the user gives them with --hosts: which there are, and what runs on each.

No name is resolved and nothing is connected to. Hosts are a list of SSH destinations, or a TOML
file that has a table `[[host]]` for each, of which only `name` is required:

    [[host]]
    name = "db1"                 # in figures, logs and messages
    ssh = "me@db1.example.org"   # as ssh takes it; the name if left out; "local" for this host
    address = "10.0.0.11"        # where the other hosts reach it; else what ssh resolves
    folder = "/var/tmp/ndblab"   # where its nodes keep their files, on that host
    roles = ["data", "sql"]      # "management", "data", "sql", "load"
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ndblab.error import LabError
from ndblab.planning.node import LOAD

MANAGEMENT, DATA, SQL, _ = ROLES = ("management", "data", "sql", LOAD)
"""What runs on a host: the management node, data nodes, MySQL servers, load generators."""
NAMESPACES, USUAL_NAMESPACES = "namespaces", 3
"""What --hosts takes for network namespaces of this machine, and how many there usually are."""
LOCAL = "local"
"""The destination of the host that the lab runs on."""
FOLDER = "/var/tmp/ndblab-cluster"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_KEYS = ("name", "ssh", "address", "folder", "roles")
_NEXT_STEP = "Write --hosts user@a,user@b or --hosts hosts.toml; hosts/roles.py has an example."


@dataclass(frozen=True)
class PlacedHost:
    """One of several hosts, and what runs on it.

    `destination` is what ssh takes. `address` is where the other hosts reach it; it is empty until
    it is looked up. The nodes' files are in `folder`. `settings` is an ssh_config to use instead of
    the user's.
    """

    name: str
    destination: str
    address: str
    folder: str
    roles: tuple[str, ...]
    settings: str = ""

    @property
    def is_local(self) -> bool:
        """Whether it is the host that the lab runs on."""
        return self.destination == LOCAL


def read(given: str, wanted: Sequence[tuple[str, ...]] = ()) -> tuple[PlacedHost, ...]:
    """Read a list of destinations, or the TOML file of this name; LabError if it is unusable.

    `wanted` are the roles of as many hosts, in order, where the user gives none.
    """
    if not given.endswith(".toml"):
        return listed(given, wanted)
    try:
        text = Path(given).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise LabError(
            f"{given} cannot be read",
            found=getattr(error, "strerror", None) or str(error),
            expected="a TOML file that describes hosts",
            next_step="Check the path, or write --hosts user@a,user@b.",
        ) from None
    return parsed(text, given, wanted)


def listed(text: str, wanted: Sequence[tuple[str, ...]] = ()) -> tuple[PlacedHost, ...]:
    """Read a list of destinations, such as "me@a,me@b", and give each host its usual roles."""
    destinations = [part.strip() for part in text.split(",") if part.strip()]
    roles = _roles(len(destinations), wanted)
    hosts = tuple(
        PlacedHost(destination.rpartition("@")[2], destination, "", FOLDER, mine)
        for destination, mine in zip(destinations, roles, strict=True)
    )
    check(hosts)
    return hosts


def usual_roles(count: int) -> list[tuple[str, ...]]:
    """Return the roles of so many hosts where the user gives none.

    The management node arbitrates between the data nodes, so it is on neither's host if there are
    three hosts. MySQL servers are where a data node is, but on hosts of their own from the fourth
    host on.
    """
    if count == 1:
        return [ROLES]
    if count == 2:
        return [ROLES, (DATA, SQL)]
    others = [(SQL,)] * (count - 3)
    with_data = (DATA,) if others else (DATA, SQL)
    return [(MANAGEMENT, LOAD), with_data, with_data, *others][:count]


def _roles(count: int, wanted: Sequence[tuple[str, ...]]) -> Sequence[tuple[str, ...]]:
    return wanted if len(wanted) == count else usual_roles(count)


def parsed(text: str, file: str, wanted: Sequence[tuple[str, ...]] = ()) -> tuple[PlacedHost, ...]:
    """Read the text of a TOML file, as the docstring of this module shows it."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _unusable(file, str(error), "TOML") from None
    tables = content.get("host")
    if set(content) != {"host"} or not isinstance(tables, list):
        raise _unusable(file, ", ".join(content) or "nothing", "tables named [[host]]")
    usual = _roles(len(tables), wanted)
    hosts = tuple(_of(table, usual[place], file) for place, table in enumerate(tables))
    check(hosts)
    return hosts


def check(hosts: Sequence[PlacedHost]) -> None:
    """Make sure that hosts can carry a cluster.

    LabError if one is there twice, a role is missing or there more than once, or the data nodes,
    two for each node group, cannot be dealt evenly.
    """
    for what in ("name", "destination", "address"):
        counts = Counter(value for host in hosts if (value := getattr(host, what)))
        if twice := [value for value, count in counts.items() if count > 1]:
            lines = [h.destination for h in hosts if getattr(h, what) == twice[0]]
            raise LabError(
                f"Two hosts have the same {what}, {twice[0]}",
                found=", ".join(lines),
                expected="hosts that differ",
                next_step="Name each host once. " + _NEXT_STEP,
            )
    numbers = Counter(role for host in hosts for role in host.roles)
    for role in ROLES:
        once = role in (MANAGEMENT, LOAD)
        if not numbers[role] or (once and numbers[role] > 1):
            raise LabError(
                f"--hosts needs {'exactly one host' if once else 'a host'} with the role {role}",
                found=f"{numbers[role]} of {len(hosts)} hosts",
                expected=f"roles from {', '.join(ROLES)}",
                next_step="Give the roles in a TOML file. " + _NEXT_STEP,
            )
    if numbers[DATA] > 2 and numbers[DATA] % 2:
        raise LabError(
            "Data nodes come in pairs, which hold the same rows",
            found=f"{numbers[DATA]} hosts with the role data",
            expected="one, two, or an even number",
            next_step="Take the role from one of them, or give it to another.",
        )


def refuse_twice(host: PlacedHost, first: PlacedHost) -> None:
    """Refuse a host that turns out to be one that was named before; LabError names both."""
    if host != first:
        raise LabError(
            f"{first.name} and {host.name} are the same host",
            found=f"one machine behind {first.destination} and {host.destination}",
            expected="hosts that differ",
            next_step="Name each host once. " + _NEXT_STEP,
        )


def suitable(given: str, wanted: Sequence[tuple[str, ...]]) -> tuple[PlacedHost, ...]:
    """Read hosts as `read` does, and refuse those without the `wanted` roles, if there are any.

    Their order is free. LabError if they have others; it names both.
    """
    hosts = read(given, wanted)
    theirs = Counter(frozenset(host.roles) for host in hosts)
    if wanted and theirs != Counter(map(frozenset, wanted)):
        raise LabError(
            "This experiment needs hosts with other roles",
            found="; ".join(f"{host.name}: {', '.join(host.roles)}" for host in hosts),
            expected=f"{len(wanted)} hosts: " + "; ".join(", ".join(roles) for roles in wanted),
            next_step="Give the hosts these roles in a TOML file, or leave --hosts out for network "
            "namespaces of this machine.",
        )
    return hosts


def node_groups(hosts: Sequence[PlacedHost]) -> int:
    """Return how many node groups give each host of data nodes one, if that is possible."""
    return max(1, sum(DATA in host.roles for host in hosts) // 2)


def _of(table: object, usual: tuple[str, ...], file: str) -> PlacedHost:
    if not isinstance(table, dict) or (strange := set(table) - {*_KEYS}):
        stated = ", ".join(sorted(strange)) if isinstance(table, dict) else repr(table)
        raise _unusable(file, stated, f"keys from {', '.join(_KEYS)}")
    name, roles = table.get("name"), table.get("roles", list(usual))
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise _unusable(file, f"name = {name!r}", "a name of letters, digits, '.', '_' and '-'")
    for key in ("ssh", "address", "folder"):
        if not isinstance(value := table.get(key, ""), str) or value.startswith("-"):
            raise _unusable(file, f"{key} = {value!r} of {name}", "text that is no option")
    folder = table.get("folder", FOLDER)
    if not PurePosixPath(folder).is_absolute() or len(PurePosixPath(folder).parts) < 3:
        raise _unusable(file, f"folder = {folder!r} of {name}", "a folder like /var/tmp/ndblab")
    if not isinstance(roles, list) or not roles or not {*map(str, roles)} <= {*ROLES}:
        raise _unusable(file, f"roles = {roles!r} of {name}", f"roles from {', '.join(ROLES)}")
    return PlacedHost(
        name, table.get("ssh", name), table.get("address", ""), folder, tuple(dict.fromkeys(roles))
    )


def _unusable(file: str, found: str, expected: str) -> LabError:
    return LabError(
        f"{file} does not describe hosts", found=found, expected=expected, next_step=_NEXT_STEP
    )
