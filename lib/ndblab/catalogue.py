"""The experiments by name: each a question with its sweep, its notebook, its figures, its claims.

In: a name, or the number of a figure or table. Out: an `Experiment`, which knows the points of its
sweep and the clusters that these need. Adding one is adding an entry here. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ndblab import fault, plan, profile, sweep
from ndblab.error import LabError
from ndblab.fault import Fault
from ndblab.profile import Profile
from ndblab.sweep import DEFAULT_VARIANT, Point

READ_WRITE, CHECKED_WRITES = "oltp_read_write", "checked_writes"
SPIN_US = 200
"""Time that a variant spins before it sleeps; the source of the claims gives none. Far longer than
an answer of the other side takes, and below the longest that NDB allows (500 us for threads)."""


@dataclass(frozen=True)
class Variant:
    """What is otherwise about a cluster, as fields of `plan.Shape`, or about its clients.

    With a `fault` the load is one of checked writes, and that is what happens to its cluster.
    """

    name: str = DEFAULT_VARIANT
    shape: Mapping[str, object] = field(default_factory=dict)
    tcp_clients: bool = False
    fault: Fault | None = None


@dataclass(frozen=True)
class Experiment:
    """One question of the lab.

    `sizes` are values by profile name and field, where this experiment has others than the profile.
    `shape` is what all of its clusters have, `budget` how the CPUs are divided unless the user says
    otherwise. Without a `grid` there is nothing to measure; `reads` are then the experiments whose
    recorded data it is about.
    """

    name: str
    question: str
    notebook: str
    figures: tuple[str, ...]
    claims: tuple[str, ...]
    grid: Callable[[Profile], tuple[Point, ...]] | None = None
    tables: tuple[str, ...] = ()
    sizes: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    shape: Mapping[str, object] = field(default_factory=dict)
    variants: tuple[Variant, ...] = (Variant(),)
    budget: str = "auto"
    reads: tuple[str, ...] = ()

    def size(self, name: str, overrides: Mapping[str, object] | None = None) -> Profile:
        """Give the profile called `name` as this experiment wants it, some values replaced.

        Raises
        ------
        LabError
            If there is no such profile, or a value is not one.
        """
        wanted = {k: v for k, v in (overrides or {}).items() if v is not None}
        return profile.get(name, {**self.sizes.get(name, {}), **wanted})

    def variant(self, name: str) -> Variant:
        """Give the variant of this name."""
        return next(v for v in self.variants if v.name == name)

    def clusters(self) -> tuple[tuple[str, ...], ...]:
        """Give the variants that share a cluster, a tuple for each cluster."""
        shared: dict[str, list[str]] = {}
        for variant in self.variants:
            shared.setdefault(repr(sorted(variant.shape.items())), []).append(variant.name)
        return tuple(tuple(names) for names in shared.values())

    def cluster_shape(
        self, size: Profile, variant: str, budget: str, places: plan.Places
    ) -> plan.Shape:
        """Say what is wanted of the cluster of a variant."""
        fields = {**self.shape, **self.variant(variant).shape}
        servers = max(size.servers) + int(fields.get("tcp_servers", 0))
        budget = self.budget if budget == "auto" else budget
        return plan.Shape(
            servers, size.rows, max(size.clients), budget=budget, places=places, **fields
        )

    def sweep(self, size: Profile) -> sweep.Sweep:
        """Give the sweep of a profile's size."""
        if self.grid is None:
            raise LabError(
                f"{self.name} has nothing to measure",
                found="an experiment without a sweep",
                next_step=f"Its figures and tables need no cluster: --experiment {self.name} "
                "--recorded.",
            )
        return sweep.Sweep(
            self.grid(size), size.repeats, size.warmup_s, size.duration_s, size.seed,
            self.clusters(),
        )  # fmt: skip


def _all_servers(size: Profile) -> tuple[Point, ...]:
    """Every number of servers with every number of clients.

    sysbench deals its clients round-robin, so that fewer clients than servers leave some idle and
    repeat a point of fewer servers: only the brief's own program has those points.
    """
    grid = sweep.grid(size.servers, size.clients)
    return tuple(p for p in grid if size.name == "brief" or p.clients >= p.servers)


def _one_server(size: Profile) -> tuple[Point, ...]:
    """One server with every number of clients; the variants about where it does best."""
    points = sweep.grid((1,), size.clients)
    near = [p for p in points if 8 <= p.clients <= 32] or [points[-1]]
    return points + tuple(
        Point(1, p.clients, variant=name) for p in near for name in ("tcp-clients", "redo-small")
    )


def _both_transporters(size: Profile) -> tuple[Point, ...]:
    """Both transporters under reads and under transactions; spinning under transactions."""
    points = [
        Point(1, clients, transporter, workload)
        for clients in size.clients
        for workload in (sweep.DEFAULT_WORKLOAD, READ_WRITE)
        for transporter in ("shm", "tcp")
    ]
    spinning = [
        Point(1, clients, workload=READ_WRITE, variant=variant)
        for clients in size.clients
        for variant in ("shm-spin", "all-spin")
    ]
    return (*points, *spinning)


def _every_fault(size: Profile) -> tuple[Point, ...]:
    """The most servers with the most clients under every fault; the two deaths if it must be brief.

    Raises
    ------
    LabError
        If there is one server only: it could not be killed and the service go on.
    """
    servers, clients = max(size.servers), max(size.clients)
    if servers < 2:
        raise LabError(
            "A service with one MySQL server cannot do without it",
            found="--servers 1",
            expected="at least 2",
            next_step="Ask for more --servers, or leave it out.",
        )
    names = ("kill-data-node", "kill-server") if size.name == "smoke" else fault.FAULTS
    return tuple(Point(servers, clients, workload=CHECKED_WRITES, variant=name) for name in names)


def _both_splits(size: Profile) -> tuple[Point, ...]:
    """The most servers, on data nodes of either split of threads."""
    servers = max(size.servers)
    return tuple(
        Point(servers, clients, variant=name)
        for clients in size.clients
        for name in (DEFAULT_VARIANT, "balanced-threads")
    )


def _one_point(size: Profile) -> tuple[Point, ...]:
    """The most servers with the most clients."""
    return (Point(max(size.servers), max(size.clients)),)


EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "the-brief",
            "What did the brief publish, and on what?",
            "00_the_brief.ipynb",
            figures=("2", "3"),
            tables=("1", "2"),
            claims=(),
        ),
        Experiment(
            "single-server-scaling",
            "How far does one MySQL server go, and what stops it?",
            "01_single_server_scaling.ipynb",
            figures=("4", "5"),
            claims=("F4-", "F5-", "S-rule", "B-sockets", "B-redo", "B-row-bytes"),
            grid=_one_server,
            sizes={
                "smoke": {"servers": (1,)},
                "quick": {"servers": (1,)},
                "brief": {"servers": (1,), "clients": profile.powers_of_two(1024)},
            },
            shape={"networking": True},
            variants=(
                Variant(),
                Variant("tcp-clients", tcp_clients=True),
                Variant("redo-small", {"small_redo": True}),
            ),
        ),
        Experiment(
            "multi-server-scaling",
            "How far do more MySQL servers carry one cluster?",
            "02_multi_server_scaling.ipynb",
            figures=("6", "7", "8", "9"),
            claims=(
                "F6-", "F7-", "F8-", "F9-t", "F9-send", "F9-recv", "F9-query", "F9-ldm",
                "B-less-cpu", "B-split", "B-mgmd-idle", "P-servers-1-2", "P-tc",
            ),
            grid=_all_servers,
        ),
        Experiment(
            "shm-vs-tcp",
            "What do shared-memory transporters gain over TCP on one host?",
            "03_shm_vs_tcp.ipynb",
            figures=("shm-vs-tcp", "spinning"),
            claims=("T-",),
            grid=_both_transporters,
            sizes={
                "smoke": {"servers": (1,), "clients": (2, 8)},
                "quick": {"servers": (1,), "clients": (1, 2, 8, 32, 128), "repeats": 3},
                "brief": {"servers": (1,), "clients": profile.powers_of_two(2048), "repeats": 3},
            },
            shape={"tcp_servers": 1},
            variants=(
                Variant(),
                Variant("shm-spin", {"shm_spin_us": SPIN_US}),
                Variant("all-spin", {"shm_spin_us": SPIN_US, "thread_spin_us": SPIN_US}),
            ),
        ),
        Experiment(
            "stability",
            "How steady is the cluster for an hour?",
            "04_stability.ipynb",
            figures=("1",),
            claims=("F1-", "W-warmup"),
            grid=_one_point,
            sizes={
                "smoke": {"servers": (2,), "clients": (8,), "duration_s": 10},
                "quick": {
                    "servers": (16,), "clients": (256,), "repeats": 1, "warmup_s": 10,
                    "duration_s": 180,
                },
                "brief": {"servers": (16,), "clients": (1024,), "duration_s": 3600},
            },
        ),
        Experiment(
            "capacity-model",
            "How much of many MySQL servers does the sweep of one foretell?",
            "05_capacity_model.ipynb",
            figures=("bounds", "capacity", "errors", "bottlenecks", "brief-predicted"),
            claims=(),
            reads=("single-server-scaling", "multi-server-scaling"),
        ),
        Experiment(
            "availability",
            "What do clients see when a part of the cluster fails?",
            "06_availability.ipynb",
            figures=("faults",),
            claims=("A-",),
            grid=_every_fault,
            sizes={
                "smoke": {"servers": (2,), "clients": (8,), "warmup_s": 0, "duration_s": 4},
                "quick": {"servers": (2,), "clients": (8,), "warmup_s": 0, "duration_s": 10},
                "brief": {
                    "servers": (2,), "clients": (8,), "warmup_s": 0, "duration_s": 30, "repeats": 3,
                },
            },
            variants=(Variant(), *(Variant(name, fault=f) for name, f in fault.FAULTS.items())),
            budget="shared",
        ),
        Experiment(
            "thread-balance",
            "Would other threads carry the cluster further?",
            "07_thread_balance.ipynb",
            figures=("thread-balance",),
            claims=("F9-next-step",),
            grid=_both_splits,
            sizes={
                "smoke": {"servers": (2,), "clients": (8,)},
                "quick": {
                    "servers": (8,), "clients": (64, 128, 256), "repeats": 6, "warmup_s": 2,
                    "duration_s": 6,
                },
                "brief": {"servers": (16,), "clients": (512, 1024), "repeats": 3},
            },
            variants=(Variant(), Variant("balanced-threads", {"balanced_threads": True})),
        ),
    )
}  # fmt: skip


def find(
    name: str | None = None, figure: str | int | None = None, table: str | int | None = None
) -> Experiment:
    """Find an experiment by its name, or by a figure or table of the brief.

    Raises
    ------
    LabError
        If there is none, or the name and the number do not belong together.
    """
    numbers = {"figure": figure, "table": table}
    asked = {what: str(number) for what, number in numbers.items() if number is not None}
    if name is None and not asked:
        raise LabError(
            "Say what to reproduce",
            found="neither a figure, a table nor an experiment",
            expected="--figure 6, --table 1, --all, or --experiment with one of "
            + ", ".join(EXPERIMENTS),
            next_step="Try: ./lab reproduce --figure 6",
        )
    if name is not None and name not in EXPERIMENTS:
        raise _unknown("experiment", name, EXPERIMENTS)
    found = [EXPERIMENTS[name]] if name is not None else []
    for what, number in asked.items():
        by_number = {n: e for e in EXPERIMENTS.values() for n in getattr(e, f"{what}s")}
        if number not in by_number:
            raise _unknown(what, number, by_number)
        found.append(by_number[number])
    if len({experiment.name for experiment in found}) > 1:
        raise LabError(
            "The experiment has no such " + " or ".join(asked),
            found=", ".join(f"--{what} {number}" for what, number in asked.items()),
            expected=f"what belongs to {found[0].name}",
            next_step="Give one of the options.",
        )
    return found[0]


def _unknown(what: str, found: str, known: Mapping[str, Experiment]) -> LabError:
    return LabError(
        f"The lab has no such {what}",
        found=found,
        expected=", ".join(known),
        next_step=f"Choose one with --{what}.",
    )
