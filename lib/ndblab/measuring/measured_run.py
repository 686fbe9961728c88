"""One measured run: a load on a running cluster, watched from start to end.

It decides neither the points nor their order, and writes no file.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pandas as pd

from ndblab.cluster import node_log, readiness
from ndblab.dataset.table import row
from ndblab.machine.interference import disturbance
from ndblab.measuring import monitor
from ndblab.planning.workload import is_good, overran
from ndblab.statistics.cpu_use import Usage
from ndblab.workloads import registry
from ndblab.workloads.load_generator import OK, Job, Load, LoadGenerator, Report

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster


@dataclass(frozen=True)
class Run:
    """One measured run: its tables by name (`runs` has one row) and its raw outputs.

    Unless `recovered`, the cluster is of no further use. `disturbance` says in a few words who else
    used too much of the host's CPUs; such a run should be measured again.
    """

    tables: dict[str, pd.DataFrame]
    logs: dict[str, str] = field(default_factory=dict)
    recovered: bool = True
    disturbance: str = ""


def measure(cluster: Cluster, job: Job, repeat: int) -> Run:
    """Warm up and measure one run with the monitors on.

    A run that the load generator itself calls a failure has that as its status. LabError if a node
    of the cluster has ended or does not rejoin it, or the generator left nothing to report.
    """
    with under_load(cluster, job) as measured:
        measured.finish()
    cluster.check_alive()
    if not is_good(measured.report.status):
        readiness.wait_rejoined(cluster, job.servers)
    return measured.result(repeat, tables=registry.read_back(cluster, job.point.workload))


@contextmanager
def under_load(cluster: Cluster, job: Job) -> Iterator[UnderLoad]:
    """Warm up, then load and watch a cluster for the length of a `with` block."""
    generator = registry.find(job.point.workload)
    warm = registry.warm_up(cluster, job)
    cluster.check_alive()
    with monitor.sampling(cluster) as samples:
        before = [probe.read(cluster, job) for probe in job.probes]
        with generator.running(cluster, job) as load:
            beside_lab = getattr(generator, "BESIDE_LAB", False) and cluster.sites
            for number, pid in enumerate(load.pids):
                samples.watch(generator.ROLE, number, pid, monitor.LAB if beside_lab else job.host)
            yield UnderLoad(cluster, job, generator, samples, load, warm, before)


@dataclass
class UnderLoad:
    """A cluster under load.

    `warm` is the status of the warm-up, `before` what the probes read when it was over.
    """

    cluster: Cluster
    job: Job
    generator: LoadGenerator
    samples: monitor.Samples
    load: Load
    warm: str
    before: Sequence[object] = ()
    started_utc: str = field(default_factory=lambda: now_utc())

    def finish(self) -> None:
        """Wait for the load to end, and read the probes again."""
        self.report: Report = self.load.finish()
        self.probed = probed(self.before, self.cluster, self.job)
        # The cluster log is dated by the calendar, all else by the monotonic clock.
        self._began_s = time.time() - (time.monotonic() - self.report.began)

    def result(
        self,
        repeat: int,
        status: str = OK,
        marks: Sequence[tuple[float, int, str, str]] = (),
        tables: Mapping[str, pd.DataFrame] | None = None,
    ) -> Run:
        """Compose the tables and logs of the run once the `with` block has ended.

        Parameters
        ----------
        status : of what was done to the cluster; the load's own if that is "ok".
        marks : what was done, as (`time.monotonic`, node id, event, text).
        tables : more tables of the run by name.
        """
        report, samples, point = self.report, self.samples, self.job.point
        status, company = self._status(status), samples.company()
        # The host idles while clients leave; that is no part of the rate.
        asked_s = self.job.profile.duration_s
        span = report.began, asked_s if overran(status) else report.lasted_s
        host = samples.host(*span)
        processes = samples.processes(*span)
        log = self.cluster.log()
        composed = {
            "runs": row(
                "runs",
                **point.columns(repeat),
                status=status,
                started_utc=self.started_utc,
                warmup_s=report.warmup_s,
                duration_s=report.lasted_s,
                **report.metrics,
                client_cpu_pct=self._client_pct(processes),
                **host,
                company_pct=company.pct,
                company=company.name,
            ),
            "intervals": report.intervals,
            "processes": processes,
            "ndb_threads": samples.ndb_threads(*span),
            "events": self._events(marks, log),
            **report.tables,
            **(self.probed if is_good(status) else {}),
            **(tables or {}),
        }
        run_id = point.run_id(repeat)
        for table in composed.values():
            if "run_id" not in table:
                table.insert(0, "run_id", run_id)
        logs = dict(report.logs)
        if marks:
            logs["cluster.log"] = node_log.between(log, self._began_s, time.time())
        named = {f"{run_id}.{name}": text for name, text in logs.items()}
        return Run(composed, named, disturbance=disturbance(company, host["host_steal_pct"]))

    def _status(self, done: str) -> str:
        """Return the status of the run: that of what was `done`, of the load, or of its probes."""
        if done == OK:
            done = self.report.status if self.warm == OK else f"warm-up failed: {self.warm}"
        if not is_good(done):
            return done
        queries = self.report.metrics.get("queries")
        probes = status_of_probes(self.job, self.probed, queries)
        return done if probes == OK else probes

    def _client_pct(self, processes: pd.DataFrame) -> float | None:
        """Return the CPU use of the load's own processes; None if none was sampled."""
        client = processes[processes.role == self.generator.ROLE]
        if client.empty:
            return None
        return round(float(Usage(client.assign(run_id="")).roles.iloc[0, 0]), 1)

    def _events(self, marks: Sequence[tuple[float, int, str, str]], log: str) -> pd.DataFrame:
        """Return what was done and what the cluster log says of the run, in order of time."""
        began_s = self._began_s
        logged = node_log.events(log, began_s, began_s + self.report.lasted_s)
        rows = [(round(at - self.report.began, 3), *rest) for at, *rest in marks]
        rows += [(round(at_s - began_s, 3), *rest) for at_s, *rest in logged]
        return pd.DataFrame(sorted(rows), columns=["t_s", "node_id", "event", "text"])


def probed(before: Sequence[object], cluster: Cluster, job: Job) -> dict[str, pd.DataFrame]:
    """Return the tables, by name, of what a job's probes read before and read now."""
    tables: dict[str, pd.DataFrame] = {}
    for probe, state in zip(job.probes, before, strict=True):
        tables |= probe.tables(state, cluster, job)
    return tables


def status_of_probes(job: Job, tables: Mapping[str, pd.DataFrame], queries: float | None) -> str:
    """Return "ok", or why the tables of a job's probes contradict the queries of its load."""
    statuses = (probe.status(tables, queries) for probe in job.probes)
    return next((status for status in statuses if status != OK), OK)


def now_utc() -> str:
    """Return the date and time in UTC, as datasets have them."""
    return datetime.now(UTC).isoformat(timespec="seconds")
