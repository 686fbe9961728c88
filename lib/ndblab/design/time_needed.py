"""The time that a measurement needs, estimated before it starts.

The constants were observed on 2 CPUs.
"""

from __future__ import annotations

import itertools
import math
from statistics import mean
from typing import TYPE_CHECKING

from ndblab.design import contrast as designs

if TYPE_CHECKING:
    from ndblab.design.contrast import Contrast
    from ndblab.design.experiment import Experiment
    from ndblab.planning.profile import Profile

START_S, START_PER_SERVER_S = 14, 0.8
"""A cluster's start, including the stop of the one before it."""
TWIN_STARTS = 1.6
"""How many starts of a single cluster take as long as starting two at the same moment."""
RESTART_S = 12
"""A restart of all MySQL servers at once, while the data nodes run: with two servers 12.4 s between
the slices of two blocks, the mean of eight; 0.2 s where nothing is restarted."""
START_PER_GROUP_S = 4
"""Additional seconds for each node group but the first."""
RUN_S, RUN_PER_CLIENT_S = 0.6, 0.005
"""What a run or a slice costs besides its own time: sysbench connects and ends its clients."""
TURNS_S = 2
"""Seconds of a block of turns in which nobody works, before the first one and after the last."""
LEAST_S = {"quick": 9.7 * 60}
"""Time of a whole measurement with contrasts, by profile, if the sweep does not use it all up."""
CONTRASTS_S = {"smoke": 0, "quick": 5.5 * 60, "brief": 8 * 3600}
"""Time for contrasts however long the sweep took, by profile; overnight for the brief's own."""
MOST_S = {"quick": 15 * 60}
"""Time, by profile, up to which blocks that no claim waits for may extend a measurement."""


def sweep_s(experiment: Experiment, size: Profile) -> float:
    """Estimate the seconds of a sweep with its cluster starts, once everything is installed."""
    todo = experiment.sweep(size)
    needed = {point.variant for point in todo.points}
    clusters = sum(not needed.isdisjoint(variants) for variants in todo.clusters)
    starts = 1 + todo.repeats * (clusters - 1)
    faults = [experiment.variant(point.variant).fault for point in todo.points]
    faults_s = todo.repeats * sum(fault.lasts_s for fault in faults if fault)
    more_s = experiment.overhead_s or (lambda size, point: 0.0)
    overhead_s = mean(_overhead_s(point.clients) + more_s(size, point) for point in todo.points)
    runs_s = len(todo) * (todo.warmup_s + todo.duration_s + overhead_s)
    return starts * start_s(experiment, size) + runs_s + faults_s


def limit_s(sweep_s: float, size: Profile, own_s: float = 0.0) -> float:
    """Return after how many seconds a measurement ends even if claims are open, by default.

    Contrasts need `own_s` for blocks that no claim waits for.
    """
    least_s = max(sweep_s + CONTRASTS_S[size.name], LEAST_S.get(size.name, 0))
    return max(least_s, min(least_s + own_s, MOST_S.get(size.name, math.inf)))


def own_s(experiment: Experiment, size: Profile) -> float:
    """Estimate the seconds of blocks that no claim waits for, on top of those for claims."""
    if not experiment.claims:
        return 0.0
    planned = experiment.planned_contrasts(size)
    return sum(contrast.blocks * block_s(contrast, experiment, size) for contrast in planned)


def block_s(contrast: Contrast, experiment: Experiment, size: Profile) -> float:
    """Estimate the seconds of a block of a contrast."""
    length = contrast.length(experiment.slice_length(size))
    loads = 2 if contrast.turns else 1
    running_s = sum(
        loads * length.warmup_s
        + length.duration_s * len({slice_.slot for slice_ in together})
        + loads * max(_overhead_s(contrast.side(slice_.side).point.clients) for slice_ in together)
        for together in contrast.block(1, size.seed)
    )
    if contrast.turns:
        [slices] = contrast.block(1, size.seed)
        changes = sum(a.side != b.side for a, b in itertools.pairwise(slices))
        running_s += TURNS_S + contrast.pause_s * changes
    starts = {designs.STARTS: 2.0, designs.TWINS: TWIN_STARTS}.get(contrast.design, 0.0)
    if contrast.blocks_per_start:
        starts = 1 / contrast.blocks_per_start
    restart_s = RESTART_S if contrast.design == designs.RESTARTS else 0
    return running_s + restart_s + starts * start_s(experiment, size)


def start_s(experiment: Experiment, size: Profile) -> float:
    """Estimate the seconds of a cluster start, until its tables are filled."""
    servers_s = START_PER_SERVER_S * experiment.servers(size)
    groups_s = START_PER_GROUP_S * (int(experiment.shape.get("node_groups", 1)) - 1)
    rows = size.rows * len(experiment.filled(experiment.variants[0].name))
    return START_S + servers_s + groups_s + rows / experiment.filled_rows_per_s


def _overhead_s(clients: int) -> float:
    return RUN_S + RUN_PER_CLIENT_S * clients
