"""A sweep: which points are measured, how often, in which order, and how one is gone through.

In: points, repeats, a dataset's writer and a function that measures one run. Out: nothing but what
the writer holds. It never measures by itself, never tries a failed run again in the same go, and
leaves whole runs only, whatever stops it.
"""

from __future__ import annotations

import datetime
import random
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, Protocol

from ndblab.error import LabError

if TYPE_CHECKING:
    import pandas as pd
    from tqdm import tqdm

    from ndblab.dataset import Writer

DEFAULT_TRANSPORTER = "shm"
DEFAULT_WORKLOAD = "oltp_point_select"
DEFAULT_VARIANT = "default"


class RunTables(Protocol):
    """What a measured run gives: its tables, `runs` with one row among them, and its logs."""

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]: ...

    @property
    def logs(self) -> Mapping[str, str]: ...


@dataclass(frozen=True)
class Point:
    """One cell of a sweep. `variant` names what is otherwise about the cluster or its clients."""

    servers: int
    clients: int
    transporter: str = DEFAULT_TRANSPORTER
    workload: str = DEFAULT_WORKLOAD
    variant: str = DEFAULT_VARIANT

    def run_id(self, repeat: int) -> str:
        """Name one run at this point.

        >>> Point(8, 64).run_id(2)
        's08_c0064_r2'
        >>> Point(1, 8, transporter="tcp").run_id(1)
        's01_c0008_r1_tcp'
        """
        words = [f"s{self.servers:02d}", f"c{self.clients:04d}", f"r{repeat}"]
        if self.transporter != DEFAULT_TRANSPORTER:
            words.append(self.transporter)
        if self.workload != DEFAULT_WORKLOAD:
            words.append(self.workload)
        if self.variant != DEFAULT_VARIANT:
            words.append(self.variant)
        return "_".join(words)

    def facts(self, repeat: int) -> dict[str, object]:
        """Give the columns of `runs` that say which run at this point it is."""
        return {"run_id": self.run_id(repeat), "repeat": repeat, **asdict(self)}


@dataclass(frozen=True)
class Sweep:
    """Points, how often and how long each is measured, and the seed of their order.

    `clusters` are the variants that can share a running cluster, a tuple for each cluster.
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
                "A sweep needs points, each of them once",
                found=f"{len(self.points)} points, {len(set(self.points))} of them different",
                next_step="Give each number of servers and of clients once.",
            )
        if strange := {p.variant for p in self.points} - {v for c in self.clusters for v in c}:
            raise LabError(
                "A sweep needs a cluster for each of its variants",
                found=", ".join(sorted(strange)),
                expected=", ".join(v for c in self.clusters for v in c),
                next_step="This is a fault of the lab, not of your input: please report it.",
            )
        if self.repeats < 1 or self.duration_s <= 0 or self.warmup_s < 0:
            raise LabError(
                "A sweep needs runs that last",
                found=f"{self.repeats} runs a point of {self.duration_s:g} s "
                f"after {self.warmup_s:g} s",
                expected="at least one run of more than 0 s",
                next_step="Change repeats, duration or warm-up.",
            )

    def __len__(self) -> int:
        return len(self.points) * self.repeats

    def order(self) -> list[tuple[Point, int]]:
        """Return every run as (point, repeat), the same for the same seed.

        Each repeat is a shuffled pass over all points: drift of the machine does not look like an
        effect of clients, and an interrupted sweep has every point about equally often. Points that
        differ in nothing but transporter or variant follow one another, in changing order. A pass
        begins with the cluster with which the last one ended.
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
        """Return what the identity of a dataset keeps of a sweep."""
        return asdict(self)


def grid(servers: Sequence[int], clients: Sequence[int]) -> tuple[Point, ...]:
    """Return a point for every number of servers with every number of clients."""
    for what, numbers in (("servers", servers), ("clients", clients)):
        for number in numbers:
            if isinstance(number, bool) or not isinstance(number, int) or number < 1:
                raise LabError(
                    f"A sweep cannot have this number of {what}",
                    found=repr(number),
                    expected="a whole number, at least 1",
                    next_step=f"Change {what}.",
                )
    return tuple(Point(s, c) for s, c in product(servers, clients))


def estimate_s(sweep: Sweep, overhead_s: float) -> float:
    """Return how long a sweep takes when each run costs `overhead_s` beside its own seconds."""
    return len(sweep) * (sweep.warmup_s + sweep.duration_s + overhead_s)


def action(run_id: str, done: Mapping[str, str]) -> Literal["skip", "run", "rerun"]:
    """Decide what to do about a run, given the status of the runs there are.

    >>> action("s01_c0001_r1", {})
    'run'
    >>> action("s01_c0001_r1", {"s01_c0001_r1": "ok"})
    'skip'
    >>> action("s01_c0001_r1", {"s01_c0001_r1": "sysbench exited 1"})
    'rerun'
    """
    if run_id not in done:
        return "run"
    return "skip" if done[run_id] == "ok" else "rerun"


def perform(
    sweep: Sweep,
    writer: Writer,
    run: Callable[[Point, int], RunTables],
    progress: bool = True,
    ready: Callable[[Point], object] = lambda point: None,
) -> None:
    """Measure every run that the dataset lacks or holds as failed, and append each as it is made.

    `ready` is called before a run and makes sure that its cluster is there. A LabError of a run (a
    node died, say) ends the sweep; the run stays as a row with that reason, and the next start
    measures it again. Any other exception leaves the run out.
    """
    from tqdm import tqdm

    todo = [
        (point, repeat)
        for point, repeat in sweep.order()
        if action(point.run_id(repeat), writer.done) != "skip"
    ]
    each_s = round(sweep.warmup_s + sweep.duration_s)
    with tqdm(
        total=len(sweep) * each_s,
        initial=(len(sweep) - len(todo)) * each_s,
        unit="s",
        disable=not progress,
        dynamic_ncols=True,
        smoothing=0,
        bar_format="{desc}{percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}",
    ) as bar:
        for number, (point, repeat) in enumerate(todo, 1 + len(sweep) - len(todo)):
            run_id = point.run_id(repeat)
            bar.set_description(f"run {number} of {len(sweep)}", refresh=False)
            bar.set_postfix_str(run_id)
            before = bar.n
            started_utc = _now_utc()
            try:
                ready(point)
                with _ticking(bar, each_s):
                    measured = run(point, repeat)
            except LabError as failure:
                row = _failed_row(sweep, point, repeat, started_utc, failure.what)
                writer.append(run_id, {"runs": row})
                raise
            writer.append(run_id, measured.tables, measured.logs)
            if writer.done[run_id] != "ok" and progress:
                bar.write(f"{run_id}: {writer.done[run_id]}", file=sys.stderr)
            bar.update(before + each_s - bar.n)


@contextmanager
def _ticking(bar: tqdm, seconds: int) -> Iterator[None]:
    """Move a bar on with the clock while a run is under way, at most to the run's end.

    A run of an hour would else show no progress for an hour.
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


def _failed_row(
    sweep: Sweep, point: Point, repeat: int, started_utc: str, status: str
) -> pd.DataFrame:
    import pandas as pd

    from ndblab.dataset import SCHEMAS

    row = {
        **dict.fromkeys(SCHEMAS["runs"].columns, float("nan")),
        "started_utc": started_utc,
        "warmup_s": sweep.warmup_s,
        **asdict(point),
        "run_id": point.run_id(repeat),
        "repeat": repeat,
        "status": status,
    }
    return pd.DataFrame([row])


def _now_utc() -> str:
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
