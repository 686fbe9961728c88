"""The order of a sweep, and the loop over its runs without any cluster."""

from __future__ import annotations

import io
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tqdm import tqdm

import small_runs
from ndblab import dataset
from ndblab.dataset import Writer
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


@dataclass
class Measure:
    """Measures runs without a cluster, and notes which; `becomes` says what becomes of each."""

    becomes: Callable[[Point, int], Run] = measured
    asked: list[tuple[Point, int]] = field(default_factory=list)

    def __call__(self, cluster: str, point: Point, repeat: int) -> Run:
        self.asked.append((point, repeat))
        return self.becomes(point, repeat)


def perform(
    out: Writer, measure: Measure, swept: Sweep = SMALL, progress: bool = False, **options
) -> None:
    clusters = SimpleNamespace(writer=out, ready=lambda point: "a cluster", measure=measure)
    performing.perform(swept, clusters, progress, **options)


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


@pytest.mark.parametrize("stop", [KeyboardInterrupt, RuntimeError])
def test_an_interrupted_sweep_can_be_resumed(tmp_path: Path, stop: type[BaseException]) -> None:
    """A sweep stopped in the middle of a run repeats that run and no other; whole, it has each
    point as often as asked, in its own order."""

    def stopped_once(point: Point, repeat: int) -> Run:
        if len(measure.asked) == 4:
            raise stop("stopped")
        return measured(point, repeat)

    measure = Measure(stopped_once)
    with small_runs.opened(tmp_path) as out, pytest.raises(stop):
        perform(out, measure)
    with small_runs.opened(tmp_path) as out:
        assert len(out.done) == 3
        perform(out, measure)
        data = out.finish()
    assert measure.asked == [*SMALL.order()[:4], *SMALL.order()[3:]]
    assert set(data.runs["run_id"]) == {point.run_id(repeat) for point, repeat in SMALL.order()}
    assert (data.runs["status"] == "ok").all()
    assert len(data.runs) == len(data.logs()) == len(SMALL)


def test_failed_run_becomes_a_row_and_the_sweep_goes_on(tmp_path: Path) -> None:
    """A run that its load generator calls a failure stays as a row with its reason, intervals and
    log, and is measured again by the next start only."""
    bad, good = SMALL.order()[2], Measure()
    failing = Measure(lambda *run: measured(*run, status="errors: 12" if run == bad else "ok"))
    run_id = bad[0].run_id(bad[1])
    with small_runs.opened(tmp_path) as out:
        perform(out, failing)
        data = dataset.read(out.path)
    assert len(failing.asked) == len(SMALL)
    assert data.runs.set_index("run_id").loc[run_id, "status"] == "errors: 12"
    assert (data.intervals["run_id"] == run_id).sum() == 2
    with small_runs.opened(tmp_path) as out:
        perform(out, good)
        assert set(out.done.values()) == {"ok"}
    assert good.asked == [bad]


def test_a_node_that_dies_ends_the_sweep_and_stays_as_a_row(tmp_path: Path) -> None:
    """The row has the reason; complete runs stay; the next start measures that run again."""
    bad = SMALL.order()[2]

    def dies(point: Point, repeat: int) -> Run:
        if (point, repeat) == bad:
            raise LabError("mysqld.3 ended by itself")
        return measured(point, repeat)

    with small_runs.opened(tmp_path) as out, pytest.raises(LabError, match=r"mysqld\.3 ended"):
        perform(out, Measure(dies))
    with small_runs.opened(tmp_path) as out:
        assert len(out.done) == 3
        assert out.done[bad[0].run_id(bad[1])] == "mysqld.3 ended by itself"
        row = dataset.read(out.path).runs.iloc[2]
    point, repeat = bad
    assert (row["servers"], row["clients"], row["repeat"]) == (point.servers, point.clients, repeat)
    assert pd.isna(row["qps"])


def test_progress_names_failures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The progress bar counts the runs and names each one that failed."""
    with small_runs.opened(tmp_path) as out:
        perform(out, Measure(lambda *run: measured(*run, status="errors: 3")), progress=True)
    printed = capsys.readouterr().err
    assert "run 8 of 8: 100%" in printed
    assert "s01_c0001_r1: errors: 3" in printed


def test_the_bar_does_not_count_cluster_starts() -> None:
    """Its rate, from which it says how long is left, is that of measuring."""
    bar = tqdm(total=10, file=io.StringIO())
    with performing._uncounted(bar):
        time.sleep(0.5)
    assert bar.format_dict["elapsed"] < 0.3


CHROMIUM, STEAL = "chromium uses 31 % of the CPUs", "the hypervisor takes 12 %"


def disturbed(who: str, *run, status: str = "ok") -> Run:
    return Run(measured(*run, status=status).tables, disturbance=who)


@pytest.mark.parametrize(("busy", "status"), [(2, "ok"), (9, "company")])
def test_a_run_beside_company_is_measured_again(
    tmp_path: Path, capsys, busy: int, status: str
) -> None:
    """At most three times; the user is told, and the last attempt stays as it is."""

    def becomes(*run) -> Run:
        is_busy = len(measure.asked) <= busy
        return disturbed(CHROMIUM, *run, status="company") if is_busy else measured(*run)

    measure = Measure(becomes)
    with small_runs.opened(tmp_path) as out:
        perform(out, measure, Sweep(grid([1], [1]), 1, 1, 2), progress=True)
        assert list(out.done.values()) == [status]
    assert len(measure.asked) == 3
    assert capsys.readouterr().err.count(f"{CHROMIUM}: measured again") == 2


TWO_CLUSTERS = Sweep(
    tuple(Point(1, c, variant=v) for v, c in product(("default", "tuned"), (1, 2, 4))),
    1, 1, 2, clusters=(("default",), ("tuned",)),
)  # fmt: skip


def test_a_disturbed_run_waits_for_the_other_runs_of_its_cluster(tmp_path: Path) -> None:
    """Steal lasts minutes; and no cluster is started for a single run."""
    [first, *others] = TWO_CLUSTERS.order()

    def becomes(*run) -> Run:
        return measured(*run) if len(measure.asked) > 1 else disturbed(STEAL, *run)

    measure = Measure(becomes)
    with small_runs.opened(tmp_path) as out:
        perform(out, measure, TWO_CLUSTERS)
    assert measure.asked == [first, *others[:2], first, *others[2:]]


def test_a_host_that_is_never_quiet_makes_a_sweep_half_as_long_again(tmp_path: Path) -> None:
    """It is not measured three times, and all of its runs count."""
    measure = Measure(lambda *run: disturbed(STEAL, *run))
    with small_runs.opened(tmp_path) as out:
        perform(out, measure)
        assert list(out.done.values()) == ["ok"] * len(SMALL)
    assert len(measure.asked) == 12


def test_runs_that_are_asked_for_again_are_measured_again(tmp_path: Path) -> None:
    """And no others of a sweep that is whole."""
    first, measure = SMALL.order()[0], Measure()
    with small_runs.opened(tmp_path) as out:
        perform(out, measure)
        perform(out, measure, again=[first[0].run_id(first[1])])
    assert measure.asked == [*SMALL.order(), first]


def test_a_good_run_outlives_its_failed_repetition(tmp_path: Path) -> None:
    """It was to be measured again because others disturbed it."""
    point, repeat = SMALL.order()[0]
    run_id = point.run_id(repeat)

    def dies(*_: object) -> Run:
        raise LabError("Port 11860 is taken")

    with small_runs.opened(tmp_path) as out:
        perform(out, Measure())
        with pytest.raises(LabError, match="Port"):
            perform(out, Measure(dies), again=[run_id])
        assert out.done[run_id] == "ok"
