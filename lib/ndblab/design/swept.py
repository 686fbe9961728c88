"""The contrasts of each experiment: which two configurations decide which claims.

In: an experiment, a profile, the points of its finished sweep. Out: contrasts, in the order in
which they are worth their time. Pure.

The sweep only chooses numbers of clients, such as those of the best throughput. They are fixed once
it is done, and measured anew: noise that made a point look best does not favour it here. Where the
sweep has no such point, the middle of its numbers of clients stands for it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from ndblab.design.contrast import ALTERNATION, DUET, LEVEL, STARTS, Contrast, Side
from ndblab.planning.condition import IDLE_SPINNER
from ndblab.planning.point import DEFAULT_TRANSPORTER, DEFAULT_VARIANT, Point
from ndblab.planning.workload import POINT_SELECT, READ_WRITE
from ndblab.statistics import sequential, summary

if TYPE_CHECKING:
    from ndblab.design.experiment import Experiment
    from ndblab.planning.profile import Profile

SMALL_SERVERS, SLOWER_SERVERS, UNDIVIDED = "small-servers", "slower-servers", "undivided"
TCP_CLIENTS, REDO_SMALL = "tcp-clients", "redo-small"
SHM_SPIN, ALL_SPIN = "shm-spin", "all-spin"
BALANCED, THREADS_OF_32 = "balanced-threads", "threads-of-32"
SECOND_ENGINE = "second-engine"
TLS = "tls"
"""Names of variants."""

LEAST_CLIENTS = 4
"""Fewest clients that count as saturating a server: a sweep's noise may find fewer, and a few
more than needed cost no throughput."""
PAST_PEAK = 32
"""The brief shows NDB threads (Figure 5) at 1024 clients, 32 times those of its server's peak."""
FALL = (128, 32)
"""Clients between which the throughput of one server falls (Figure 4)."""
NEAR_BEST = 0.9
"""Share of the best throughput from which a number of clients may be the best one: a mean of two
runs is off by as much, and the throughput of many servers hardly changes around its peak."""
UNSATURATED = 0.8
"""Share of the best throughput up to which a number of clients leaves CPUs unused."""


class Swept:
    """The points of a sweep, of one workload in one variant; sides are in that variant too."""

    def __init__(
        self,
        size: Profile,
        points: pd.DataFrame,
        workload: str = POINT_SELECT,
        variant: str = DEFAULT_VARIANT,
    ) -> None:
        self.size, self.workload, self.variant = size, workload, variant
        if len(points):
            points = points[points["workload"].astype(str) == workload]
            points = points[points["variant"].astype(str) == variant]
        self._points = points
        self._peaks = summary.peaks(points) if len(points) else points

    def best(self, servers: int, transporter: str = DEFAULT_TRANSPORTER) -> int:
        """Return the clients of the best mean throughput."""
        return int(self._of_peak(servers, transporter, "clients", self._middle(servers)))

    def peak(self, servers: int) -> int:
        """Return the most clients that may be the best: noise may find the best too early."""
        points, best = self._own(servers), self.best(servers)
        if len(points):
            points = points[points["qps_mean"] >= NEAR_BEST * self.best_qps(servers)]
        return max(best, int(points["clients"].max()) if len(points) else 0)

    def past(self, servers: int) -> int:
        """Return clients past the peak: the next number swept after it, or twice as many."""
        peak = self.peak(servers)
        return min((c for c in self.size.clients if c > peak), default=2 * peak)

    def top(self, transporter: str = DEFAULT_TRANSPORTER) -> int:
        """Return the clients of the best throughput of one server, enough to saturate it."""
        return max(LEAST_CLIENTS, self.best(1, transporter))

    def saturating(self) -> int:
        """Return the clients that saturate one server: the fewest within 3 % of its best."""
        found = self._of_peak(1, DEFAULT_TRANSPORTER, "knee_clients", self._middle(1))
        return max(LEAST_CLIENTS, int(found))

    def best_qps(self, servers: int) -> float:
        """Return the best mean throughput; 1000 queries/s if it was not measured."""
        return self._of_peak(servers, DEFAULT_TRANSPORTER, "qps_mean", 1000.0)

    def unsaturated(self, servers: int, least: int) -> int:
        """Return the most clients below `UNSATURATED` of the best, from `least` on; 0 if none."""
        points, best = self._own(servers), self.best_qps(servers)
        if not len(points):
            return least
        few = (points["qps_mean"] <= UNSATURATED * best) & (points["clients"] < self.best(servers))
        clients = points.loc[few & (points["clients"] >= least), "clients"]
        return int(clients.max()) if len(clients) else 0

    def point(self, servers: int, clients: int, variant: str = "", **more) -> Side:
        """Return a side at a point."""
        variant = variant or self.variant
        return Side(Point(servers, clients, workload=self.workload, variant=variant, **more))

    def awake(self, servers: int, clients: int, variant: str = "") -> Side:
        """Return a side at a point, while processes of idle priority keep the CPUs awake.

        On a virtual machine a sleeping CPU is slow to wake. The side with less load would pay for
        it, and more servers would seem to gain more than the software does.
        """
        return replace(self.point(servers, clients, variant), condition=IDLE_SPINNER)

    def _own(self, servers: int) -> pd.DataFrame:
        """Return the points of a number of servers that leave none of them idle."""
        points = self._points
        if len(points):
            points = points[(points["servers"] == servers) & ~points["idle_servers"]]
        return points

    def _middle(self, servers: int) -> int:
        usual = [clients for clients in self.size.clients if clients >= servers]
        return usual[len(usual) // 2] if usual else servers

    def _of_peak(self, servers: int, transporter: str, column: str, otherwise: float) -> float:
        if not len(self._peaks):
            return otherwise
        mine = self._peaks["transporter"].astype(str) == transporter
        found = self._peaks.loc[mine & (self._peaks["servers"] == servers), column]
        return float(found.iloc[0]) if len(found) else otherwise


def one_server(experiment: Experiment, size: Profile, points: pd.DataFrame) -> tuple[Contrast, ...]:
    """What limits one server: its CPU, too many clients, sockets, the redo log."""
    swept = Swept(size, points)
    most, k = max(size.clients), swept.saturating()
    default, many = swept.point(1, k), min(32, most)
    return (
        Contrast(
            "recv", LEVEL, swept.point(1, min(PAST_PEAK * k, most)), None,
            ("F5-recv-busiest", "F5-no-saturation"),
        ),
        *(
            [Contrast("fall", ALTERNATION, *(swept.point(1, c) for c in FALL), ("F4-degrade",))]
            if most >= max(FALL)
            else []
        ),
        Contrast(
            "load-1-k", ALTERNATION, swept.point(1, many, UNDIVIDED),
            swept.point(1, 1, UNDIVIDED), ("F4-cpu-with-load",),
        ),
        Contrast("sockets", DUET, swept.point(1, k, TCP_CLIENTS), default, ("B-sockets",)),
        Contrast("redo", STARTS, swept.point(1, k, REDO_SMALL), default, ("B-redo",)),
    )  # fmt: skip


def many_servers(
    experiment: Experiment, size: Profile, points: pd.DataFrame
) -> tuple[Contrast, ...]:
    """What more servers, more clients and fewer CPUs do; of servers that the profile has.

    Contrasts that seldom decide a claim at their first look say so: on 2 CPUs it was 2 of 5 times
    for `slower-servers`, 1 of 5 for `servers-8-16`, and never for the other two.
    """
    swept = Swept(size, points)
    most, k = max(size.servers), swept.saturating()
    best = {n: swept.best(n) for n in size.servers} | {n: swept.peak(n) for n in (most, 16)}
    at_peak = swept.point(most, best[most])
    rate = max(1, round(swept.best_qps(most) / 2))
    few = swept.unsaturated(8, least=16)
    found = (
        Contrast(
            "overload", ALTERNATION, swept.point(most, swept.past(most)), at_peak,
            ("F6-overload", "F9-tc-bottleneck", "P-tc", "B-mgmd-idle"),
        ),
        Contrast(
            "servers-1-2", ALTERNATION, swept.awake(2, 2 * k), swept.awake(1, k),
            ("F6-double-servers", "P-servers-1-2", "F7-doubling", "F6-peak"),
        ),
        Contrast(
            "servers-2-4", ALTERNATION, swept.awake(4, 4 * k), swept.awake(2, 2 * k),
            ("F6-double-servers", "F7-doubling", "F6-peak"),
        ),
        Contrast(
            "undivided", LEVEL, swept.point(most, best[most], UNDIVIDED), None,
            ("B-less-cpu", "B-split"), one_slice=True,
        ),
        Contrast(
            "servers-8-16", ALTERNATION, swept.awake(16, best[16], SMALL_SERVERS),
            swept.awake(8, best[16] // 2, SMALL_SERVERS), ("F6-8-to-16", "F6-peak"),
            first_look=0.2,
        ),
        Contrast(
            "servers-4-16", ALTERNATION, swept.point(16, best[16]),
            swept.point(4, best.get(4, 4 * k)), ("F6-peak",), first_look=0.1,
        ),
        Contrast(
            "half-load", LEVEL, Side(at_peak.point, {"rate": rate}), None, ("F8-steady",),
            one_slice=True,
        ),
        Contrast(
            "late-8-16", ALTERNATION, swept.point(16, 2 * best[16]), swept.point(8, 2 * best[16]),
            ("F7-8-vs-16-2048",), first_look=0.1,
        ),
        *(
            [Contrast("early-8-16", ALTERNATION, swept.awake(16, few), swept.awake(8, few),
                      ("F7-8-vs-16",))]
            if few
            else []
        ),
        Contrast(
            "slower-servers", ALTERNATION, swept.awake(4, 4 * k, SLOWER_SERVERS),
            swept.awake(2, 2 * k, SLOWER_SERVERS), ("P-servers-2-4",), first_look=0.4,
        ),
    )  # fmt: skip
    sides = ((contrast, [s for s in (contrast.a, contrast.b) if s]) for contrast in found)
    return tuple(c for c, both in sides if {s.point.servers for s in both} <= set(size.servers))


def transporters(
    experiment: Experiment, size: Profile, points: pd.DataFrame
) -> tuple[Contrast, ...]:
    """Shared memory against TCP, both at once; spinning against not, start by start.

    Both servers of a duet use the same data nodes at the same time. Each has a CPU share of its
    own, and two of them do not saturate the data nodes: what a server pays for a query does not
    depend on who else asks. What the other server does to the host, it does to both.

    Two equal servers of one cluster start may differ by more than their transporters do, and which
    of them is connected by TCP changes with every start. So no two blocks of a duet share a start.

    The smoke profile has one contrast of spinning: each takes two cluster starts a block.
    """
    reads, writes = Swept(size, points), Swept(size, points, READ_WRITE)

    def both(name: str, swept: Swept, shm: int, tcp: int, claim: str) -> Contrast:
        over = swept.point(1, tcp, transporter="tcp")
        return Contrast(name, DUET, swept.point(1, shm), over, (claim,), blocks_per_start=1)

    def spun(name: str, variant: str, spinning: int, plain: int, claim: str) -> Contrast:
        side = writes.point(1, spinning, variant)
        return Contrast(name, STARTS, side, writes.point(1, plain), (claim,))

    top, low = writes.top(), tuple(c for c in (1, 2) if c <= max(size.clients))
    at_once = (
        both("reads-best", reads, reads.top(), reads.top("tcp"), "T-shm-gain"),
        both("writes-top", writes, top, writes.top("tcp"), "T-top"),
        *(both(f"writes-{c}", writes, c, c, "T-low") for c in low),
    )
    start_by_start = (
        *(spun(f"spin-{c}", SHM_SPIN, c, c, "T-spin-low") for c in low),
        spun("spin-top", SHM_SPIN, top, top, "T-spin-top"),
        *(spun(f"all-spin-{c}", ALL_SPIN, c, c, "T-allspin-low") for c in low),
    )
    return at_once + (start_by_start[:1] if size.name == "smoke" else start_by_start)


def thread_splits(
    experiment: Experiment, size: Profile, points: pd.DataFrame
) -> tuple[Contrast, ...]:
    """Balanced threads against automatic ones at the peak; the threads of 32 CPUs, counted."""
    swept = Swept(size, points)
    servers = max(size.servers)
    best = swept.best(servers)
    return (
        Contrast("threads-of-32", LEVEL, swept.point(1, 1, THREADS_OF_32), None, ("F9-threads",)),
        Contrast(
            "balance", STARTS, swept.point(servers, best, BALANCED), swept.point(servers, best),
            ("F9-next-step",),
        ),
    )  # fmt: skip


def encrypted_links(
    experiment: Experiment, size: Profile, points: pd.DataFrame
) -> tuple[Contrast, ...]:
    """NDB's links with TLS against plain text, start by start: saturated, and with one client.

    No claim waits: no source says what TLS costs. So each has a number of blocks of its own.
    """
    swept = Swept(size, points)
    servers = max(size.servers)
    loads = {"tls-best": swept.best(servers, "tcp"), "tls-one": servers}
    return tuple(
        Contrast(
            name, STARTS, swept.point(servers, clients, TLS, transporter="tcp"),
            swept.point(servers, clients, transporter="tcp"), (), blocks=sequential.LOOKS[2],
        )
        for name, clients in loads.items()
    )  # fmt: skip


def two_engines(
    experiment: Experiment, size: Profile, points: pd.DataFrame
) -> tuple[Contrast, ...]:
    """The second engine against the first, start by start; an interval even if no claim waits."""
    swept = Swept(size, points, READ_WRITE)
    servers, clients = max(size.servers), max(size.clients)
    return (
        Contrast(
            "indexstat", STARTS, swept.point(servers, clients, SECOND_ENGINE),
            swept.point(servers, clients), ("D-indexstat",), blocks=sequential.LOOKS[0],
        ),
    )  # fmt: skip
