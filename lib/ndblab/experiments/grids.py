"""The points of each experiment's sweep.

In: a profile. Out: points, in the order in which a figure shows them; `sweep` decides in which they
are measured. Pure.
"""

from __future__ import annotations

from ndblab.error import LabError
from ndblab.experiments import sweep
from ndblab.planning import fault
from ndblab.planning.point import DEFAULT_VARIANT, DEFAULT_WORKLOAD, Point
from ndblab.planning.profile import Profile
from ndblab.planning.workload import CHECKED_WRITES, READ_WRITE


def all_servers(size: Profile) -> tuple[Point, ...]:
    """Every number of servers with every number of clients.

    sysbench deals its clients round-robin, so that fewer clients than servers leave some idle and
    repeat a point of fewer servers: only the brief's own program has those points.
    """
    grid = sweep.grid(size.servers, size.clients)
    return tuple(p for p in grid if size.name == "brief" or p.clients >= p.servers)


def one_server(size: Profile) -> tuple[Point, ...]:
    """One server with every number of clients; the variants about where it does best."""
    points = sweep.grid((1,), size.clients)
    near = [p for p in points if 8 <= p.clients <= 32] or [points[-1]]
    return points + tuple(
        Point(1, p.clients, variant=name) for p in near for name in ("tcp-clients", "redo-small")
    )


def both_transporters(size: Profile) -> tuple[Point, ...]:
    """Both transporters under reads and under transactions; spinning under transactions."""
    points = [
        Point(1, clients, transporter, workload)
        for clients in size.clients
        for workload in (DEFAULT_WORKLOAD, READ_WRITE)
        for transporter in ("shm", "tcp")
    ]
    spinning = [
        Point(1, clients, workload=READ_WRITE, variant=variant)
        for clients in size.clients
        for variant in ("shm-spin", "all-spin")
    ]
    return (*points, *spinning)


def every_fault(size: Profile) -> tuple[Point, ...]:
    """The most servers with the most clients under every fault; the two deaths if it must be brief.

    Raises
    ------
    LabError
        If there is one server only: it could not be killed and the service go on.
    """
    servers, clients = max(size.servers), max(size.clients)
    if servers < 2:
        raise LabError(
            "A service with one MySQL server cannot do without it",
            found="--servers 1",
            expected="at least 2",
            next_step="Ask for more --servers, or leave it out.",
        )
    names = ("kill-data-node", "kill-server") if size.name == "smoke" else fault.FAULTS
    return tuple(Point(servers, clients, workload=CHECKED_WRITES, variant=name) for name in names)


def both_splits(size: Profile) -> tuple[Point, ...]:
    """The most servers, on data nodes of either split of threads."""
    servers = max(size.servers)
    return tuple(
        Point(servers, clients, variant=name)
        for clients in size.clients
        for name in (DEFAULT_VARIANT, "balanced-threads")
    )


def one_point(size: Profile) -> tuple[Point, ...]:
    """The most servers with the most clients."""
    return (Point(max(size.servers), max(size.clients)),)
