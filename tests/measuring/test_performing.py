"""The order of a sweep, and the loop over its runs without any cluster."""

from __future__ import annotations

import io
import time
from collections import Counter
from itertools import product
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tqdm import tqdm

import small_runs
from ndblab import dataset
from ndblab.design import sweep
from ndblab.design.sweep import Sweep
from ndblab.error import LabError
from ndblab.measuring import performing
from ndblab.measuring.measured_run import Run
from ndblab.planning.point import Point


def grid(servers: list[int], clients: list[int]) -> tuple[Point, ...]:
    return tuple(Point(s, c) for s, c in product(servers, clients))


SMALL = Sweep(grid([1, 2], [1, 4]), repeats=2, warmup_s=1, duration_s=2, seed=7)


def measured(point: Point, repeat: int, status: str = "ok") -> Run:
    run_id = point.run_id(repeat)
    tables = small_runs.tables(
        run_id, status=status, servers=point.servers, clients=point.clients, repeat=repeat
    )
    return Run(tables, {f"{run_id}.sysbench.txt": "..."})


def ready(point: Point) -> str:
    """Give the cluster of a point, of which nothing is asked here."""
    return "a cluster"


def opened(root: Path) -> dataset.Writer:
    return dataset.Writer.open(root, "scaling", small_runs.IDENTITY, small_runs.BASE)


sweeps = st.builds(
    lambda servers, clients, repeats, seed: Sweep(grid(servers, clients), repeats, 1, 2, seed),
    st.lists(st.integers(1, 64), min_size=1, max_size=5, unique=True),
    st.lists(st.integers(1, 4096), min_size=1, max_size=8, unique=True),
    st.integers(1, 4),
    st.integers(0, 2**31),
)


@given(sweeps)
def test_each_repeat_is_a_pass_over_all_points(swept: Sweep) -> None:
    """A sweep interrupted anywhere has measured every point about equally often."""
    order = swept.order()
    size = len(swept.points)
    assert len(order) == len(swept)
    for repeat in range(1, swept.repeats + 1):
        one_pass = order[(repeat - 1) * size : repeat * size]
        assert {r for _, r in one_pass} == {repeat}
        assert Counter(p for p, _ in one_pass) == Counter(swept.points)


@given(sweeps)
def test_order_is_the_same_for_the_same_seed(swept: Sweep) -> None:
    """A resumed sweep keeps the order it began with."""
    assert swept.order() == swept.order()


def test_order_is_shuffled() -> None:
    """The points are not measured from few clients to many, nor each pass in the same order."""
    swept = Sweep(grid([1, 2, 4, 8, 16], [1, 2, 4, 8, 16, 32]), 2, 1, 2, seed=1)
    points = [point for point, _ in swept.order()]
    assert points[:30] != list(swept.points)
    assert points[:30] != points[30:]


def test_sweeps_without_sense_are_refused() -> None:
    """A sweep without points, with a point twice, or without time is refused."""
    for points, repeats, duration_s in (
        ((), 1, 1),
        (grid([1, 1], [1]), 1, 1),
        (grid([1], [1]), 0, 1),
        (grid([1], [1]), 1, 0),
    ):
        with pytest.raises(LabError, match="A sweep needs"):
            Sweep(points, repeats, 0, duration_s)


def test_estimate_counts_every_run() -> None:
    """The estimate is runs times warm-up, run and overhead."""
    assert sweep.estimate_s(SMALL, overhead_s=0.5) == 8 * 3.5


def test_complete_runs_are_skipped_and_failed_ones_repeated() -> None:
    """A resumed sweep does not measure again what is there."""
    done = {"a": "ok", "b": "errors: 12"}
    assert [sweep.action(r, done) for r in "abc"] == ["skip", "rerun", "run"]


def test_sweep_measures_every_run_once(tmp_path: Path) -> None:
    """A complete sweep has each point as often as asked, in its own order."""
    asked = []

    def run(cluster: str, point: Point, repeat: int) -> Run:
        asked.append((point, repeat))
        return measured(point, repeat)

    with opened(tmp_path) as out:
        performing.perform(SMALL, out, ready, run, progress=False)
        data = out.finish()
    assert asked == SMALL.order()
    assert set(data.runs["run_id"]) == {p.run_id(r) for p, r in SMALL.order()}
    assert len(data.logs()) == len(SMALL)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, RuntimeError])
def test_an_interrupted_sweep_can_be_resumed(tmp_path: Path, stop: type[BaseException]) -> None:
    """A sweep stopped in the middle of a run repeats that run and no other."""
    asked = []

    def run(cluster: str, point: Point, repeat: int) -> Run:
        asked.append((point, repeat))
        if len(asked) == 4:
            raise stop("stopped")
        return measured(point, repeat)

    with opened(tmp_path) as out, pytest.raises(stop):
        performing.perform(SMALL, out, ready, run, progress=False)
    with opened(tmp_path) as out:
        assert len(out.done) == 3
        performing.perform(SMALL, out, ready, run, progress=False)
        data = out.finish()
    assert asked == [*SMALL.order()[:4], *SMALL.order()[3:]]
    assert (data.runs["status"] == "ok").all()
    assert len(data.runs) == len(SMALL)


def test_failed_run_becomes_a_row_and_the_sweep_goes_on(tmp_path: Path) -> None:
    """A run that its load generator calls a failure stays as a row with its reason, intervals and
    log, and is measured again by the next start only."""
    bad = SMALL.order()[2]
    status = "errors: 12"
    asked = []

    def run(cluster: str, point: Point, repeat: int) -> Run:
        asked.append((point, repeat))
        return measured(point, repeat, status if (point, repeat) == bad else "ok")

    run_id = bad[0].run_id(bad[1])
    with opened(tmp_path) as out:
        performing.perform(SMALL, out, ready, run, progress=False)
        data = dataset.read(out.path)
    assert len(asked) == len(SMALL)
    assert data.runs.set_index("run_id").loc[run_id, "status"] == "errors: 12"
    assert (data.intervals["run_id"] == run_id).sum() == 2

    status = "ok"
    asked.clear()
    with opened(tmp_path) as out:
        performing.perform(SMALL, out, ready, run, progress=False)
        assert set(out.done.values()) == {"ok"}
    assert asked == [bad]


def test_a_node_that_dies_ends_the_sweep_and_stays_as_a_row(tmp_path: Path) -> None:
    """The row has the reason; complete runs stay; the next start measures that run again."""
    bad = SMALL.order()[2]

    def run(cluster: str, point: Point, repeat: int) -> Run:
        if (point, repeat) == bad:
            raise LabError("mysqld.3 ended by itself")
        return measured(point, repeat)

    with opened(tmp_path) as out, pytest.raises(LabError, match=r"mysqld\.3 ended"):
        performing.perform(SMALL, out, ready, run, progress=False)
    with opened(tmp_path) as out:
        assert len(out.done) == 3
        assert out.done[bad[0].run_id(bad[1])] == "mysqld.3 ended by itself"
        row = dataset.read(out.path).runs.iloc[2]
    point, repeat = bad
    assert (row["servers"], row["clients"], row["repeat"]) == (point.servers, point.clients, repeat)
    assert pd.isna(row["qps"])


def test_progress_names_failures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The progress bar counts the runs and names each one that failed."""

    def run(cluster: str, point: Point, repeat: int) -> Run:
        return measured(point, repeat, status="errors: 3")

    with opened(tmp_path) as out:
        performing.perform(SMALL, out, ready, run)
    printed = capsys.readouterr().err
    assert "run 8 of 8: 100%" in printed
    assert "s01_c0001_r1: errors: 3" in printed


def test_the_bar_does_not_count_cluster_starts() -> None:
    """Its rate, from which it says how long is left, is that of measuring."""
    bar = tqdm(total=10, file=io.StringIO())
    with performing._uncounted(bar):
        time.sleep(0.5)
    assert bar.format_dict["elapsed"] < 0.3


@pytest.mark.parametrize(("busy", "measurements", "status"), [(2, 3, "ok"), (9, 3, "company")])
def test_a_run_beside_company_is_measured_again(
    tmp_path: Path, capsys, busy: int, measurements: int, status: str
) -> None:
    """At most three times; the user is told, and the last attempt stays as it is."""
    swept = Sweep(grid([1], [1]), 1, 1, 2)
    attempts = []

    def measure(cluster: str, point: Point, repeat: int) -> Run:
        attempts.append(point)
        if len(attempts) > busy:
            return measured(point, repeat)
        tables = measured(point, repeat, status="company").tables
        return Run(tables, disturbance="chromium uses 31 % of the CPUs")

    with opened(tmp_path) as out:
        performing.perform(swept, out, ready, measure)
        assert list(out.done.values()) == [status]
    assert len(attempts) == measurements
    assert capsys.readouterr().err.count("chromium uses 31 % of the CPUs: measured again") == 2


TWO_CLUSTERS = Sweep(
    tuple(Point(1, c, variant=v) for v, c in product(("default", "tuned"), (1, 2, 4))),
    1, 1, 2, clusters=(("default",), ("tuned",)),
)  # fmt: skip


def test_a_disturbed_run_waits_for_the_other_runs_of_its_cluster(tmp_path: Path) -> None:
    """Steal lasts minutes; and no cluster is started for a single run."""
    [(first, _), *others] = TWO_CLUSTERS.order()
    asked = []

    def measure(cluster: str, point: Point, repeat: int) -> Run:
        asked.append(point)
        run = measured(point, repeat)
        return run if len(asked) > 1 else Run(run.tables, disturbance="the hypervisor takes 12 %")

    with opened(tmp_path) as out:
        performing.perform(TWO_CLUSTERS, out, ready, measure, progress=False)
    planned = [point for point, _ in others]
    assert asked == [first, *planned[:2], first, *planned[2:]]


def test_a_host_that_is_never_quiet_makes_a_sweep_half_as_long_again(tmp_path: Path) -> None:
    """It is not measured three times, and all of its runs count."""
    asked = []

    def measure(cluster: str, point: Point, repeat: int) -> Run:
        asked.append(point)
        return Run(measured(point, repeat).tables, disturbance="the hypervisor takes 12 %")

    with opened(tmp_path) as out:
        performing.perform(SMALL, out, ready, measure, progress=False)
        assert list(out.done.values()) == ["ok"] * len(SMALL)
    assert len(asked) == 12


def test_runs_that_are_asked_for_again_are_measured_again(tmp_path: Path) -> None:
    """And no others of a sweep that is whole."""
    [(first, repeat), *_] = SMALL.order()
    asked = []

    def measure(cluster: str, point: Point, repeat: int) -> Run:
        asked.append(point.run_id(repeat))
        return measured(point, repeat)

    with opened(tmp_path) as out:
        performing.perform(SMALL, out, ready, measure, progress=False)
        whole = len(asked)
        performing.perform(SMALL, out, ready, measure, progress=False, again=[first.run_id(repeat)])
    assert asked[whole:] == [first.run_id(repeat)]
