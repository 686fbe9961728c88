"""What a cluster does while a load runs: CPU and memory of every process, CPU of NDB threads.

It only measures.

Processes are sampled once a second. NDB threads cost nothing during a short run: every data node
keeps its last 20 one-second samples in ndbinfo.cpustat_1sec, newest first. They are fetched after
the run, and every few seconds during a long one.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pymysql

from ndblab.error import LabError
from ndblab.machine import interference as company

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.cluster.cluster import Cluster
    from ndblab.machine import HostUse, ProcessUse

LAB = "lab"
"""Stands for the host name of the lab's own process when the cluster spans several hosts."""
INTERVAL_S = 1.0
IMPLAUSIBLE_PCT = 115
"""A thread uses at most one CPU; a counter read late shows a little more, never this much."""
FETCH_EVERY_S = 12.0
"""Shorter than the 20 s that a data node remembers, so that two fetches overlap."""

_TIMES = ("OS_user", "OS_system", "OS_idle", "exec", "send", "sleep", "spin")
_COLUMNS = tuple(f"{name.lower()}_pct" for name in _TIMES)
_CPUSTAT = f"""SELECT node_id, thr_no, {", ".join(f"{name}_time" for name in _TIMES)}, elapsed_time
 FROM ndbinfo.cpustat_1sec"""


class Samples:
    """The raw samples of one run; times are those of `time.monotonic`.

    `kinds` maps node id and thread number of an NDB thread to its kind: "main", "ldm", "tc" ...
    `watched` maps, for each host, a process id to its role and node id; a single host has an empty
    name.
    """

    def __init__(self, kinds: Mapping[tuple[int, int], str]) -> None:
        self._kinds = kinds
        self.watched: dict[str, dict[int, tuple[str, int]]] = {}
        self._processes: list[tuple[float, str, int, float, int]] = []
        self._threads: list[tuple[int, int, float, tuple[int, ...]]] = []
        self._newest: dict[tuple[int, int], tuple[int, ...]] = {}
        self._host: dict[str, list[HostUse]] = {}
        self._company: dict[str, list[company.Reading]] = {}

    def watch(self, role: str, node_id: int, pid: int, host: str = "") -> None:
        """Sample one more process from now on."""
        self.watched[host] = {**self.watched.get(host, {}), pid: (role, node_id)}

    def add(self, processes: Mapping[int, ProcessUse], use: HostUse | None, host: str = "") -> None:
        """Add one reading of processes, by process id, and of their host unless `use` is None."""
        for pid, used in processes.items():
            watched = self.watched[host][pid]
            self._processes.append((used.at_s, *watched, used.cpu_s, used.rss_bytes))
        if use is not None:
            self._host.setdefault(host, []).append(use)

    def add_company(self, reading: company.Reading, host: str = "") -> None:
        """Add one reading of the processes of a host that are not the lab's."""
        self._company.setdefault(host, []).append(reading)

    def add_threads(self, fetched_s: float, rows: Iterable[tuple[int, ...]]) -> None:
        """Add rows of ndbinfo.cpustat_1sec that are new since the last fetch, newest first.

        The newest sample ended up to a second before the fetch; half a second is assumed.
        """
        histories: dict[tuple[int, int], list[tuple[int, ...]]] = {}
        for node_id, thr_no, *values in rows:
            histories.setdefault((node_id, thr_no), []).append(tuple(values))
        for key, newest_first in histories.items():
            ended = fetched_s - 0.5
            for values in newest_first:
                if values == self._newest.get(key):
                    break
                if values[-1] > 0:
                    self._threads.append((*key, ended, values))
                    ended -= values[-1] / 1e6
            self._newest[key] = newest_first[0]

    def processes(self, began: float, duration_s: float) -> pd.DataFrame:
        """Return the table `processes` of a run; windows that reach beyond it are left out.

        So is a window of less than a quarter of a second, which the last reading may end: its CPU
        time is too coarse.
        """
        import pandas as pd

        columns = ["at", "role", "node_id", "cpu_s", "rss_bytes"]
        raw = pd.DataFrame(self._processes, columns=columns).sort_values("at", kind="stable")
        of_process = raw.groupby(["role", "node_id"], sort=False)
        window_s = of_process["at"].diff()
        raw["cpu_pct"] = (100 * of_process["cpu_s"].diff() / window_s).clip(lower=0).round(1)
        raw["t_s"] = (raw["at"] - began).round(2)
        slack = INTERVAL_S / 4
        inside = (raw["t_s"] - window_s >= -slack) & (raw["t_s"] <= duration_s + slack)
        inside &= window_s >= slack
        return raw.loc[inside, ["t_s", "role", "node_id", "cpu_pct", "rss_bytes"]]

    def ndb_threads(self, began: float, duration_s: float) -> pd.DataFrame:
        """Return the table `ndb_threads` of a run.

        Times of samples are accurate to half a second, so the samples at both ends are left out.
        A thread left with none, as in a short run, keeps its sample nearest the middle of the run.
        """
        import pandas as pd

        rows = []
        for node_id, thr_no, ended, (*times, elapsed) in self._threads:
            shares = [round(100 * value / elapsed, 2) for value in times]
            if max(shares) > IMPLAUSIBLE_PCT:
                continue
            rows.append((round(ended - began, 2), elapsed / 1e6, node_id, thr_no, *shares))
        table = pd.DataFrame(rows, columns=["t_s", "window_s", "node_id", "thr_no", *_COLUMNS])
        table["thread"] = [
            self._kinds[key] for key in zip(table.node_id, table.thr_no, strict=True)
        ]
        inside = (table.t_s - table.window_s >= 0.5) & (table.t_s <= duration_s - 0.5)
        thread = [table.node_id, table.thr_no]
        off = (table.t_s - table.window_s / 2 - duration_s / 2).abs()
        nearest = off == off.groupby(thread).transform("min")
        inside |= nearest & ~inside.groupby(thread).transform("any")
        order = ["t_s", "node_id", "thr_no", "thread", *_COLUMNS]
        return table.loc[inside, order].sort_values(["t_s", "node_id", "thr_no"])

    def company(self) -> company.Company:
        """Return what others used from the first reading to the last; nothing without readings.

        With several hosts, return it for the host where others used most.
        """
        by_host = [
            (company.between(readings[0], readings[-1]), host)
            for host, readings in self._company.items()
        ]
        most, host = max(by_host, key=lambda pair: pair[0].pct, default=(company.NO_COMPANY, ""))
        return most._replace(name=f"{most.name} on {host}") if host and most.name else most

    def host(self, began: float, duration_s: float) -> dict[str, float]:
        """Return busy and stolen CPU time of the hosts in a run, in percent, and their load.

        The load is the highest of any host.
        """
        spans = [_ends(uses, began, duration_s) for uses in self._host.values()]
        # iowait may run backwards (proc_stat(5)), so the parts can slightly exceed the whole.
        total_s, busy_s, steal_s = (
            sum(max(0.0, getattr(last, name) - getattr(first, name)) for first, last in spans)
            for name in ("total_s", "busy_s", "steal_s")
        )
        busy_pct, steal_pct = (
            min(100.0, 100 * part_s / total_s) if total_s else 0.0 for part_s in (busy_s, steal_s)
        )
        return {
            "host_busy_pct": round(busy_pct, 1),
            "host_steal_pct": round(steal_pct, 2),
            "host_load_1min": round(max(last.load_1min for _, last in spans), 2),
        }


def _ends(uses: Sequence[HostUse], began: float, duration_s: float) -> tuple[HostUse, HostUse]:
    """Return a host's first and last reading in a run, or overall if the run has fewer than two."""
    inside = [use for use in uses if -0.5 <= use.at_s - began <= duration_s + 0.5]
    known = inside if len(inside) > 1 else uses
    return known[0], known[-1]


def of(cluster: Cluster) -> Samples:
    """Return empty samples that watch the nodes of a cluster and the lab itself.

    LabError if a node has ended, or a MySQL server does not answer.
    """
    samples = Samples(_thread_kinds(cluster))
    for role, node_id, pid, host in cluster.pids():
        samples.watch(role, node_id, pid, host)
    samples.watch("lab", 0, os.getpid(), "" if "" in cluster.machines else LAB)
    return samples


def read(cluster: Cluster, samples: Samples) -> None:
    """Sample the processes and the hosts once."""
    for host, machine in cluster.machines.items():
        # A host that is gone has nothing to sample. Whatever needs it will report that.
        with contextlib.suppress(LabError):
            processes = machine.process_use(samples.watched.get(host, ()))
            samples.add(processes, machine.host_use(), host)
    if own := samples.watched.get(LAB):
        samples.add(cluster.machine.process_use(own), None, LAB)


def read_hosts(cluster: Cluster, samples: Samples) -> None:
    """Sample the hosts once, but no process."""
    for host, machine in cluster.machines.items():
        samples.add({}, machine.host_use(), host)


def read_company(cluster: Cluster, samples: Samples) -> None:
    """Sample once the processes on each host that are not the lab's."""
    for host, machine in cluster.machines.items():
        with contextlib.suppress(LabError):
            samples.add_company(machine.company(), host)


def read_others(cluster: Cluster, samples: Samples) -> None:
    """Sample each host once, and the processes on it that are not the lab's."""
    read_company(cluster, samples)
    read_hosts(cluster, samples)


def fetch_threads(cluster: Cluster, samples: Samples) -> None:
    """Fetch samples of NDB threads, ignoring a failure.

    They come from the last MySQL server, which is idle unless all are in use.
    """
    with contextlib.suppress(pymysql.Error):
        rows = cluster.query(_CPUSTAT, server=len(cluster.plan.servers))
        samples.add_threads(time.monotonic(), rows)


@contextlib.contextmanager
def sampling(cluster: Cluster) -> Iterator[Samples]:
    """Sample a cluster and its host for the duration of a `with` block.

    LabError if a node has ended, or its last MySQL server does not answer.
    """
    samples = of(cluster)
    stop = threading.Event()
    sample = functools.partial(read, cluster, samples)
    fetch = functools.partial(fetch_threads, cluster, samples)

    def repeat(action: Callable[[], None], every_s: float) -> None:
        """Act at a steady pace; after a delay skip what was missed, so that no window is tiny."""
        due = time.monotonic() + every_s
        while not stop.wait(max(0.0, due - time.monotonic())):
            action()
            due = max(due + every_s, time.monotonic() + every_s / 2)

    # Fetching has a thread of its own: servers under full load take seconds to answer.
    paces = ((sample, INTERVAL_S), (fetch, FETCH_EVERY_S))
    threads = [threading.Thread(target=repeat, args=pace, daemon=True) for pace in paces]
    read_company(cluster, samples)
    sample()
    for thread in threads:
        thread.start()
    try:
        yield samples
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        sample()
        read_company(cluster, samples)
        fetch()


def _thread_kinds(cluster: Cluster) -> dict[tuple[int, int], str]:
    """Map node id and thread number of every NDB thread to its kind.

    Names come from ndbinfo.threads, never from the numbers, which depend on the configuration.
    """
    try:
        rows = cluster.query("SELECT node_id, thr_no, thread_name FROM ndbinfo.threads")
    except pymysql.Error as error:
        cluster.check_alive()
        raise LabError(
            "A MySQL server does not answer",
            found=str(error),
            expected="rows of ndbinfo.threads",
            next_step="Look at the error logs in the cluster's folder.",
        ) from error
    return {(node_id, thr_no): kind for node_id, thr_no, kind in rows}
