"""Turns of a second: two scripted loads whose clients wait for theirs, and a real cluster."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import psutil
import pytest

import waiting
from measuring.scripted import Scripted, asked, rendered, row
from ndblab.cluster import pair
from ndblab.cluster.cluster import Cluster
from ndblab.design import contrast as designs
from ndblab.design.contrast import ALTERNATION, Contrast, Side
from ndblab.measuring import monitor, slices, turns
from ndblab.measuring.measured_run import Run
from ndblab.measuring.slice_tables import SWITCHED_TOO_LATE, Asked
from ndblab.planning import profile
from ndblab.planning.point import Point
from ndblab.planning.workload import WAITED
from ndblab.workloads import turns as shared_turns
from ndblab.workloads.load_generator import Job, Report

BASE = {"a": 1000, "b": 2000}
"""In its second N a scripted side reports so many queries/s and N, if that is its own."""
WAITS = f"""
import mmap, os, pathlib, struct
side = os.environ["NDBLAB_TURNS_SIDE"]
place = {shared_turns.SIDES!r}.index(side)
words = dict(word.split("=", 1) for word in sys.argv[2:-1])
assert sys.argv[1] == {str(shared_turns.SCRIPT)!r}
with open(os.environ["NDBLAB_TURNS"], "r+b") as file:
    memory = mmap.mmap(file.fileno(), 0)
def number(form, at):
    return struct.unpack_from(form, memory, at)[0]
def connect(folder):
    time.sleep(0.3)
    pathlib.Path(folder, side + ".connected").touch()
    for client in range(int(words["--threads"])):
        memory[{shared_turns._CLIENTS_AT} + place * {shared_turns.MOST_CLIENTS} + client] = DOES
def line(second, qps):
    rates = f"tps: {{qps:.2f}} qps: {{qps:.2f}} (r/w/o: {{qps:.2f}}/0.00/0.00)"
    print(f"[ {{second}}s ] thds: 8", rates, "lat (ms,95%): 1.00 err/s: 0.00 reconn/s: 0.00",
          flush=True)
"""
WORKS = """
while not number("<d", 0):
    time.sleep(0.002)
time.sleep(max(0, number("<d", 0) - time.monotonic()))
began = time.monotonic()
print("Threads started!", flush=True)
for second in range(1, int(words["--time"]) + 1):
    time.sleep(max(0, began + second - time.monotonic()))
    turn = round(began + second - 1 - number("<d", 8))
    sides = bytes(memory[28:28 + number("<I", 24)]).decode()
    mine = 0 <= turn < len(sides) and sides[turn] == side
    line(second, {"a": 1000, "b": 2000}[side] + second if mine else LEFT)
print(TOTALS.replace("6.0133s", f"{words['--time']}.0133s"), flush=True)
"""
REPORT = (Path(__file__).parents[1] / "captured/sysbench/ndb_c8.txt").read_text()
TOTALS = REPORT[REPORT.index("SQL statistics") :]


TICKS = """
import sys, time
while True:
    print(time.monotonic(), flush=True)
    time.sleep(0.01)
"""


@pytest.fixture(autouse=True)
def a_busy_host_is_not_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests run beside each other, so what is due may be done late; two tests mean that."""
    monkeypatch.setattr(turns, "SWITCHED_LATE_S", 0.9)
    monkeypatch.setattr(turns, "THAWED_LATE_S", 0.9)


def scripted(folder: Path, left: float = 0.0, amid_query: bool = False) -> Scripted:
    """A cluster whose loads take turns, and report `left` queries/s in those of the other side.

    If `amid_query`, its clients never finish a query.
    """
    folder.mkdir(exist_ok=True)
    does = shared_turns._WORKS if amid_query else shared_turns._WAITS
    values = f"LEFT, TOTALS, DOES = {left}, {TOTALS!r}, {does}"
    return Scripted(folder, f"{WAITS}\n{values}\nconnect({str(folder)!r})\n{WORKS}")


def asked_of(cluster_of: Mapping[str, Scripted], order: str, warmup_s: int = 0) -> list[Asked]:
    """The slices of a block: side by side in this order, after a warm-up of each side."""
    size = profile.get("smoke", {"warmup_s": warmup_s, "duration_s": 1})
    return [
        asked(cluster_of[side], side, len(order), slot, size) for slot, side in enumerate(order, 1)
    ]


def by_turns(slices_: Sequence[Asked]) -> list[turns.Turn]:
    """Each slice as a turn of its side."""
    return [turns.Turn(str(slice_.place["side"]), [slice_]) for slice_ in slices_]


def measured(
    cluster_of: Mapping[str, Scripted],
    order: str,
    warmup_s: int = 0,
    on_ready: Callable[[str], None] = lambda side: None,
) -> list[Run]:
    """Measure a block, and render its tables, which checks every cell."""

    def ready(side: str) -> Scripted:
        on_ready(side)
        return cluster_of[side]

    sides = {side: (lambda side=side: ready(side)) for side in "ab"}
    asked = by_turns(asked_of(cluster_of, order, warmup_s))
    return rendered(turns.measure(asked, sides))


def both(cluster: Scripted) -> dict[str, Scripted]:
    return dict.fromkeys("ab", cluster)


def test_each_slice_is_a_second_of_its_own_side(tmp_path: Path):
    """After a second of nobody and a warm-up of both; processes are sampled turn by turn."""
    runs = measured(both(scripted(tmp_path)), "abba", warmup_s=1)
    assert [row(run)["status"] for run in runs] == ["ok"] * 4
    first = shared_turns.LEAD_S + 2
    expected = [BASE[side] + first + 1 + place for place, side in enumerate("abba")]
    assert [row(run)["qps"] for run in runs] == pytest.approx(expected, abs=1)
    assert [row(run)["side"] for run in runs] == list("abba")
    assert {row(run)["warmup_s"] for run in runs} == {first}
    for run in runs:
        assert run.tables["processes"]["t_s"].between(0.2, 1.9).all()
        assert list(run.tables["intervals"]["t_s"]) == [1]
        assert not run.logs


def test_one_side_is_connected_before_the_other_is_made_ready(tmp_path: Path):
    """Sessions keep what was set when they began; in one cluster each side has its own client."""
    seen = []

    def on_ready(side: str) -> None:
        seen.append((side, sorted(path.name for path in tmp_path.glob("*.connected"))))

    runs = measured(both(scripted(tmp_path)), "ba", on_ready=on_ready)
    assert seen == [("b", []), ("a", ["b.connected"])]
    for run in runs:
        processes = run.tables["processes"]
        assert sorted(processes.loc[processes["role"] == "sysbench", "node_id"]) == [0, 1]


def test_two_clusters_have_samples_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The rows of a slice are processes of its side's cluster alone."""
    clusters, node_ids = {side: scripted(tmp_path / side) for side in "ab"}, (11, 12)
    with ExitStack() as stack:
        for node_id, cluster in zip(node_ids, clusters.values(), strict=True):
            node = stack.enter_context(subprocess.Popen(["sleep", "60"]))
            stack.callback(node.kill)
            there = [("mysqld", node_id, node.pid, "")]
            monkeypatch.setattr(cluster, "pids", lambda there=there: there)
        runs = measured(clusters, "ab")
    assert [row(run)["status"] for run in runs] == ["ok", "ok"]
    for run, node_id in zip(runs, node_ids, strict=True):
        processes = run.tables["processes"].set_index("role")["node_id"]
        assert processes["mysqld"] == node_id
        assert processes["sysbench"] == 0
    assert [cluster.alive_checks for cluster in clusters.values()] == [1, 1]


class Ticking:
    """A process of a cluster that writes down when it runs."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.file = folder / "ticks"
        argv = [sys.executable, "-c", TICKS]
        self.process = stack.enter_context(subprocess.Popen(argv, stdout=self.file.open("wb")))
        stack.callback(self.process.kill)
        waiting.until(lambda: self.file.stat().st_size, 20, "the first tick")

    def between(self, first_s: float, last_s: float) -> int:
        """How often it ran within this time."""
        ticks = [float(line) for line in self.file.read_text().splitlines()[:-1]]
        return sum(first_s < tick < last_s for tick in ticks)


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, shared_turns.Turns]]:
    """When the turns of each block began, and the turns."""
    seen, usual = [], shared_turns.Turns.begin

    def begin(self, begin_s: float, turn_s: float, sides) -> None:
        seen.append((begin_s, self))
        usual(self, begin_s, turn_s, sides)

    monkeypatch.setattr(shared_turns.Turns, "begin", begin)
    return seen


def test_of_two_clusters_only_the_one_whose_turn_it_is_runs(tmp_path: Path, begun: list):
    """Idle processes use CPUs that the other side would have. In the end both run again."""
    clusters = {side: scripted(tmp_path / side) for side in "ab"}
    with ExitStack() as stack:
        ticking = {side: Ticking(cluster.folder, stack) for side, cluster in clusters.items()}
        for side, cluster in clusters.items():
            cluster.processes["ndbmtd.1"] = ticking[side].process
        runs = measured(clusters, "abba")
        ended_s = time.monotonic()
        for ticks in ticking.values():
            waiting.until(lambda t=ticks: t.between(ended_s, ended_s + 60), 20, "a tick after it")
    assert [row(run)["status"] for run in runs] == ["ok"] * 4
    [(begin_s, _)] = begun
    for second, side in enumerate("abba"):
        turn = begin_s + second + turns.FINISHED_S, begin_s + second + 1 - turns.THAWED_BEFORE_S
        for name, ticks in ticking.items():
            assert (ticks.between(*turn) > 5) == (name == side), (second, name)


def test_processes_that_both_sides_share_are_never_frozen(tmp_path: Path, begun: list):
    """One of the sides works, whoever's turn it is."""
    cluster = scripted(tmp_path)
    with ExitStack() as stack:
        ticking = Ticking(tmp_path, stack)
        cluster.processes["ndbmtd.1"] = ticking.process
        measured(both(cluster), "abba")
    [(begin_s, _)] = begun
    assert all(ticking.between(begin_s + n / 2, begin_s + n / 2 + 0.5) > 5 for n in range(8))


def test_a_block_that_breaks_off_leaves_no_cluster_frozen(tmp_path: Path, monkeypatch):
    """Whatever ends it, such as Ctrl-C: a frozen node neither serves nor stops."""
    clusters = {side: scripted(tmp_path / side) for side in "ab"}

    def interrupted(cluster: Scripted, samples: monitor.Samples) -> None:
        if psutil.STATUS_STOPPED in [state(cluster) for cluster in clusters.values()]:
            raise KeyboardInterrupt

    def state(cluster: Scripted) -> str:
        return psutil.Process(cluster.processes["ndbmtd.1"].pid).status()

    monkeypatch.setattr(monitor, "read", interrupted)
    with ExitStack() as stack:
        for cluster in clusters.values():
            cluster.processes["ndbmtd.1"] = Ticking(cluster.folder, stack).process
        with pytest.raises(KeyboardInterrupt):
            measured(clusters, "abba")
        assert psutil.STATUS_STOPPED not in [state(cluster) for cluster in clusters.values()]


@pytest.mark.parametrize(
    ("of_servers", "status"), [((0.5, 0.5), SWITCHED_TOO_LATE), ((0.0, 0.5), "ok")]
)
def test_a_turn_whose_servers_were_thawed_too_late_is_void(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of_servers: Sequence[float], status: str
):
    """They would have had less time to work in than the other side's; one of several may be late.

    Later turns are not affected.
    """
    late = iter([(0.0, 0.0), of_servers])

    def thaw(cluster: Scripted) -> dict[str, float]:
        seconds = next(late, (0.0, 0.0))
        now = time.monotonic()
        servers = zip(cluster.plan.servers, seconds, strict=True)
        return {node.name: now + turns.THAWED_BEFORE_S + late_s for node, late_s in servers}

    monkeypatch.setattr(pair, "thaw", thaw)
    monkeypatch.setattr(turns, "THAWED_LATE_S", 0.4)
    runs = measured({side: scripted(tmp_path / side) for side in "ab"}, "abab")
    assert [row(run)["status"] for run in runs] == ["ok", status, "ok", "ok"]


def test_the_time_at_which_each_process_goes_on_is_known(tmp_path: Path):
    """In the order of their start."""
    told: list[str] = []
    cluster = scripted(tmp_path)
    for name in ("ndbmtd.1", "mysqld.1"):
        cluster.processes[name] = SimpleNamespace(send_signal=lambda _, who=name: told.append(who))
    before = time.monotonic()
    first, second = pair.thaw(cluster).values()
    assert before <= first <= second <= time.monotonic()
    assert told == ["ndbmtd.1", "mysqld.1"]


def test_a_turn_that_was_read_too_late_has_no_processes(tmp_path: Path, monkeypatch):
    """Nor has the one that ends there; its rate is sysbench's own, and counts."""
    usual, readings = monitor.read, []

    def read(cluster: Scripted, samples: monitor.Samples) -> None:
        readings.append(time.monotonic())
        usual(cluster, samples)
        if len(readings) == 2:
            time.sleep(1.75)

    monkeypatch.setattr(turns, "SWITCHED_LATE_S", 0.5)
    monkeypatch.setattr(monitor, "read", read)
    runs = measured(both(scripted(tmp_path)), "abba")
    assert len(readings) == 5
    assert ["processes" in run.tables for run in runs] == [True, False, False, True]
    assert [row(run)["status"] for run in runs] == ["ok"] * 4


def test_queries_that_last_into_the_turns_of_the_other_void_both_sides(tmp_path: Path):
    """Whose they are: what is measured of the other is not one side alone either."""
    clusters = {side: scripted(tmp_path / side, left) for side, left in (("a", 900.0), ("b", 50.0))}
    runs = measured(clusters, "ab")
    assert [row(run)["status"] for run in runs] == [turns.TOO_LONG] * 2
    assert all(run.logs for run in runs)


def test_clients_that_are_frozen_amid_a_query_void_both_sides(tmp_path: Path):
    """The time in which it was stopped would count as its latency."""
    clusters = {"a": scripted(tmp_path / "a"), "b": scripted(tmp_path / "b", amid_query=True)}
    runs = measured(clusters, "abba")
    assert [row(run)["status"] for run in runs] == [turns.TOO_LONG] * 4
    shared = scripted(tmp_path / "shared", amid_query=True)
    assert [row(run)["status"] for run in measured(both(shared), "ab")] == ["ok"] * 2


def test_a_side_that_cannot_connect_is_the_status_of_its_slices(tmp_path: Path):
    """The other one is released, and no turn begins; nothing waits for the time to run out.

    That it failed is no fault of the other's.
    """
    clusters = {"a": scripted(tmp_path / "a"), "b": scripted(tmp_path / "b")}
    clusters["b"].binaries.sysbench.write_text("#!/bin/sh\necho 'FATAL: no' >&2; exit 1\n")
    began_s = time.monotonic()
    runs = measured(clusters, "ab")
    assert time.monotonic() - began_s < slices.CONNECT_TIMEOUT_S / 2
    statuses = {row(run)["side"]: row(run)["status"] for run in runs}
    assert statuses["a"] == WAITED
    assert statuses["b"].startswith("sysbench exited 1")
    assert not any("processes" in run.tables for run in runs)


@pytest.mark.parametrize(
    ("rates", "status"),
    [
        ([0, 500, 1000, 0, 0, 1000, 0], ""),
        ([0, 500, 1000, 200, 0, 1000, 0], ""),
        ([0, 500, 1000, 200, 30, 1000, 0], turns.TOO_LONG),
        ([900, 500, 1000, 0, 0, 1000, 0], ""),
        ([0, 500, 1000, 0, 0, 1000, 300], turns.TOO_LONG),
        ([0, 500, 0, 0, 0, 0, 0], ""),
    ],
)
def test_a_tenth_of_the_queries_may_end_after_their_turn(rates: list[float], status: str):
    """The first slice begins after 2 s, and those of the warm-up do not count."""
    seconds = [number + noise for number, noise in zip(range(1, 8), (0, 0.02) * 4, strict=False)]
    assert turns._too_long(report_of(seconds, rates), {2, 5}, 2) == status


def report_of(seconds: list[float], rates: list[float], ended_s: list[float] | None = None):
    """What sysbench reported in these seconds; all numbers are made up."""
    table = pd.DataFrame({"t_s": seconds, "qps": rates}, dtype=float)
    return Report("ok", 0.0, seconds[-1], 0, {}, table, ended_s=tuple(ended_s or seconds))


def test_a_report_that_came_late_says_nothing_of_the_length_of_queries():
    """It covers seconds of both sides: here 1 to 3, of which the first is the side's own."""
    late = report_of([1, 3, 4], [1000, 500, 1000], [1, 3, 4])
    assert turns._too_long(late, {0, 1, 3}, 0) == ""


def test_what_counts_for_a_turn_besides_is_in_its_total_alone(tmp_path: Path):
    """Half of what ends after it, where no turn of its own side follows: clients begin a turn anew,
    and end it late. Intervals are what sysbench reported."""
    runs = measured(both(scripted(tmp_path, left=50.0)), "abba")
    first = shared_turns.LEAD_S
    expected = [BASE[s] + first + 1 + n + more for n, s, more in zip(
        range(4), "abba", (25, 0, 25, 25), strict=True
    )]  # fmt: skip
    assert [row(run)["qps"] for run in runs] == pytest.approx(expected, abs=10)
    reported = [BASE[side] + first + 1 + place for place, side in enumerate("abba")]
    assert [run.tables["intervals"]["qps"].iloc[0] for run in runs] == reported


def test_nobody_works_where_the_side_changes_if_there_is_a_pause():
    """The slices of the block are the turns after those that warm up, in their order."""
    schedule = shared_turns.Schedule.of("baab", 2, 1)
    assert "".join(schedule.sides) == "bb-aa-b-aa-b"
    assert [schedule.sides[place] for place in schedule.places] == ["b", "a", "a", "b"]
    assert schedule.seconds_of("a") == {shared_turns.LEAD_S + place for place in (3, 4, 8, 9)}
    assert schedule.load_s == shared_turns.LEAD_S + 12 + 1


@pytest.mark.cluster
def test_connected_clients_of_both_sides_take_turns_on_a_real_cluster(
    sbtest: Cluster, begun: list, monkeypatch: pytest.MonkeyPatch
):
    """All seconds of a block are good, and sessions of B alone have its value.

    Clients say whether they work: all of a side in its turns, and none of the other. With a
    `long_query_time` of 0 every query of a session counts as a slow one.
    """
    server, size = sbtest.plan.servers[0], profile.get("smoke", {"warmup_s": 1, "duration_s": 1})
    contrast = Contrast("x", ALTERNATION, Side(Point(1, 4)), Side(Point(1, 4)), (), turns=True)
    [block] = contrast.block(1, 1)
    job = Job(sbtest.binaries, size, Point(1, 4), [server])
    timed = [Asked({**slice_.columns(), "start": 1}, job) for slice_ in block]

    def ready(value: int) -> Cluster:
        sbtest.query(f"SET GLOBAL long_query_time = {value}", server.number)
        return sbtest

    def slow() -> int:
        [(_, count)] = sbtest.query("SHOW GLOBAL STATUS LIKE 'Slow_queries'", server.number)
        return int(count)

    seen, usual = [], monitor.read

    def read(cluster: Cluster, samples: monitor.Samples) -> None:
        usual(cluster, samples)
        time.sleep(0.2)
        [(_, shared)] = begun
        seen.append([shared._clients(side).count(shared_turns._WORKS) for side in "ab"])

    monkeypatch.setattr(monitor, "read", read)
    before = slow()
    try:
        runs = turns.measure(by_turns(timed), {"a": lambda: ready(10), "b": lambda: ready(0)})
    finally:
        ready(10)
    table = pd.concat([run.tables["slices"] for run in runs])
    assert list(table["status"]) == ["ok"] * 4 * designs.TURN_ORDERS
    assert list(table["side"]) == [slice_.side for slice_ in block]
    assert table["qps"].min() > 0
    assert seen == [[4, 0] if slice_.side == "a" else [0, 4] for slice_ in block] + [[0, 0]]
    queries = table.groupby("side")["queries"].sum()
    # Those of its warm-up, and what ended after its turns, are of B as well.
    assert queries["b"] <= slow() - before < queries["b"] + queries["a"] / 2
    assert all((run.tables["processes"]["role"] == "sysbench").sum() == 2 for run in runs)


def test_of_several_clusters_only_that_of_the_turn_runs():
    """Those that are frozen already stay so; one is not waited for again."""
    sides = {name: SimpleNamespace(cluster=object()) for name in "abcd"}
    schedule = shared_turns.Schedule.of("abcddcba", 0, 0)
    frozen = [turns._frozen_from(sides, schedule, place) for place in range(9)]
    assert frozen == [[*"bcd"], ["a"], ["b"], ["c"], [], ["d"], ["c"], ["b"], []]
    shared = dict.fromkeys("ab", SimpleNamespace(cluster=object()))
    schedule = shared_turns.Schedule.of("abba", 0, 0)
    assert [turns._frozen_from(shared, schedule, place) for place in range(5)] == [[]] * 5
