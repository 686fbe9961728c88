"""What clients see when a part of the cluster, a host or the network fails."""

from __future__ import annotations

from collections.abc import Mapping

from ndblab.design.experiment import Experiment
from ndblab.design.variant import Variant
from ndblab.error import LabError
from ndblab.experiments.availability import CHECKED_WRITES, fault, words
from ndblab.hosts import connected, roles
from ndblab.planning.point import Point
from ndblab.planning.profile import Profile

_SIZES: Mapping[str, Mapping[str, object]] = {
    "smoke": {"servers": (2,), "clients": (8,), "warmup_s": 0, "duration_s": 4},
    "quick": {"servers": (2,), "clients": (8,), "warmup_s": 0, "duration_s": 10},
    "brief": {"servers": (2,), "clients": (8,), "warmup_s": 0, "duration_s": 30, "repeats": 3},
}


_BRIEFEST_FAULTS = ("kill-data-node", "kill-server", "partition", words.LOST_HOST)
"""The faults of the smoke profile."""


def every_fault(experiment: Experiment, size: Profile) -> tuple[Point, ...]:
    """Return the most servers and clients under every fault, or under two in the smoke profile.

    LabError unless there are two servers: the service cannot continue without its only one, and
    the faults act on two.
    """
    servers, clients = max(size.servers), max(size.clients)
    if servers != 2:
        raise LabError(
            "The faults act on two MySQL servers: a service with one cannot survive losing it, "
            "and a third would be left out",
            found=f"--servers {servers}",
            expected="2",
            next_step="Drop the option --servers.",
        )
    faults = [variant.name for variant in experiment.variants if variant.fault]
    return tuple(
        Point(servers, clients, workload=CHECKED_WRITES, variant=name)
        for name in faults
        if size.name != "smoke" or name in _BRIEFEST_FAULTS
    )


_SETTINGS = {
    words.SHORT_HEARTBEATS: {"ndbd default": {"HeartbeatIntervalDbDb": 1500}},
    words.OTHERS_ARBITRATE: {"mysqld": {"ArbitrationRank": 2}},
}
"""Settings in config.ini for these faults, each of which has a cluster of its own.

A heartbeat of 1500 ms is the default of HeartbeatIntervalDbApi, by which data nodes miss MySQL
servers; the manual allows 10 ms and warns of drastic changes ("Defining NDB Cluster Data Nodes").
The management node has rank 1 and arbitrates first; a MySQL server with rank 2 does so in its
absence, and one with rank 0, the default, never (manual, "Defining SQL and Other API Nodes")."""

EXPERIMENTS = (
    Experiment(
        "availability",
        "What do clients see when part of the cluster fails?",
        "06_availability.ipynb",
        figures=("faults",),
        claims=("A-node-loss", "A-online", "A-separate"),
        grid=every_fault,
        sizes=_SIZES,
        variants=(
            Variant(),
            *(
                Variant(f.name, fault=f, config_ini=_SETTINGS.get(f.name, {}))
                for f in fault.FAULTS.values()
            ),
        ),
        budget="shared",
    ),
    Experiment(
        "network-faults",
        "What do clients see when the network or a host fails?",
        "21_network_faults.ipynb",
        figures=("network-faults",),
        claims=("A-arbitration", "A-heartbeat", "A-host-loss"),
        grid=every_fault,
        sizes=_SIZES,
        variants=(Variant(), *(Variant(f.name, fault=f) for f in fault.NETWORK_FAULTS.values())),
        budget="shared",
        hosts=tuple(roles.usual_roles(5)),
        lacks=connected.lacks,
    ),
)
