"""A load generator: what the lab needs of a program that loads a cluster.

A generator is a module with the attributes of `LoadGenerator`: the `load` module of an experiment,
or one of this package; `registry` finds it. It decides neither what is measured nor what a failure
means for a sweep.
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from ndblab.planning import workload

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.cluster.cluster import Cluster
    from ndblab.install import Binaries
    from ndblab.machine import Process
    from ndblab.planning.deployment import Node
    from ndblab.planning.point import Point
    from ndblab.planning.profile import Profile
    from ndblab.workloads.turns import Turn

OK = workload.OK
METRICS = (
    "queries", "errors", "reconnects", "qps",
    "latency_min_ms", "latency_avg_ms", "latency_p95_ms", "latency_max_ms",
)  # fmt: skip
"""Columns of table `runs` that a generator reports; it may leave out what it does not measure."""


@dataclass(frozen=True)
class Command:
    """One command of a load generator; `env` is added to the environment of the lab.

    If there are several hosts, it runs on `host`.
    """

    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    host: str = ""

    def line(self, prefix: Sequence[str] = ()) -> str:
        """Return the line to type in a shell; `prefix` gives the command its share of the CPUs."""
        env = ["env", *(f"{name}={value}" for name, value in self.env.items())] if self.env else []
        return shlex.join([*prefix, *env, *self.argv])


class Probe(Protocol):
    """Counters or the like that are read before and after a load; a module or an object."""

    def read(self, cluster: Cluster, job: Job) -> object:
        """Read the state of a job's cluster; LabError if a node has ended or does not answer."""
        ...

    def tables(self, before: object, cluster: Cluster, job: Job) -> dict[str, pd.DataFrame]:
        """Return tables of the run, by name, of what has changed since `before`."""
        ...

    def status(self, tables: Mapping[str, pd.DataFrame], queries: float | None) -> str:
        """Return "ok", or why these tables contradict the `queries` that the load reports."""
        ...


@dataclass(frozen=True)
class Job:
    """What a load generator is asked to do at a point.

    `servers` are the MySQL servers to load; the first one fills the tables. With `tcp_clients` the
    clients connect over TCP/IP on loopback rather than by Unix sockets. `options` are passed on the
    command line of a run as `--name=value`, `table_options` end the CREATE TABLE statements of the
    tables in `database`, by default the generator's own. The clients are divided among `processes`
    if the generator allows it; sysbench does. `probes` are read before and after the run. NDB's own
    programs reach the cluster by its `connectstring`. The MySQL account is `user`; `options_file`
    has its password, if there is one. If there are several hosts, the generator runs on `host`. A
    run is void if its errors exceed the share `tolerated_errors` of its queries. Clients that are
    to work in turn with those of another load have a `turn`.
    """

    binaries: Binaries
    profile: Profile
    point: Point
    servers: Sequence[Node]
    tcp_clients: bool = False
    options: Mapping[str, object] = field(default_factory=dict)
    table_options: str = ""
    processes: int = 1
    database: str = ""
    probes: Sequence[Probe] = ()
    connectstring: str = ""
    user: str = "root"
    options_file: str = ""
    host: str = ""
    tolerated_errors: float = 0.0
    turn: Turn | None = None

    @property
    def option_words(self) -> list[str]:
        """The options as words of a command line."""
        return [f"--{name}={value}" for name, value in self.options.items()]

    def lasting(self, seconds: float) -> Job:
        """Return the same job without a warm-up, for this long."""
        return replace(self, profile=replace(self.profile, warmup_s=0, duration_s=seconds))


@dataclass(frozen=True)
class Filled:
    """Cost of filling the tables: seconds, rows, and data memory in bytes by node id."""

    seconds: float
    rows: int
    data_memory_bytes: dict[int, int]

    def to_dict(self) -> dict[str, object]:
        """Return rows and data memory as a manifest has them."""
        taken = {str(node): used for node, used in self.data_memory_bytes.items()}
        return {"rows": self.rows, "data_memory_bytes": taken}


@dataclass(frozen=True)
class Report:
    """What a load generator reports of one run.

    `status` is "ok", or in one line why the run must not be averaged with others. `began` is when
    all clients started, by `time.monotonic`; `lasted_s` is from then to the end. `metrics` are
    those of `METRICS` that the generator measures. `ended_s` has the end of each of `intervals` in
    seconds since `began`, if it is known better than from their column. `logs` and `tables`
    (history...) are by name. A load that ends by itself is reported as a `whole`, whatever time it
    was given.
    """

    status: str
    began: float
    lasted_s: float
    warmup_s: float
    metrics: Mapping[str, float | None]
    intervals: pd.DataFrame
    logs: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    ended_s: Sequence[float] = ()
    whole: bool = False


@contextmanager
def spawned(
    cluster: Cluster, command: Command, beside_lab: bool = False, **streams
) -> Iterator[Process]:
    """Run a command against a cluster until it ends, or the `with` block does.

    At the end of the block it is killed, with all that it has started. It runs on the host of the
    load generators, or on the lab's own if it is `beside_lab`. Its standard input is empty, and
    both outputs are pipes, unless `streams` say otherwise.
    """
    pipe = subprocess.PIPE
    streams = {"stdin": subprocess.DEVNULL, "stdout": pipe, "stderr": pipe, **streams}
    if command.host and not beside_lab:
        streams["host"] = command.host
    spawn = cluster.spawn_beside_lab if beside_lab else cluster.spawn_client
    child = spawn(command.argv, command.env, text=True, errors="replace", **streams)
    try:
        yield child
    finally:
        if child.poll() is None:
            site = cluster.site(command.host) if command.host else cluster.load_site
            machine = cluster.machine if beside_lab else site.machine
            machine.kill(child, session=True)


class Load(Protocol):
    """A load that is running."""

    @property
    def pids(self) -> Sequence[int]:
        """Processes that generate the load, whose CPU is sampled; none where a pipeline does."""
        ...

    def wait_began(self, timeout_s: float) -> Sequence[float | None]:
        """Wait until all clients work, and return when that was, one time for each process.

        Times are by `time.monotonic`; None for a process whose clients never did.
        """
        ...

    def finish(self) -> Report:
        """Let the load run for its time, or to its own end, and return its report.

        LabError if the generator itself fails in a way that leaves nothing to report.
        """
        ...


class LoadGenerator(Protocol):
    """A module that loads a cluster."""

    ROLE: str
    """Role of its process in the table `processes`: one of `planning.workload.CLIENT_ROLES`."""

    # Only some have these (`registry`):
    # `files`: its own inputs by name, for the dry run and the dataset;
    # `warm_up(cluster, job)`: make ready for one run; return "ok", or in one line what failed;
    # `read_back(cluster)`: tables of what the load left in the cluster, once its nodes serve.

    def versions(self, binaries: Binaries) -> dict[str, str]:
        """Return versions of the programs that generate the load, by name, for the manifest."""
        ...

    def prepare_command(self, job: Job) -> Command:
        """Return the command that fills the tables, once after a cluster has started."""
        ...

    def commands(self, job: Job) -> list[Command]:
        """Return the commands of one run in order: those that warm up, and the measured one.

        With several processes, there are as many of each, which run at the same time.
        """
        ...

    def prepare(self, cluster: Cluster, job: Job) -> Filled:
        """Fill the tables of a cluster that has just started; LabError if that fails."""
        ...

    def running(self, cluster: Cluster, job: Job) -> AbstractContextManager[Load]:
        """Run the load for the length of a `with` block; no process of it outlives the block."""
        ...
