"""What a finished sweep suggests for the contrasts: numbers of clients, and sides with them.

The sweep only chooses numbers of clients, such as those of the best throughput. They are fixed once
it is done, and measured anew, so noise that made a point look best does not favour it here. Where
the sweep has no such point, the middle one of its numbers of clients stands in for it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from ndblab.design.contrast import Side
from ndblab.planning.point import DEFAULT_TRANSPORTER, DEFAULT_VARIANT, IDLE_SPINNER, Point
from ndblab.planning.workload import POINT_SELECT
from ndblab.statistics import summary

if TYPE_CHECKING:
    from ndblab.planning.profile import Profile

LEAST_CLIENTS = 4
"""Fewest clients that count as saturating a server: a sweep's noise may find fewer, and a few
more than needed cost no throughput."""
NEAR_BEST = 0.9
"""Share of the best throughput from which a number of clients may be the best one: a mean of two
runs is off by as much, and the throughput of many servers hardly changes around its peak."""


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
        clients = self._of_peak(1, DEFAULT_TRANSPORTER, "knee_clients", self._middle(1))
        return max(LEAST_CLIENTS, int(clients))

    def best_qps(self, servers: int) -> float:
        """Return the best mean throughput; 1000 queries/s if it was not measured."""
        return self._of_peak(servers, DEFAULT_TRANSPORTER, "qps_mean", 1000.0)

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
        values = self._peaks.loc[mine & (self._peaks["servers"] == servers), column]
        return float(values.iloc[0]) if len(values) else otherwise
