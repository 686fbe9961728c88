"""The contrasts of a dataset: measured until the claims that wait for them are decided."""

from __future__ import annotations

import dataclasses
import functools
import io
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TextIO

from ndblab.design import time_needed
from ndblab.design.contrast import STARTS, TWINS, Contrast
from ndblab.judging import judge, publication
from ndblab.measuring import blocks, feasible
from ndblab.measuring.deciding import Judging, choice, disturbed
from ndblab.measuring.deciding.board import Board
from ndblab.measuring.deciding.choice import Standing
from ndblab.measuring.deciding.loop import Loop, whole_blocks
from ndblab.planning import twins
from ndblab.statistics import summary

if TYPE_CHECKING:
    from ndblab import dataset as datasets
    from ndblab.design.experiment import Experiment
    from ndblab.machine.host import Host
    from ndblab.measuring.clusters import Clusters
    from ndblab.planning.deployment import Plan


def published(experiment: Experiment, command: str) -> Judging:
    """Return the judging of an experiment's published claims.

    It leaves out readings of an `ndb_top` screen: what is measured for other claims judges them.
    """
    published = publication.claims()
    ids = [
        claim.id
        for claim in published
        if claim.id.startswith(experiment.claims) and not claim.is_reading
    ]
    return Judging(
        lambda data: judge.findings(data, ids, published),
        {claim.id: claim for claim in published},
        command,
    )


def decide(clusters: Clusters, judging: Judging, until_s: float | None, progress: bool) -> None:
    """Measure contrasts until a time of `time.monotonic`; without one, a block of each."""
    experiment, size = clusters.experiment, clusters.size
    stream = sys.stderr if progress else io.StringIO()
    contrasts = _contrasts(clusters, stream)
    board = Board(contrasts, judging.claims, stream)
    # A progress bar would tear the board apart.
    clusters.progress = False
    loop = Loop(
        contrasts,
        clusters.writer,
        lambda contrast, number: blocks.measure(
            contrast, number, clusters, clusters.writer, size.seed, board.say
        ),
        judging.findings,
        {contrast.name: time_needed.block_s(contrast, experiment, size) for contrast in contrasts},
        board,
        start_s=time_needed.start_s(experiment, size) if clusters.startable else 0.0,
    )
    if until_s is None:
        loop.once()
    else:
        loop.decide(until_s)
    board.end(judging.command)
    if spoilt := disturbed.described(clusters.writer.snapshot(), contrasts):
        board.say(
            f"Others on the host disturbed {spoilt}. The same command with --minutes measures "
            "these again."
        )


def noted(manifest: Mapping[str, Any]) -> tuple[Contrast, ...]:
    """Return the contrasts noted in a manifest."""
    return tuple(Contrast.from_dict(known) for known in manifest.get("contrasts", ()))


def is_open(data: datasets.Dataset, judging: Judging) -> bool:
    """Return whether a claim of a complete dataset waits for more blocks."""
    contrasts = noted(data.manifest)
    whole = {c.name: len(whole_blocks(data.slices, c.name)) for c in contrasts}
    standing = Standing(judging.findings(data), whole, dict.fromkeys(whole, 1.0))
    return bool(contrasts and choice.choose(contrasts, standing, math.inf))


def _contrasts(clusters: Clusters, stream: TextIO) -> tuple[Contrast, ...]:
    """Return the contrasts of a dataset: those that the sweep suggested when it was complete."""
    experiment, writer = clusters.experiment, clusters.writer
    assert experiment.contrasts
    if "contrasts" not in writer.manifest:
        points = summary.points(writer.snapshot().runs)
        suggested = experiment.contrasts(experiment, clusters.size, points)
        say = functools.partial(print, file=stream)
        suggested = possible(suggested, clusters.plans, clusters.machine, say)
        writer.note(contrasts=[contrast.to_dict() for contrast in suggested])
    return noted(writer.manifest)


def possible(
    wanted: Iterable[Contrast], plans: Mapping[str, Plan], machine: Host, say: Callable[[str], None]
) -> tuple[Contrast, ...]:
    """Return the contrasts, with pairs of starts in place of twins for which there is no room.

    Parameters
    ----------
    plans : of the clusters, by variant.
    machine : the host as it is while no cluster runs.
    say : called with one line on what is done instead, and why.
    """
    contrasts = []
    for contrast in wanted:
        if contrast.design == TWINS:
            both = [plans[contrast.side(side).point.variant] for side in ("a", "b")]
            if why := twins.lack(both, machine, feasible.disk_free_bytes(both[0])):
                say(f"{contrast.name}: one cluster after the other, not twins: {why}")
                contrast = dataclasses.replace(contrast, design=STARTS, turns=False, pause_s=0)
        contrasts.append(contrast)
    if any(contrast.design == TWINS for contrast in contrasts):
        controller = machine.cpu_controller
        if controller.kind not in ("cgroup1", "cgroup2"):
            say(f"twins are in no control groups of equal weight: {controller.reason}")
    return tuple(contrasts)
