"""What is sampled of a cluster, from real rows of ndbinfo and readings at given times."""

from __future__ import annotations

from types import SimpleNamespace

import pymysql
import pytest

from attached_facts import rows
from ndblab.error import LabError
from ndblab.machine import HostUse, ProcessUse
from ndblab.machine import interference as company
from ndblab.measuring import monitor

THREADS = [(int(r["node_id"]), int(r["thr_no"]), r["thread_name"]) for r in rows("threads")]
KINDS = {(node_id, thr_no): kind for node_id, thr_no, kind in THREADS}
COUNTERS = ("OS_user", "OS_system", "OS_idle", "exec", "send", "sleep", "spin", "elapsed")
NEWEST_FIRST = [
    tuple(int(row[name]) for name in ("node_id", "thr_no", *(f"{name}_time" for name in COUNTERS)))
    for row in rows("cpustat_1sec")
]


def fetched(*fetches: list[tuple], at_s: float = 100.0) -> monitor.Samples:
    """Samples of rows that were fetched at a time."""
    samples = monitor.Samples(KINDS)
    for history in fetches:
        samples.add_threads(at_s, history)
    return samples


def test_samples_of_a_data_node_are_dated_backwards_from_the_newest():
    """Twenty samples of about a second, the first row the latest; named by ndbinfo.threads."""
    table = fetched(NEWEST_FIRST).ndb_threads(75, 25)
    assert len(table) == 20
    assert set(table["thread"]) == {"ldm"}
    assert table["t_s"].is_monotonic_increasing
    assert table["t_s"].iloc[-1] == 24.5
    newest = NEWEST_FIRST[0]
    assert table["exec_pct"].iloc[-1] == pytest.approx(100 * newest[5] / newest[-1], abs=0.01)


def test_two_fetches_that_overlap_count_each_sample_once():
    """In a long run, what a data node still remembers of the last fetch is skipped."""
    samples = fetched(NEWEST_FIRST[5:], NEWEST_FIRST)
    assert len(samples.ndb_threads(0, 200)) == len(NEWEST_FIRST)


def test_only_samples_inside_the_run_are_its_own():
    """What was before a run of six seconds, or reaches over its ends, is left out."""
    table = fetched(NEWEST_FIRST).ndb_threads(94, 6)
    assert 4 <= len(table) <= 5
    assert table["t_s"].between(1.5, 5.6).all()


def test_a_run_too_short_for_a_whole_sample_gets_the_nearest():
    """One sample per thread, rather than none."""
    assert len(fetched(NEWEST_FIRST).ndb_threads(99, 1)) == 1


def test_no_thread_of_a_short_run_is_missing():
    """Where the whole sample of one thread fits and that of another does not."""
    [node_id, thr_no, *_], early = NEWEST_FIRST[0], monitor.Samples(KINDS)
    other = next(number for node, number in KINDS if node == node_id and number != thr_no)
    early.add_threads(98.4, NEWEST_FIRST)
    early.add_threads(100.0, [(node_id, other, *values) for _, _, *values in NEWEST_FIRST[:1]])
    assert set(early.ndb_threads(96, 3)["thr_no"]) == {thr_no, other}


def host(at_s: float, busy_s: float, steal_s: float = 0.0) -> HostUse:
    """A reading of a host of two CPUs."""
    return HostUse(at_s, busy_s, steal_s, 2 * at_s, load_1min=1.256)


def test_the_cpu_of_a_process_is_that_of_each_window_inside_the_run():
    """Half a CPU in the second before the run, all of one in its first; memory as it was read."""
    samples = monitor.Samples({})
    samples.watch("mysqld", 11, 4321)
    for at_s, cpu_s in ((9, 2.0), (10, 2.5), (11, 3.5)):
        samples.add({4321: ProcessUse(at_s, cpu_s, 5_000_000)}, host(at_s, 1))
    assert samples.processes(10, 1).to_dict("records") == [
        {"t_s": 1.0, "role": "mysqld", "node_id": 11, "cpu_pct": 100.0, "rss_bytes": 5_000_000}
    ]


def test_a_last_reading_right_after_another_is_no_window():
    """It would say that a busy process was idle, at a time that the other has already."""
    samples = monitor.Samples({})
    samples.watch("mysqld", 11, 4321)
    for at_s, cpu_s in ((10, 2.5), (11, 3.5), (11.004, 3.5)):
        samples.add({4321: ProcessUse(at_s, cpu_s, 1)}, host(at_s, 1))
    assert list(samples.processes(10, 1)["cpu_pct"]) == [100]


def test_a_node_that_was_restarted_goes_on_under_its_node_id():
    """The new process begins at no CPU time; no window has less than none."""
    samples = monitor.Samples({})
    for pid, at_s, cpu_s in ((1, 10, 2.0), (1, 11, 2.5), (2, 12, 0.1), (2, 13, 0.3)):
        samples.watch("ndbmtd", 3, pid)
        samples.add({pid: ProcessUse(at_s, cpu_s, 1)}, host(at_s, 1))
    assert list(samples.processes(10, 3)["cpu_pct"]) == [50, 0, 20]


def test_the_host_is_as_busy_as_it_was_during_the_run():
    """Readings before and after the run do not count; iowait that runs backwards harms nothing."""
    samples = monitor.Samples({})
    for at_s, busy_s, steal_s in ((8, 0, 0), (10, 1, 0.5), (12, 4, 0.6), (20, 20, 5)):
        samples.add({}, host(at_s, busy_s, steal_s))
    busy = {"host_busy_pct": 75.0, "host_steal_pct": 2.5, "host_load_1min": 1.26}
    assert samples.host(10, 2) == busy
    samples.add({}, host(22, 25, 4))
    assert samples.host(20, 2) == busy | {"host_busy_pct": 100, "host_steal_pct": 0}


def test_a_host_that_is_lost_after_its_first_reading_counts_for_nothing():
    """Whatever needs it reports that, not the monitor."""
    samples = monitor.Samples({})
    for name, at_s, busy_s in (("a", 10, 1), ("b", 10, 1), ("a", 12, 4)):
        samples.add({}, host(at_s, busy_s), name)
    assert samples.host(10, 2)["host_busy_pct"] == 75


class Double:
    """A cluster whose machine has a clock of its own, and whose data node answers with rows."""

    def __init__(self) -> None:
        self.plan = SimpleNamespace(servers=(1, 2))
        self.machine, self.machines, self.readings = self, {"": self}, 0

    def pids(self) -> list[tuple[str, int, int, str]]:
        return [("mysqld", 11, 4321, "")]

    def query(self, sql: str, server: int = 1) -> list[tuple]:
        return THREADS if "ndbinfo.threads" in sql else NEWEST_FIRST

    def process_use(self, pids):
        self.readings += 1
        return {pid: ProcessUse(self.readings, 0.5 * self.readings, 7) for pid in pids}

    def host_use(self) -> HostUse:
        return host(self.readings, self.readings)

    def company(self) -> company.Reading:
        seen = company.Seen(77, "chromium", 1, 0, 0.5 * self.readings, 0)
        return company.Reading(self.readings, 2, {77: seen})


def test_a_cluster_and_the_lab_are_sampled_from_the_beginning_to_the_end():
    """At least twice, so that even the shortest block has a window; threads at its end."""
    with monitor.sampling(Double()) as samples:
        pass
    table = samples.processes(1, 1)
    assert set(zip(table["role"], table["node_id"], strict=True)) == {("mysqld", 11), ("lab", 0)}
    assert set(table["cpu_pct"]) == {50}
    assert samples.host(1, 1)["host_busy_pct"] == 50
    assert len(samples.ndb_threads(0, 1e9)) == len(NEWEST_FIRST)
    assert samples.company() == company.Company(25, "chromium")


def test_a_server_that_does_not_answer_is_reported_unless_a_node_has_ended():
    """The end of a node is the better reason."""
    ended = []

    def check_alive() -> None:
        if ended:
            raise LabError("mysqld.1 ended by itself")

    def no_answer(sql: str, server: int = 1) -> list[tuple]:
        raise pymysql.OperationalError(2013, "Lost connection")

    cluster = SimpleNamespace(query=no_answer, check_alive=check_alive)
    with pytest.raises(LabError, match="does not answer"), monitor.sampling(cluster):
        pass
    ended.append(1)
    with pytest.raises(LabError, match="ended by itself"), monitor.sampling(cluster):
        pass
