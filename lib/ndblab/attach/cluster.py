"""A cluster that the lab did not start, measured through its endpoints and left as it was.

For the length of a `with` block there is an `Attached` cluster with a schema of the lab's own. The
lab starts, stops, signals, limits and configures none of its processes.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pymysql

from ndblab.attach import own_schema, put_back
from ndblab.attach.facts import Facts
from ndblab.attach.login import Login
from ndblab.attach.target import Session, Target
from ndblab.cluster import lease, start_stop, watchdog
from ndblab.cluster.cluster import ANSWER_TIMEOUT_S, Cluster
from ndblab.error import LabError
from ndblab.machine import Machine, Process, cleanup, commands
from ndblab.machine.local import LOCAL

if TYPE_CHECKING:
    from ndblab.attach.prepared import Prepared
    from ndblab.machine.interference import Reading
    from ndblab.planning.deployment import Node, Plan


def home() -> Path:
    """Return the folder for what runs beside an attached cluster, next to the lab's own one."""
    own = start_stop.home()
    return own.with_name(f"{own.name}-attached")


def others_per_s(target: Target) -> float:
    """Measure, for a second, the rate of operations that others request of the data nodes."""
    asked = "SELECT SUM(val) FROM ndbinfo.counters WHERE counter_name = 'OPERATIONS'"
    with target.session(1) as session:
        [(before,)] = session.run(asked)
        began = time.monotonic()
        time.sleep(1)
        [(after,)] = session.run(asked)
    return float(after - before) / (time.monotonic() - began)


@contextlib.contextmanager
def secret(account: Login) -> Iterator[int | None]:
    """Keep sysbench's option file in memory and yield its descriptor; None if there is no file.

    Only processes that inherit the descriptor can read it, and it ends with them.
    """
    text = account.sysbench_options()
    if not text:
        yield None
        return
    handle = os.memfd_create("sysbench-options")
    try:
        os.write(handle, text)
        yield handle
    finally:
        os.close(handle)


@contextlib.contextmanager
def running(prepared: Prepared) -> Iterator[Attached]:
    """Use an attached cluster for the duration of a `with` block; then leave it as it was.

    The schemas of its experiment are removed, and the global variables that this may set are put
    back. LabError if the schemas cannot be made, or the variables cannot be set.
    """
    target, facts, plan = prepared.target, prepared.facts, prepared.plan
    folder = Path(plan.places.cluster_dir)
    LOCAL.allow_open_files(plan.open_files)
    in_order = commands.exit_on_signals(signal.SIGTERM, signal.SIGHUP)
    with in_order, lease.hold(folder, ports=False) as lock_fd:
        guard = watchdog.start(folder, lock_fd)
        try:
            here = tuple(local_processes(facts, plan))
            cluster = Attached(
                plan, prepared.binaries, folder, target=target, options=prepared.options,
                known=here if len(here) == len(plan.nodes) else (),
            )  # fmt: skip
            cluster.machine = Beside(LOCAL, {pid for *_, pid in here})
            every = range(1, len(target.endpoints) + 1)
            with contextlib.ExitStack() as stack:
                sessions = stack.enter_context(_sessions(target, facts))
                for schema in prepared.allowed.schemas:
                    made = own_schema.held(schema, sessions, lambda: target.session(*every))
                    stack.enter_context(made)
                variables = prepared.allowed.variables
                stack.enter_context(put_back.held(variables, target, facts, folder))
                cluster.check_alive()
                yield cluster
        finally:
            cleanup.clean(folder)
            guard.communicate(b"done")


def detach(target: Target, facts: Facts) -> str:
    """Remove what killed labs have left on a cluster, and return what was done, in words.

    Global variables are put back. LabError if a lab is or may be alive.
    """
    with lease.hold(home(), ports=False), _sessions(target, facts) as sessions:
        own_schema.dead(sessions)  # Before a variable changes under a lab that is alive.
        values = put_back.restore(target, facts, home())
        schemas = own_schema.remove_left(sessions)
    done = [f"put back {values}"] if values else []
    done += [f"removed {schemas}"] if schemas else []
    return " and ".join(done)


@contextlib.contextmanager
def _sessions(target: Target, facts: Facts) -> Iterator[dict[int, Session]]:
    """Open a session on each endpoint; yield them by node id."""
    with contextlib.ExitStack() as stack:
        yield {
            server.node_id: stack.enter_context(target.session(number))
            for number, server in enumerate(facts.servers, 1)
        }


@dataclass
class Attached(Cluster):
    """A running cluster whose processes are not the lab's, used through its endpoints.

    `known` has role, node id and process id of its nodes if all of them run on this host, and is
    empty otherwise: CPU is measured for the whole cluster or not at all.
    """

    target: Target | None = None
    options: int | None = None
    known: tuple[tuple[str, int, int], ...] = ()
    uptimes_s: dict[int, int] = field(default_factory=dict)

    def connect(self, server: int = 1, answer_s: float = ANSWER_TIMEOUT_S) -> pymysql.Connection:
        """Open an SQL connection to the `server`-th endpoint; `answer_s` is its timeout."""
        assert self.target
        return self.target.open(server, answer_s)

    def pids(self) -> list[tuple[str, int, int, str]]:
        """Return role, node id, process id and host of the nodes; nothing if some run elsewhere."""
        return [(*node, "") for node in self.known]

    def runs(self, node: Node) -> bool:
        """Return True: only `check_alive` finds out that a node does not run."""
        return True

    def log(self) -> str:
        """Return nothing: the cluster log is its administrator's."""
        return ""

    def check_alive(self, *nodes: Node) -> None:
        """Make sure that all data nodes still serve, and that none was restarted."""
        try:
            rows = self.query(
                "SELECT node_id, status, uptime FROM ndbinfo.nodes", len(self.plan.servers)
            )
        except pymysql.Error as error:
            raise LabError(
                "A MySQL server of the attached cluster does not answer",
                found=str(error.args[-1]),
                expected="rows of ndbinfo.nodes",
                next_step="Run the same command again once it serves; completed runs are saved.",
            ) from error
        known = {int(node): (state, int(uptime_s)) for node, state, uptime_s in rows}
        for node in self.plan.data_nodes:
            state, uptime_s = known.get(node.node_id, ("not connected", 0))
            again = state == "STARTED" and uptime_s < self.uptimes_s.get(node.node_id, 0)
            if state != "STARTED" or again:
                raise LabError(
                    "The attached cluster changed while it was measured",
                    found=f"data node {node.node_id} {'was restarted' if again else 'is ' + state}",
                    expected="data nodes that all keep running",
                    next_step="Run the same command again once all are started; completed runs are "
                    "saved.",
                )
            self.uptimes_s[node.node_id] = uptime_s

    def start_node(self, node: Node, initial: bool = True) -> None:
        """Refuse: the cluster's nodes are not the lab's to start."""
        raise ValueError(f"{node.name} is not the lab's to start")

    def tell_neighbours(self, told: bool) -> None:
        """Refuse: this would set global variables."""
        raise ValueError("the settings of an attached cluster are not the lab's to change")

    def spawn_client(
        self, argv: Sequence[str], env: Mapping[str, str] | None = None, host: str = "", **streams
    ) -> Process:
        """Start a process of a load generator, which inherits the file with the password."""
        inherited = {} if self.options is None else {"pass_fds": (self.options,)}
        return super().spawn_client(argv, env, host, **streams, **inherited)


class Beside:
    """This machine, with the nodes of an attached cluster not counted as company."""

    def __init__(self, machine: Machine, nodes: set[int]) -> None:
        self._machine, self._nodes = machine, nodes

    def company(self) -> Reading:
        """Read the CPU time of the processes that are neither the lab's nor the cluster's."""
        reading = self._machine.company()
        others = {pid: seen for pid, seen in reading.others.items() if pid not in self._nodes}
        return reading._replace(others=others)

    def __getattr__(self, name: str):
        return getattr(self._machine, name)


def local_processes(facts: Facts, plan: Plan) -> Iterator[tuple[str, int, int]]:
    """Yield role, node id and process id of the nodes of a plan that run on this host."""
    processes = {process.node_id: process for process in facts.processes}
    addresses = {node.node_id: node.address for node in facts.nodes}
    for node in plan.nodes:
        process = processes.get(node.node_id)
        if process and _is_here(addresses.get(node.node_id, "")):
            name = LOCAL.get(Path(f"/proc/{process.pid}/comm")).strip()
            if name and name == process.name:
                yield node.role, node.node_id, process.pid


def _is_here(address: str) -> bool:
    """Return whether an address is one of this host's, to which a socket can be bound."""
    try:
        [(family, _, _, _, place), *_] = socket.getaddrinfo(address, 0, type=socket.SOCK_DGRAM)
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind(place)
    except (OSError, ValueError):
        return False
    return bool(address)
