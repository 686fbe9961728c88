"""A closed queueing network, solved by mean value analysis.

It turns the CPU time per query of each resource, and the CPUs that each has, into throughput,
response time and queue lengths for any number of clients. It knows nothing about NDB.

A *station* is where a query queues and is served. A *pool* is CPUs that several stations share:
service is counted at the stations, and only waiting for the pool is counted at the pool.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

SECOND_US = 1e6


@dataclass(frozen=True)
class Network:
    """The networks to solve: cases down, resources across.

    Parameters
    ----------
    demand_us : array (cases, resources), CPU time per query in microseconds.
    cpus : array (cases, resources), logical CPUs of each; less than one under a quota.
    is_pool : array (resources,), whether a resource is a pool.
    delay_us : array (cases,), time per query outside all resources, without queueing.
    """

    demand_us: np.ndarray
    cpus: np.ndarray
    is_pool: np.ndarray
    delay_us: np.ndarray

    @property
    def limits_qps(self) -> np.ndarray:
        """Throughput at which each resource saturates, array (cases, resources).

        The utilisation law: CPU use is throughput times demand, and at most the CPUs available
        (Denning and Buzen 1978, "The Operational Analysis of Queueing Network Models").
        """
        with np.errstate(divide="ignore"):
            return np.where(self.demand_us > 0, SECOND_US * self.cpus / self.demand_us, np.inf)

    @property
    def bound_qps(self) -> np.ndarray:
        """The lowest of these limits, array (cases,): the most that clients can get."""
        return self.limits_qps.min(axis=1)

    @property
    def bottleneck(self) -> np.ndarray:
        """The resource with that limit, array (cases,) of positions."""
        return self.limits_qps.argmin(axis=1)

    @property
    def least_us(self) -> np.ndarray:
        """Response time of a query that never queues, array (cases,)."""
        return self.demand_us[:, ~self.is_pool].sum(axis=1) + self.delay_us


@dataclass(frozen=True)
class Solution:
    """Queries/s and response time in us, arrays (cases,); clients queued, (cases, resources)."""

    qps: np.ndarray
    response_us: np.ndarray
    waiting: np.ndarray

    @property
    def p95_us(self) -> np.ndarray:
        """Approximate 95th percentile of the response time in us, array (cases,).

        Mean value analysis gives means only. The time at each resource is taken as exponential and
        independent of the others, so the variances add up; a gamma distribution with this mean and
        variance has the percentile. A single resource has ln 20, or 3.0 times, its mean.
        """
        at_each_us = SECOND_US * self.waiting / self.qps[:, None]
        scale_us = (at_each_us**2).sum(axis=1) / self.response_us
        return scipy.stats.gamma.ppf(0.95, self.response_us / scale_us, scale=scale_us)


def solve(network: Network, clients: np.ndarray) -> Solution:
    """Solve each case by mean value analysis, adding one client at a time.

    An arriving query sees the network as it would be without that query (arrival theorem: Reiser
    and Lavenberg 1980, "Mean-Value Analysis of Closed Multichain Queuing Networks"). Queries that
    wait for c CPUs wait as for one CPU that is c times as fast (Seidmann, Schweitzer and
    Shalev-Oren 1987). Under a quota (c below one) a query runs at full speed until the quota is
    exhausted: then the bound alone determines the waiting, which is counted at the bottleneck.

    Parameters
    ----------
    clients : array (cases,) of whole numbers, at least one.
    """
    clients = np.asarray(clients, int)
    if clients.size and clients.min() < 1:
        raise ValueError("a closed network needs at least one client")
    demand = network.demand_us
    per_cpu = demand / network.cpus
    bound, first = network.bound_qps / SECOND_US, network.bottleneck
    served = np.where(network.is_pool, 0.0, demand)
    at = np.zeros_like(demand)
    qps, response = np.zeros(len(demand)), np.zeros(len(demand))
    queued = np.zeros_like(demand)
    # Cases with few clients finish first and drop out.
    order = np.argsort(-clients, kind="stable")
    for number in range(1, int(clients.max(initial=0)) + 1):
        on = order[: np.count_nonzero(clients >= number)]
        # No queueing while the pool has an idle CPU.
        spare = np.where(network.is_pool, np.maximum(network.cpus[on], 1.0) - 1, 0.0)
        ahead = np.maximum(0.0, at[on] - spare)
        residence = served[on] + per_cpu[on] * ahead
        total = residence.sum(axis=1) + network.delay_us[on]
        rate = np.minimum(number / total, bound[on])
        # Queries that the bound holds back wait at the bottleneck, so that Little's law holds.
        residence[np.arange(len(on)), first[on]] += np.maximum(0.0, number / rate - total)
        here = rate[:, None] * residence
        # A query that uses a pool is at a station, but arrivals at the pool find it there too.
        at[on] = here + np.where(network.is_pool, rate[:, None] * demand[on], 0.0)
        done = clients[on] == number
        qps[on[done]] = SECOND_US * rate[done]
        response[on[done]] = residence[done].sum(axis=1) + network.delay_us[on[done]]
        queued[on[done]] = here[done]
    return Solution(qps, response, queued)


def bounds(network: Network, clients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the most throughput of any network with these demands.

    Asymptotic bounds (Denning and Buzen 1978): at worst every query waits for all others at every
    resource, at best none waits until the bottleneck saturates.

    Returns
    -------
    Queries/s, arrays (cases,): pessimistic and optimistic.
    """
    clients = np.asarray(clients, float)
    slow = np.maximum(network.demand_us, network.demand_us / network.cpus).sum(axis=1)
    most = np.minimum(SECOND_US * clients / network.least_us, network.bound_qps)
    least = SECOND_US * clients / (network.delay_us + clients * slow)
    return np.minimum(least, most), most


def stacked(networks: Sequence[Network]) -> Network:
    """Stack the cases of several networks that have the same resources."""
    return Network(
        np.vstack([network.demand_us for network in networks]),
        np.vstack([network.cpus for network in networks]),
        networks[0].is_pool,
        np.concatenate([network.delay_us for network in networks]),
    )
