"""The queueing network against cases with closed forms, and against laws that always hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ndblab.experiments.capacity import network

RATES = st.floats(1.0, 500.0)
CPUS = st.one_of(st.floats(0.05, 1.0), st.floats(1.0, 64.0))


def one_case(demand_us, cpus=None, delay_us=0.0, pools=()):
    demand = np.array([demand_us], float)
    cpus = np.ones_like(demand) if cpus is None else np.array([cpus], float)
    is_pool = np.array([k in pools for k in range(demand.shape[1])])
    return network.Network(demand, cpus, is_pool, np.array([delay_us]))


def qps(asked, clients):
    return float(network.solve(asked, np.array([clients])).qps[0])


@pytest.mark.parametrize("stations", [1, 2, 5])
@pytest.mark.parametrize("clients", [1, 2, 10, 64])
def test_a_balanced_network_of_single_servers_has_its_closed_form(stations, clients):
    # X(N) = N / (D (N + K - 1)): Lazowska et al. 1984, "Quantitative System Performance", 5.4.
    asked = one_case([100.0] * stations)
    assert qps(asked, clients) == pytest.approx(1e4 * clients / (clients + stations - 1))


def test_one_station_with_a_delay_is_the_machine_repair_model():
    # M/M/1//N: the idle probability is the inverse of the sum over k of N!/(N-k)! (D/Z)^k.
    demand, delay, clients = 100.0, 400.0, 6
    terms = [1.0]
    for k in range(clients):
        terms.append(terms[-1] * (clients - k) * demand / delay)
    busy = 1 - 1 / sum(terms)
    assert qps(one_case([demand], delay_us=delay), clients) == pytest.approx(1e6 * busy / demand)


def test_many_clients_reach_the_bound_of_the_slowest_station_and_name_it():
    asked = one_case([50.0, 120.0, 80.0], [1.0, 2.0, 1.0])
    assert asked.bound_qps[0] == pytest.approx(1e6 / 80)
    assert asked.bottleneck[0] == 2
    assert qps(asked, 2000) == pytest.approx(1e6 / 80, rel=0.01)


def test_a_quota_bounds_throughput_from_the_first_client_on():
    # 100 us of work at a quarter of a CPU: 2500 queries/s, though alone a query takes 150 us.
    asked = one_case([100.0, 50.0], [0.25, 1.0])
    solved = network.solve(asked, np.array([1]))
    assert solved.qps[0] == pytest.approx(2500)
    assert solved.response_us[0] == pytest.approx(400)
    assert solved.waiting[0].argmax() == 0


def test_a_pool_adds_no_service_and_holds_back_what_uses_it():
    free = one_case([100.0, 100.0])
    pooled = one_case([100.0, 100.0, 200.0], [1.0, 1.0, 1.0], pools=(2,))
    assert pooled.least_us[0] == free.least_us[0] == 200
    assert qps(pooled, 1) == pytest.approx(qps(free, 1))
    assert qps(pooled, 50) <= 5000 < qps(free, 50)


def test_a_network_without_clients_is_refused():
    with pytest.raises(ValueError, match="at least one client"):
        network.solve(one_case([100.0]), np.array([0]))


@settings(deadline=None)
@given(
    st.lists(st.tuples(RATES, CPUS, st.booleans()), min_size=1, max_size=6),
    st.floats(0, 2000),
    st.integers(1, 200),
)
def test_throughput_is_within_its_bounds_and_littles_law_holds(resources, delay_us, clients):
    demand, cpus, pool = zip(*resources, strict=True)
    pools = [k for k, is_pool in enumerate(pool) if is_pool and k > 0]
    demand = list(demand)
    at_stations = sum(us for k, us in enumerate(demand) if k not in pools)
    for k in pools:
        demand[k] = min(demand[k], at_stations)
    asked = one_case(demand, cpus, delay_us, pools)
    solved = network.solve(asked, np.array([clients]))
    low, high = network.bounds(asked, np.array([clients]))
    assert low[0] * (1 - 1e-9) <= solved.qps[0] <= high[0] * (1 + 1e-9)
    in_flight = solved.qps[0] * solved.response_us[0] / 1e6
    assert in_flight == pytest.approx(clients)
    elsewhere = solved.qps[0] * delay_us / 1e6
    assert solved.waiting[0].sum() + elsewhere == pytest.approx(clients)


@settings(deadline=None)
@given(
    st.lists(st.tuples(RATES, CPUS), min_size=1, max_size=5),
    st.integers(0, 4),
    st.floats(1.01, 5.0),
    st.integers(1, 100),
)
def test_more_demand_never_gives_more_throughput(resources, which, factor, clients):
    demand, cpus = (list(values) for values in zip(*resources, strict=True))
    before = qps(one_case(demand, cpus), clients)
    demand[which % len(demand)] *= factor
    assert qps(one_case(demand, cpus), clients) <= before * (1 + 1e-9)


@settings(deadline=None)
@given(st.lists(st.tuples(RATES, CPUS), min_size=1, max_size=5), st.integers(1, 100))
def test_another_client_never_gives_less_throughput(resources, clients):
    demand, cpus = zip(*resources, strict=True)
    asked = one_case(demand, cpus)
    assert qps(asked, clients + 1) >= qps(asked, clients) * (1 - 1e-9)


def test_cases_are_solved_side_by_side_as_they_are_alone():
    first, second = one_case([80.0, 40.0], [0.5, 2.0]), one_case([20.0, 90.0], [1.0, 4.0])
    both = network.Network(
        np.vstack([first.demand_us, second.demand_us]),
        np.vstack([first.cpus, second.cpus]),
        first.is_pool,
        np.zeros(2),
    )
    solved = network.solve(both, np.array([3, 40]))
    assert solved.qps == pytest.approx([qps(first, 3), qps(second, 40)])


def test_the_percentile_is_exact_where_all_time_is_at_one_resource():
    """Exponential: ln 20 times the mean; spread over more resources it is closer to the mean."""
    one, four = (network.solve(one_case(us), np.array([8])) for us in ([100.0], [100.0] * 4))
    assert one.p95_us / one.response_us == pytest.approx(np.log(20))
    assert 1 < float(four.p95_us[0] / four.response_us[0]) < np.log(20)
