"""A load divided among processes of sysbench; the reports are real output of it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from ndblab.error import LabError
from ndblab.planning import profile
from ndblab.planning.point import Point
from ndblab.workloads import divided_load, sysbench_output
from ndblab.workloads.load_generator import Job, Report

TEXT = (Path(__file__).parents[1] / "captured/sysbench/ndb_c8.txt").read_text()
SERVERS = [SimpleNamespace(socket=f"/s/{n}.sock") for n in (1, 2, 3, 4)]


def report(began: float = 100.0, text: str = TEXT, status: str = "ok") -> Report:
    result = sysbench_output.parse(text)
    return Report(
        status, began, result.duration_s, 1, result.metrics, result.intervals,
        {"sysbench.txt": text}, ended_s=result.ended_s,
    )  # fmt: skip


def parts(clients: int, processes: int) -> list[Job]:
    size = profile.get("smoke")
    job = Job(SimpleNamespace(), size, Point(4, clients), SERVERS, processes=processes)
    return divided_load.parts(job)


@pytest.mark.parametrize(("clients", "processes"), [(16, 4), (10, 4), (6, 4), (7, 2), (3, 1)])
def test_every_server_has_the_clients_that_one_process_gives_it(clients, processes):
    """sysbench deals its clients in turn, from the first server that it is told."""

    def dealt(job: Job) -> list[str]:
        return [job.servers[i % len(job.servers)].socket for i in range(job.point.clients)]

    divided = [socket for part in parts(clients, processes) for socket in dealt(part)]
    [whole] = parts(clients, 1)
    assert sorted(divided) == sorted(dealt(whole))
    assert len(parts(clients, processes)) == processes


def test_a_process_without_a_client_is_refused():
    with pytest.raises(LabError, match="needs a client"):
        parts(3, 4)


def test_queries_and_rates_add_up():
    """Over the time from the mean beginning to the last end."""
    one, both = report(), divided_load.joined([report(100.0), report(100.1)])
    assert both.status == "ok"
    assert both.metrics["queries"] == 2 * 13568
    assert both.began == pytest.approx(100.05)
    assert both.metrics["qps"] == pytest.approx(2 * 13568 / (6.0133 + 0.05))
    assert both.metrics["latency_avg_ms"] == pytest.approx(3.54)
    assert both.metrics["latency_max_ms"] == pytest.approx(90.85)
    assert list(both.intervals.columns) == list(one.intervals.columns)
    assert list(both.intervals["qps"]) == pytest.approx(list(2 * one.intervals["qps"]))
    assert set(both.intervals["clients"]) == {16}
    assert both.ended_s == pytest.approx((1, 2, 3, 4, 5, 6))


def test_the_percentile_of_both_is_not_known():
    """It is neither the mean of theirs nor the larger one."""
    both = divided_load.joined([report(), report()])
    assert both.metrics["latency_p95_ms"] is None
    assert both.intervals["latency_p95_ms"].isna().all()


def test_a_second_that_one_process_did_not_report_belongs_to_the_next():
    """Its report on two seconds meets the mean of the other's two."""
    begin, end = TEXT.index("[ 4s ]"), TEXT.index("[ 5s ]")
    late = report(text=TEXT[:begin] + TEXT[end:])
    both = divided_load.joined([report(), late]).intervals.set_index("t_s")
    assert list(both.index) == [1, 2, 3, 5, 6]
    assert both.loc[5, "qps"] == pytest.approx((1880.72 + 2338.49) / 2 + 2338.49)


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (report(status="sysbench exited 1: FATAL: unable to connect"), "sysbench exited 1"),
        (report(began=100.9), "2 processes of sysbench began 0.90 s apart"),
    ],
)
def test_one_that_fails_or_is_late_fails_all(other: Report, why: str):
    both = divided_load.joined([report(), other])
    assert both.status.startswith(why)
    assert list(both.logs) == ["sysbench.1.txt", "sysbench.2.txt"]


def test_a_process_without_a_report_leaves_no_numbers():
    """The queries of the others alone would be taken for those of all."""
    none = Report("sysbench printed no result", 100.0, 6.0, 1, {}, report().intervals.iloc[:0])
    both = divided_load.joined([report(), none])
    assert both.status == "sysbench printed no result"
    assert both.metrics == {}
    assert both.intervals.empty
