"""A trial carried out: its configurations as variants, its blocks on real clusters.

It decides nothing. Trials of knobs that change while a cluster runs share a cluster start of the
baseline; others start both configurations, as twins or one after the other.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ndblab.cluster import start_stop
from ndblab.comparing import judged, knobs, made, read_back, room
from ndblab.comparing.sides import Setting, Sides
from ndblab.dataset.schema import OK as GOOD
from ndblab.design.contrast import ALTERNATION, TWINS, A, B, Contrast, Side
from ndblab.design.experiment import Experiment
from ndblab.design.variant import NO_QUOTAS, Variant
from ndblab.error import LabError
from ndblab.measuring import blocks, feasible
from ndblab.planning.point import DEFAULT_VARIANT, Point
from ndblab.tuning.history import DISTURBED, OK, Record, Trial
from ndblab.tuning.space import BASELINE, Configuration, Space

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.dataset import Dataset, Writer
    from ndblab.install import Binaries
    from ndblab.machine.host import Host
    from ndblab.measuring.clusters import Clusters
    from ndblab.planning.deployment import Plan
    from ndblab.planning.profile import Profile

NAME = "tune"
GOALS = {"throughput": 0, "p95": 1, "cpu": 2}
"""What is to gain, by its place in `judged.blocks`."""
FAILURES = 2
"""Blocks of a trial that are not whole, after which it is over."""


@dataclass(frozen=True)
class Wanted:
    """What a search is about: the user's own settings, the load, its size, and what is to gain."""

    baseline: tuple[Setting, ...]
    space: Space
    load: made.Load
    profile: str
    overrides: Mapping[str, object]
    goal: str = "throughput"
    port: int | str | None = None

    def settings(self, configuration: Configuration) -> tuple[Setting, ...]:
        """Return all settings of a configuration."""
        return self.space.settings(configuration, self.baseline)

    def point(self, configuration: Configuration, variant: str) -> Point:
        """Return where a configuration is measured.

        Raises
        ------
        LabError
            If it has fewer clients than servers.
        """
        found = made.point(_alone(self.settings(configuration)), A, self.load)
        if found.clients < found.servers:
            raise LabError(
                f"{found.servers} MySQL servers are too many for {found.clients} clients",
                next_step="Use more --clients.",
            )
        return dataclasses.replace(found, variant=variant)

    @property
    def divided(self) -> bool:
        """Return whether the baseline divides the CPUs, as only then a knob may."""
        return any(setting.knob.name == "data_nodes" for setting in self.baseline)

    def variant(self, configuration: Configuration, name: str) -> Variant:
        """Return a configuration as a cluster has it from its start."""
        found = made.variant(_alone(self.settings(configuration)), A, TWINS)
        quotas = found.quotas or (dict(NO_QUOTAS) if self.divided else {})
        return dataclasses.replace(found, name=name, quotas=quotas)

    def switched(self, configuration: Configuration, base: Configuration, name: str) -> Variant:
        """Return a configuration as what is changed on a running cluster of another."""
        own = self.variant(configuration, name)
        now = {t.word: t.current for t in self.space.tunables}
        wanted, started = {**now, **dict(configuration)}, {**now, **dict(base)}
        live = {
            self.space.tunable(word).knob.name: value
            for word, value in wanted.items()
            if value != started[word] and self.space.tunable(word).knob.file == knobs.MY_CNF
        }
        return dataclasses.replace(self.variant(base, name), set_global=live, quotas=own.quotas)

    def experiment(self, variants: Sequence[Variant], points: Sequence[Point]) -> Experiment:
        """Return the experiment of some variants, of which the first is the baseline."""
        return Experiment(
            NAME,
            "Which configuration is best on this host?",
            notebook="",
            figures=(),
            claims=(),
            grid=lambda made, size: tuple(points),
            workload=self.load.workload,
            sizes={"quick": {"repeats": 1}},
            variants=tuple(variants),
            budget="scaled" if self.divided else "shared",
            asked={
                "baseline": [str(setting) for setting in self.baseline],
                "knobs": {t.word: [t.current, *t.values] for t in self.space.tunables},
                "goal": self.goal,
            },
        )

    def size(self, experiment: Experiment, servers: Sequence[int]) -> Profile:
        """Return the size of an experiment whose clusters have up to so many servers."""
        return experiment.size(self.profile, self.given(servers))

    def given(self, servers: Sequence[int]) -> dict[str, object]:
        """Return the overrides of a size."""
        clients = {self.load.clients}
        for each in self.space.tunables:
            clients |= set(each.values) if each.knob.name == "clients" else set()
        return {**self.overrides, "servers": sorted(set(servers)), "clients": sorted(clients)}

    def base(self) -> tuple[Experiment, list[int]]:
        """Return the experiment of the baseline alone, and the servers that it needs."""
        point = self.point(BASELINE, DEFAULT_VARIANT)
        own = self.experiment([self.variant(BASELINE, DEFAULT_VARIANT)], [point])
        return own, self.servers(Trial("", BASELINE, 0, ALTERNATION))

    def servers(self, trial: Trial) -> list[int]:
        """Return numbers of servers whose largest the clusters of a trial have.

        Those of one cluster have as many as any value asks for, so that no trial needs another.
        """
        found = [self.point(own, "").servers for own in (trial.against, trial.configuration)]
        if trial.design == ALTERNATION:
            for each in self.space.tunables:
                if each.knob.name == "servers":
                    most = [int(value) for value in each.values]
                    found += [value for value in most if value <= self.load.clients]
        return found


@dataclass
class Executor:
    """Carries out trials on this host, into a dataset.

    `say` is told what others on the host disturbed, `on_block` how many blocks a trial has.
    """

    wanted: Wanted
    binaries: Binaries
    machine: Host
    clusters: Clusters
    say: Callable[[str], None] = print
    on_block: Callable[[Trial, int], None] = lambda trial, block: None
    _read: dict[Configuration, None] = field(default_factory=dict)

    @property
    def writer(self) -> Writer:
        """The dataset."""
        return self.clusters.writer

    def carry_out(self, trial: Trial) -> Record:
        """Measure the blocks that a trial lacks; a configuration that fails is infeasible.

        What cannot run is refused before anything is started, as far as that can be known.
        """
        began_s = time.monotonic()
        status = OK
        try:
            contrast = self._prepare(trial)
            status = self._measure(trial, contrast)
        except LabError as failure:
            self.clusters.close()
            status = failure.what + (f": {failure.found}" if failure.found else "")
        data = self.writer.snapshot()
        gains = gains_of(data, trial.contrast, self.wanted.goal)
        levels = self._levels(data, trial)
        seconds = round(time.monotonic() - began_s, 1)
        return Record(trial, tuple(map(float, gains)), seconds, status, levels)

    def _prepare(self, trial: Trial) -> Contrast:
        """Make the clusters those of a trial, and check what can be before a start."""
        wanted = self.wanted
        in_one = trial.design == ALTERNATION
        names = {A: DEFAULT_VARIANT if not trial.against else "against", B: "tried"}
        points = {
            A: wanted.point(trial.against, names[A]), B: wanted.point(trial.configuration, names[B])
        }  # fmt: skip
        variants = {DEFAULT_VARIANT: wanted.variant(BASELINE, DEFAULT_VARIANT)}
        variants[names[A]] = wanted.variant(trial.against, names[A])
        variants[names[B]] = (
            wanted.switched(trial.configuration, trial.against, names[B])
            if in_one
            else wanted.variant(trial.configuration, names[B])
        )
        experiment = dataclasses.replace(
            wanted.experiment(list(variants.values()), list(points.values())),
            after_start=lambda cluster, variant: self._shown(trial, cluster, variant),
        )
        size = wanted.size(experiment, wanted.servers(trial))
        places = start_stop.places(start_stop.home(), wanted.port)
        plans = experiment.plans(size, "auto", self.machine, places)
        # A cluster that was started for other variants may be that of these.
        self.clusters.experiment, self.clusters.size = experiment, size
        self.clusters.plans = plans
        if not in_one:
            self._check(trial, {side: plans[name] for side, name in names.items()})
        return Contrast(
            trial.contrast, trial.design, *(Side(points[side]) for side in (A, B)), (NAME,),
            one_start=True,
        )  # fmt: skip

    def _check(self, trial: Trial, plans: Mapping[str, Plan]) -> None:
        """Refuse configurations that the programs do not take, or that need too much memory."""
        both = {A: trial.against, B: trial.configuration}
        settings = {side: self.wanted.settings(own) for side, own in both.items()}
        for side, own in both.items():
            if own not in self._read:
                read_back.effective(self.binaries, plans[side], settings[side])
                room.check(self.machine, plans[side], settings[side], side)
                feasible.check_size(self.machine, plans[side])
                self._read[own] = None
        if trial.design == TWINS:
            needed = sum(room.needed_bytes(plans[side], settings[side]) for side in both)
            if needed > self.machine.memory_available_bytes:
                raise LabError(
                    "There is no memory for this configuration beside the other",
                    found=f"{needed >> 20} MiB needed",
                )

    def _shown(self, trial: Trial, cluster: Cluster, variant: str) -> Mapping[str, object]:
        """Refuse a cluster that does not show the settings of its variant."""
        # In one cluster, both start as the first; the rest is read back when it is set.
        tried = trial.against if trial.design == ALTERNATION else trial.configuration
        own = {DEFAULT_VARIANT: BASELINE, "against": trial.against, "tried": tried}
        settings = self.wanted.settings(own[variant])
        return read_back.check(_alone(settings), TWINS, cluster, DEFAULT_VARIANT)

    def _measure(self, trial: Trial, contrast: Contrast) -> str:
        failed = 0
        while (have := self._whole(trial)) < trial.blocks:
            self.on_block(trial, have + 1)
            status = blocks.measure(
                contrast, have + 1, self.clusters, self.writer, self.clusters.size.seed, self.say
            )
            failed += status != GOOD
            if failed == FAILURES:
                _, _, why = status.partition(": ")
                return f"{DISTURBED}, {why}" if why.startswith("company:") else why
        return OK

    def _whole(self, trial: Trial) -> int:
        slices = self.writer.snapshot().slices
        mine = slices[(slices["contrast"] == trial.contrast) & (slices["status"] == GOOD)]
        whole = mine.groupby("block")["run_id"].count() == mine.groupby("block")["of"].first()
        return int(whole.sum())

    def _levels(self, data: Dataset, trial: Trial) -> dict[str, float]:
        slices = data.slices
        mine = slices[(slices["contrast"] == trial.contrast) & (slices["side"] == B)]
        good = mine[mine["status"] == GOOD]
        if good.empty:
            return {}
        return {
            "qps": round(float(good["qps"].mean()), 1),
            "p95_ms": round(float(good["latency_p95_ms"].mean()), 3),
        }


def gains_of(data: Dataset, contrast: str, goal: str) -> np.ndarray:
    """Return the gain of each whole block of a contrast, as a logarithm; above 0 is better."""
    logs = judged.blocks(data, contrast)[GOALS[goal]]
    return logs if goal == "throughput" else -logs


def _alone(settings: tuple[Setting, ...]) -> Sides:
    """Return settings as those of both sides, which a single configuration amounts to."""
    return Sides((), (), settings)
