"""A sweep: which points are measured, how often, in which order, and how one is gone through.

In: points, repeats, a dataset's writer and a function that measures one run. Out: nothing but what
the writer holds. It never measures by itself, never tries a failed run again in the same go, and
leaves whole runs only, whatever stops it.
"""

from __future__ import annotations

import datetime
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, Protocol

from ndblab.error import LabError

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.dataset import Writer

DEFAULT_TRANSPORTER = "shm"
DEFAULT_WORKLOAD = "oltp_point_select"


class RunTables(Protocol):
    """What a measured run gives: its tables, `runs` with one row among them, and its logs."""

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]: ...

    @property
    def logs(self) -> Mapping[str, str]: ...


@dataclass(frozen=True)
class Point:
    """One cell of a sweep."""

    servers: int
    clients: int
    transporter: str = DEFAULT_TRANSPORTER
    workload: str = DEFAULT_WORKLOAD

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
        return "_".join(words)


@dataclass(frozen=True)
class Sweep:
    """Points, how often and how long each is measured, and the seed of their order."""

    points: tuple[Point, ...]
    repeats: int
    warmup_s: float
    duration_s: float
    seed: int = field(default=1)

    def __post_init__(self) -> None:
        if not self.points or len(set(self.points)) < len(self.points):
            raise LabError(
                "A sweep needs points, each of them once",
                found=f"{len(self.points)} points, {len(set(self.points))} of them different",
                next_step="Give each number of servers and of clients once.",
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
        effect of clients, and an interrupted sweep has every point about equally often.
        """
        rng = random.Random(self.seed)
        order = []
        for repeat in range(1, self.repeats + 1):
            one_pass = list(self.points)
            rng.shuffle(one_pass)
            order += [(point, repeat) for point in one_pass]
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
) -> None:
    """Measure every run that the dataset lacks or holds as failed, and append each as it is made.

    A LabError of a run (a node died, say) ends the sweep; the run stays as a row with that reason,
    and the next start measures it again. Any other exception leaves the run out.
    """
    from tqdm import tqdm

    todo = [
        (point, repeat)
        for point, repeat in sweep.order()
        if action(point.run_id(repeat), writer.done) != "skip"
    ]
    with tqdm(
        total=len(sweep),
        initial=len(sweep) - len(todo),
        unit="run",
        disable=not progress,
        dynamic_ncols=True,
    ) as bar:
        for point, repeat in todo:
            run_id = point.run_id(repeat)
            bar.set_postfix_str(run_id)
            started_utc = _now_utc()
            try:
                measured = run(point, repeat)
            except LabError as failure:
                row = _failed_row(sweep, point, repeat, started_utc, failure.what)
                writer.append(run_id, {"runs": row})
                raise
            writer.append(run_id, measured.tables, measured.logs)
            if writer.done[run_id] != "ok" and progress:
                bar.write(f"{run_id}: {writer.done[run_id]}", file=sys.stderr)
            bar.update()


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
