"""What an experiment is: a question, and the sweep and the clusters that answer it.

In: a profile's name and what the user wants otherwise. Out: the size, the points of the sweep, the
shape of each cluster. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ndblab.error import LabError
from ndblab.experiments import sweep
from ndblab.planning import deployment, profile
from ndblab.planning.fault import Fault
from ndblab.planning.point import DEFAULT_VARIANT, Point
from ndblab.planning.profile import Profile


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
        self, size: Profile, variant: str, budget: str, places: deployment.Places
    ) -> deployment.Shape:
        """Say what is wanted of the cluster of a variant."""
        fields = {**self.shape, **self.variant(variant).shape}
        servers = max(size.servers) + int(fields.get("tcp_servers", 0))
        budget = self.budget if budget == "auto" else budget
        return deployment.Shape(
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
