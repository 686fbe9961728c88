"""Worlds whose truth is known: what limits each cluster, and what its host does to measurements."""

from __future__ import annotations

import math
from dataclasses import replace

from made_up_model import HOST
from ndblab.experiments.capacity.demands import CLIENT, OTHER, SERVER, Law
from ndblab.experiments.capacity.model import LOCK
from ndblab.judging.publication import FOLDER
from ndblab.machine import host
from ndblab.machine.host import NumaNode
from worlds.cluster_model import Cluster
from worlds.recording import Weather, World

BRIEF_HOST = host.load(FOLDER / "host.json")
LARGE = replace(BRIEF_HOST, cpu_model="Test CPU")
"""A machine as large as the brief's, but not the brief's."""
SMALL = replace(
    HOST,
    numa_nodes=(NumaNode(0, 24 << 30),),
    memory_bytes=24 << 30,
    memory_available_bytes=20 << 30,
)
LARGE_CLIENTS = (1, 2, 16, 32, 64, 128, 256, 512, 1024, 2048)
SMALL_CLIENTS = (1, 2, 4, 16, 64, 128, 256)

# A server that its own lock stops at about 110 000 queries/s with 32 clients, with most of its CPUs
# unused; data nodes whose threads do more per wake-up the more clients there are. One server's
# signals reach one recv thread, which is then the busiest; with many servers, tc is the busiest.
OWN_LOCK = {
    CLIENT: Law(10.0),
    SERVER: Law(20.0, each_us=0.3, upto=128),
    LOCK: Law(8.0, each_us=0.024, upto=128),
    "recv": Law(4.5, -0.3, upto=32),
    "tc": Law(8.0, -0.3, upto=32),
    "ldm": Law(5.0, -0.3, background_cpus=0.6, upto=32),
    "query": Law(4.0, -0.3, background_cpus=0.6, upto=32),
    "send": Law(2.5, -0.3, background_cpus=0.2, upto=32),
    OTHER: Law(0.0, background_cpus=0.1),
}
# tc threads that are full at about 1.5 million queries/s and cost more the more clients wait, while
# other threads get cheaper: their share rises with load.
TC_BOUND = OWN_LOCK | {
    "recv": Law(3.7, -0.15, upto=128),
    "tc": Law(4.6, each_us=0.02, upto=128),
    "ldm": Law(7.5, -0.15, background_cpus=0.6, upto=128),
    "query": Law(9.0, -0.15, background_cpus=0.6, upto=128),
    "send": Law(2.7, -0.15, background_cpus=0.2, upto=128),
}
LDM_BOUND = OWN_LOCK | {"ldm": Law(24.0), "tc": Law(1.5)}
LDM_BOUND_EARLY = OWN_LOCK | {"ldm": Law(80.0), "tc": Law(1.5)}
# Servers of constant cost: 8 of them nearly use up the CPUs beside the data nodes.
CPU_BOUND = OWN_LOCK | {SERVER: Law(170.0), LOCK: Law(8.0)}
# On two CPUs: each thread of the data nodes uses far less than one CPU.
FEW_CPUS = {
    CLIENT: Law(11.0),
    SERVER: Law(80.0, each_us=0.5),
    "recv": Law(4.0),
    "tc": Law(6.0),
    "ldm": Law(5.0),
    "query": Law(4.0),
    "send": Law(3.0),
    OTHER: Law(0.0, background_cpus=0.01),
}
COSTLY_DATA = FEW_CPUS | {
    SERVER: Law(40.0),
    "recv": Law(14.0),
    "tc": Law(20.0),
    "ldm": Law(12.0),
    "query": Law(8.0),
    "send": Law(6.0),
}


def _swings(t_s: float) -> float:
    """Return the speed of a host that swings by up to 30 %, within seconds and within minutes."""
    slow = 0.14 * math.sin(t_s / 97) + 0.1 * math.sin(t_s / 613) + 0.05 * math.sin(t_s / 5.3)
    return 1.0 - 0.03 * t_s / 3600 + slow


def _waves(t_s: float) -> float:
    """Return the steal of a hypervisor that takes 15 % of the CPUs for 20 s every two minutes."""
    return 15.0 if t_s % 120 > 100 else 0.0


STOLEN = Weather(drift=_swings, steal_pct=_waves)
ONE_BAD_START = Weather(
    unlucky={("reads-best", 4, "b"): 0.55, ("redo", 5, "a"): 0.6, ("redo", 6, "a"): 0.6}
)

_LARGE = World(Cluster(OWN_LOCK, 140.0, {"tcp-clients": 1.08}), LARGE, "pinned", LARGE_CLIENTS)
_TC = replace(_LARGE, cluster=Cluster(TC_BOUND, 140.0, {"tcp": 1.215}))

WORLDS = {
    "quotas": World(Cluster(FEW_CPUS), SMALL, "scaled", SMALL_CLIENTS),
    "own-lock": _LARGE,
    "data-nodes-full": World(
        Cluster(COSTLY_DATA, slower={"tcp": 1.2}), SMALL, "scaled", SMALL_CLIENTS
    ),
    "ldm-full": World(Cluster(LDM_BOUND, 120.0), BRIEF_HOST, "pinned", LARGE_CLIENTS),
    "data-nodes-first": replace(_LARGE, cluster=Cluster(LDM_BOUND_EARLY, 100.0, {"tcp": 1.215})),
    "tc-full": _TC,
    "cpus-full": replace(_LARGE, cluster=Cluster(CPU_BOUND, 120.0)),
    "two-cpus": World(Cluster(FEW_CPUS), SMALL, "shared", SMALL_CLIENTS),
    "nothing": World(
        Cluster(OWN_LOCK | {SERVER: Law(20.0), LOCK: Law(1.0)}, 20_000.0, {"tcp": 1.2}),
        LARGE, "pinned", (1, 2, 8, 16, 32, 64, 128, 256),
    ),
    "steady": replace(_TC, weather=Weather(late=0.0)),
    "unsteady": replace(_TC, weather=Weather(second=0.08)),
    "drifting": replace(_TC, weather=STOLEN),
    "late-reports": replace(_TC, weather=Weather(late=0.05)),
    "unlucky-start": replace(_TC, weather=ONE_BAD_START),
}  # fmt: skip
"""By name; the first nine differ in what limits the cluster, the others in the host."""
