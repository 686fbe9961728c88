"""CPU time of a query, with truths that were planted."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from experiments.costs import made_up as world
from ndblab.error import MissingData
from ndblab.experiments.costs import analysis
from ndblab.experiments.costs.experiment import AT_EACH, FALLING
from ndblab.formatting import plain


@pytest.fixture(scope="module")
def data():
    return world.dataset()


def test_what_idle_servers_use_is_no_part_of_a_query(data):
    """One server of sixteen costs what its own CPU says; the rest is a number of its own."""
    points = analysis.points(data.runs, data.processes, data.ndb_threads)
    one = points[(points["servers"] == 1) & (points["clients"] == 8)].iloc[0]
    assert one["mysqld_us"] == pytest.approx(100)
    assert one["ndbmtd_us"] == pytest.approx(world.NDBMTD_US)
    assert one["cpu_us"] == pytest.approx(160)
    assert one["idle_pct"] == pytest.approx(world.IDLE_PCT)
    assert analysis.idle_server_pct(data.runs, data.processes).value == pytest.approx(1.5)


def test_with_all_servers_at_work_none_is_idle(data):
    """Their cost is the planted one, and there is no CPU of an idle server."""
    points = analysis.points(data.runs, data.processes, data.ndb_threads)
    all_of_them = points[points["servers"] == 16]
    assert list(all_of_them["mysqld_us"]) == pytest.approx([world.mysqld_us(16)] * 2)
    assert all_of_them["idle_pct"].isna().all()


def test_system_time_of_data_nodes_is_told_apart(data):
    """A quarter of that of the made-up thread; runs without threads have none."""
    share = analysis.system_share(data.runs, data.ndb_threads)
    assert list(share) == pytest.approx([0.25])


def test_numbers_of_servers_are_compared_at_equal_clients(data):
    """Eight each, and 64 in all: the numbers of clients that all of them were run with."""
    tables = analysis.compared(data.runs)
    assert list(tables) == ["8 clients each", "64 clients in all"]
    per_server, total = tables.values()
    assert set(per_server["clients"] / per_server["servers"]) == {8}
    assert set(total["clients"]) == {64}
    assert set(per_server["servers"]) == set(total["servers"]) == {1, 2, 4, 8, 16}


def test_the_turn_is_where_throughput_stops_rising(data):
    """At the planted knee, with the clients for each CPU that mysqld uses there."""
    turn = analysis.turn(analysis.each_good_run(data.runs, data.processes))
    assert turn.clients == world.KNEE
    cpus = world.KNEE * world.PER_CLIENT * 100 / 1e6
    assert turn.per_cpu == pytest.approx(world.KNEE / cpus, rel=0.05)
    assert turn.busy_pct == 98


def test_the_turn_is_as_certain_as_the_runs_are_alike(data):
    """Alike runs leave one number of clients, noisy ones several, single ones say nothing.

    If the largest number may be needed, it is not known where throughput stops rising.
    """
    runs = analysis.each_good_run(data.runs, data.processes)
    sure = analysis.turn(runs)
    assert (sure.low, sure.high) == (world.KNEE, world.KNEE)
    noise = 1 + 0.15 * ((pd.Series(range(len(runs)), index=runs.index) % 3) - 1)
    unsure = analysis.turn(runs.assign(qps=runs["qps"] * noise))
    assert unsure.low <= world.KNEE < unsure.high
    least, most = (clients / _cpus(runs, clients) for clients in (unsure.low, unsure.high))
    assert unsure.least_per_cpu == pytest.approx(least)
    assert unsure.most_per_cpu == pytest.approx(most)
    low, high = (plain(round(bound, 1)) for bound in (least, most))
    told = unsure._replace(most=int(unsure.high) + 1).words
    assert told.endswith(f" clients, {low} to {high} for each CPU that mysqld uses")
    told = unsure._replace(most=int(unsure.high)).words
    assert told.startswith(f"from {unsure.low:.0f} client")
    assert told.endswith(" on, no number of clients was clearly better for one server")
    single = data.runs[data.runs["repeat"] == 1]
    assert math.isnan(analysis.turn(analysis.each_good_run(single, data.processes)).low)


def _cpus(runs: pd.DataFrame, clients: float) -> float:
    """Return the CPUs that the one server uses with so many clients."""
    return runs[(runs["servers"] == 1) & (runs["clients"] == clients)]["mysqld_cpus"].mean()


def test_one_number_of_clients_has_no_turn(data):
    """A curve needs points."""
    few = data.runs[data.runs["clients"] == 8]
    with pytest.raises(MissingData):
        analysis.turn(analysis.each_good_run(few, data.processes))


@pytest.mark.parametrize("dearer", [0.02, -0.02])
def test_ratios_of_a_contrast_are_the_planted_ones(dearer):
    """A dearer query and a cheaper one, with the interval around it."""
    data = world.dataset(repeats=1, dearer=dearer)
    ratios = analysis.ratios(data.slices, data.processes, AT_EACH)
    truth = world.mysqld_us(16, dearer) / 100
    assert ratios["mysqld_us"].value == pytest.approx(truth)
    assert ratios["ndbmtd_us"].value == pytest.approx(1)
    assert ratios["qps"].low < world.qps(16, 128, dearer) / world.qps(1, 8, dearer)
    assert ratios["qps"].high > world.qps(16, 128, dearer) / world.qps(1, 8, dearer)
    assert analysis.sides(data.slices, AT_EACH) == "16 servers instead of 1, 8 clients each"
    assert analysis.sides(data.slices, FALLING) == "128 clients instead of 32"


def test_the_published_point_is_the_quotient_of_what_the_brief_states():
    """230 000 queries/s on 14 CPUs, at 32 clients."""
    point = analysis.published()
    assert (point.value, point.clients, point.exactness) == (61, 32, "about")
    assert analysis.published_per_cpu() == pytest.approx(32 / 14)


def test_without_a_good_run_nothing_is_made_up(data):
    """It says what is missing."""
    with pytest.raises(MissingData):
        analysis.points(data.runs.assign(status="lost"), data.processes, data.ndb_threads)
