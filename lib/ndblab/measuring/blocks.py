"""The measurement of one block of a contrast.

It judges nothing.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import random
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ndblab.cluster import pair
from ndblab.dataset import table
from ndblab.dataset.manifest import FAILED_LOADS
from ndblab.design import contrast as designs
from ndblab.design.contrast import Contrast, Slice
from ndblab.error import LabError
from ndblab.measuring import measured_run, slices, turns
from ndblab.measuring.performing import ATTEMPTS
from ndblab.measuring.slice_tables import SWITCHED_TOO_LATE
from ndblab.planning.point import NO_MONITOR
from ndblab.planning.workload import AGAIN, ERRED, WAITED
from ndblab.workloads.load_generator import OK

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.dataset import Writer
    from ndblab.design.contrast import Side
    from ndblab.measuring.clusters import Clusters
    from ndblab.planning.deployment import Node
    from ndblab.planning.point import Point
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
    warmup_s, duration_s = contrast.length(clusters.experiment.slice_length(clusters.size))
    size = dataclasses.replace(clusters.size, warmup_s=warmup_s, duration_s=duration_s)
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
            point = dataclasses.asdict(side.point)
            row = table.row("slices", **point, **slice_.columns(), **facts, warmup_s=warmup_s)
            writer.append(slice_.run_id, {"slices": row})
        raise


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
    asked = [_asked(contrast, slice_, clusters, *there[slice_.side], size) for slice_ in slot]
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
        side.options, _skipped(contrast, slice_, usable, fixed),
    )  # fmt: skip
    return slices.Asked({**slice_.columns(), "start": start}, job)


def _skipped(
    contrast: Contrast, slice_: Slice, usable: Callable[[Point], Sequence[Node]], fixed: bool
) -> int:
    """Return how many of its usable servers a slice skips.

    Servers with equal settings may still differ within one cluster start. So the sides of a duet
    swap servers within the block. In an alternation, the two slices of the side with fewer servers
    use the first and the last of the other side's servers (with turns, one in this block and one in
    the next). Which servers these are is drawn for each block.
    Servers stay fixed if a variant sets the quota of a server by name (`fixed`).
    """
    if contrast.b is None or fixed:
        return 0
    mine = contrast.side(slice_.side).point
    other = contrast.side(designs.A if slice_.side == designs.B else designs.B).point
    there, others = usable(mine), usable(other)
    if contrast.design == designs.DUET:
        # Another transporter or pool means other servers anyway; cluster starts swap them.
        if there != others:
            if not set(there).isdisjoint(others):
                raise ValueError(f"sides of {contrast.name} would load a server together")
            return 0
        return other.servers if (slice_.side == designs.B) != slice_.swapped else 0
    if contrast.design != designs.ALTERNATION:
        return 0
    most = max(mine.servers, other.servers)
    first = random.Random(f"{contrast.name} {slice_.block}").randint(0, max(0, len(there) - most))
    last = slice_.block % 2 == 0 if contrast.turns else slice_.slot > slice_.of // 2
    return first + (most - mine.servers if last else 0)
