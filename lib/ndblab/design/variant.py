"""A variant of an experiment: the settings in which it differs from the baseline."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from ndblab.error import LabError
from ndblab.planning.point import DEFAULT_VARIANT
from ndblab.planning.shape import Overlay

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.measuring.measured_run import Run
    from ndblab.workloads.load_generator import Job

_QUOTA = re.compile(r"sql|(mysqld|ndbmtd)(\.[1-9]\d*)?")


UNDIVIDED = "undivided"
"""The usual name of a variant with `NO_QUOTAS`."""
NO_QUOTAS = {"mysqld": None, "ndbmtd": None, "sql": None}
"""`Variant.quotas` that let every process use all CPUs."""


class Fault(Protocol):
    """What is done to a cluster in each run of a variant; `lasts_s` is about how long it takes."""

    lasts_s: float

    def measure(self, cluster: Cluster, job: Job, repeat: int) -> Run:
        """Measure one run in which the fault is injected."""
        ...

    def describe(self, before_s: float) -> list[str]:
        """Describe each action in a line, with its time in seconds since the load began."""
        ...

    def to_dict(self) -> dict[str, object]:
        """Return the fault as plain data for JSON, all of it part of a dataset's identity."""
        ...


@dataclass(frozen=True)
class Variant:
    """Settings that differ from the baseline; "the same with another setting" is one of these.

    `config_ini` (by section) and `my_cnf` set any parameter of the cluster, `options` any of the
    load generator's. `table_options` end the CREATE TABLE statements; sysbench's tables with other
    options are in another database of the same cluster. `shape` has fields of
    `planning.shape.Shape`: settings that follow from the host. With `neighbours` each server is
    told which data node is its own (ndb_data_node_neighbour). With `tcp_clients` the clients
    connect over TCP/IP on loopback rather than by Unix sockets. The clients are divided among as
    many processes of the load generator as `processes` says, which run at once. Over several hosts,
    clients are on the host of that role and connect over the network; with `clients_beside`, they
    are on the host of the first of their servers and connect by its socket. If `beside_data` is
    True, only servers on a data node's host are loaded; if it is False, only servers on other
    hosts. A `fault` is injected in each run. With `connections`, only servers with so many
    connections in their pool are loaded. In a cluster whose servers have options of their own
    (`Shape.server_options`), only those with these `server_options` are loaded.

    `set_global` are variables of the MySQL servers that are set while they run, before each slice;
    other variants of the cluster have the values that servers started with. The new values apply to
    new sessions, which all clients of a slice are.

    `quotas` replace the CPU quotas of the `scaled` budget on a running cluster; other budgets
    ignore them. They are shares of the host's usable CPUs (None: no limit), by name of a node
    ("mysqld.3"), by role ("mysqld", "ndbmtd"), or for "sql", all servers and clients together.
    A variant with `second_engine` runs the second of the installations that are compared. Variants
    share a cluster unless they differ in `shape`, `config_ini`, `my_cnf` or `second_engine`. The
    sweep leaves out a variant that is `contrasts_only`.
    """

    name: str = DEFAULT_VARIANT
    shape: Mapping[str, object] = field(default_factory=dict)
    tcp_clients: bool = False
    clients_beside: bool = False
    beside_data: bool | None = None
    processes: int = 1
    fault: Fault | None = None
    config_ini: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    my_cnf: Mapping[str, object] = field(default_factory=dict)
    options: Mapping[str, object] = field(default_factory=dict)
    table_options: str = ""
    neighbours: bool = False
    set_global: Mapping[str, object] = field(default_factory=dict)
    quotas: Mapping[str, float | None] = field(default_factory=dict)
    connections: int = 0
    server_options: Mapping[str, object] = field(default_factory=dict)
    contrasts_only: bool = False
    second_engine: bool = False

    def __post_init__(self) -> None:
        wrong = {
            name: share
            for name, share in self.quotas.items()
            if not _QUOTA.fullmatch(name) or not (share is None or 0 < share <= 1)
        }
        if wrong:
            raise LabError(
                f"A CPU quota of the variant {self.name} is unusable",
                found=wrong,
                expected="by node, role or sql: more than 0, at most 1, or None",
                next_step="Change the variant in the catalogue.",
            )

    @property
    def overlay(self) -> Overlay:
        """Parameters that differ for the cluster, not for the load alone."""
        return Overlay(self.config_ini, self.my_cnf)

    def to_dict(self) -> dict[str, object]:
        """Return the settings as plain data for JSON, overlays only where they are set."""
        always = {"shape": self.shape, "tcp_clients": self.tcp_clients}
        unset = vars(Variant(self.name))
        overlays = {key: value for key, value in vars(self).items() if value != unset[key]}
        return always | overlays | ({"fault": self.fault.to_dict()} if self.fault else {})
