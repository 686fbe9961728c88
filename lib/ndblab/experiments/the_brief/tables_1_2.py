"""Tables 1 and 2 of the brief, hardware and software, beside a host of the lab.

What the description of a host lacks is "not known here".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from ndblab.judging import publication
from ndblab.machine.host import Host
from ndblab.planning.data_node import GIB

UNKNOWN = "not known here"


def table1(host: Host) -> pd.DataFrame:
    """Return Table 1 of the brief, the hardware, beside a host's.

    Returns
    -------
    One row per published item, which is the index; columns "published", "this host" and "note",
    all text.
    """
    return _beside("table1", {item: describe(host) for item, describe in _HARDWARE.items()})


def table2(host: Host, versions: Mapping[str, str]) -> pd.DataFrame:
    """Return Table 2 of the brief, the software, beside a host's; the columns are as in `table1`.

    Parameters
    ----------
    versions : of "ndb" and "sysbench", as in a dataset's manifest; either may be missing.
    """
    return _beside(
        "table2",
        {
            "database": _version("MySQL NDB Cluster", versions.get("ndb")),
            "operating system": host.distribution,
            "kernel": host.kernel,
            "load generator": _version("sysbench", versions.get("sysbench")),
        },
    )


def _beside(name: str, here: Mapping[str, str]) -> pd.DataFrame:
    reasons = {row.id: _note(row) for row in publication.corrections()}
    rows = [
        {
            "item": item.item,
            "published": item.value,
            "this host": here.get(item.item, UNKNOWN),
            "note": reasons.get(item.correction, ""),
        }
        for item in publication.tables()[name]
    ]
    return pd.DataFrame(rows).set_index("item")


def _note(row: publication.Correction) -> str:
    """Write what contradicts an entry of a table, with the statement if it is elsewhere."""
    elsewhere = "" if row.locator.startswith("Table") else f"{row.source}: {row.says}, but "
    return f"{elsewhere}{row.but} ({row.id})"


def _version(name: str, number: str | None) -> str:
    return f"{name} {number}" if number else UNKNOWN


def _sockets(host: Host) -> int:
    return len({cpu.package for cpu in host.cpus})


def _logical_cpus(host: Host) -> str:
    """Count the CPUs that the lab may use; add the CPU bandwidth limit if there is one."""
    limit = host.cpu_limit
    return f"{len(host.cpus)}" + (f", limited to {limit:g} by CPU bandwidth" if limit else "")


def _smt(host: Host) -> str:
    """Describe SMT as the operating system sees it, without reading firmware; a VM may hide it."""
    most = max(len(core) for core in host.cores)
    return f"on: {most} logical CPUs per core" if most > 1 else "1 logical CPU per core visible"


_HARDWARE: dict[str, Callable[[Host], str]] = {
    "system": lambda host: host.virtualization or UNKNOWN,
    "cpu": lambda host: f"{_sockets(host)} x {host.cpu_model}",
    "sockets": lambda host: str(_sockets(host)),
    "cores per socket": lambda host: f"{len(host.cores) / _sockets(host):g}",
    "logical CPUs": _logical_cpus,
    "memory": lambda host: f"{host.memory_bytes / GIB:.0f} GiB",
    "bios SMT": _smt,
    "bios NPS": lambda host: f"{len(host.numa_nodes) / _sockets(host):g} per socket visible",
}
"""The items of Table 1 that the description of a host has."""
