"""Shared memory against TCP, spinning against sleeping, and TLS against plain text."""

from __future__ import annotations

import functools
from itertools import product

import pandas as pd

from ndblab.design import grids
from ndblab.design.contrast import TWINS, Contrast
from ndblab.design.experiment import Experiment
from ndblab.design.swept import Swept
from ndblab.design.variant import NO_QUOTAS, UNDIVIDED, Variant
from ndblab.install import ndb_tools
from ndblab.planning import profile
from ndblab.planning.point import Point
from ndblab.planning.profile import Profile
from ndblab.planning.workload import POINT_SELECT, READ_WRITE
from ndblab.statistics import sequential

SHM_SPIN, ALL_SPIN, TLS = "shm-spin", "all-spin", "tls"
"""Names of variants."""
SPIN_US = 200
"""How long the spinning variants spin before they sleep; the claims' source gives no time. Far
longer than the other side takes to answer, and below NDB's maximum (500 us for threads)."""
MANY = (512, 1536)
"""Numbers of clients that the source of T-high calls high."""
_SHM_SPINS = {"shm default": {"ShmSpintime": SPIN_US}}


def transporters(
    experiment: Experiment, size: Profile, points: pd.DataFrame
) -> tuple[Contrast, ...]:
    """Compare shared memory with TCP without quotas, and spinning with sleeping, in twin clusters.

    Both clusters have a server for each transporter, and each side loads a different one: nothing
    else differs. Loaded in turn, neither transporter uses the CPUs or the data nodes of the other,
    as in a deployment, and no quota decides what a query may cost.

    The smoke profile has one contrast of each kind: a block of twins takes a start of two clusters.
    """
    reads = Swept(size, points)
    writes = Swept(size, points, READ_WRITE)

    def both(name: str, swept: Swept, shm: int, tcp: int, claim: str) -> Contrast:
        other = swept.point(1, tcp, UNDIVIDED, transporter="tcp")
        return Contrast(name, TWINS, swept.point(1, shm, UNDIVIDED), other, (claim,))

    def spun(name: str, variant: str, clients: int, claim: str) -> Contrast:
        sides = writes.point(1, clients, variant), writes.point(1, clients)
        return Contrast(name, TWINS, *sides, (claim,))

    top, low = writes.top(), tuple(c for c in (1, 2) if c <= max(size.clients))
    high = [c for c in size.clients if MANY[0] <= c <= MANY[1]]
    of_transporters = (
        both("reads-best", reads, reads.top(), reads.top("tcp"), "T-shm-gain"),
        both("writes-top", writes, top, writes.top("tcp"), "T-top"),
        *(both(f"writes-{c}", writes, c, c, "T-low") for c in low),
        *(both("writes-high", writes, c, c, "T-high") for c in high[-1:]),
    )
    of_spinning = (
        *(spun(f"spin-{c}", SHM_SPIN, c, "T-spin-low") for c in low),
        spun("spin-top", SHM_SPIN, top, "T-spin-top"),
        *(spun(f"all-spin-{c}", ALL_SPIN, c, "T-allspin-low") for c in low),
    )
    if size.name == "smoke":
        return of_transporters[:1] + of_spinning[:1]
    return of_transporters + of_spinning


def encrypted_links(
    experiment: Experiment, size: Profile, points: pd.DataFrame
) -> tuple[Contrast, ...]:
    """Compare TLS with plain text on NDB's links in twins: saturated, and one client a server.

    No claim waits for them, as no source says what TLS costs: each sets its own number of blocks.
    """
    swept = Swept(size, points)
    servers = max(size.servers)
    loads = {"tls-best": swept.best(servers, "tcp"), "tls-one": servers}
    return tuple(
        Contrast(
            name, TWINS, swept.point(servers, clients, TLS, transporter="tcp"),
            swept.point(servers, clients, transporter="tcp"), (), blocks=sequential.LOOKS[2],
        )
        for name, clients in loads.items()
    )  # fmt: skip


def both_transporters(experiment: Experiment, size: Profile) -> tuple[Point, ...]:
    """Run both transporters under reads and transactions, and the variants under transactions."""
    usual = product(size.clients, (POINT_SELECT, READ_WRITE), ("shm", "tcp"))
    return (
        *(Point(1, clients, transporter, workload) for clients, workload, transporter in usual),
        *grids.of_variants(grids.swept(experiment)[1:], 1, size.clients, READ_WRITE),
    )


EXPERIMENTS = (
    Experiment(
        "shm-vs-tcp",
        "What do shared-memory transporters gain over TCP on one host?",
        "03_shm_vs_tcp.ipynb",
        figures=("shm-vs-tcp", "spinning"),
        claims=("T-",),
        grid=both_transporters,
        sizes={
            "smoke": {"servers": (1,), "clients": (2, 8)},
            "quick": {"servers": (1,), "clients": (1, 2, 8, 32, 128), "repeats": 3},
            "brief": {"servers": (1,), "clients": profile.powers_of_two(2048), "repeats": 3},
        },
        shape={"tcp_servers": 1},
        variants=(
            Variant(),
            Variant(SHM_SPIN, config_ini=_SHM_SPINS),
            Variant(ALL_SPIN, {"thread_spin_us": SPIN_US}, config_ini=_SHM_SPINS),
            Variant(UNDIVIDED, quotas=NO_QUOTAS, contrasts_only=True),
        ),
        contrasts=transporters,
    ),
    Experiment(
        "tls",
        "What does TLS cost on NDB's own links?",
        "22_tls.ipynb",
        figures=("tls",),
        claims=(),
        grid=grids.every_variant_by_tcp,
        sizes={
            "smoke": {"servers": (1,), "clients": (2, 8)},
            "quick": {"servers": (2,), "clients": (2, 8, 32, 128), "repeats": 3},
            "brief": {"servers": (2,), "clients": profile.powers_of_two(1024), "repeats": 3},
        },
        shape={"transporter": "tcp"},
        variants=(Variant(), Variant(TLS, {"tls": True})),
        contrasts=encrypted_links,
        lacks=functools.partial(ndb_tools.lacks, "ndb_sign_keys"),
    ),
)
