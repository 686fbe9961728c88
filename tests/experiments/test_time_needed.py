"""The time that is announced, compared with the time that was taken."""

from __future__ import annotations

import json
from datetime import datetime

import pytest

from ndblab.experiments import catalogue, manifest, time_needed
from ndblab.experiments.designs.contrast import ALTERNATION, STARTS, Contrast, Side
from ndblab.planning.point import Point
from ndblab.planning.profile import Profile

FILES = sorted((manifest.ROOT / "data/recorded").glob("*/*/manifest.json"))
SCALING = catalogue.find(figure=6)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parts[-3])
def test_recorded_sweeps_took_what_was_estimated(file):
    """Within a quarter, by the times in their manifests."""
    known = json.loads(file.read_text())
    began, ended = (datetime.fromisoformat(known[key]) for key in ("started_utc", "finished_utc"))
    lists = {k: tuple(v) if isinstance(v, list) else v for k, v in known["profile"].items()}
    took_s = (ended - began).total_seconds()
    estimated_s = time_needed.sweep_s(catalogue.find(known["experiment"]), Profile(**lists))
    assert estimated_s == pytest.approx(took_s, rel=0.25)


def test_the_default_measurement_takes_at_most_eleven_minutes():
    """Where the sweep alone would take them, contrasts have their time nevertheless."""
    quick = SCALING.size("quick")
    assert time_needed.limit_s(time_needed.sweep_s(SCALING, quick), quick) == 11 * 60
    assert time_needed.limit_s(1800, quick) == 1800 + 5 * 60


def test_blocks_of_cluster_starts_cost_far_more():
    """Four slices of 5 s and what they cost besides; six, and two starts."""
    quick = SCALING.size("quick")
    side = Side(Point(2, 64))
    alternation, starts = (
        time_needed.block_s(Contrast("x", design, side, side, ()), SCALING, quick)
        for design in (ALTERNATION, STARTS)
    )
    assert 4 * 5 < alternation < 4 * 6
    assert starts == pytest.approx(1.5 * alternation + 2 * time_needed.start_s(SCALING, quick))
