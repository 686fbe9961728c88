"""Slices, with a scripted sysbench on a cluster that only answers."""

from __future__ import annotations

import time
from pathlib import Path

import pandas as pd
import pytest

from measuring.scripted import Scripted, asked, rendered, row
from ndblab.machine import interference as company
from ndblab.measuring import slices
from ndblab.planning import profile
from ndblab.planning.point import Point
from ndblab.workloads import divided_load

REPORT = (Path(__file__).parents[1] / "captured/sysbench/ndb_c8.txt").read_text()
REPORTS_S = 6
UNWATCHED = "no-monitor"
"""Nothing is sampled, so a script need not take as long as what it prints."""
SHORT = REPORT[: REPORT.index("[ 3s ]")] + REPORT[REPORT.index("SQL stat") :].replace("6.0", "2.0")
RUNS = f"print('Threads started!', flush=True); time.sleep(2); print({SHORT!r})"
PACED = f"""began = print('Threads started!', flush=True) or time.monotonic()
for line in {REPORT[REPORT.index("[ 1s ]") :].splitlines()!r}:
    if line.startswith('['):
        time.sleep(max(0, began + int(line.split()[1][:-1]) - time.monotonic()))
    print(line, flush=True)
"""
"""A load that reports its seconds when they are over."""
WARM = 2512.70 + 2413.52
"""Queries of the two seconds that warm up."""
RATES = [float(line.split("qps:")[1].split()[0]) for line in REPORT.splitlines() if "qps:" in line]


def measured(cluster: Scripted, sides: str = "a", times=(1, 1), condition: str = "") -> list:
    """Measure one slot, and render its tables, which checks every cell."""
    size = profile.get("smoke", {"warmup_s": times[0], "duration_s": times[1]})
    here = {"of": len(sides), "size": size}
    slot = [asked(cluster, side, server=number, **here) for number, side in enumerate(sides, 1)]
    return rendered(slices.measure(cluster, slot, condition))


@pytest.mark.parametrize(("reported", "p95_ms"), [(4, (11.65 + 12.30) / 2), (3, 12.30)])
def test_only_what_was_reported_after_the_warm_up_counts(tmp_path: Path, reported: int, p95_ms):
    """One execution covers both; its intervals after the warm-up are the slice.

    sysbench sometimes ends just before it would report its last second: that is what its totals
    leave, the queries and the time.
    """
    last = REPORT[REPORT.index("[ 6s ]") : REPORT.index("SQL stat")]
    report = REPORT if reported == 4 else REPORT.replace(last, "")
    program = f"assert '--time={REPORTS_S}' in sys.argv\nprint({report!r})"
    [run] = measured(Scripted(tmp_path, program), times=(2, REPORTS_S - 2), condition=UNWATCHED)
    values, intervals = row(run), run.tables["intervals"]
    assert values["status"] == "ok"
    assert list(intervals["t_s"]) == [1, 2, 3, 4][:reported]
    assert values["duration_s"] == pytest.approx(4.0133)
    assert values["queries"] == pytest.approx(13568 - WARM, abs=1)
    assert values["qps"] == pytest.approx(values["queries"] / values["duration_s"], abs=1)
    assert values["latency_p95_ms"] == pytest.approx(p95_ms)


def test_a_host_too_busy_to_be_read_in_time_tells_nothing_of_its_cpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A reading over a fraction of the span could be anything, and its ratios infinite."""
    read_at = slices._read_at

    def late(*asked) -> tuple[float, float]:
        return read_at(*asked)[0], 0.4

    monkeypatch.setattr(slices, "_read_at", late)
    [run] = measured(Scripted(tmp_path, RUNS))
    assert row(run)["status"] == "ok"
    assert not {"processes", "ndb_threads"} & run.tables.keys()
    assert pd.isna(row(run)["host_busy_pct"])


def test_a_report_that_came_late_distorts_no_slice(tmp_path: Path):
    """Its rate is of more than a second, the next one's of milliseconds."""
    late = REPORT.replace("qps: 1880.72", "qps: 992.11").replace("qps: 2338.49", "qps: 116924.5")
    begin, end = late.index("[ 4s ]"), late.index("[ 5s ]")
    program = (
        f"print({late[:begin]!r}, flush=True); time.sleep(4.98); "
        f"print({late[begin:end]!r}, end='', flush=True); time.sleep(0.02); "
        f"print({late[end:]!r}, flush=True)"
    )
    [run] = measured(Scripted(tmp_path, program), times=(2, REPORTS_S - 2))
    assert row(run)["qps"] == pytest.approx((13568 - WARM) / 4.0133, abs=1)
    assert list(run.tables["intervals"]["t_s"]) == [1, 3, 4]
    assert run.tables["intervals"]["qps"].max() < 5000


def test_both_sides_of_a_duet_run_at_once_and_each_has_its_own_client(tmp_path: Path):
    """Their rows share the cluster's processes."""
    mark = tmp_path / "alive"
    alone = f"import pathlib; m = pathlib.Path({str(mark)!r} + sys.argv[3][-6]); m.touch()"
    check = f"sys.exit(len(list(pathlib.Path({str(tmp_path)!r}).glob('alive*'))) != 2)"
    runs = measured(Scripted(tmp_path, f"{alone}\n{RUNS}\n{check}"), "ab")
    assert [row(run)["status"] for run in runs] == ["ok", "ok"]
    for run, side in zip(runs, "ab", strict=True):
        processes = run.tables["processes"]
        assert set(processes["run_id"]) == {f"x_b001_1{side}"}
        assert sorted(processes["role"]) == ["lab", "sysbench"]
        assert processes["t_s"].between(0.5, 1.2).all()


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("sys.exit('FATAL: unable to connect')", "sysbench exited 1"),
        (
            f"print({REPORT!r})".replace("6.0133s", "0.5s"),
            "the load reported too late, or ended before its time",
        ),
        (RUNS.replace("ignored errors:                      0", "ignored errors:      3"),
         "errors: 3"),
    ],
)  # fmt: skip
def test_a_load_that_fails_is_the_status_of_its_slice(tmp_path: Path, program, reason):
    """It is no crash of the lab, and what sysbench printed is kept."""
    [run] = measured(Scripted(tmp_path, program))
    assert row(run)["status"].startswith(reason)
    assert list(run.logs) == ["x_b001_1a.sysbench.txt"]


def test_company_is_the_status_of_a_slice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Its numbers are kept, but no block may use them."""
    monkeypatch.setattr(company, "LIMIT_PCT", 5)
    monkeypatch.setattr(company, "between", lambda *_: company.Company(31.2, "chromium"))
    [run] = measured(Scripted(tmp_path, RUNS))
    assert row(run)["status"] == "company: chromium used 31 % of the CPUs"
    assert row(run)["company_pct"] == 31.2
    assert run.disturbance == "chromium uses 31 % of the CPUs"


def test_without_the_monitor_only_sysbench_and_the_company_are_known(tmp_path: Path):
    """Nothing is sampled while the load runs."""
    [run] = measured(Scripted(tmp_path, RUNS), condition=UNWATCHED)
    assert run.tables.keys() == {"slices", "intervals"}
    assert row(run)["status"] == "ok"
    assert pd.isna(row(run)["host_busy_pct"])
    assert row(run)["company_pct"] >= 0


@pytest.mark.parametrize("condition", ["busy-neighbour", "idle-spinner"])
def test_a_condition_ends_with_its_slice_however_that_ends(tmp_path: Path, condition: str):
    """No spinning process is left, and it is not company either."""
    cluster = Scripted(tmp_path, RUNS)
    started = []

    class Machine(type(cluster.machine)):
        def spawn(self, argv, mark=None, **how):
            started.append(super().spawn(argv, mark, **how))
            return started[-1]

    cluster.machine = Machine()
    measured(cluster, condition=condition)
    cluster.check_alive = lambda: 1 / 0
    with pytest.raises(ZeroDivisionError):
        measured(cluster, condition=condition)
    assert len(started) >= 2
    assert all(child.poll() is not None for child in started)


def test_processes_of_a_divided_load_are_one_slice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Their queries add up, and each has its own row of CPU; no percentile is made of theirs."""
    monkeypatch.setattr(divided_load, "MOST_APART_S", 5)
    cluster = Scripted(tmp_path, f"assert '--threads=4' in sys.argv\n{RUNS}")
    [run] = rendered(slices.measure(cluster, [asked(cluster, "a", 1, processes=2)]))
    values = row(run)
    assert values["status"] == "ok"
    assert values["queries"] == pytest.approx(2 * (13568 - 2512.70), abs=2)
    assert pd.isna(values["latency_p95_ms"])
    processes = run.tables["processes"]
    assert list(processes.loc[processes["role"] == "sysbench", "node_id"]) == [0, 1]


def in_turn(cluster: Scripted, watched: tuple[bool, ...]) -> list:
    """Measure slices of a second under one load, after a warm-up of one."""
    sides = enumerate("ab" if watched[0] else "ba", 1)
    block = [asked(cluster, side, len(watched), slot) for slot, side in sides]
    return rendered(slices.measure_in_turn(cluster, block, watched))


@pytest.mark.parametrize("watched", [(True, False), (False, True)])
def test_slices_in_turn_are_the_seconds_of_one_load(tmp_path: Path, monkeypatch, watched):
    """One execution, sampled in the middle of the second that is watched, and in no other."""
    read_s = []
    monkeypatch.setattr(slices.monitor, "read", lambda *_: read_s.append(time.monotonic()))
    program = f"assert '--time=4' in sys.argv\n{PACED}"
    begun_s = time.monotonic()
    first, second = in_turn(Scripted(tmp_path, program), watched)
    assert [row(first)["qps"], row(second)["qps"]] == pytest.approx(RATES[1:3], rel=0.001)
    assert [row(run)["status"] for run in (first, second)] == ["ok", "ok"]
    assert [row(run)["duration_s"] for run in (first, second)] == pytest.approx([1, 1], abs=0.2)
    [at_s] = read_s
    assert at_s - begun_s == pytest.approx(1.5 + (not watched[0]), abs=0.45)
    assert row(first)["host_busy_pct"] == row(second)["host_busy_pct"] >= 0


def switched(cluster: Scripted, turns: list, spare: int = 0) -> list:
    """Measure slices of a second under one load, each with its turn, after a warm-up of one."""
    block = [
        asked(cluster, side, 2, slot, point=Point(1, 8, variant=variant))
        for slot, (side, variant) in enumerate((("a", "default"), ("b", "b")), 1)
    ]
    return rendered(slices.measure_switched(cluster, block, turns, spare))


def test_what_is_switched_under_a_load_is_there_when_its_slice_begins(tmp_path: Path):
    """The first turn comes before the load, too; processes are sampled slice by slice."""
    turned = []
    turns = [lambda side=side: turned.append((side, time.monotonic())) for side in "ab"]
    runs = switched(Scripted(tmp_path, PACED), turns)
    assert [side for side, _ in turned] == ["a", "a", "b"]
    assert turned[2][1] - turned[1][1] == pytest.approx(1, abs=0.2)
    assert [row(run)["status"] for run in runs] == ["ok", "ok"]
    assert [row(run)["variant"] for run in runs] == ["default", "b"]
    assert all("sysbench" in set(run.tables["processes"]["role"]) for run in runs)


@pytest.mark.parametrize(("late_s", "spare"), [(slices.SWITCHED_LATE_S + 0.1, 0), (1.2, 1)])
def test_a_slice_that_is_switched_too_late_is_void(tmp_path: Path, late_s: float, spare: int):
    """Part of it was the other side's; of spare seconds none is left out in vain."""
    turns = [lambda: None, lambda: time.sleep(late_s)]
    first, second = switched(Scripted(tmp_path, PACED), turns, spare)
    assert row(first)["status"] == "ok"
    assert "too late" in row(second)["status"]


def test_a_spare_second_passes_after_a_late_turn(tmp_path: Path):
    """The slice is the whole second that follows it: all of it is its own side's."""
    turns = [lambda: None, lambda: time.sleep(slices.SWITCHED_LATE_S + 0.2)]
    program = f"assert '--time=5' in sys.argv\n{PACED}"
    first, second = switched(Scripted(tmp_path, program), turns, spare=1)
    assert [row(run)["status"] for run in (first, second)] == ["ok", "ok"]
    assert [row(first)["qps"], row(second)["qps"]] == pytest.approx([RATES[1], RATES[3]], rel=0.001)
    for run in (first, second):
        assert run.tables["processes"]["role"].value_counts()["sysbench"] == 1


def test_a_slice_in_which_no_report_came_is_void(tmp_path: Path):
    """It has no interval, and its tables can be written."""
    skipped = "    if line.startswith('[ 2s ]'): continue\n"
    silent = PACED.replace("    if line.startswith", f"{skipped}    if line.startswith", 1)
    first, _ = switched(Scripted(tmp_path, silent), [lambda: None] * 2)
    assert row(first)["status"] == "the load reported too late, or ended before its time"
    assert first.tables["intervals"].empty


def test_slices_in_turn_without_a_report_say_so_each(tmp_path: Path):
    """What sysbench printed is kept."""
    runs = in_turn(Scripted(tmp_path, "sys.exit('FATAL: unable to connect')"), (True, False))
    for run in runs:
        assert row(run)["status"].startswith("sysbench exited 1")
        assert len(run.logs) == 1
