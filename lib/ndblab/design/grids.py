"""Grids: the points that an experiment measures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from ndblab.planning.point import Point
from ndblab.planning.profile import Profile

if TYPE_CHECKING:
    from ndblab.design.experiment import Experiment, Variant


def all_servers(experiment: Experiment, size: Profile) -> tuple[Point, ...]:
    """Return every number of servers with every number of clients.

    sysbench connects its clients round-robin. Fewer clients than servers leave some servers idle
    and repeat a point with fewer servers, so only the brief's own profile has those points.
    """
    return tuple(
        Point(servers, clients, workload=experiment.workload)
        for servers, clients in product(size.servers, size.clients)
        if size.name == "brief" or clients >= servers
    )


def every_variant(experiment: Experiment, size: Profile) -> tuple[Point, ...]:
    """Return the most servers with every number of clients, in every variant."""
    return of_variants(swept(experiment), max(size.servers), size.clients, experiment.workload)


def every_variant_by_tcp(experiment: Experiment, size: Profile) -> tuple[Point, ...]:
    """Return `every_variant`, with servers that reach the data nodes by TCP."""
    return tuple(replace(point, transporter="tcp") for point in every_variant(experiment, size))


def one_server(experiment: Experiment, size: Profile) -> tuple[Point, ...]:
    """Return one server with every number of clients."""
    return of_variants(experiment.variants[:1], 1, size.clients, experiment.workload)


def one_point(experiment: Experiment, size: Profile) -> tuple[Point, ...]:
    """Return the most servers with the most clients."""
    return (Point(max(size.servers), max(size.clients), workload=experiment.workload),)


def swept(experiment: Experiment) -> list[Variant]:
    """Return the variants that a sweep measures."""
    return [variant for variant in experiment.variants if not variant.contrasts_only]


def of_variants(
    variants: Iterable[Variant], servers: int, clients: Iterable[int], workload: str
) -> tuple[Point, ...]:
    """Return the points of these variants with every number of clients."""
    return tuple(
        Point(servers, number, workload=workload, variant=variant.name)
        for number, variant in product(clients, variants)
    )
