"""Twins where a host has room for two clusters, pairs of starts where it has not."""

from __future__ import annotations

import dataclasses

import pytest

from ndblab.cluster import start_stop
from ndblab.design.contrast import ALTERNATION, STARTS, TWINS, Contrast, Side
from ndblab.machine import host
from ndblab.measuring.deciding import contrasts
from ndblab.planning import deployment
from ndblab.planning.point import Point

SIDE = Side(Point(1, 8))
WANTED = tuple(Contrast(name, name, SIDE, SIDE, ("C-1",)) for name in (ALTERNATION, TWINS))
READ = host.read()
HOST = dataclasses.replace(
    READ, memory_available_bytes=2**40,
    cpu_controller=host.CpuController("cgroup1", "/sys/fs/cgroup/cpu", "writable"),
)  # fmt: skip


def possible(machine: host.Host, said: list[str]) -> tuple[Contrast, ...]:
    shape = deployment.Shape(
        1, 1000, 8, budget="shared", places=start_stop.places(start_stop.home())
    )
    plans = {"default": deployment.make(READ, shape)}
    return contrasts.possible(WANTED, plans, machine, said.append)


def test_twins_stay_twins_where_both_fit():
    """Nothing is said then."""
    said: list[str] = []
    assert possible(HOST, said) == WANTED
    assert not said


def test_without_the_memory_for_two_one_starts_after_the_other():
    """The claims, the sides and the name stay; the user reads which and why."""
    said: list[str] = []
    small = dataclasses.replace(HOST, memory_available_bytes=2**30)
    first, second = possible(small, said)
    assert first == WANTED[0]
    assert second == dataclasses.replace(WANTED[1], design=STARTS)
    [line] = said
    assert line.startswith("twins: one cluster after the other")
    assert "GiB" in line


def test_twins_that_take_turns_become_starts_without_turns():
    """Clusters that run one after the other cannot take turns."""
    shape = deployment.Shape(
        1, 1000, 8, budget="shared", places=start_stop.places(start_stop.home())
    )
    wanted = [dataclasses.replace(WANTED[1], turns=True, pause_s=1)]
    small = dataclasses.replace(HOST, memory_available_bytes=2**30)
    plans = {"default": deployment.make(READ, shape)}
    [made] = contrasts.possible(wanted, plans, small, lambda line: None)
    assert (made.design, made.turns, made.pause_s) == (STARTS, False, 0)


@pytest.mark.parametrize("kind", ["systemd", "none"])
def test_without_control_groups_twins_go_on_and_say_so(kind: str):
    """They are loaded in turn, so that each has the host to itself anyway."""
    said: list[str] = []
    controller = host.CpuController(kind, "", "no control group here")
    assert possible(dataclasses.replace(HOST, cpu_controller=controller), said) == WANTED
    assert said == ["twins are in no control groups of equal weight: no control group here"]
