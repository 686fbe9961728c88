"""A trial carried out: its blocks on real clusters.

It decides nothing. Trials of knobs that change while a cluster runs share a cluster start of the
baseline. Trials of knobs that need a restart of mysqld share a start of which the two servers are
restarted. All others start both configurations, as twins or one after the other. Several trials
may share the twin of the baseline.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ndblab.cluster import pair, start_stop
from ndblab.comparing import choice, judged, made, read_back
from ndblab.dataset.schema import OK as GOOD
from ndblab.design.block import Block
from ndblab.design.contrast import ALTERNATION, RESTARTS, TWINS, A, B, Contrast, Side
from ndblab.error import LabError, MissingData
from ndblab.measuring import blocks, feasible
from ndblab.measuring.deciding.loop import whole_blocks
from ndblab.measuring.slice_tables import SWITCHED_TOO_LATE
from ndblab.planning.point import DEFAULT_VARIANT
from ndblab.statistics import contrasts
from ndblab.tuning.history import BASE_RANGE, COMPANY, DISTURBED, OK, OWN_RANGE, Record, Trial
from ndblab.tuning.space import BASELINE, Configuration
from ndblab.tuning.wanted import GOAL, GOALS, NAME, Wanted, alone

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.dataset import Dataset
    from ndblab.measuring.clusters import Clusters
    from ndblab.planning.deployment import Plan

RANGES = {A: BASE_RANGE, B: OWN_RANGE}
FAILURES = 2
"""Number of failed blocks or starts after which a trial is over."""


@dataclass
class Executor:
    """Carries out trials on this host, into a dataset.

    `say` gets messages on what others on the host disturbed, `on_block` a trial, the number of the
    block that it begins, and how many others share that block.
    """

    wanted: Wanted
    clusters: Clusters
    say: Callable[[str], None] = print
    on_block: Callable[[Trial, int, int], None] = lambda trial, block, others: None
    _checked: set[Configuration] = field(default_factory=set)

    def carry_out(self, trials: Sequence[Trial]) -> list[Record]:
        """Measure the blocks that trials lack; a configuration that fails is infeasible.

        Several trials share a start of the baseline; the last ones are left out if the host has no
        memory for them. What cannot run is refused before a start, as far as that can be known.
        """
        began_s = time.monotonic()
        trials = self._measure_jointly(trials) if len(trials) > 1 else trials
        joint_s = (time.monotonic() - began_s) / len(trials)
        return [self._carry_out(trial, joint_s) for trial in trials]

    def _measure_jointly(self, trials: Sequence[Trial]) -> Sequence[Trial]:
        """Measure a block of trials that share the baseline's cluster; return which ones.

        If a side fails, each is measured alone afterwards, which shows whose fault it is.
        """
        try:
            contrasts = self._prepare(trials)
            fitting = trials[: max(1, self._fitting(trials, contrasts))]
        except LabError:
            # One of them cannot run; without others, it is told why.
            return self._measure_jointly(trials[:-1]) if len(trials) > 2 else trials[:1]
        if len(fitting) > 1 and self._takes_turns(fitting[0]):
            together = []
            for trial, contrast in zip(fitting, contrasts, strict=False):
                asked = dataclasses.replace(contrast, turns=True, pause_s=self._pause_s(trial))
                together.append(Block(asked, self._whole(trial) + 1))
            self.on_block(fitting[0], together[0].number, len(fitting) - 1)
            try:
                blocks.measure_jointly(together, self.clusters, self.say)
            except LabError as failure:
                self.say(f"{_said(failure)}: each trial is measured alone")
            self.clusters.close()
        return fitting

    def _fitting(self, trials: Sequence[Trial], contrasts: Sequence[Contrast]) -> int:
        """Return how many trials the host has room for at once, beside the baseline."""
        plans = [self.clusters.plans[DEFAULT_VARIANT]]
        settings = [self.wanted.settings(BASELINE)]
        free_bytes = feasible.disk_free_bytes(plans[0])
        for number, (trial, contrast) in enumerate(zip(trials, contrasts, strict=True)):
            plans.append(self.clusters.plans[contrast.side(B).point.variant])
            settings.append(self.wanted.settings(trial.configuration))
            if choice.no_twins(self.clusters.machine, plans, settings, free_bytes):
                return number
        return len(trials)

    def _carry_out(self, trial: Trial, before_s: float) -> Record:
        """Measure what a trial lacks; so many seconds were spent on it before."""
        began_s, status = time.monotonic() - before_s, OK
        try:
            [contrast] = self._prepare([trial])
            status = self._measure(trial, contrast)
        except LabError as failure:
            self.clusters.close()
            status = _said(failure)
        data = self.clusters.writer.snapshot()
        goal = self.wanted.request.goal
        gains = gains_of(data, trial.contrast, goal)
        levels = self._levels(data, trial)
        seconds = round(time.monotonic() - began_s, 1)
        has_p95 = not math.isnan(levels.get("p95_ms", math.nan))
        limited = any(limit.quantity == "p95" for limit in self.wanted.request.kept)
        if status == OK and (not len(gains) or (limited and not has_p95)):
            raise LabError(
                "This load does not report what the search needs",
                found=f"whole blocks without {goal if not len(gains) else 'p95'}",
                expected="p95 of each load for a goal or a limit of it, CPU time for the goal cpu",
                next_step="Let the program print latency_p95_ms, or search for throughput.",
            )
        beside = [] if goal == GOAL else gains_of(data, trial.contrast, GOAL)
        beside, starts = tuple(map(float, beside)), starts_of(data, trial)
        return Record(trial, tuple(map(float, gains)), seconds, status, levels, beside, starts)

    def _prepare(self, trials: Sequence[Trial]) -> list[Contrast]:
        """Set the clusters up for trials, and check all that can be checked before a start."""
        wanted = self.wanted
        variants = {DEFAULT_VARIANT: wanted.variant(BASELINE, DEFAULT_VARIANT)}
        started, contrasts = {DEFAULT_VARIANT: BASELINE}, []
        for number, trial in enumerate(trials):
            names = {A: "against" if trial.against else DEFAULT_VARIANT, B: f"tried{number or ''}"}
            own = {names[A]: trial.against, names[B]: trial.configuration}
            sides = (Side(wanted.point(own[name], name)) for name in names.values())
            both = Contrast(trial.contrast, trial.design, *sides, (NAME,), one_start=True)
            contrasts.append(both)
            variants |= {variant.name: variant for variant in wanted.variants(trial, names)}
            # In one cluster, both sides start as A; what B sets is read back when it is set.
            started |= own if trial.design != ALTERNATION else dict.fromkeys(own, trial.against)
        points = dict.fromkeys(side.point for contrast in contrasts for side in contrast.sides)
        experiment = wanted.experiment(list(variants.values()), list(points))
        first, *others = (contrast.to_dict() for contrast in contrasts)
        # By its contrast, a cluster of one side starts the servers of that side only.
        experiment = dataclasses.replace(
            experiment,
            asked={**experiment.asked, "contrast": first, "beside": others},
            shape=wanted.shape(trials[0]),
            after_start=lambda cluster, name: self._shown(trials[0], started, cluster, name),
        )
        size = experiment.size(wanted.request.profile, wanted.given(*trials))
        places = start_stop.places(start_stop.home(), wanted.request.port)
        plans = experiment.plans(size, "auto", self.clusters.machine, places)
        # A cluster that was started for other variants may serve these too.
        self.clusters.experiment, self.clusters.size = experiment, size
        self.clusters.plans = plans
        for trial, contrast in zip(trials, contrasts, strict=True):
            if trial.design != ALTERNATION:
                self._check(trial, {s: plans[contrast.side(s).point.variant] for s in (A, B)})
        return contrasts

    def _check(self, trial: Trial, plans: Mapping[str, Plan]) -> None:
        """Refuse configurations that the programs do not accept, or that need too much memory."""
        machine, both = self.clusters.machine, {A: trial.against, B: trial.configuration}
        settings = {side: self.wanted.settings(own) for side, own in both.items()}
        for side, own in both.items():
            if own not in self._checked:
                read_back.effective(self.clusters.binaries, plans[side], settings[side])
                choice.check_memory(machine, plans[side], settings[side], side)
                feasible.check_size(machine, plans[side])
                self._checked.add(own)
        if trial.design == TWINS:
            needed = sum(choice.needed_bytes(plans[side], settings[side]) for side in both)
            if needed > machine.memory_available_bytes:
                raise LabError(
                    "There is no memory for this configuration beside the other",
                    found=f"{needed >> 20} MiB needed",
                )

    def _shown(
        self, trial: Trial, started: Mapping[str, Configuration], cluster: Cluster, variant: str
    ) -> Mapping[str, object]:
        """Refuse a cluster that does not show the settings with which its variant started."""
        if trial.design == RESTARTS:
            side = B if variant == "tried" else A
            both = self.wanted.beside(trial.configuration, trial.against)
            return read_back.check(both, RESTARTS, cluster, made.VARIANTS[side])
        settings = self.wanted.settings(started[variant])
        return read_back.check(alone(settings), TWINS, cluster, DEFAULT_VARIANT)

    def _measure(self, trial: Trial, contrast: Contrast) -> str:
        failures: list[str] = []
        clusters, pause_s = self.clusters, self._pause_s(trial)
        seed = clusters.size.seed
        # Whole blocks may lack what the goal needs: trials count those that have it. A late reading
        # costs a block its CPU, so some more are measured before it counts as missing.
        enough, spare = trial.blocks + self._whole(trial) - self._known(trial), FAILURES
        while (have := self._whole(trial)) < enough:
            self.on_block(trial, have + 1, 0)
            turns = self._takes_turns(trial)
            asked = dataclasses.replace(contrast, turns=turns, pause_s=pause_s if turns else 0)
            try:
                status = blocks.measure(asked, have + 1, clusters, clusters.writer, seed, self.say)
                failures += [self._why(trial, have + 1, status)] if status != GOOD else []
            except LabError as failure:
                # One start of several servers may fail by chance, or be the baseline's.
                self.clusters.close()
                said = _said(failure)
                if said.startswith(f"{pair.called(A, contrast.a.point.variant)}:"):
                    said = f"{DISTURBED}, the {trial.other}: {said}"
                failures.append(said)
            if len(failures) == FAILURES:
                return next((w for w in failures if w.startswith(DISTURBED)), failures[-1])
            lacking = trial.blocks - self._known(trial)
            if spare and lacking > 0 and self._whole(trial) == enough:
                enough, spare = enough + lacking, spare - 1
        return OK

    def _pause_s(self, trial: Trial) -> int:
        words = {word for word, _ in set(trial.configuration) ^ set(trial.against)}
        return choice.pause_s(self.wanted.space.tunable(word).knob for word in words)

    def _known(self, trial: Trial) -> int:
        """Return how many of a trial's blocks have what the goal needs."""
        data, goal = self.clusters.writer.snapshot(), self.wanted.request.goal
        return len(gains_of(data, trial.contrast, goal))

    def _why(self, trial: Trial, block: int, status: str) -> str:
        """Return why a block failed.

        It is no fault of a configuration if only side A did, or if twins were thawed too late.
        """
        _, _, why = status.partition(": ")
        slices = self.clusters.writer.snapshot().slices
        mine = slices[(slices["contrast"] == trial.contrast) & (slices["block"] == block)]
        if why.startswith(COMPANY) or (trial.design == TWINS and why == SWITCHED_TOO_LATE):
            return f"{DISTURBED}, {why}"
        if set(mine.loc[mine["status"] == why, "side"]) == {A}:
            return f"{DISTURBED}, the {trial.other}: {why}"
        return why

    def _takes_turns(self, trial: Trial) -> bool:
        """Return whether clients take turns: not if queries last too long.

        How long the baseline's last is known from its run; `blocks.measure` watches the others.
        """
        baseline_ms = self.clusters.writer.snapshot().runs["latency_p95_ms"].max()
        return trial.design in self.wanted.space.turns and not baseline_ms > made.LONGEST_MS

    def _whole(self, trial: Trial) -> int:
        return len(whole_blocks(self.clusters.writer.snapshot().slices, trial.contrast))

    def _levels(self, data: Dataset, trial: Trial) -> dict[str, float]:
        slices = data.slices
        mine = slices[(slices["contrast"] == trial.contrast) & (slices["side"] == B)]
        good = mine[mine["status"] == GOOD]
        if good.empty:
            return {}
        qps, p95_ms = good["qps"].mean(), good["latency_p95_ms"].mean()
        ranges = ranges_of(data, trial.contrast, self.wanted.request.goal)
        return {"qps": round(float(qps), 1), "p95_ms": round(float(p95_ms), 3), **ranges}


def _said(failure: LabError) -> str:
    return failure.what + (f": {failure.found}" if failure.found else "")


def gains_of(data: Dataset, contrast: str, goal: str) -> np.ndarray:
    """Return the gain of each whole block of a contrast, as a logarithm; above 0 is better."""
    logs = judged.blocks(data, contrast)[GOALS[goal]]
    return logs if goal == GOAL else -logs


def starts_of(data: Dataset, trial: Trial) -> tuple[int, ...]:
    """Return the numbers of the other side's cluster starts, one a whole block of twins."""
    try:
        starts = contrasts.levels(data.slices, trial.contrast, "start", log=False)
    except MissingData:
        return ()
    return tuple(map(int, starts)) if trial.design == TWINS else ()


def ranges_of(data: Dataset, contrast: str, goal: str) -> dict[str, float]:
    """Return how far the whole blocks of each side lie apart, as logarithms; none without one."""
    quantity = judged.quantities(data, contrast)[GOALS[goal]]
    try:
        logs = {side: contrasts.levels(data.slices, contrast, quantity, side) for side in (A, B)}
    except MissingData:
        return {}
    return {RANGES[side]: round(float(np.ptp(own)), 4) for side, own in logs.items()}
