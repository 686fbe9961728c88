"""What an experiment is: a question, and the sweep and the clusters that answer it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from ndblab.design.contrast import LENGTHS, RESTARTS, STARTS, TWINS, A, B, Contrast, Length
from ndblab.design.sweep import Sweep
from ndblab.design.variant import Variant
from ndblab.error import LabError
from ndblab.formatting import count
from ndblab.hosts import spread
from ndblab.planning import config, deployment
from ndblab.planning.node import is_grid
from ndblab.planning.point import DEFAULT_WORKLOAD, Point
from ndblab.planning.profile import Profile, get
from ndblab.planning.shape import Places, Shape
from ndblab.workloads.load_generator import Job, Probe

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.cluster.cluster import Cluster
    from ndblab.install import Binaries
    from ndblab.machine.host import Host


@dataclass(frozen=True)
class Experiment:
    """One question of the lab.

    `sizes` are values by profile name and field where they differ from the profile's, `slices` the
    lengths of slices by profile name where they differ. All clusters have the fields of `shape`;
    `budget` divides the CPUs unless the user chooses. `grid` gives the points for a profile, most
    of them under `workload`. Without a `grid` there is nothing to measure; `reads` then names the
    experiments whose recorded data it uses. `contrasts` gives what is measured after the sweep,
    from the sweep's points (`statistics.summary.points`), of which a dry run has none.
    `spare_servers` run beside those of the sweep, for the other side of a duet. `probes` are read
    before and after each load. `after_filling` is called once, on the first cluster whose tables
    are filled, and returns facts for the manifest. `after_start` is called for each cluster that
    has started, with its variant, and returns what its nodes show of the settings; a LabError ends
    the measurement. `asked` is what else two measurements must share to be the same. Tables are
    filled at about `filled_rows_per_s`; `overhead_s` is what a run takes beyond its own time and
    the usual overhead. With `sets_variables`, its variants may set global variables and have other
    tables even on a cluster that the lab did not start. `not_attached` says why it cannot be
    measured on any such cluster; empty if it can. `hosts` are the roles of each host
    (`hosts.roles`) if the experiment needs several. `lacks` says in one line what this machine
    lacks to measure it; empty if nothing.
    """

    name: str
    question: str
    notebook: str
    figures: tuple[str, ...]
    claims: tuple[str, ...]
    grid: Callable[[Experiment, Profile], tuple[Point, ...]] | None = None
    workload: str = DEFAULT_WORKLOAD
    tables: tuple[str, ...] = ()
    sizes: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    slices: Mapping[str, Length] = field(default_factory=dict)
    shape: Mapping[str, object] = field(default_factory=dict)
    variants: tuple[Variant, ...] = (Variant(),)
    budget: str = "auto"
    reads: tuple[str, ...] = ()
    contrasts: Callable[[Experiment, Profile, pd.DataFrame], tuple[Contrast, ...]] | None = None
    spare_servers: int = 0
    probes: tuple[Probe, ...] = ()
    after_filling: Callable[[Cluster, Job], Mapping[str, object]] | None = None
    after_start: Callable[[Cluster, str], Mapping[str, object]] | None = None
    asked: Mapping[str, object] = field(default_factory=dict)
    filled_rows_per_s: float = 20_000
    overhead_s: Callable[[Profile, Point], float] | None = None
    hosts: tuple[tuple[str, ...], ...] = ()
    lacks: Callable[[], str] | None = None
    sets_variables: bool = False
    not_attached: str = ""

    def size(self, name: str, overrides: Mapping[str, object] | None = None) -> Profile:
        """Return the profile called `name` with this experiment's values, then the user's.

        LabError if the profile is unknown, or a value is not usable.
        """
        wanted = {k: v for k, v in (overrides or {}).items() if v is not None}
        return get(name, {**self.sizes.get(name, {}), **wanted})

    def planned_contrasts(self, size: Profile) -> tuple[Contrast, ...]:
        """Return the contrasts as they are known before the sweep."""
        import pandas as pd

        return self.contrasts(self, size, pd.DataFrame()) if self.contrasts else ()

    def slice_length(self, size: Profile) -> Length:
        """Return how long the slices of its contrasts are."""
        return self.slices.get(size.name, LENGTHS[size.name])

    def variant(self, name: str) -> Variant:
        """Return the variant of this name."""
        return next(v for v in self.variants if v.name == name)

    def side_of(self, variant: str) -> str:
        """Return the side that alone uses the clusters of a variant, as the user asked; else "".

        A cluster that variants share belongs to no side when it starts.
        """
        sides = self._sides_alone(variant)
        return next(iter(sides)) if len(sides) == 1 else ""

    def _sides_alone(self, variant: str) -> dict[str, Point]:
        """Return the points of a variant on sides with clusters of their own, by side."""
        asked = (self.asked.get("contrast", {}), *self.asked.get("beside", ()))
        contrasts = [Contrast.from_dict(c) for c in asked if c.get("design") in (STARTS, TWINS)]
        return {
            name: side.point
            for contrast in contrasts
            for name, side in zip((A, B), contrast.sides, strict=False)
            if side.point.variant == variant
        }

    @property
    def sides_with_servers(self) -> dict[str, Point]:
        """Return the points of sides that have MySQL servers of their own in one cluster."""
        asked = self.asked.get("contrast", {})
        if asked.get("design") != RESTARTS:
            return {}
        return {side: Contrast.from_dict(asked).side(side).point for side in (A, B)}

    @property
    def compares_engines(self) -> bool:
        """Return whether it needs two installations of NDB Cluster."""
        return any(variant.second_engine for variant in self.variants)

    def check_engines(self, named: str | None) -> None:
        """Refuse a comparison of engines without two, and two engines without a comparison.

        LabError if what the user named does not suit the experiment.
        """
        if self.compares_engines and not named:
            raise LabError(
                f"{self.name} compares two installations of NDB Cluster or RonDB",
                expected="--engines with two folders, tarballs or releases, separated by a comma",
                next_step=f"Try: ./lab reproduce --experiment {self.name} --engines A,B",
            )
        if named and not self.compares_engines:
            raise LabError(
                f"{self.name} uses one installation",
                found=f"--engines {named}",
                next_step="Drop --engines, or compare with --experiment engines.",
            )

    def clusters(self) -> tuple[tuple[str, ...], ...]:
        """Return the variants that share a cluster, a tuple for each cluster."""
        shared: dict[str, list[str]] = {}
        for variant in self.variants:
            setting = json.dumps(
                [variant.shape, vars(variant.overlay), variant.second_engine], sort_keys=True
            )
            shared.setdefault(setting, []).append(variant.name)
        return tuple(tuple(names) for names in shared.values())

    def filled(self, variant: str) -> tuple[str, ...]:
        """Return the variants for which tables are filled in the cluster of `variant`.

        They are the first variants with each `table_options`.
        """
        [together] = [names for names in self.clusters() if variant in names]
        first: dict[str, str] = {}
        for name in together:
            first.setdefault(self.variant(name).table_options, name)
        return tuple(first.values())

    def servers(self, size: Profile) -> int:
        """Return the number of MySQL servers of each cluster, with spare ones and those by TCP.

        The sweep's servers exist once for each kind that the shape has.
        """
        shape = Shape(max(size.servers), size.rows, max(size.clients), **self.shape)
        kinds = max(len(shape.connection_pools), len(shape.server_options))
        return kinds * shape.servers + shape.tcp_servers + self.spare_servers

    def cluster_shape(self, size: Profile, variant: str, budget: str, places: Places) -> Shape:
        """Return what is wanted of the cluster of a variant.

        A side that has clusters of its own starts its own MySQL servers only: idle ones would use
        CPU and memory.
        """
        chosen, servers = self.variant(variant), self.servers(size)
        if side := self.side_of(variant):
            servers = self._sides_alone(variant)[side].servers
        return Shape(
            servers,
            size.rows * len(self.filled(variant)),
            max(size.clients),
            budget=self.budget if budget == "auto" else budget,
            places=places,
            overlay=chosen.overlay,
            **{**self.shape, **chosen.shape},
        )

    def usable_servers(self, plan: deployment.Plan, point: Point) -> tuple[deployment.Node, ...]:
        """Return the MySQL servers with a point's transporter and its variant's kind and place."""
        chosen = self.variant(point.variant)
        kind = chosen.connections, chosen.server_options
        servers = plan.servers_by(point.transporter, *kind)
        with_data = {node.host for node in plan.data_nodes}
        wanted = chosen.beside_data
        return tuple(n for n in servers if wanted is None or wanted == (n.host in with_data))

    def job(
        self,
        size: Profile,
        binaries: Binaries,
        plan: deployment.Plan,
        point: Point,
        options: Mapping[str, object] = MappingProxyType({}),
        skip: int = 0,
    ) -> Job:
        """Return the job of a point's load generator on its cluster.

        LabError if the cluster has too few servers.

        Parameters
        ----------
        options : of the load generator, in addition to those of the variant.
        skip : number of usable servers to leave to others.
        """
        usable = self.usable_servers(plan, point)
        there = usable[skip:]
        if plan.hosts and not is_grid(there[: point.servers]):
            # The skipped servers do not form whole rows of one server per host.
            there = usable
        chosen = self.variant(point.variant)
        pool = f" and {count(chosen.connections, 'connection')}" if chosen.connections else ""
        if len(there) < point.servers:
            raise LabError(
                "The cluster has too few MySQL servers for this load",
                found=f"{len(there)} free ones with transporter {point.transporter}{pool}",
                expected=f"{point.servers}",
                next_step="Use more --servers.",
            )
        used = there[: point.servers]
        host = plan.load_host
        if plan.hosts and chosen.clients_beside:
            host = used[0].host
        elif plan.hosts:
            # A socket cannot be reached from another host.
            used = tuple(replace(node, socket="") for node in used)
        return Job(
            binaries, size, point, used, chosen.tcp_clients,
            {**chosen.options, **options}, chosen.table_options, chosen.processes,
            self._database(chosen), self.probes, config.connectstring(plan),
            **config.account(plan, host), host=host,
        )  # fmt: skip

    def _database(self, variant: Variant) -> str:
        """Return the database of a variant's tables; "" (the generator's) for the first options."""
        known = list(dict.fromkeys(other.table_options for other in self.variants))
        place = known.index(variant.table_options)
        return f"sbtest{place + 1}" if place else ""

    def plans(
        self,
        size: Profile,
        budget: str,
        machine: Host,
        places: Places,
        hosts: spread.Hosts | None = None,
    ) -> dict[str, deployment.Plan]:
        """Plan the cluster of each variant on a host, or over several, by the variant's name."""
        shapes = {v.name: self.cluster_shape(size, v.name, budget, places) for v in self.variants}
        if hosts:
            return {name: spread.make(hosts, shape) for name, shape in shapes.items()}
        return {name: deployment.make(machine, shape) for name, shape in shapes.items()}

    def sweep(self, size: Profile) -> Sweep:
        """Return the sweep of a profile's size; LabError if the experiment measures nothing."""
        if self.grid is None:
            raise LabError(
                f"{self.name} measures nothing",
                next_step=f"Run ./lab reproduce --experiment {self.name} --recorded.",
            )
        points = self.grid(self, size)
        needed = {point.variant for point in points}
        return Sweep(
            points, size.repeats, size.warmup_s, size.duration_s, size.seed,
            tuple(variants for variants in self.clusters() if needed & set(variants)),
        )  # fmt: skip
