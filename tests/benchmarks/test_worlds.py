"""A simulated host that behaves as a search of `./lab tune` found a real one."""

from __future__ import annotations

import math

import pytest

from ndblab.benchmarks import tuning, worlds
from ndblab.experiments.tuned import searched
from ndblab.tuning.search import Search


def test_a_world_of_a_search_has_its_knobs_and_the_effects_that_it_reported() -> None:
    """The baseline is the search's own, too."""
    data = searched.obtain(host=searched.RECORDED)
    world = worlds.of_a_search(data, 1)
    space = world.space
    gains = {space.typed((pair,))[0]: math.exp(gain) for pair, gain in world.effects.items()}
    told = {effect["name"]: effect["ratio"] for effect in data.manifest["answer"]["effects"]}
    assert told
    assert {name: gains[name] for name in told} == pytest.approx(told, rel=0.02)
    baseline = [f"{t.word}={t.current}" for t in space.tunables]
    assert {"servers=16", "data_nodes=25"} <= set(baseline)


def test_a_search_finds_there_what_the_real_one_confirmed() -> None:
    """One server with fewer threads in each data node; an hour has as many trials as it had."""
    data = searched.obtain(host=searched.RECORDED)
    result, history = tuning.search(worlds.of_a_search(data, 1))
    assert {("servers", 1), ("NumCPUs", 1)} <= set(result.configuration)
    world = worlds.of_a_search(data, 1)
    search, records = Search(world.space, tuning.HOUR_S), []
    while trial := search.next(records):
        records += world.carry_out([trial])
    # In the recorded one, no trials shared a baseline.
    assert len(records) == pytest.approx(len(data.manifest["trials"]), rel=0.3)
    assert len(history.records) > 1.1 * len(records)
