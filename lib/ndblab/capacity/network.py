"""A closed queueing network, solved by mean value analysis.

In: the CPU time that a query takes of each resource, and how many CPUs each has. Out: throughput,
response time and where queries wait, for any number of clients. It knows nothing of NDB.

A *station* is where a query waits and is served. A *pool* is CPUs that several stations use: what
is done in it is counted at the stations, and only the waiting for it is its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

SECOND_US = 1e6


@dataclass(frozen=True)
class Network:
    """Cases down, resources across: what is to be solved.

    Parameters
    ----------
    demand_us : array (cases, resources), CPU time a query in microseconds.
    cpus : array (cases, resources), logical CPUs that each has; less than one under a quota.
    is_pool : array (resources,), whether a resource is a pool.
    delay_us : array (cases,), time a query spends nowhere in particular, without any queue.
    """

    demand_us: np.ndarray
    cpus: np.ndarray
    is_pool: np.ndarray
    delay_us: np.ndarray

    @property
    def limits_qps(self) -> np.ndarray:
        """Throughput at which each resource is used up, array (cases, resources).

        The utilisation law: what is used is throughput times demand, and never more than there is
        (Denning and Buzen 1978, "The Operational Analysis of Queueing Network Models").
        """
        with np.errstate(divide="ignore"):
            return np.where(self.demand_us > 0, SECOND_US * self.cpus / self.demand_us, np.inf)

    @property
    def bound_qps(self) -> np.ndarray:
        """The lowest of these limits, array (cases,): no number of clients gives more."""
        return self.limits_qps.min(axis=1)

    @property
    def bottleneck(self) -> np.ndarray:
        """The resource that sets it, array (cases,) of positions."""
        return self.limits_qps.argmin(axis=1)

    @property
    def least_us(self) -> np.ndarray:
        """Response time of a query that waits for nothing, array (cases,)."""
        return self.demand_us[:, ~self.is_pool].sum(axis=1) + self.delay_us


@dataclass(frozen=True)
class Solution:
    """What clients get: arrays (cases,) of queries/s and us, and (cases, resources) of clients."""

    qps: np.ndarray
    response_us: np.ndarray
    waiting: np.ndarray


def solve(network: Network, clients: np.ndarray) -> Solution:
    """Go from one client to as many as each case has, a client at a time.

    An arriving query finds the network as it would be without it (the arrival theorem of Reiser
    and Lavenberg 1980, "Mean-Value Analysis of Closed Multichain Queuing Networks"). A resource of
    c CPUs serves like one that is c times as fast, for what waits before it (Seidmann, Schweitzer
    and Shalev-Oren 1987). A quota, with c below one, lets a query run at full speed until it is
    used up: the waiting is limited by the bound alone then, and falls to the bottleneck.

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
    # Cases with few clients are done first and then left alone.
    order = np.argsort(-clients, kind="stable")
    for number in range(1, int(clients.max(initial=0)) + 1):
        on = order[: np.count_nonzero(clients >= number)]
        # Nobody waits for a pool while one of its CPUs is free.
        spare = np.where(network.is_pool, np.maximum(network.cpus[on], 1.0) - 1, 0.0)
        ahead = np.maximum(0.0, at[on] - spare)
        residence = served[on] + per_cpu[on] * ahead
        total = residence.sum(axis=1) + network.delay_us[on]
        rate = np.minimum(number / total, bound[on])
        # What the bound holds back waits at the bottleneck: Little's law then holds for the whole.
        residence[np.arange(len(on)), first[on]] += np.maximum(0.0, number / rate - total)
        here = rate[:, None] * residence
        # Whoever uses a pool is at a station meanwhile, and is met by those who come to the pool.
        at[on] = here + np.where(network.is_pool, rate[:, None] * demand[on], 0.0)
        done = clients[on] == number
        qps[on[done]] = SECOND_US * rate[done]
        response[on[done]] = residence[done].sum(axis=1) + network.delay_us[on[done]]
        queued[on[done]] = here[done]
    return Solution(qps, response, queued)


def bounds(network: Network, clients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give the least and the most throughput that any network of these demands can have.

    Asymptotic bounds (Denning and Buzen 1978): at worst every query waits for all others at every
    resource, at best none waits until the bottleneck is full.

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
    """Put the cases of several networks of the same resources below each other."""
    return Network(
        np.vstack([each.demand_us for each in networks]),
        np.vstack([each.cpus for each in networks]),
        networks[0].is_pool,
        np.concatenate([each.delay_us for each in networks]),
    )
