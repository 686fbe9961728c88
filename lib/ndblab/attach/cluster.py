"""A cluster that the lab did not start: read, measured through its endpoints, and left as it was.

In: a connect string, endpoints, an account. Out: `Facts`; and for the length of a `with` block an
`Attached` cluster with a schema of the lab's own. It sends a management node `show` and `all
status`, and MySQL servers nothing but reads and what fills and removes that schema. It starts,
stops, signals, limits and configures none of the cluster's processes.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import pymysql

from ndblab.attach import endpoint as endpoints
from ndblab.attach import login, own_schema
from ndblab.attach import plan as planning
from ndblab.attach.endpoint import Endpoint
from ndblab.attach.login import Login
from ndblab.attach.own_schema import Run, Session
from ndblab.attach.plan import Facts, Server
from ndblab.cluster import lease, management_client, start_stop, watchdog
from ndblab.cluster.cluster import ANSWER_TIMEOUT_S, Cluster
from ndblab.error import LabError
from ndblab.machine import Machine, Process, cleanup, speed
from ndblab.machine.local import LOCAL
from ndblab.planning.shape import Places

if TYPE_CHECKING:
    from ndblab.install import Binaries
    from ndblab.machine.interference import Reading
    from ndblab.planning.deployment import Node, Plan

VARIABLES = (
    "version", "version_comment", "hostname", "server_uuid", "port", "socket", "log_bin",
    "max_connections", "max_prepared_stmt_count", "require_secure_transport",
    "ndb_cluster_connection_pool", "ndb_connectstring", "ndb_data_node_neighbour",
    "ndb_optimized_node_selection", "ndb_read_backup", "ndb_fully_replicated", "ndb_batch_size",
    "ndb_autoincrement_prefetch_sz", "ndb_index_stat_enable", "ndb_join_pushdown",
    "ndb_recv_thread_activation_threshold", "ndb_recv_thread_cpu_mask", "thread_cache_size",
    "transaction_isolation", "performance_schema", "autocommit",
)  # fmt: skip
"""Of each MySQL server, for the manifest and for what is checked."""
_STATUS = ("Ndb_cluster_node_id", "Ndb_config_from_port", "Threads_connected")
_REFUSED, _DENIED = (2002, 2003), (1045, 1130, 1698, 1251)
_NO_TLS, _CIPHER = 2026, "SHOW SESSION STATUS LIKE 'Ssl_cipher'"


@dataclass(frozen=True)
class Target:
    """What the user named: a cluster, its MySQL servers, and the account to enter them by."""

    connectstring: str
    endpoints: tuple[Endpoint, ...]
    login: Login

    def open(self, number: int) -> pymysql.Connection:
        """Open a session on the server of the `number`-th endpoint.

        Over TCP it is encrypted as the account's `mode` says: by default where the server can.
        """
        place = self.endpoints[number - 1]
        if place.socket:
            return self._session(unix_socket=place.socket, ssl_disabled=True)
        host = "127.0.0.1" if place.host == "localhost" else place.host
        plain = {"host": host, "port": place.port, "ssl_disabled": True}
        if (context := self.login.tls()) is None:
            return self._session(**plain)
        try:
            session = self._session(host=host, port=place.port, ssl=context)
        except pymysql.OperationalError as error:
            if error.args[0] != _NO_TLS or self.login.mode != login.PREFERRED:
                raise
            return self._session(**plain)
        # Older releases of PyMySQL do without TLS where the server does.
        if self.login.mode != login.PREFERRED and not _run(session, _CIPHER)[0][1]:
            session.close()
            raise pymysql.OperationalError(_NO_TLS, "the server does not support it")
        return session

    def _session(self, **address: object) -> pymysql.Connection:
        timeout_s = speed.timeout_s(ANSWER_TIMEOUT_S)
        return pymysql.connect(
            **address,
            user=self.login.user,
            password=os.fsencode(self.login.password),
            autocommit=True,
            connect_timeout=timeout_s,
            read_timeout=timeout_s,
            program_name="scale-up lab",
        )

    def connect(self, number: int) -> pymysql.Connection:
        """Open a session, as `open` does; LabError says why that fails."""
        try:
            return self.open(number)
        except (pymysql.Error, OSError, RuntimeError) as error:
            raise _closed(self.endpoints[number - 1], self.login, error) from None


def target(connectstring: str, named: str | None) -> Target:
    """Return the target that the options --attach and --endpoints name.

    Raises
    ------
    LabError
        If an endpoint or an option file cannot be read.
    """
    if not named:
        raise LabError(
            "--attach needs the MySQL servers to load",
            found=f"--attach {connectstring} alone",
            expected="--endpoints with their sockets, or with host:port of each",
            next_step="Try: --endpoints /var/run/mysqld/mysqld.sock",
        )
    places, user = endpoints.parse(named)
    return Target(connectstring, places, login.find(user))


def home() -> Path:
    """Folder of what runs beside an attached cluster: beside that of the lab's own clusters."""
    own = start_stop.home()
    return own.with_name(f"{own.name}-attached")


def places() -> Places:
    """Return that folder as the places of a plan."""
    return Places(str(home()), str(home()))


def read(wanted: Target, binaries: Binaries) -> Facts:
    """Read everything about a cluster that the lab needs, and check it.

    Raises
    ------
    LabError
        If it does not answer, is not whole, or is not the cluster of its endpoints.
    """
    management, nodes = management_client.ask(binaries.ndb_mgm, wanted.connectstring)
    servers = tuple(_server(wanted, number) for number in range(1, len(wanted.endpoints) + 1))
    with _answering(wanted, 1) as connection:
        rows = functools.partial(_run, connection)
        facts = Facts(
            wanted.connectstring,
            management,
            nodes,
            servers,
            tuple(
                planning.Process(int(node), kind, int(pid or 0), name or "", uri or "")
                for node, kind, pid, name, uri in rows(
                    "SELECT node_id, node_type, process_id, process_name, service_URI"
                    " FROM ndbinfo.processes ORDER BY node_id"
                )
            ),
            _links(rows),
            _config(rows),
            {
                int(node): (int(used), int(total))
                for node, used, total in rows(
                    "SELECT node_id, used, total FROM ndbinfo.memoryusage"
                    " WHERE memory_type = 'Data memory'"
                )
            },
            {
                kind: int(number)
                for kind, number in rows(
                    "SELECT thread_name, COUNT(*) FROM ndbinfo.threads WHERE node_id ="
                    " (SELECT MIN(node_id) FROM ndbinfo.threads) GROUP BY thread_name"
                )
            },
        )
    planning.check(facts)
    return facts


def others_per_s(wanted: Target) -> float:
    """Measure for a second how many operations others ask of the data nodes."""
    asked = "SELECT SUM(val) FROM ndbinfo.counters WHERE counter_name = 'OPERATIONS'"
    with _answering(wanted, 1) as connection:
        [(before,)] = _run(connection, asked)
        began = time.monotonic()
        time.sleep(1)
        [(after,)] = _run(connection, asked)
    return float(after - before) / (time.monotonic() - began)


@contextlib.contextmanager
def secret(account: Login) -> Iterator[int | None]:
    """Keep the option file of sysbench in memory, and yield its descriptor; None without one.

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
def running(
    wanted: Target, facts: Facts, plan: Plan, binaries: Binaries, options: int | None = None
) -> Iterator[Attached]:
    """Use an attached cluster for the duration of a `with` block; then remove what the lab made.

    Parameters
    ----------
    options : the descriptor that `secret` yields.

    Raises
    ------
    LabError
        If another lab measures it, or its schema cannot be had.
    """
    folder = Path(plan.places.cluster_dir)
    LOCAL.allow_open_files(plan.open_files)
    with _ended_in_order(), lease.hold(folder, ports=False) as lock_fd:
        guard = watchdog.start(folder, lock_fd)
        try:
            here = tuple(local_processes(facts, plan))
            cluster = Attached(
                plan, binaries, folder, wanted=wanted, options=options,
                known=here if len(here) == len(plan.nodes) else (),
            )  # fmt: skip
            cluster.machine = Beside(LOCAL, {pid for *_, pid in here})
            with _schema(wanted, facts, folder) as removed:
                if removed:
                    print(f"removed what a lab had left: {removed}", file=sys.stderr)
                cluster.check_alive()
                yield cluster
        finally:
            cleanup.clean(folder)
            guard.communicate(b"done")


def detach(wanted: Target, facts: Facts) -> str:
    """Remove what a killed lab has left on an attached cluster; return what that was.

    Raises
    ------
    LabError
        If it is not a lab's, or of one that may be alive.
    """
    with lease.hold(home(), ports=False), _sessions(wanted, facts) as sessions:
        own_schema.lock(sessions)
        return own_schema.clear(sessions, cleanup.record(home()), _name(facts))


@dataclass
class Attached(Cluster):
    """A running cluster whose processes are not the lab's, through its endpoints.

    `known` are role, node id and process id of its nodes if all of them run on this host, so that
    CPU is that of the whole cluster or of none of it.
    """

    wanted: Target | None = None
    options: int | None = None
    known: tuple[tuple[str, int, int], ...] = ()
    uptimes_s: dict[int, int] = field(default_factory=dict)

    def connect(self, server: int = 1) -> pymysql.Connection:
        """Open an SQL connection to the `server`-th endpoint."""
        assert self.wanted
        return self.wanted.open(server)

    def pids(self) -> list[tuple[str, int, int, str]]:
        """Return role, node id, process id and host of the nodes; nothing if some run elsewhere."""
        return [(*each, "") for each in self.known]

    def runs(self, node: Node) -> bool:
        """Whether a node runs; `check_alive` finds out whether it does not."""
        return True

    def log(self) -> str:
        """Return nothing: the cluster log is its administrator's."""
        return ""

    def check_alive(self, *nodes: Node) -> None:
        """Make sure that all data nodes still serve, and that none was started again.

        Raises
        ------
        LabError
            If one does not, or no MySQL server answers.
        """
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
        found = {int(node): (state, int(uptime_s)) for node, state, uptime_s in rows}
        for node in self.plan.data_nodes:
            state, uptime_s = found.get(node.node_id, ("not connected", 0))
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

    def limit(self, quotas_cpus: Mapping[str, float | None] = MappingProxyType({})) -> None:
        """Limit nothing."""

    def start_node(self, node: Node, initial: bool = True) -> None:
        """Refuse: no node of it is the lab's to start."""
        raise ValueError(f"{node.name} is not the lab's to start")

    def start_again(self, node: Node) -> None:
        """Refuse, as `start_node` does."""
        self.start_node(node, initial=False)

    def tell_neighbours(self, told: bool) -> None:
        """Refuse: it sets global variables."""
        raise ValueError("the settings of an attached cluster are not the lab's to change")

    def client_prefix(self) -> list[str]:
        """Return nothing: load generators are not limited either."""
        return []

    def spawn_client(
        self, argv: Sequence[str], env: Mapping[str, str] | None = None, **streams
    ) -> Process:
        """Start a process of a load generator, which inherits the file with the password."""
        inherited = {} if self.options is None else {"pass_fds": (self.options,)}
        return self.machine.spawn(argv, self.folder, env, **streams, **inherited)


class Beside:
    """This machine, on which the nodes of an attached cluster are no company."""

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
    processes = {each.node_id: each for each in facts.processes}
    addresses = {node.node_id: node.address for node in facts.nodes}
    for node in plan.nodes:
        process = processes.get(node.node_id)
        if process and _is_here(addresses.get(node.node_id, "")):
            name = LOCAL.get(Path(f"/proc/{process.pid}/comm")).strip()
            if name and name == process.name:
                yield node.role, node.node_id, process.pid


def _is_here(address: str) -> bool:
    """Whether an address is one of this host's, which is what a socket may be bound to."""
    try:
        [(family, _, _, _, place), *_] = socket.getaddrinfo(address, 0, type=socket.SOCK_DGRAM)
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind(place)
    except (OSError, ValueError):
        return False
    return bool(address)


@contextlib.contextmanager
def _schema(wanted: Target, facts: Facts, folder: Path) -> Iterator[str]:
    @contextlib.contextmanager
    def fresh() -> Iterator[Run]:
        failed: LabError | None = None
        for number in range(1, len(wanted.endpoints) + 1):
            try:
                connection = wanted.connect(number)
            except LabError as error:
                failed = error
                continue
            with contextlib.closing(connection):
                yield functools.partial(_run, connection)
            return
        assert failed
        raise failed

    record = cleanup.record(folder)
    with (
        _sessions(wanted, facts) as sessions,
        own_schema.held(
            sessions, fresh, record, lambda known: lease.write(folder, dict(known)), _name(facts)
        ) as removed,
    ):
        yield removed


@contextlib.contextmanager
def _sessions(wanted: Target, facts: Facts) -> Iterator[list[Session]]:
    """Open a session on each endpoint."""
    with contextlib.ExitStack() as stack:
        found = []
        for number, server in enumerate(facts.servers, 1):
            connection = stack.enter_context(contextlib.closing(wanted.connect(number)))
            run = functools.partial(_run, connection)
            found.append(Session(str(server.endpoint), server.node_id, run))
        yield found


def _name(facts: Facts) -> str:
    """Name a cluster for the record of a folder."""
    ids = ",".join(str(node.node_id) for node in facts.of_kind("NDB"))
    return f"{facts.management[0]}:{facts.management[1]} {ids}"


def _run(connection: pymysql.Connection, statement: str, *values: object) -> list[tuple]:
    cursor = connection.cursor()
    cursor.execute(statement, values or None)
    return list(cursor.fetchall())


def _server(wanted: Target, number: int) -> Server:
    place = wanted.endpoints[number - 1]
    with _answering(wanted, number) as connection:

        def named(what: str, names: Sequence[str]) -> dict[str, str]:
            listed = ", ".join(f"'{name}'" for name in names)
            rows = _run(connection, f"SHOW GLOBAL {what} WHERE Variable_name IN ({listed})")
            return {str(name): str(value) for name, value in rows}

        status = named("STATUS", _STATUS)
        node_id = int(status.get("Ndb_cluster_node_id", 0))
        if not node_id:
            raise LabError(
                f"{place} is not a MySQL server of an NDB Cluster",
                found="no node id in its status"
                if "Ndb_cluster_node_id" not in status
                else "a server that is not connected to its cluster",
                expected="a mysqld with --ndbcluster, connected",
                next_step="Correct --endpoints, or look at the server's error log.",
            )
        rows = _run(connection, "SELECT node_id FROM ndbinfo.config_nodes WHERE node_type = 'NDB'")
        return Server(
            place,
            node_id,
            tuple(sorted(int(node) for (node,) in rows)),
            int(status.get("Ndb_config_from_port", 0)),
            named("VARIABLES", VARIABLES),
            int(status.get("Threads_connected", 0)),
        )


@contextlib.contextmanager
def _answering(wanted: Target, number: int) -> Iterator[pymysql.Connection]:
    """Open a session to read from; LabError if it is not allowed to, or gets no answer."""
    place = wanted.endpoints[number - 1]
    with contextlib.closing(wanted.connect(number)) as connection:
        try:
            yield connection
        except pymysql.Error as error:
            if own_schema.lacks_right(error):
                [(account,)] = _run(connection, "SELECT CURRENT_USER()")
                raise own_schema.without_right(str(place), account, error) from None
            raise LabError(
                f"{place} does not answer from ndbinfo",
                found=str(error.args[-1]),
                expected="rows of its tables",
                next_step="Enable ndbinfo on it (ndbinfo_offline=OFF), or name another server.",
            ) from None


def _links(rows) -> tuple[tuple[int, int, str], ...]:
    """Read the connected links; before 9.0 ndbinfo.transporter_details has no column `type`."""
    statement = "SELECT node_id, remote_node_id, {} FROM ndbinfo.{} WHERE status = 'CONNECTED'"
    try:
        found = rows(statement.format("type", "transporter_details"))
    except pymysql.Error:
        found = rows(statement.format("''", "transporters"))
    return tuple(sorted((int(node), int(other), str(kind)) for node, other, kind in found))


def _config(rows) -> dict[int, dict[str, str]]:
    found: dict[int, dict[str, str]] = {}
    for node, name, value in rows(
        "SELECT v.node_id, p.param_name, v.config_value FROM ndbinfo.config_values v"
        " JOIN ndbinfo.config_params p ON p.param_number = v.config_param"
        " ORDER BY v.node_id, p.param_name"
    ):
        found.setdefault(int(node), {})[str(name)] = "" if value is None else str(value)
    return found


def _closed(place: Endpoint, account: Login, error: Exception) -> LabError:
    """Return why a MySQL server cannot be entered."""
    code = error.args[0] if isinstance(error, pymysql.Error) and error.args else 0
    said = str(error.args[-1]) if error.args else type(error).__name__
    if code in _DENIED or isinstance(error, RuntimeError):
        with_it = "with the password found" if account.password else "without a password"
        return LabError(
            f"{place} does not let {account.user} in",
            found=f"{said} ({with_it})",
            expected="an account of that server",
            next_step=f"Name the user as user@{place}, and put its password into the group "
            f"[{login.GROUP}] of ~/.my.cnf, or into the environment as {login.PASSWORD}.",
        )
    if code == _NO_TLS or "CERTIFICATE_VERIFY_FAILED" in said:
        signed = f"a certificate that {account.authority or 'an authority of this host'} signs"
        of_host = f" and that names {place.host}" if account.mode == login.VERIFY_IDENTITY else ""
        return LabError(
            f"{place} cannot be entered with ssl-mode={account.mode}",
            found=said,
            expected="TLS" if code == _NO_TLS else f"{signed}{of_host}",
            next_step=f"Correct ssl-ca or ssl-mode in the group [{login.GROUP}] of ~/.my.cnf, or "
            "enable TLS on the server.",
        )
    what = "refuses connections" if code in _REFUSED else "does not answer as a MySQL server"
    return LabError(
        f"{place} {what}",
        found=said,
        expected="a running MySQL server",
        next_step="Correct --endpoints, or start the server.",
    )


@contextlib.contextmanager
def _ended_in_order() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into SystemExit, so that `with` blocks clean up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _: object) -> None:
        sys.exit(128 + number)

    before = {each: signal.signal(each, end) for each in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
