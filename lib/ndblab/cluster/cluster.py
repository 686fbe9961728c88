"""A cluster whose processes have been started, as planned: nodes, SQL connections, and clients."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import pymysql

from ndblab.cluster import node_log, variables
from ndblab.error import LabError
from ndblab.machine import Links, Machine, Process, speed
from ndblab.machine.local import LOCAL
from ndblab.planning import config, fitness

if TYPE_CHECKING:
    from ndblab.cluster.account import Account
    from ndblab.install import Binaries
    from ndblab.machine.cgroups import Groups
    from ndblab.planning.deployment import Node, Plan

ANSWER_TIMEOUT_S = 30
SQL_SIDE = "sql"
"""Control group of all MySQL servers and load generators together."""
CLIENT_GROUP = f"{SQL_SIDE}/clients"


class Site(NamedTuple):
    """A host as a cluster uses it: its machine, the folder of its nodes, the programs there.

    `plan` is the part of the cluster's plan for this host, once there is a plan.
    """

    machine: Machine
    folder: Path
    binaries: Binaries
    plan: Plan | None = None


@dataclass
class Cluster:
    """A running cluster: what a workload, a monitor and a fault need of it.

    `machine` is the lab's own, where `binaries` and the cluster's `folder` are. For a cluster over
    several hosts, `sites` has the hosts by name, `account` is the one with which clients log in to
    MySQL servers, and `links` cuts the network between the hosts, where that is possible.

    There are `groups`, by host, only if the plan is `scaled`. They limit nothing until `limit` is
    called, which fills `placed` (the processes in them, by host and process id) and `periods_us`
    (the periods of the nodes' quotas, by node name). A twin without quotas runs as a whole in a
    control group of its own, `weighed`, if one can be made.
    """

    plan: Plan
    binaries: Binaries
    folder: Path
    groups: dict[str, Groups] = field(default_factory=dict)
    processes: dict[str, Process] = field(default_factory=dict)
    timings: dict[str, float] = field(default_factory=dict)
    limited: bool = False
    placed: set[tuple[str, int]] = field(default_factory=set)
    periods_us: dict[str, int] = field(default_factory=dict)
    machine: Machine = LOCAL
    sites: Mapping[str, Site] = field(default_factory=dict)
    account: Account | None = None
    links: Links | None = None
    weighed: Groups | None = None

    def site(self, host: str) -> Site:
        """Return a host's machine, folder and programs; the lab's own if `host` is empty."""
        return self.sites.get(host) or Site(self.machine, self.folder, self.binaries, self.plan)

    @property
    def every_site(self) -> Mapping[str, Site]:
        """Machine, folder and programs of each host that the cluster is on, by name."""
        return self.sites or {"": self.site("")}

    @property
    def machines(self) -> Mapping[str, Machine]:
        """The machine of each host that the cluster is on, by name; "" where there is one."""
        return {host: site.machine for host, site in self.every_site.items()}

    def machine_of(self, node: Node) -> Machine:
        """Return the machine that a node runs on."""
        return self.site(node.host).machine

    @property
    def load_site(self) -> Site:
        """Machine, folder and programs of the load generators."""
        return self.site(self.plan.load_host)

    def output(self, node: Node) -> Path:
        """Return the file that holds a node's standard output and error."""
        return self.site(node.host).folder / "logs" / f"{node.name}.out"

    def log(self) -> str:
        """Return the cluster log, which the management node writes."""
        node = self.plan.management_node
        return self.machine_of(node).get(Path(node.data_dir) / f"ndb_{node.node_id}_cluster.log")

    def configuration(self, name: str) -> str:
        """Return the text of config.ini or my.cnf on the host of the first node that needs it."""
        node = self.plan.management_node if name == config.CONFIG_INI else self.plan.servers[0]
        site = self.site(node.host)
        return site.machine.get(site.folder / name)

    def connect(self, server: int = 1, answer_s: float = ANSWER_TIMEOUT_S) -> pymysql.Connection:
        """Open an SQL connection to the `server`-th MySQL server; `answer_s` is its timeout."""
        node = self.plan.servers[server - 1]
        timeout_s = speed.timeout_s(answer_s)
        if self.account:
            where = self.account.connection(node)
        else:
            where = {"unix_socket": node.socket, "user": "root", "ssl_disabled": True}
        return pymysql.connect(
            autocommit=True, connect_timeout=timeout_s, read_timeout=timeout_s, **where
        )

    def query(self, sql: str, server: int = 1, answer_s: float = ANSWER_TIMEOUT_S) -> list[tuple]:
        """Run a statement on the `server`-th MySQL server and return its rows; see `connect`."""
        with contextlib.closing(self.connect(server, answer_s)) as connection:
            cursor = connection.cursor()
            cursor.execute(sql)
            return list(cursor.fetchall())

    def pids(self) -> list[tuple[str, int, int, str]]:
        """Return role, node id, process id and host of every node that was started."""
        started = (node for node in self.plan.nodes if node.name in self.processes)
        return [(n.role, n.node_id, self.processes[n.name].pid, n.host) for n in started]

    def runs(self, node: Node) -> bool:
        """Return whether a node was started and has not ended."""
        started = self.processes.get(node.name)
        return started is not None and started.poll() is None

    def check_alive(self, *nodes: Node) -> None:
        """Make sure that these nodes, or all, still run as planned if they were started.

        LabError if one has ended, with the reason from its own log; if one has left its control
        group, or CPUs of the plan are gone.
        """
        for site in self.every_site.values():
            fitness.check_cpus(site.plan, site.machine.usable_cpus())
        started = [node for node in nodes or self.plan.nodes if node.name in self.processes]
        if ended := [node for node in started if not self.runs(node)]:
            raise node_log.ended(self, ended)
        for node in started:
            pid = self.processes[node.name].pid
            if (node.host, pid) in self.placed:
                self._check_limit(node, pid)

    def start_node(self, node: Node, initial: bool = True) -> None:
        """Start the process of a node; its output goes to the cluster's `logs`.

        With `initial` False, the node keeps its data and its configuration.
        """
        site = self.site(node.host)
        argv = [*self._entering, *config.node_argv(self.plan, node, site.binaries, initial)]
        self.processes[node.name] = site.machine.spawn(argv, site.folder, log=self.output(node))

    def start_again(self, node: Node) -> None:
        """Restart a node that has ended, with the data and the CPU limit it had."""
        self.start_node(node, initial=False)
        if self.limited and node.role != "ndb_mgmd":
            self._place(node)

    def lost(self, host: str) -> None:
        """Forget the processes of a host that is known to be gone, and the connection to it."""
        self.sites[host].machine.abandon()
        for node in self.plan.nodes:
            if node.host == host:
                self.processes.pop(node.name, None)

    def regained(self, host: str) -> None:
        """Reconnect to a host that was gone and has kept its files; LabError if that fails."""
        self.sites[host].machine.reconnect()
        if host in self.groups:
            self.groups[host].claim()
            self._limit(host, self.groups[host], self.sites[host].plan, {})

    def limit(self, quotas_cpus: Mapping[str, float | None] = MappingProxyType({})) -> None:
        """Put every node under the CPU limits of a `scaled` plan; other plans have none.

        It may be called again, to change the limits of running nodes. `quotas_cpus` are limits in
        CPUs (None: no limit) in place of the plan's, by name of a node, by role, or of the "sql"
        side as a whole. A node gets at most the limit of its side.
        """
        for host, groups in self.groups.items():
            self._limit(host, groups, self.every_site[host].plan, quotas_cpus)
        self.limited = bool(self.groups)

    def _limit(
        self, host: str, groups: Groups, plan: Plan, quotas_cpus: Mapping[str, float | None]
    ) -> None:
        # A group's limit may not exceed that of the group it lies in, not even for a moment.
        groups.lift()
        sql_cpus = quotas_cpus.get(SQL_SIDE, plan.sql_side.quota_cpus)
        groups.create(SQL_SIDE, sql_cpus)
        groups.create(CLIENT_GROUP, None)
        for steps, node in enumerate((*plan.data_nodes, *plan.servers)):
            of_role = quotas_cpus.get(node.role, node.share.quota_cpus)
            cpus = quotas_cpus.get(node.name, of_role)
            if node.role == "mysqld" and None not in (cpus, sql_cpus):
                cpus = min(cpus, sql_cpus)
            # With a period of its own, rounding might give a server more than its side has.
            staggered = plan.staggered and cpus != sql_cpus
            self.periods_us[node.name] = groups.create(
                _group(node), cpus, steps if staggered else 0
            )
            if not self.limited:
                self._place(node)

    def lengthened_us(self) -> dict[str, tuple[int, int]]:
        """Return the period that was set and the one in force, where the kernel has lengthened it.

        Both are in microseconds, by node name. A node that has used up its quota waits for the next
        period, which shows in latency.
        """
        lengthened = {}
        for node in (node for node in self.plan.nodes if self.periods_us.get(node.name)):
            set_us = self.periods_us[node.name]
            if (now_us := self.groups[node.host].period_us(_group(node))) > set_us:
                lengthened[node.name] = (set_us, now_us)
        return lengthened

    def tell_neighbours(self, told: bool) -> None:
        """Tell every MySQL server which data node is its own, or that none is."""
        for node in self.plan.servers:
            with contextlib.closing(self.connect(node.number)) as connection:
                for statement in variables.neighbours(self.plan, node, told):
                    connection.cursor().execute(statement)

    def client_prefix(self, host: str = "") -> list[str]:
        """Return the command prefix that gives a load generator its share of the CPUs.

        Under quotas it is empty until the limits are set. `host` is where the load generator runs,
        if not on the host of that role.
        """
        if self.groups and not self.limited:
            return []
        host = host or self.plan.load_host
        if host in self.groups:
            return [*self._entering, *self.groups[host].entering(CLIENT_GROUP)]
        return [*self._entering, *config.binding(self.every_site[host].plan.sysbench)]

    @property
    def _entering(self) -> list[str]:
        return self.weighed.entering("") if self.weighed else []

    def spawn_client(
        self, argv: Sequence[str], env: Mapping[str, str] | None = None, host: str = "", **streams
    ) -> Process:
        """Start a process of a load generator with its share of the plan and the cluster's mark.

        Parameters are those of `Machine.spawn` and `client_prefix`; errors are those of the former.
        """
        site = self.site(host or self.plan.load_host)
        # sysbench looks for the account's certificates in its working folder.
        at = ["env", "-C", str(site.folder)] if self.account else []
        argv = [*self.client_prefix(host), *at, *argv]
        return site.machine.spawn(argv, site.folder, env, **streams)

    def spawn_beside_lab(
        self, argv: Sequence[str], env: Mapping[str, str] | None = None, **streams
    ) -> Process:
        """Start a load generator as `spawn_client` does, but always on the lab's own host."""
        argv = argv if self.sites else [*self.client_prefix(), *argv]
        return self.machine.spawn(argv, self.folder, env, **streams)

    def _place(self, node: Node) -> None:
        pid = self.processes[node.name].pid
        self.groups[node.host].place(_group(node), pid)
        self.placed.add((node.host, pid))

    def _check_limit(self, node: Node, pid: int) -> None:
        try:
            self.groups[node.host].check(_group(node), pid)
        except LabError:
            # A process that has just ended is in no group either.
            if self.runs(node):
                raise


def _group(node: Node) -> str:
    """Name the control group of a node; those of MySQL servers lie in a common one."""
    return f"{SQL_SIDE}/{node.name}" if node.role == "mysqld" else node.name
