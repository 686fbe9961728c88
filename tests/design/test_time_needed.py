"""The time that is announced, compared with the time that was taken."""

from __future__ import annotations

import dataclasses
import json
from datetime import datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest

from ndblab import dataset
from ndblab.design import catalogue, time_needed
from ndblab.design import contrast as designs
from ndblab.design.contrast import ALTERNATION, RESTARTS, STARTS, TWINS, Contrast, Side
from ndblab.measuring import recorded
from ndblab.planning.point import Point
from ndblab.planning.profile import Profile
from ndblab.planning.workload import is_good
from ndblab.statistics import summary
from ndblab.tuning import wanted
from ndblab.workloads import turns


def has_swept_time(manifest: Path) -> bool:
    """Whether a dataset holds how long its first sweep took, though runs were measured again.

    Where runs failed, the sweep took the time of stuck clients, which nobody can announce.
    """
    known = json.loads(manifest.read_text())
    if known["experiment"] == wanted.NAME:
        # A search takes the minutes that it is given.
        return False
    runs = pd.read_csv(manifest.with_name("runs.csv"), usecols=["started_utc", "status"])
    if not runs["status"].map(is_good).all():
        return False
    if "swept_utc" in known:
        return True
    last = runs["started_utc"].max()
    return all(last[:19] < again["utc"][:19] for again in known.get("resumed", []))


FOLDERS = [
    manifest.parent
    for manifest in sorted(recorded.RECORDED.glob("*/*/manifest.json"))
    if has_swept_time(manifest)
]
SCALING = catalogue.find(figure=6)
BY_WORK = ("bulk-load", "dump")
"""Experiments whose runs end with their work, and not after a set time: sooner on a faster host.
What is announced is the time of the slowest."""
START_S = 8
"""By how much a cluster start of one host is longer than that of another."""


def estimated_and_took_s(folder: Path) -> tuple[float, float]:
    """Return the seconds announced for the points of a recorded sweep, and those it took."""
    data = dataset.read(folder)
    known = data.manifest
    began, ended = (datetime.fromisoformat(known[key]) for key in ("started_utc", "finished_utc"))
    lists = {k: tuple(v) if isinstance(v, list) else v for k, v in known["profile"].items()}
    columns = summary.point_columns(data.runs)
    points = {Point(**row) for row in data.runs[columns].astype(object).to_dict("records")}
    swept = dataclasses.replace(catalogue.find(data.experiment), grid=lambda *_: tuple(points))
    if "swept_utc" in known:
        ended = datetime.fromisoformat(known["swept_utc"])
    elif len(data.slices):
        last = timedelta(seconds=float(data.runs["duration_s"].max()))
        ended = datetime.fromisoformat(data.runs["started_utc"].max()) + last
    return time_needed.sweep_s(swept, Profile(**lists)), (ended - began).total_seconds()


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_recorded_sweeps_took_what_was_estimated(folder):
    """Within a quarter, by the times in their manifests; work may end sooner on a faster host."""
    estimated_s, took_s = estimated_and_took_s(folder)
    if folder.parent.name in BY_WORK:
        assert took_s < 1.25 * estimated_s
    else:
        assert estimated_s == pytest.approx(took_s, rel=0.25, abs=START_S)


@pytest.mark.parametrize("name", BY_WORK)
def test_the_time_of_work_is_that_of_the_slowest_recording(name):
    """So that nobody waits longer than was said."""
    both = [estimated_and_took_s(folder) for folder in FOLDERS if folder.parent.name == name]
    estimated_s, took_s = max(both, key=lambda pair: pair[1])
    assert estimated_s == pytest.approx(took_s, rel=0.25)


def test_the_default_measurement_takes_less_than_ten_minutes():
    """Where the sweep alone would take them, contrasts have their time nevertheless."""
    quick = SCALING.size("quick")
    assert time_needed.limit_s(time_needed.sweep_s(SCALING, quick), quick) == 9.7 * 60
    assert time_needed.limit_s(1800, quick) == 1800 + 5.5 * 60


def test_blocks_that_no_claim_waits_for_add_their_time_up_to_a_quarter_of_an_hour():
    """A sweep that takes longer by itself is not cut short."""
    quick = SCALING.size("quick")
    assert time_needed.limit_s(200, quick, own_s=100) == 9.7 * 60 + 100
    assert time_needed.limit_s(200, quick, own_s=3600) == 15 * 60
    assert time_needed.limit_s(1800, quick, own_s=3600) == 1800 + 5.5 * 60
    assert time_needed.own_s(SCALING, quick) == 0
    assert time_needed.own_s(catalogue.find("the-lab-itself"), quick) == 0


def test_blocks_of_cluster_starts_cost_far_more():
    """Four slices of 3 s and what they cost besides; six and two starts; eight and two at once.

    A restart of the MySQL servers alone is sooner done.
    """
    quick = SCALING.size("quick")
    side = Side(Point(2, 64))
    alternation, restarts, starts, twins = (
        time_needed.block_s(Contrast("x", design, side, side, ()), SCALING, quick)
        for design in (ALTERNATION, RESTARTS, STARTS, TWINS)
    )
    assert 4 * 3 < alternation < 4 * 4
    start_s = time_needed.start_s(SCALING, quick)
    assert restarts == pytest.approx(alternation + time_needed.RESTART_S)
    assert starts == pytest.approx(1.5 * alternation + 2 * start_s)
    assert twins == pytest.approx(2 * alternation + time_needed.TWIN_STARTS * start_s)


@pytest.mark.parametrize("design", [ALTERNATION, RESTARTS, TWINS])
def test_a_block_of_turns_takes_its_seconds_and_two_loads(design: str):
    """Whatever the length of the experiment's slices; both sides connect and warm up once."""
    quick, side = SCALING.size("quick"), Side(Point(2, 64))
    one_slice = Contrast("x", designs.LEVEL, side, None, (), one_slice=True)
    length = one_slice.length(SCALING.slice_length(quick))
    load_s = time_needed.block_s(one_slice, SCALING, quick) - length.duration_s
    besides_s = {
        ALTERNATION: 0, RESTARTS: time_needed.RESTART_S,
        TWINS: time_needed.TWIN_STARTS * time_needed.start_s(SCALING, quick),
    }[design]  # fmt: skip
    block = Contrast("x", design, side, side, (), turns=True)
    seconds = 4 * designs.TURN_ORDERS * designs.TURN_S
    took_s = time_needed.block_s(block, SCALING, quick) - besides_s
    assert took_s == pytest.approx(2 * load_s + seconds + time_needed.TURNS_S)
    order = [slice_.side for slice_ in block.block(1, quick.seed)[0]]
    assert took_s > turns.Schedule.of(order, length.warmup_s, 0).load_s
    pauses = turns.Schedule.of(order, 0, 1).sides.count(turns.NOBODY)
    paused_s = (
        time_needed.block_s(dataclasses.replace(block, pause_s=1), SCALING, quick) - besides_s
    )
    assert paused_s - took_s == pytest.approx(pauses)


SOON = ("api-ceiling", "bulk-load", "read-locality", "read-write", "tpc-c", "tpc-h")


@pytest.mark.parametrize("name", [*SOON, "cpu-split"])
def test_an_interval_of_each_contrast_fits_a_quarter_of_an_hour(name: str):
    """By the lab's own estimate; the smoke profile of all but the last fits a minute and a half."""
    experiment = catalogue.find(name)
    limits = (("quick", 4, 15 * 60), ("smoke", None, 90))
    for profile, blocks, most_s in limits[: 1 + (name in SOON)]:
        size = experiment.size(profile)
        needed_s = time_needed.sweep_s(experiment, size) + sum(
            (max(blocks, contrast.blocks) if blocks else 1)
            * time_needed.block_s(contrast, experiment, size)
            for contrast in experiment.planned_contrasts(size)
        )
        assert needed_s < most_s, profile
