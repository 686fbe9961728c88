"""How far a measurement of this lab can be trusted."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from ndblab.design import grids
from ndblab.design.contrast import ALTERNATION, DUET, SWITCHED, Contrast, Side
from ndblab.design.experiment import Experiment
from ndblab.error import LabError
from ndblab.experiments import the_lab_itself as trust
from ndblab.planning.point import BUSY_NEIGHBOUR, IDLE_SPINNER, NO_MONITOR, Point
from ndblab.planning.profile import Profile
from ndblab.statistics.sequential import LOOKS

STARTS = 4
"""The most cluster starts that identical sides are compared in."""
_SMALL, _MODERATE, _LARGE = (7, LOOKS[-1]), (2, LOOKS[5]), (2, LOOKS[1])
"""Blocks for effects of these sizes: for each repeat, and at most."""


def the_lab_itself(
    experiment: Experiment, size: Profile, points: pd.DataFrame
) -> tuple[Contrast, ...]:
    """Return the contrasts; identical sides get `repeats` blocks in each of four starts at most.

    Half of the servers serve half of the clients, but all of them under the monitor, which costs
    most where CPUs are scarce. Effects of a condition are those of its side A. Raises LabError if
    there are fewer than 2 servers, or fewer clients than servers.
    """
    servers, clients = max(size.servers), max(size.clients)
    if servers < 2 or clients < servers:
        raise LabError(
            "The lab compares itself on halves of a cluster, each server with clients",
            found=f"--servers {servers} --clients {clients}",
            expected="at least 2 servers, and as many clients",
            next_step="Drop the options, or use larger numbers.",
        )
    per_server = clients // servers
    some, one, two = (
        Side(Point(number, number * per_server, workload=experiment.workload))
        for number in (servers // 2, 1, 2)
    )
    watched = Side(Point(servers, clients, workload=experiment.workload))
    unwatched = replace(watched, condition=NO_MONITOR)
    beside = replace(some, condition=BUSY_NEIGHBOUR)
    awake_one, awake_two = (replace(side, condition=IDLE_SPINNER) for side in (one, two))
    starts = min(STARTS, size.repeats)
    most, many, few = (_blocks(size, *effect) for effect in (_SMALL, _MODERATE, _LARGE))
    sessions = {"blocks": starts * size.repeats, "blocks_per_start": size.repeats}
    return (
        Contrast(trust.A_A, ALTERNATION, some, some, (), **sessions),
        Contrast(trust.A_A_DUET, DUET, some, some, (), blocks=many),
        Contrast(trust.MONITOR, SWITCHED, watched, unwatched, (), blocks=most),
        Contrast(trust.NEIGHBOUR, ALTERNATION, beside, some, (), blocks=few),
        Contrast(trust.SPINNER, ALTERNATION, awake_one, one, (), blocks=few),
        Contrast(trust.SERVERS, ALTERNATION, two, one, (), blocks=few),
        Contrast(trust.SERVERS_AWAKE, ALTERNATION, awake_two, awake_one, (), blocks=few),
    )


def _blocks(size: Profile, per_repeat: int, most: int) -> int:
    """Return the blocks of one contrast: `per_repeat` a repeat, but enough for an interval."""
    return min(most, max(LOOKS[0], per_repeat * size.repeats))


EXPERIMENTS = (
    Experiment(
        "the-lab-itself",
        "How far can a measurement of this lab be trusted?",
        "08_the_lab_itself.ipynb",
        figures=("contrast", "variance"),
        claims=(),
        grid=grids.one_point,
        sizes={
            "smoke": {"servers": (4,), "clients": (32,)},
            "quick": {"servers": (4,), "clients": (32,)},
            "brief": {
                "servers": (4,), "clients": (32,), "repeats": 15, "warmup_s": 5,
                "duration_s": 30, "table_size": 10_000,
            },
        },
        contrasts=the_lab_itself,
        not_attached="it is about the lab's own clusters",
    ),
)  # fmt: skip
