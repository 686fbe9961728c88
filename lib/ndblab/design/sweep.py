"""A sweep: which points are measured, how often and in which order, and the loop that does it.

In: points, repeats, a dataset's writer, functions that start a cluster and measure one run. Out:
nothing but what the writer holds. It never measures by itself, and leaves only complete runs,
however it ends. It repeats a run that others on the host disturb, and no failed one.
"""

from __future__ import annotations

import math
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ndblab.error import LabError
from ndblab.planning.point import DEFAULT_VARIANT, Point
from ndblab.planning.workload import is_good

if TYPE_CHECKING:
    from tqdm import tqdm

    from ndblab.dataset import Writer
    from ndblab.measuring.measured_run import Run

Cluster = TypeVar("Cluster")

ATTEMPTS = 3
"""How often a measurement is made that others on the host disturb."""
LONGEST_REPEATED_S = 60
"""A disturbed run that takes longer is not repeated: it is only marked."""


@dataclass(frozen=True)
class Sweep:
    """Points, how often and how long each is measured, and the seed of their order.

    `clusters` has a tuple for each cluster, of the variants that can share it.
    """

    points: tuple[Point, ...]
    repeats: int
    warmup_s: float
    duration_s: float
    seed: int = field(default=1)
    clusters: tuple[tuple[str, ...], ...] = ((DEFAULT_VARIANT,),)

    def __post_init__(self) -> None:
        if not self.points or len(set(self.points)) < len(self.points):
            raise LabError(
                "A sweep needs points, each only once",
                found=f"{len(self.points)} points, {len(set(self.points))} of them distinct",
                next_step="Give each number of servers and of clients once.",
            )
        if strange := {p.variant for p in self.points} - {v for c in self.clusters for v in c}:
            raise LabError(
                "A sweep needs a cluster for each of its variants",
                found=", ".join(sorted(strange)),
                expected=", ".join(v for c in self.clusters for v in c),
                next_step="This is a bug in the lab; please report it.",
            )
        if self.repeats < 1 or self.duration_s <= 0 or self.warmup_s < 0:
            raise LabError(
                "A sweep needs runs that last longer than 0 s",
                found=f"{self.repeats} runs per point of {self.duration_s:g} s "
                f"after {self.warmup_s:g} s",
                expected="at least one run of more than 0 s",
                next_step="Change repeats, duration or warm-up.",
            )

    def __len__(self) -> int:
        return len(self.points) * self.repeats

    def order(self) -> list[tuple[Point, int]]:
        """Return every run as (point, repeat), the same for the same seed.

        Each repeat is a shuffled pass over all points, so that drift of the machine does not look
        like an effect of clients, and an interrupted sweep has measured every point about equally
        often. Points that differ only in transporter or variant are neighbours, in random order. A
        pass begins with the cluster that the previous one ended with.
        """
        rng = random.Random(self.seed)
        order: list[tuple[Point, int]] = []
        clusters = list(self.clusters)
        for repeat in range(1, self.repeats + 1):
            first, rest = clusters[-1:], clusters[:-1]
            rng.shuffle(rest)
            clusters = first + rest
            for variants in clusters:
                together: dict[tuple, list[Point]] = {}
                for point in (p for p in self.points if p.variant in variants):
                    key = (point.servers, point.clients, point.workload)
                    together.setdefault(key, []).append(point)
                groups = list(together.values())
                rng.shuffle(groups)
                for group in groups:
                    rng.shuffle(group)
                    order += [(point, repeat) for point in group]
        return order

    def to_dict(self) -> dict[str, Any]:
        """Return the sweep as plain data, for the identity of its dataset."""
        return asdict(self)


def estimate_s(sweep: Sweep, overhead_s: float) -> float:
    """Estimate the seconds a sweep takes if each run costs `overhead_s` on top of its own."""
    return len(sweep) * (sweep.warmup_s + sweep.duration_s + overhead_s)


def action(run_id: str, done: Mapping[str, str]) -> Literal["skip", "run", "rerun"]:
    """Decide what to do about a run, given the status of existing runs by id.

    >>> action("s01_c0001_r1", {})
    'run'
    >>> action("s01_c0001_r1", {"s01_c0001_r1": "ok"})
    'skip'
    >>> action("s01_c0001_r1", {"s01_c0001_r1": "sysbench exited 1"})
    'rerun'
    """
    if run_id not in done:
        return "run"
    return "skip" if is_good(done[run_id]) else "rerun"


def perform(
    sweep: Sweep,
    writer: Writer,
    ready: Callable[[Point], Cluster],
    measure: Callable[[Cluster, Point, int], Run],
    progress: bool = True,
    again: Collection[str] = (),
) -> None:
    """Measure every run that the dataset lacks or holds as failed, appending each to it.

    Runs with an id in `again` are measured whatever the dataset holds.

    `ready` gives the running cluster that a point needs, `measure` one run on it. A LabError of
    either (a node crashed, say) ends the sweep: the run is kept as a row with that reason, and the
    next start repeats it. After any other exception there is no row of the run.

    A run that others disturb is measured again when the cluster's other runs are done, since steal
    comes in waves of minutes. A host that is never quiet makes a sweep half as long again at most.
    """
    from tqdm import tqdm

    from ndblab.measuring import measured_run

    todo = [
        (point, repeat)
        for point, repeat in sweep.order()
        if point.run_id(repeat) in again or action(point.run_id(repeat), writer.done) != "skip"
    ]
    each_s = round(sweep.warmup_s + sweep.duration_s)
    repeatable = each_s <= LONGEST_REPEATED_S
    spare, attempts = max(ATTEMPTS - 1, math.ceil(len(todo) / 2)), Counter[str]()
    with tqdm(
        total=len(sweep) * each_s,
        initial=(len(sweep) - len(todo)) * each_s,
        unit="s",
        disable=not progress,
        dynamic_ncols=True,
        smoothing=0,
        bar_format="{desc}{percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}",
    ) as bar:
        while todo:
            number = 1 + len(sweep) - len(todo)
            point, repeat = todo.pop(0)
            run_id = point.run_id(repeat)
            bar.set_description(f"run {number} of {len(sweep)}", refresh=False)
            bar.set_postfix_str(run_id)
            before = bar.n
            started_utc = measured_run.now_utc()
            try:
                with _uncounted(bar):
                    cluster = ready(point)
                with _ticking(bar, each_s):
                    run = measure(cluster, point, repeat)
            except LabError as failure:
                facts = {"status": failure.what, "started_utc": started_utc}
                row = measured_run.row(point, repeat, **facts, warmup_s=sweep.warmup_s)
                writer.append(run_id, {"runs": row})
                raise
            attempts[run_id] += 1
            if run.disturbance and repeatable and spare and attempts[run_id] < ATTEMPTS:
                spare -= 1
                todo.insert(_before_next_cluster(sweep, point, todo), (point, repeat))
                if progress:
                    bar.write(f"{run.disturbance}: measured again", file=sys.stderr)
                bar.update(before - bar.n)
                continue
            writer.append(run_id, run.tables, run.logs)
            if writer.done[run_id] != "ok" and progress:
                bar.write(f"{run_id}: {writer.done[run_id]}", file=sys.stderr)
            bar.update(before + each_s - bar.n)


def _before_next_cluster(sweep: Sweep, point: Point, todo: Sequence[tuple[Point, int]]) -> int:
    """Return how many of the next runs use the cluster that a point uses."""
    mine = next(variants for variants in sweep.clusters if point.variant in variants)
    others = (place for place, (each, _) in enumerate(todo) if each.variant not in mine)
    return next(others, len(todo))


@contextmanager
def _uncounted(bar: tqdm) -> Iterator[None]:
    """Keep the start of a cluster out of a bar's time: its rate is that of measuring."""
    began_s = time.time()
    yield
    if not bar.disable:
        bar.start_t += time.time() - began_s


@contextmanager
def _ticking(bar: tqdm, seconds: int) -> Iterator[None]:
    """Advance a bar every second while a run is under way, at most to the run's end.

    Otherwise a run of an hour would show no progress for an hour.
    """
    over = threading.Event()

    def tick() -> None:
        for _ in range(seconds - 1):
            if over.wait(1.0):
                return
            bar.update()

    ticker = threading.Thread(target=tick, daemon=True)
    ticker.start()
    try:
        yield
    finally:
        over.set()
        ticker.join()
