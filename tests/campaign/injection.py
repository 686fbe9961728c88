"""One trial of the campaign: what is done to the lab or its cluster, where and when.

In: a seed and a number. Out: a `Trial`, the same for the same two on every host, whatever other
trials there are. Pure.
"""

from __future__ import annotations

import random
from dataclasses import asdict, dataclass

from ndblab.campaign.steps import STEPS, Step
from ndblab.error import LabError

KINDS = {
    "lab-killed": 40,
    "terminated": 20,
    "node-killed": 12,
    "node-frozen": 8,
    "disk-full": 12,
    "load-stopped": 8,
}
"""How often each kind is drawn, of a hundred."""

CHECKED = ("node-killed", "node-frozen")
MEASUREMENT_S = 20.0
"""About how long the measurement takes that is struck, seen on 2 CPUs."""
LOAD_S = 3
"""About how long clients write under a fault that ends at once."""
NODES = (("ndbmtd", 1), ("ndbmtd", 2), ("mysqld", 1), ("mysqld", 2), ("ndb_mgmd", 1))


@dataclass(frozen=True)
class Trial:
    """What is done. Fields that the kind has no use for keep their defaults.

    The blow falls at the `call`-th call of `step`, before it or `after` it, or `moment_s` seconds
    after the beginning where there is no step: that of the lab, or of the load. `watcher` has the
    watcher of the lab killed with it. `disk` is the one that is full, "runs" or "cluster"; `load`
    what is stopped for `pause_s`, "sysbench" or "client".
    """

    number: int
    kind: str
    budget: str = "shared"
    repeats: int = 1
    signal: str = ""
    step: str = ""
    call: int = 0
    after: bool = False
    moment_s: float = 0.0
    watcher: bool = False
    role: str = ""
    node: int = 0
    disk: str = ""
    load: str = ""
    pause_s: float = 0.0

    @property
    def checked(self) -> bool:
        """Whether the load is one of checked writes, rather than a measurement of sysbench."""
        return self.kind in CHECKED or self.load == "client"

    def to_dict(self) -> dict[str, object]:
        """Give what was drawn as plain data, without what the kind has no use for."""
        drawn = asdict(self)
        needed = {} if self.step else {"moment_s": self.moment_s}
        return {k: v for k, v in drawn.items() if v} | needed

    def words(self) -> str:
        """Tell it in a few words."""
        if self.step:
            side = "after" if self.after else "before"
            when = f"{side} call {self.call} of {self.step}"
        else:
            when = f"at {self.moment_s:.2f} s"
        what = {
            "lab-killed": "SIGKILL" + ", watcher too" * self.watcher,
            "terminated": self.signal,
            "node-killed": f"SIGKILL {self.role}.{self.node}",
            "node-frozen": f"{self.role}.{self.node} for {self.pause_s:.1f} s",
            "disk-full": f"of {self.disk}",
            "load-stopped": f"{self.load} for {self.pause_s:.1f} s",
        }[self.kind]
        return f"{self.kind}: {what} {when}"


def draw(seed: int, number: int) -> Trial:
    """Draw the `number`-th trial of a campaign; it depends on nothing else."""
    rng = random.Random(f"{seed}/{number}")
    (kind,) = rng.choices(list(KINDS), list(KINDS.values()))
    if kind in CHECKED:
        role, node = rng.choice(NODES)
        frozen = kind == "node-frozen"
        return Trial(
            number, kind, moment_s=_moment_s(rng, LOAD_S / 2), role=role, node=node,
            pause_s=_pause_s(rng) if frozen else 0.0,
        )  # fmt: skip
    budget = rng.choice(("scaled", "shared"))
    if kind == "load-stopped":
        load = rng.choice(("sysbench", "client"))
        return Trial(
            number, kind, "shared" if load == "client" else budget, load=load,
            moment_s=_moment_s(rng, LOAD_S / 2), pause_s=_pause_s(rng),
        )  # fmt: skip
    place = _place(rng, budget)
    repeats = rng.choice((1, 2))
    if kind == "disk-full":
        return Trial(number, kind, budget, repeats, disk=rng.choice(("runs", "cluster")), **place)
    if kind == "terminated":
        how = rng.choice(("SIGTERM", "SIGINT"))
        return Trial(number, kind, budget, repeats, how, **place)
    return Trial(number, kind, budget, repeats, "SIGKILL", watcher=rng.random() < 0.15, **place)


def numbers(seed: int, first: int, count: int, kind: str | None = None) -> list[int]:
    """Give the numbers of `count` trials from `first` on, all of them or those of one kind.

    Raises
    ------
    LabError
        If there is no such kind, or the numbers make no sense.
    """
    if kind is not None and kind not in KINDS:
        raise LabError(
            "There is no such kind of fault",
            found=kind,
            expected=", ".join(KINDS),
            next_step="Choose one with --kind, or leave it out for all.",
        )
    if count < 1 or first < 1:
        raise LabError(
            "A campaign needs faults, counted from 1",
            found=f"{count} from number {first} on",
            expected="at least one of each",
            next_step="Change --count or --first.",
        )
    found: list[int] = []
    number = first
    while len(found) < count:
        if kind in (None, draw(seed, number).kind):
            found.append(number)
        number += 1
    return found


def _place(rng: random.Random, budget: str) -> dict[str, object]:
    """Draw where a blow falls: mostly at a step, else at any moment of the measurement."""
    if rng.random() < 0.2:
        return {"moment_s": _moment_s(rng, MEASUREMENT_S)}
    steps: list[Step] = [s for s in STEPS if budget == "scaled" or not s.scaled]
    step = rng.choice(steps)
    return {
        "step": step.where,
        "call": rng.randint(1, step.calls),
        "after": rng.random() < 0.5,
    }


def _moment_s(rng: random.Random, most_s: float) -> float:
    return round(rng.uniform(0, most_s), 2)


def _pause_s(rng: random.Random) -> float:
    return round(rng.uniform(1, 3), 2)
