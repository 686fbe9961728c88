"""Measures the runs of a sweep, one after the other, until the dataset has them all.

It leaves only complete runs, however it ends. It repeats a run that others on the host disturb, but
no failed one.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tqdm import tqdm

from ndblab.dataset import table
from ndblab.design.sweep import Sweep
from ndblab.error import LabError
from ndblab.measuring import measured_run
from ndblab.planning.point import Point
from ndblab.planning.workload import is_good

if TYPE_CHECKING:
    from ndblab.dataset import Writer
    from ndblab.measuring.clusters import Clusters

ATTEMPTS = 3
"""How often, at most, a measurement is made if others on the host disturb it."""
LONGEST_REPEATED_S = 60
"""A disturbed run that takes longer is not repeated: it is only marked."""


def perform(
    sweep: Sweep, clusters: Clusters, progress: bool = True, again: Collection[str] = ()
) -> None:
    """Measure every run that the dataset lacks or holds as failed, appending each to it.

    Runs with an id in `again` are measured whatever the dataset holds.

    A LabError of a cluster (a node crashed, say) ends the sweep: the run is kept as a row with that
    reason, and the next start repeats it. After any other exception there is no row of the run.

    A run that others disturb is measured again when the cluster's other runs are done, since steal
    comes in waves of minutes. A host that is never quiet lengthens a sweep by half at most.
    """
    writer = clusters.writer
    todo = [
        (point, repeat)
        for point, repeat in sweep.order()
        if point.run_id(repeat) in again or not is_good(writer.done.get(point.run_id(repeat), ""))
    ]
    run_s = round(sweep.warmup_s + sweep.duration_s)
    repeatable = run_s <= LONGEST_REPEATED_S
    spare, attempts = max(ATTEMPTS - 1, math.ceil(len(todo) / 2)), Counter[str]()
    with tqdm(
        total=len(sweep) * run_s,
        initial=(len(sweep) - len(todo)) * run_s,
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
            with _failures_kept(sweep, writer, point, repeat):
                with _uncounted(bar):
                    cluster = clusters.ready(point)
                with _ticking(bar, run_s):
                    run = clusters.measure(cluster, point, repeat)
            attempts[run_id] += 1
            if run.disturbance and repeatable and spare and attempts[run_id] < ATTEMPTS:
                spare -= 1
                todo.insert(_before_next_cluster(sweep, point, todo), (point, repeat))
                if progress:
                    bar.write(f"{run.disturbance}: measured again", file=sys.stderr)
                bar.update(before - bar.n)
                continue
            was_good = is_good(writer.done.get(run_id, ""))
            if not was_good or is_good(run.tables["runs"]["status"].iloc[0]):
                writer.append(run_id, run.tables, run.logs)
            if writer.done[run_id] != "ok" and progress:
                bar.write(f"{run_id}: {writer.done[run_id]}", file=sys.stderr)
            bar.update(before + run_s - bar.n)


@contextmanager
def _failures_kept(sweep: Sweep, writer: Writer, point: Point, repeat: int) -> Iterator[None]:
    """Keep a row, with the reason, of a run that a LabError ends in the `with` block."""
    started_utc = measured_run.now_utc()
    try:
        yield
    except LabError as failure:
        # A good run that was to be measured again, since others disturbed it, stays.
        if not is_good(writer.done.get(point.run_id(repeat), "")):
            facts = {"status": failure.what, "started_utc": started_utc}
            row = table.row("runs", **point.columns(repeat), **facts, warmup_s=sweep.warmup_s)
            writer.append(point.run_id(repeat), {"runs": row})
        raise


def _before_next_cluster(sweep: Sweep, point: Point, todo: Sequence[tuple[Point, int]]) -> int:
    """Return how many of the next runs use the cluster that a point uses."""
    mine = next(variants for variants in sweep.clusters if point.variant in variants)
    others = (place for place, (later, _) in enumerate(todo) if later.variant not in mine)
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
