"""Sides with a planted truth, and the comparison of them that `./lab compare` would make.

CPU quotas plant the truth: the MySQL servers get a share of the CPUs, smaller by a known part on
one side, while the data nodes have plenty. Queries take the same CPU time on both sides, so
throughput differs by that part.
"""

from __future__ import annotations

import contextlib
import dataclasses
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab import dataset
from ndblab.benchmarks.commands import PORT
from ndblab.benchmarks.trials import EQUAL, OF_SQL, OF_TWINS, PLANTED, SAME
from ndblab.cluster import start_stop
from ndblab.comparing import choice, made, sides
from ndblab.design import time_needed
from ndblab.design.contrast import ALTERNATION, RESTARTS, SWITCHED, TWINS, A, B, Contrast
from ndblab.design.variant import NO_QUOTAS, Variant
from ndblab.measuring import manifest
from ndblab.measuring.clusters import Clusters
from ndblab.planning.point import DEFAULT_VARIANT, DEFAULT_WORKLOAD
from ndblab.workloads.own import resolving

if TYPE_CHECKING:
    from ndblab.design.experiment import Experiment
    from ndblab.install import Binaries
    from ndblab.machine.host import Host
    from ndblab.planning.deployment import Plan
    from ndblab.planning.profile import Profile

TRUTHS = (0.95, 1.05)
"""True ratios of B over A, planted in turn."""
SHARE = 0.5
"""Share of all CPUs that MySQL servers and clients have together on the faster side. Data nodes
need a third of that (0.23 of the CPU time of a point read is theirs), so they are never the
limit."""
SERVER_SHARE = 0.35
"""Share of all CPUs that the faster side's MySQL server has, where each side has its own server."""
_SPLIT = ("data_nodes=25%", "data_nodes=50%")
_SESSION = ("ndb_batch_size=32768", "ndb_batch_size=65536")
_MYSQLD = ("back_log=80", "back_log=81")
_SYSTEM = ("MaxNoOfConcurrentScans=256", "MaxNoOfConcurrentScans=257")
SIDES = {SWITCHED: _SPLIT, ALTERNATION: _SESSION, RESTARTS: _MYSQLD, TWINS: _SYSTEM}
"""Settings for which `./lab compare` chooses each design; only the first affects lookups."""
KINDS = (
    (PLANTED, SWITCHED), (PLANTED, ALTERNATION), (PLANTED, RESTARTS), (PLANTED, TWINS),
    (OF_TWINS, TWINS), (OF_SQL, ALTERNATION),
    (EQUAL, SWITCHED), (EQUAL, ALTERNATION), (EQUAL, RESTARTS),
)  # fmt: skip
"""Kinds of truths, each with a design, in the order of measurement: equal sides take longest."""


@dataclass(frozen=True)
class Bench:
    """What comparisons are measured on: one design, its clusters, and the host."""

    experiment: Experiment
    size: Profile
    plans: Mapping[str, Plan]
    machine: Host
    binaries: Binaries
    workload_of_b: str = DEFAULT_WORKLOAD

    @property
    def contrast(self) -> Contrast:
        """The comparison as `./lab compare` would make it."""
        [contrast] = self.experiment.contrasts(self.experiment, self.size, None)
        return contrast

    @property
    def block_s(self) -> float:
        """Expected seconds of a block."""
        return time_needed.block_s(self.contrast, self.experiment, self.size)

    def between(self, truth: float, block: int) -> Contrast:
        """Return the comparison with a planted truth, for this block."""
        contrast, own = self.contrast, {}
        for side, workload in ((A, DEFAULT_WORKLOAD), (B, self.workload_of_b)):
            changed = {"variant": _name(truth, side, block), "workload": workload}
            point = dataclasses.replace(contrast.a.point, **changed)
            own[side] = dataclasses.replace(contrast.a, point=point)
        return dataclasses.replace(contrast, **own)

    @contextlib.contextmanager
    def writer(self) -> Iterator[dataset.Writer]:
        """Open a dataset that is removed afterwards."""
        described, identity = manifest.describe(
            self.experiment, self.size, "auto", self.machine, self.binaries
        )
        with (
            tempfile.TemporaryDirectory(prefix="ndblab-bench-") as scratch,
            dataset.Writer.open(scratch, made.NAME, identity, described) as writer,
        ):
            yield writer

    @contextlib.contextmanager
    def clusters(self) -> Iterator[Clusters]:
        """Yield its clusters, none of which runs yet; stop them all afterwards."""
        with (
            self.writer() as writer,
            contextlib.closing(
                Clusters(self.experiment, self.size, self.plans, self.binaries, writer, False)
            ) as clusters,
        ):
            yield clusters


def bench(kind: str, design: str, machine: Host, binaries: Binaries) -> Bench:
    """Return the bench for a kind of truth and a design, with settings that call for it."""
    parsed = sides.parse(SIDES[design])
    chosen = choice.choose(parsed, one_load=design == SWITCHED, turns=True)
    assert chosen.design == design
    # A session variable is compared on one server; here each side has its own, with a quota.
    of_servers = sides.parse(_MYSQLD)
    load = made.load(parsed, DEFAULT_WORKLOAD, 1, None, machine.usable_cpus)
    first = made.point(parsed, A, load)
    variants = [
        _variant(design, truth, side, block, of_servers)
        for truth in (*TRUTHS, SAME)
        for side in (B, A)
        for block in (2, 1)
    ]
    shape = made.servers_of(of_servers) if design in (ALTERNATION, RESTARTS) else {}
    experiment = dataclasses.replace(
        made.experiment(parsed, chosen, load), grid=lambda *_: (first,), shape=shape,
        variants=(dataclasses.replace(variants[-1], name=DEFAULT_VARIANT), *variants),
        budget="scaled" if kind == PLANTED else "shared", after_start=None, asked={},
    )  # fmt: skip
    size = experiment.size("quick", {"servers": [load.servers], "clients": [load.clients]})
    places = start_stop.places(start_stop.home(), PORT)
    plans = experiment.plans(size, "auto", machine, places)
    own = _point_selects() if kind == OF_SQL else DEFAULT_WORKLOAD
    return Bench(experiment, size, plans, machine, binaries, own)


def _point_selects() -> str:
    """Return the name of the workload of a file with the statement of `DEFAULT_WORKLOAD`."""
    with tempfile.TemporaryDirectory(prefix="ndblab-bench-") as scratch:
        file = Path(scratch, "point_selects.sql")
        file.write_text("SELECT c FROM sbtest:int(1,tables) WHERE id = :int(1,rows);\n")
        return resolving.resolve(file).name


def _name(truth: float, side: str, block: int) -> str:
    return f"{side}-{round(100 * truth)}-{block % 2}"


def _variant(design: str, truth: float, side: str, block: int, of_servers: sides.Sides) -> Variant:
    """Return a side with its planted quota; blocks with an even number have exchanged servers.

    The faster side has the whole share, so that data nodes always have the rest.
    """
    parts = {A: min(1.0, 1 / truth), B: min(1.0, truth)}
    quotas: dict[str, float | None] = dict(NO_QUOTAS)
    name = _name(truth, side, block)
    if design in (SWITCHED, TWINS):
        if truth != SAME:
            quotas["sql"] = SHARE * parts[side]
        return Variant(name, quotas=quotas)
    exchanged = block % 2 == 0
    servers = {A: "mysqld.2", B: "mysqld.1"} if exchanged else {A: "mysqld.1", B: "mysqld.2"}
    if truth != SAME:
        quotas |= {servers[s]: SERVER_SHARE * parts[s] for s in (A, B)}
    # The design of restarts exchanges the options of servers by itself.
    other = {A: B, B: A}[side]
    own = other if design == ALTERNATION and exchanged else side
    return dataclasses.replace(
        made.variant(of_servers, own, RESTARTS), name=name, quotas=quotas, my_cnf={}
    )
