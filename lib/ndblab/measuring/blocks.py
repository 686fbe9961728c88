"""The measurement of one block of a contrast, or of several contrasts that share side A.

It judges nothing.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ndblab.cluster import pair
from ndblab.dataset import table
from ndblab.dataset.manifest import FAILED_LOADS
from ndblab.design import block
from ndblab.design import contrast as designs
from ndblab.design.contrast import Contrast, Slice
from ndblab.error import LabError
from ndblab.measuring import measured_run, slices, turns
from ndblab.measuring.performing import ATTEMPTS
from ndblab.measuring.slice_tables import SWITCHED_TOO_LATE
from ndblab.planning.point import NO_MONITOR
from ndblab.planning.workload import AGAIN, ERRED, WAITED
from ndblab.workloads.load_generator import OK
from ndblab.workloads.turns import SIDES

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.dataset import Writer
    from ndblab.design.block import Block
    from ndblab.design.contrast import Side
    from ndblab.measuring.clusters import Clusters
    from ndblab.planning.profile import Profile


def measure(
    contrast: Contrast,
    number: int,
    clusters: Clusters,
    writer: Writer,
    seed: int,
    on_disturbed: Callable[[str], None],
) -> str:
    """Measure the slices of a block in order, appending each slice to the dataset.

    If others on the host disturb the block, it is measured again, and `on_disturbed` is called with
    one line about it. The last attempt counts even if the hypervisor takes CPUs away: if it never
    stops, that is what the host is like. Once queries have lasted too long for turns, nobody takes
    turns any more. LabError if a node of the cluster has ended, or the cluster does not suit the
    contrast.
    """
    if clusters.startable and _begins_start(contrast, number, clusters, writer):
        clusters.close()
    measured = writer.snapshot().slices
    if measured["status"][measured["contrast"] == contrast.name].eq(turns.TOO_LONG).any():
        contrast = dataclasses.replace(contrast, turns=False, pause_s=0)
    for attempt in range(1, ATTEMPTS + 1):
        last = attempt == ATTEMPTS
        status, disturbance = _attempt(contrast, number, clusters, writer, seed, last)
        if status.endswith(turns.TOO_LONG):
            on_disturbed(f"{turns.TOO_LONG}: measured again, each slice with a load of its own")
            return measure(contrast, number, clusters, writer, seed, on_disturbed)
        if not disturbance or last:
            break
        on_disturbed(f"{disturbance}: measured again")
    return status


def measure_jointly(
    together: Sequence[Block], clusters: Clusters, on_spoilt: Callable[[str], None]
) -> None:
    """Measure blocks of contrasts that share side A, each side on a cluster of its own.

    All clusters start at the same moment and take turns; the slices of A count in every contrast.
    Several blocks that the host spoilt are measured once more, together, and `on_spoilt` is called
    with one line about it. What then lacks a whole block is left to `measure`. LabError if a
    cluster does not come up, or a node of it has ended.

    Parameters
    ----------
    together : blocks of different contrasts, all of them twins that take turns.
    """
    spoilt, why = _attempt_jointly(together, clusters)
    if len(spoilt) > 1:
        on_spoilt(f"{why}: {len(spoilt)} blocks are measured again, together")
        _attempt_jointly(spoilt, clusters)


def _attempt_jointly(together: Sequence[Block], clusters: Clusters) -> tuple[list[Block], str]:
    """Measure blocks that share side A; return those that the host spoilt, and one reason."""
    writer = clusters.writer
    for contrast, number in together:
        _forget(contrast, number, writer)
    contrasts = {contrast.name: contrast for contrast, _ in together}
    place = dict(zip((designs.A, *contrasts), SIDES, strict=False))
    there = dict(zip(SIDES, clusters.together(together), strict=False))
    clusters.contrasts.update(contrasts)
    size = _sized(together[0].contrast, clusters)
    order = block.joint(together, size.seed)
    asked = []
    for slices_ in order:
        side = place[designs.A if slices_[0].side == designs.A else slices_[0].contrast]
        own = [
            _asked(contrasts[slice_.contrast], slice_, clusters, *there[side], size)
            for slice_ in slices_
        ]
        asked.append(turns.Turn(side, own))
    ready = {side: functools.partial(lambda one: one, one) for side, (one, _) in there.items()}
    runs = turns.measure(asked, ready, max(contrast.pause_s for contrast in contrasts.values()))
    reasons: dict[str, str] = {}
    for slice_, run in zip(itertools.chain(*order), runs, strict=True):
        writer.append(slice_.run_id, run.tables, run.logs)
        status = _status(run)
        if why := run.disturbance or (status if status == SWITCHED_TOO_LATE else ""):
            reasons[slice_.contrast] = why
    spoilt = [own for own in together if own.contrast.name in reasons]
    for contrast, number in spoilt:
        _forget(contrast, number, writer)
    return spoilt, next(iter(reasons.values()), "")


def _attempt(
    contrast: Contrast, number: int, clusters: Clusters, writer: Writer, seed: int, last: bool
) -> tuple[str, str]:
    """Measure a block up to the first slice that is not good; return why, and who disturbed it.

    A block that lacks a slice is of no use. A slice from which the hypervisor took CPUs away counts
    in the last attempt, and always in a duet, where both sides lose them.
    """
    _forget(contrast, number, writer)
    tolerant = last or contrast.design == designs.DUET
    before = None
    for slot in contrast.block(number, seed):
        if contrast.design == designs.STARTS and slot[0].side != before:
            clusters.close()
        before = slot[0].side
        runs = _measure(contrast, slot, clusters, writer)
        for slice_, run in zip(slot, runs, strict=True):
            writer.append(slice_.run_id, run.tables, run.logs)
        _note_errors(contrast, slot, runs, writer)
        measured = zip(slot, runs, strict=True)
        # Why a block failed is said by the side that did, not by one that waited for it in vain.
        for slice_, run in sorted(measured, key=lambda pair: _status(pair[1]) == WAITED):
            status = _status(run)
            if status != OK or (run.disturbance and not tolerant):
                return f"{slice_.run_id}: {status}", run.disturbance
    return OK, ""


def _forget(contrast: Contrast, number: int, writer: Writer) -> None:
    """Void what an earlier attempt at a block has left: slices of two attempts are no block."""
    measured = writer.snapshot().slices
    mine = measured[(measured["contrast"] == contrast.name) & (measured["block"] == number)]
    for place in range(len(mine)):
        row = mine.iloc[[place]].assign(company_pct=math.nan, host_steal_pct=math.nan)
        row = row.assign(status=row["status"].astype(str).replace(OK, AGAIN))
        writer.append(str(row["run_id"].iloc[0]), {"slices": row})


def _note_errors(
    contrast: Contrast, slot: Sequence[Slice], runs: Sequence[measured_run.Run], writer: Writer
) -> None:
    """Count the loads that their own side made fail: a repeated block replaces their rows."""
    measured = zip(slot, runs, strict=True)
    sides = {slice_.side for slice_, run in measured if _status(run).startswith(ERRED)}
    if sides:
        known = dict(writer.manifest.get(FAILED_LOADS, {}))
        keys = [f"{contrast.name} {side}" for side in sorted(sides)]
        writer.note(**{FAILED_LOADS: known | {key: known.get(key, 0) + 1 for key in keys}})


def _status(run: measured_run.Run) -> str:
    return str(run.tables["slices"]["status"].iloc[0])


def _begins_start(contrast: Contrast, number: int, clusters: Clusters, writer: Writer) -> bool:
    """Return whether a block needs a new cluster start.

    Past half-way, it does if only the current start has served its contrast; a start that another
    contrast began will do as well.
    """
    if not contrast.half_way:
        return contrast.begins_start(number) and contrast.name in clusters.contrasts
    measured = writer.snapshot().slices
    good = (measured["contrast"] == contrast.name) & (measured["status"] == OK)
    return number > contrast.half_way and set(measured.loc[good, "start"]) == {clusters.starts}


def _turned_late(contrast: Contrast, number: int, writer: Writer) -> bool:
    """Return whether turns came too late in an earlier attempt at a switched block.

    A block without a late turn, as on a host with idle CPUs, takes no extra time.
    """
    measured = writer.snapshot().slices
    mine = measured[measured["contrast"] == contrast.name]
    return bool((mine["block"].eq(number) & (mine["status"] == SWITCHED_TOO_LATE)).any())


def _measure(
    contrast: Contrast, slot: Sequence[Slice], clusters: Clusters, writer: Writer
) -> list[measured_run.Run]:
    started_utc = measured_run.now_utc()
    size = _sized(contrast, clusters)
    sides = [contrast.side(slice_.side) for slice_ in slot]
    try:
        if contrast.turns:
            return _in_turns(contrast, slot, clusters, size)
        cluster, start = _ready(contrast, slot[0], clusters, sides)
        clusters.contrasts.add(contrast.name)
        asked = [_asked(contrast, slice_, clusters, cluster, start, size) for slice_ in slot]
        conditions = [side.condition for side in sides]
        if contrast.design == designs.SWITCHED and not contrast.by_monitor:
            switches = [functools.partial(clusters.ready, side.point) for side in sides]
            spare = slices.SPARE if _turned_late(contrast, slot[0].block, writer) else 0
            return slices.measure_switched(cluster, asked, switches, spare)
        if contrast.design == designs.SWITCHED:
            watched = [condition != NO_MONITOR for condition in conditions]
            return slices.measure_in_turn(cluster, asked, watched)
        [condition] = set(conditions)
        with pair.frozen(*clusters.idle_beside(cluster)):
            return slices.measure(cluster, asked, condition)
    except LabError as failure:
        for slice_, side in zip(slot, sides, strict=True):
            facts = {"status": failure.what, "started_utc": started_utc, "start": clusters.starts}
            facts |= {"warmup_s": size.warmup_s}
            row = table.row(
                "slices", **dataclasses.asdict(side.point), **slice_.columns(), **facts
            )  # fmt: skip
            writer.append(slice_.run_id, {"slices": row})
        raise


def _sized(contrast: Contrast, clusters: Clusters) -> Profile:
    """Return the size of the clusters with the times of a contrast's slices."""
    warmup_s, duration_s = contrast.length(clusters.experiment.slice_length(clusters.size))
    return dataclasses.replace(clusters.size, warmup_s=warmup_s, duration_s=duration_s)


def _ready(
    contrast: Contrast, slice_: Slice, clusters: Clusters, sides: Sequence[Side]
) -> tuple[Cluster, int]:
    """Return the cluster of a slice, ready for these sides, and the number of its start."""
    if contrast.design == designs.TWINS:
        return clusters.twin(contrast, slice_)
    if contrast.design == designs.RESTARTS:
        return clusters.restarted(contrast, slice_)
    together = sides[:1] if contrast.design == designs.SWITCHED else sides
    return clusters.ready(*(side.point for side in together)), clusters.starts


def _in_turns(
    contrast: Contrast, slot: Sequence[Slice], clusters: Clusters, size: Profile
) -> list[measured_run.Run]:
    """Measure a block of turns: the clients of both sides connect, then work in turn."""

    def ready(slice_: Slice) -> tuple[Cluster, int]:
        return _ready(contrast, slice_, clusters, [contrast.side(slice_.side)])

    first = {slice_.side: slice_ for slice_ in reversed(slot)}
    there = {name: ready(slice_) for name, slice_ in first.items()}
    clusters.contrasts.add(contrast.name)
    asked = [
        turns.Turn(slice_.side, [_asked(contrast, slice_, clusters, *there[slice_.side], size)])
        for slice_ in slot
    ]
    # Sessions keep the settings from when they begin, so each side's are set again before its own
    # sessions. One that reconnected would get the other side's: a load with reconnects is void.
    again = {
        name: functools.partial(lambda one: ready(one)[0], slice_) for name, slice_ in first.items()
    }
    return turns.measure(asked, again, contrast.pause_s)


def _asked(
    contrast: Contrast,
    slice_: Slice,
    clusters: Clusters,
    cluster: Cluster,
    start: int,
    size: Profile,
) -> slices.Asked:
    """Return a slice with its job on its cluster."""
    side = contrast.side(slice_.side)
    usable = functools.partial(clusters.experiment.usable_servers, cluster.plan)
    fixed = any(
        "." in name
        for either in contrast.sides
        for name in clusters.experiment.variant(either.point.variant).quotas
    )
    job = clusters.experiment.job(
        size, clusters.binaries_of(side.point.variant), cluster.plan, side.point,
        side.options, block.skipped(contrast, slice_, usable, fixed),
    )  # fmt: skip
    return slices.Asked({**slice_.columns(), "start": start}, job)
