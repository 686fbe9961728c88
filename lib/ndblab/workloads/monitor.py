"""What the cluster does while sysbench runs: CPU and memory of every process, CPU of NDB threads.

In: a running cluster. Out: the tables `processes` and `ndb_threads` of a run, and how busy the host
was. It measures; it starts, limits and decides nothing.

Processes are read from /proc once a second. NDB threads cost nothing during a short run: every data
node keeps its last 20 one-second samples in ndbinfo.cpustat_1sec, newest first, which are fetched
after the run (and every few seconds of a long one).
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import psutil
import pymysql

from ndblab.error import LabError

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.cluster.lifecycle import Cluster

INTERVAL_S = 1.0
IMPLAUSIBLE_PCT = 115
"""A thread uses one CPU at most; a counter read late shows a little more, never this much."""
FETCH_EVERY_S = 12.0
"""Shorter than the 20 s that a data node remembers, so that two fetches overlap."""

_TIMES = ("OS_user", "OS_system", "OS_idle", "exec", "send", "sleep", "spin")
_COLUMNS = tuple(f"{name.lower()}_pct" for name in _TIMES)
_CPUSTAT = f"""SELECT node_id, thr_no, {", ".join(f"{name}_time" for name in _TIMES)}, elapsed_time
 FROM ndbinfo.cpustat_1sec"""


class Samples:
    """What was seen of one run, in raw form; times are those of `time.monotonic`."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._watched: dict[psutil.Process, tuple[str, int]] = {}
        for role, node_id, pid in cluster.pids():
            self.watch(role, node_id, pid)
        self.watch("lab", 0, os.getpid())
        self._processes: list[tuple[float, str, int, float, int]] = []
        self._threads: list[tuple[int, int, float, tuple[int, ...]]] = []
        self._newest: dict[tuple[int, int], tuple[int, ...]] = {}
        self._host: list[tuple[float, tuple[float, float, float]]] = []
        self._stop = threading.Event()
        self._threads_running = [
            threading.Thread(target=body, daemon=True)
            for body in (self._keep_sampling, self._keep_fetching)
        ]

    def watch(self, role: str, node_id: int, pid: int) -> None:
        """Sample one more process from now on; one that has ended already is passed over."""
        with contextlib.suppress(psutil.NoSuchProcess):
            self._watched = {**self._watched, psutil.Process(pid): (role, node_id)}

    def processes(self, began: float, duration_s: float) -> pd.DataFrame:
        """Table `processes` of a run that began at `began`; windows that reach out are left out."""
        import pandas as pd

        columns = ["at", "role", "node_id", "cpu_s", "rss_bytes"]
        raw = pd.DataFrame(self._processes, columns=columns).sort_values("at", kind="stable")
        of_process = raw.groupby(["role", "node_id"], sort=False)
        window_s = of_process["at"].diff()
        raw["cpu_pct"] = (100 * of_process["cpu_s"].diff() / window_s).clip(lower=0).round(1)
        raw["t_s"] = (raw["at"] - began).round(2)
        slack = INTERVAL_S / 4
        inside = (raw["t_s"] - window_s >= -slack) & (raw["t_s"] <= duration_s + slack)
        return raw.loc[inside, ["t_s", "role", "node_id", "cpu_pct", "rss_bytes"]]

    def ndb_threads(self, began: float, duration_s: float) -> pd.DataFrame:
        """Table `ndb_threads` of a run that began at `began`.

        A sample ends up to a second before it is fetched; taken to be half a second, its time is
        right to half a second, and the samples at both ends of a run are left out for that.
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
        if not inside.any():
            off = (table.t_s - table.window_s / 2 - duration_s / 2).abs()
            inside = off == off.groupby([table.node_id, table.thr_no]).transform("min")
        order = ["t_s", "node_id", "thr_no", "thread", *_COLUMNS]
        return table.loc[inside, order].sort_values(["t_s", "node_id", "thr_no"])

    def host(self, began: float, duration_s: float) -> dict[str, float]:
        """How busy the host was in a run: busy and stolen CPU in percent of all, load."""
        inside = [s for at, s in self._host if began - 0.5 <= at <= began + duration_s + 0.5]
        first, *_, last = inside if len(inside) > 1 else [sample for _, sample in self._host]
        busy, steal, total = (max(0.0, b - a) for a, b in zip(first, last, strict=True))
        # iowait may run backwards (proc_stat(5)), so that the parts can exceed the whole a little.
        return {
            "host_busy_pct": round(min(100.0, 100 * busy / total), 1) if total else 0.0,
            "host_steal_pct": round(min(100.0, 100 * steal / total), 2) if total else 0.0,
            "host_load_1min": round(os.getloadavg()[0], 2),
        }

    def __enter__(self) -> Samples:
        try:
            self._kinds = thread_kinds(self._cluster)
        except pymysql.Error as error:
            self._cluster.check_alive()
            raise LabError(
                "A MySQL server does not answer",
                found=str(error),
                expected="rows of ndbinfo.threads",
                next_step="Look at the error logs in the cluster's folder.",
            ) from error
        for thread in self._threads_running:
            thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop.set()
        for thread in self._threads_running:
            thread.join()
        self._sample()
        with contextlib.suppress(pymysql.Error):
            self._fetch_threads()

    def _keep_sampling(self) -> None:
        """Sample every second; what was missed is left out: no window is next to nothing long."""
        due = time.monotonic()
        while not self._stop.wait(max(0.0, due - time.monotonic())):
            self._sample()
            due = max(due + INTERVAL_S, time.monotonic() + INTERVAL_S / 2)

    def _keep_fetching(self) -> None:
        """Fetch in a thread of its own: servers under full load take seconds to answer."""
        while not self._stop.wait(FETCH_EVERY_S):
            with contextlib.suppress(pymysql.Error):
                self._fetch_threads()

    def _sample(self) -> None:
        for process, (role, node_id) in self._watched.items():
            with contextlib.suppress(psutil.Error), process.oneshot():
                times, memory = process.cpu_times(), process.memory_info()
                self._processes.append(
                    (time.monotonic(), role, node_id, times.user + times.system, memory.rss)
                )
        cpu = psutil.cpu_times()
        idle = cpu.idle + cpu.iowait
        total = idle + cpu.user + cpu.nice + cpu.system + cpu.irq + cpu.softirq + cpu.steal
        self._host.append((time.monotonic(), (total - idle - cpu.steal, cpu.steal, total)))

    def _fetch_threads(self) -> None:
        """Add the samples that are new since the last fetch.

        The last server is asked: it is idle unless all are in use.
        """
        rows = self._cluster.query(_CPUSTAT, server=len(self._cluster.plan.servers))
        now = time.monotonic() - 0.5
        histories: dict[tuple[int, int], list[tuple[int, ...]]] = {}
        for node_id, thr_no, *values in rows:
            histories.setdefault((node_id, thr_no), []).append(tuple(values))
        for key, newest_first in histories.items():
            ended = now
            for values in newest_first:
                if values == self._newest.get(key):
                    break
                if values[-1] > 0:
                    self._threads.append((*key, ended, values))
                    ended -= values[-1] / 1e6
            self._newest[key] = newest_first[0]


@contextlib.contextmanager
def sampling(cluster: Cluster) -> Iterator[Samples]:
    """Sample a cluster for the length of a `with` block."""
    with Samples(cluster) as samples:
        yield samples


def thread_kinds(cluster: Cluster) -> dict[tuple[int, int], str]:
    """Kind of every NDB thread by node id and thread number: main, ldm, tc ...

    Names come from ndbinfo.threads, never from the numbers, which move with the configuration.
    """
    rows = cluster.query("SELECT node_id, thr_no, thread_name FROM ndbinfo.threads")
    return {(node_id, thr_no): kind for node_id, thr_no, kind in rows}
