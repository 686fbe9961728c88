"""Grids: the points that an experiment measures.

In: an experiment and a profile. Out: points, in the order in which a figure shows them; `sweep`
decides the order of measuring. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from ndblab.error import LabError
from ndblab.planning.point import Point
from ndblab.planning.profile import Profile
from ndblab.planning.workload import CHECKED_WRITES, POINT_SELECT, READ_WRITE

if TYPE_CHECKING:
    from ndblab.design.experiment import Experiment, Variant

BRIEFEST_FAULTS = ("kill-data-node", "kill-server", "partition", "lose-host")
"""The faults of the smoke profile."""


def all_servers(experiment: Experiment, size: Profile) -> tuple[Point, ...]:
    """Every number of servers with every number of clients.

    sysbench connects its clients round-robin. Fewer clients than servers leave some idle and repeat
    a point of fewer servers: only the brief's own profile has those points.
    """
    return tuple(
        Point(servers, clients, workload=experiment.workload)
        for servers, clients in product(size.servers, size.clients)
        if size.name == "brief" or clients >= servers
    )


def every_variant(experiment: Experiment, size: Profile) -> tuple[Point, ...]:
    """The most servers with every number of clients, in every variant."""
    workload = experiment.workload
    return _of_variants(_swept(experiment), max(size.servers), size.clients, workload)


def every_variant_by_tcp(experiment: Experiment, size: Profile) -> tuple[Point, ...]:
    """As `every_variant`, with servers that reach the data nodes by TCP."""
    return tuple(replace(point, transporter="tcp") for point in every_variant(experiment, size))


def one_server(experiment: Experiment, size: Profile) -> tuple[Point, ...]:
    """One server with every number of clients."""
    return _of_variants(experiment.variants[:1], 1, size.clients, experiment.workload)


def both_transporters(experiment: Experiment, size: Profile) -> tuple[Point, ...]:
    """Both transporters under reads and under transactions; the variants under transactions."""
    usual = product(size.clients, (POINT_SELECT, READ_WRITE), ("shm", "tcp"))
    return (
        *(Point(1, clients, transporter, workload) for clients, workload, transporter in usual),
        *_of_variants(_swept(experiment)[1:], 1, size.clients, READ_WRITE),
    )


def every_fault(experiment: Experiment, size: Profile) -> tuple[Point, ...]:
    """The most servers with the most clients under every fault; two in the smoke profile.

    Raises
    ------
    LabError
        If there is one server only: the service cannot continue without it.
    """
    servers, clients = max(size.servers), max(size.clients)
    if servers < 2:
        raise LabError(
            "A service with a single MySQL server cannot survive losing it",
            found="--servers 1",
            expected="at least 2",
            next_step="Use more --servers, or drop the option.",
        )
    faults = [variant.name for variant in experiment.variants if variant.fault]
    return tuple(
        Point(servers, clients, workload=CHECKED_WRITES, variant=name)
        for name in faults
        if size.name != "smoke" or name in BRIEFEST_FAULTS
    )


def one_point(experiment: Experiment, size: Profile) -> tuple[Point, ...]:
    """The most servers with the most clients."""
    return (Point(max(size.servers), max(size.clients), workload=experiment.workload),)


def _swept(experiment: Experiment) -> list[Variant]:
    return [variant for variant in experiment.variants if not variant.contrasts_only]


def _of_variants(
    variants: Iterable[Variant], servers: int, clients: Iterable[int], workload: str
) -> tuple[Point, ...]:
    return tuple(
        Point(servers, number, workload=workload, variant=variant.name)
        for number, variant in product(clients, variants)
    )
