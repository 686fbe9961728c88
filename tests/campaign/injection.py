"""One injection: which fault is injected into the lab or its cluster, where and when.

In: a seed and a number. Out: an `Injection`, on every host the same for the same two. Pure.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from ndblab.error import LabError

KINDS = {
    "lab-killed": 22,
    "terminated": 10,
    "node-killed": 13,
    "node-frozen": 10,
    "disk-full": 8,
    "load-stopped": 6,
    "partition": 8,
    "partition-server": 6,
    "one-way-loss": 6,
    "host-lost": 6,
    "ssh-cut": 5,
}
"""How often each kind is drawn, in percent."""

ON_NODES = ("node-killed", "node-frozen")
ON_NETWORK = ("partition", "partition-server", "one-way-loss", "host-lost", "ssh-cut")
"""These need several hosts."""
ON_LAB = ("lab-killed", "terminated", "disk-full")
TOGETHER, IN_TURN = 8, 4
"""Faults of nodes and the network share a cluster, so many at a time. Others are injected in turn
into a lab that is started again each time, before one that is left to itself."""
LOAD_S = 3
"""How long clients write under a fault that ends at once."""
SILENCE_S = 6
"""How long an SSH connection may be silent here: less than the lab's own limit, to wait less."""
NODES = (("ndbmtd", 1), ("ndbmtd", 2), ("mysqld", 1), ("mysqld", 2), ("ndb_mgmd", 1))


@dataclass(frozen=True)
class Injection:
    """A fault and its place. Fields that the kind does not use keep their defaults.

    `position` holds fractions from 0 to 1: of a measurement's duration, or of the packages, their
    functions and the function's calls. `placed` turns it into `moment_s`, in seconds after the
    start of the lab or of the load, or into a `failpoint` and the number of its `call`, before
    or `after` which the fault is injected. With `watchdog`, the cluster's watchdog is killed too.
    `disk` is the one that is full, "runs" or "cluster"; `load` is what is stopped for `pause_s`,
    "sysbench" or "client". `ends` are names of nodes, two by two, whose hosts are cut off from each
    other, in one direction if the loss is one-way; or the one node whose host is lost, or is cut
    off from the lab for `pause_s`.
    """

    number: int
    kind: str
    budget: str = "shared"
    repeats: int = 1
    signal: str = ""
    position: tuple[float, ...] = ()
    failpoint: str = ""
    call: int = 0
    after: bool = False
    moment_s: float = 0.0
    watchdog: bool = False
    role: str = ""
    node: int = 0
    disk: str = ""
    load: str = ""
    pause_s: float = 0.0
    ends: tuple[str, ...] = ()

    @property
    def writes_are_checked(self) -> bool:
        """Whether clients write checked rows under the fault, instead of a sysbench measurement."""
        return self.kind in (*ON_NODES, *ON_NETWORK) or self.load == "client"

    @property
    def loses_lab(self) -> bool:
        """Whether the lab gives up, since a host is cut off from it for too long."""
        return self.kind == "ssh-cut" and self.pause_s > SILENCE_S

    @property
    def in_turn(self) -> bool:
        """Whether it shares the next start with others of its kind.

        Not if the watchdog is killed too: the next start has to clean up after it.
        """
        return (self.kind in ON_LAB and not self.watchdog) or self.load == "sysbench"

    @property
    def shares(self) -> str:
        """What it can share with other faults, by a name: a cluster or the next start.

        Empty if it shares nothing.
        """
        if self.in_turn:
            return f"{self.disk}{self.load} {self.budget} {self.repeats}"
        if self.kind in ON_NODES:
            return "nodes"
        return "network" if self.kind in ON_NETWORK and not self.loses_lab else ""

    def placed(self, calls: Mapping[str, int], duration_s: float) -> Injection:
        """Place it in a measurement that calls each failpoint so often and lasts so long."""
        if len(self.position) == 1:
            return replace(self, moment_s=round(self.position[0] * duration_s, 2))
        if not self.position:
            return self
        package, function, call = self.position
        chosen = _at(sorted({_package(name) for name in calls}), package)
        name = _at(sorted(name for name in calls if _package(name) == chosen), function)
        return replace(self, failpoint=name, call=1 + int(call * calls[name]))

    def to_dict(self) -> dict[str, object]:
        """Return the fields that the kind uses, as plain data."""
        return {name: value for name, value in asdict(self).items() if value}

    def words(self) -> str:
        """Describe it in a few words."""
        if self.failpoint:
            side = "after" if self.after else "before"
            when = f"{side} call {self.call} of {self.failpoint}"
        else:
            when = f"at {self.moment_s:.2f} s"
        what = {
            "lab-killed": "SIGKILL" + ", watchdog too" * self.watchdog,
            "terminated": self.signal,
            "node-killed": f"SIGKILL {self.role}.{self.node}",
            "node-frozen": f"{self.role}.{self.node} for {self.pause_s:.1f} s",
            "disk-full": f"of {self.disk}",
            "load-stopped": f"{self.load} for {self.pause_s:.1f} s",
            "ssh-cut": f"{''.join(self.ends)} for {self.pause_s:.1f} s",
        }.get(self.kind, " | ".join(self.ends))
        return f"{self.kind}: {what} {when}"


def draw(seed: int, number: int) -> Injection:
    """Draw the `number`-th injection of a campaign; it depends on nothing else."""
    rng = random.Random(f"{seed}/{number}")
    (kind,) = rng.choices(list(KINDS), list(KINDS.values()))
    moment_s, pause_s = round(rng.uniform(0, LOAD_S / 2), 2), round(rng.uniform(1, 3), 2)
    if kind in ON_NODES:
        role, node = rng.choice(NODES)
        pause_s = pause_s if kind == "node-frozen" else 0.0
        return Injection(number, kind, moment_s=moment_s, role=role, node=node, pause_s=pause_s)
    if kind in ON_NETWORK:
        ends = _ends(kind, rng)
        if kind != "ssh-cut":
            return Injection(number, kind, moment_s=moment_s, ends=ends)
        if rng.random() < 0.5:
            return Injection(number, kind, moment_s=moment_s, ends=ends, pause_s=pause_s)
        pause_s, position = round(SILENCE_S + 2 * pause_s, 2), (rng.random(),)
        return Injection(number, kind, ends=ends, pause_s=pause_s, position=position)
    budget = rng.choice(("scaled", "shared"))
    if kind == "load-stopped":
        load = rng.choice(("sysbench", "client"))
        budget = "shared" if load == "client" else budget
        return Injection(number, kind, budget, load=load, moment_s=moment_s, pause_s=pause_s)
    fractions = 1 if rng.random() < 0.2 else 3
    drawn = Injection(
        number,
        kind,
        budget,
        repeats=rng.choice((1, 2)),
        position=tuple(rng.random() for _ in range(fractions)),
        after=fractions > 1 and rng.random() < 0.5,
    )
    if kind == "disk-full":
        return replace(drawn, disk=rng.choice(("runs", "cluster")))
    if kind == "terminated":
        return replace(drawn, signal=rng.choice(("SIGTERM", "SIGINT")))
    return replace(drawn, signal="SIGKILL", watchdog=rng.random() < 0.15)


def _ends(kind: str, rng: random.Random) -> tuple[str, ...]:
    """Draw the nodes that a fault of a network is about."""
    one, other = rng.sample(("ndbmtd.1", "ndbmtd.2"), 2)
    if kind == "partition":
        return rng.choice(((one, other), (one, other, "ndb_mgmd.1", one)))
    if kind == "partition-server":
        return rng.choice(("mysqld.1", "mysqld.2")), one
    if kind == "one-way-loss":
        return one, other
    if kind == "ssh-cut":
        role, node = rng.choice(NODES)
        return (f"{role}.{node}",)
    return (one,)


def together(drawn: Sequence[Injection]) -> list[list[Injection]]:
    """Group the injections that share a cluster, in the order of the first of each group.

    >>> kinds = ("node-killed", "terminated", "node-frozen", "partition")
    >>> groups = together([Injection(n, kind) for n, kind in enumerate(kinds)])
    >>> [[injection.number for injection in group] for group in groups]
    [[0, 2], [1], [3]]
    """
    groups: list[list[Injection]] = []
    open_: dict[str, list[Injection]] = {}
    for injection in drawn:
        group = open_.setdefault(injection.shares, []) if injection.shares else []
        if not group:
            groups.append(group)
        group.append(injection)
        if len(group) == (IN_TURN if injection.in_turn else TOGETHER):
            open_.pop(injection.shares)
    return groups


def numbers(seed: int, first: int, count: int, kind: str | None = None) -> list[int]:
    """Return the numbers of `count` injections from `first` on, of all kinds or of one.

    LabError if there is no such kind.
    """
    if kind is not None and kind not in KINDS:
        raise LabError(
            "Unknown kind of fault",
            found=kind,
            expected=", ".join(KINDS),
            next_step="Choose one with --kind, or leave it out for all.",
        )
    chosen: list[int] = []
    number = first
    while len(chosen) < count:
        if kind in (None, draw(seed, number).kind):
            chosen.append(number)
        number += 1
    return chosen


def _package(name: str) -> str:
    return "os" if name.startswith("os.") else name.split(".")[1]


def _at(names: Sequence[str], fraction: float) -> str:
    return names[int(fraction * len(names))]
