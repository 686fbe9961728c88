"""The capacity model: laws found again, predictions, baselines, advice."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

import made_up_model as made
from made_up_model import LAWS, SHARES
from ndblab.experiments.capacity import brief_server, commands, comparison, demands, model
from ndblab.experiments.capacity.demands import CLIENT, KINDS, SERVER

COUNTS = (*made.COUNTS, 128, 256)
TRUTH = dataclasses.replace(made.TRUTH, clients_per_server=(1.0, 256.0))


def points(servers=(1,), clients=COUNTS):
    table = [(s, c) for s in servers for c in clients if c >= s]
    return pd.DataFrame(table, columns=["servers", "clients"])


def of_one_server(noise=0.0):
    """Return the runs of one server of a cluster that is exactly the model, by their demands."""
    return demands.by_run(demands.of_one_server(made.dataset(clients=COUNTS, noise=noise)))


def test_the_laws_that_made_the_data_are_found_again():
    laws = model.fit(of_one_server(), SHARES).laws
    for name in (CLIENT, SERVER, *KINDS):
        wanted, law = LAWS[name].us(np.array(COUNTS)), laws[name].us(np.array(COUNTS))
        assert law == pytest.approx(wanted, rel=0.02), name
    assert laws["tc"].background_cpus == pytest.approx(0.004, rel=0.05)


def test_the_bottleneck_moves_from_the_server_to_the_data_nodes():
    predicted = model.predict(TRUTH, points((1, 16), (16,))).set_index("servers")
    assert predicted.loc[1, "bottleneck"] == SERVER
    assert predicted.loc[16, "bottleneck"] == model.DATA_NODES
    assert predicted.loc[1, f"utilisation_{SERVER}"] > 0.97
    assert predicted.filter(like="utilisation_").to_numpy().max() <= 1 + 1e-9


def intervals(noise, asked, **options):
    return model.with_intervals(of_one_server(noise), SHARES, asked, **options)


def test_intervals_contain_the_prediction_and_widen_with_variability():
    asked = points((1, 8), (8, 64))
    calm, wild = (intervals(noise, asked, draws=40) for noise in (0.01, 0.1))
    for predicted in (calm, wild):
        assert (predicted["qps_low"] < predicted["qps"]).all()
        assert (predicted["qps"] < predicted["qps_high"]).all()
    narrow, wide = (np.log(table["qps_high"] / table["qps_low"]).mean() for table in (calm, wild))
    assert wide > 3 * narrow


def test_an_interval_widens_by_what_the_fitted_runs_cannot_show():
    row = intervals(0.01, points((1,), (8,)), beyond=0.1).iloc[0]
    assert np.log(row["qps_high"] / row["qps_low"]) == pytest.approx(2 * 1.96 * 0.1, rel=0.25)


def test_the_same_data_give_the_same_intervals():
    one, other = (intervals(0.05, points(), draws=10) for _ in "ab")
    assert one.equals(other)


def test_littles_law_is_checked_on_every_good_run():
    runs = made.dataset().runs
    runs.loc[runs.index[0], "status"] = "killed"
    table = demands.little(runs)
    assert len(table) == len(runs) - 1
    assert table["ratio"].to_numpy() == pytest.approx(1.0)


def test_usl_finds_its_own_coefficients():
    clients = np.array(COUNTS, float)
    coefficients = comparison.fit_usl(clients, comparison.usl(clients, 900.0, 0.05, 2e-4))
    assert coefficients == pytest.approx((900.0, 0.05, 2e-4), rel=1e-3)


def test_baselines_scale_linearly_until_their_caps():
    data = made.dataset(clients=COUNTS, noise=0.0)
    table = demands.of_one_server(data)
    baselines = comparison.simpler(table, data.runs, SHARES, points((1, 2, 16), (16, 32)))
    groups = baselines.groupby("name")
    by_name = {name: rows.set_index(["servers", "clients"]) for name, rows in groups}
    assert set(by_name) == {comparison.LINEAR, comparison.USL, comparison.DIVISION}
    one = table[table["clients"] == 16].drop_duplicates("run_id")["qps"].mean()
    for name in (comparison.LINEAR, comparison.DIVISION):
        assert by_name[name].loc[(1, 16), "qps"] == pytest.approx(one)
        assert by_name[name].loc[(2, 32), "qps"] == pytest.approx(2 * one)
        # Equal clients a server wait as long, until a cap makes them wait longer.
        assert by_name[name].loc[(2, 32), "latency_p95_ms"] == pytest.approx(2.5e3 * 16 / one)
    cpus = table[table["clients"] == 1].groupby("run_id")["cpus"].sum().mean()
    one_client = table[table["clients"] == 1].drop_duplicates("run_id")["qps"].mean()
    assert by_name[comparison.LINEAR].loc[(16, 16), "qps"] == pytest.approx(
        min(16 * one_client, one_client * 2.0 / cpus)
    )
    # 1.5 CPUs of the SQL side over 0.234 that one server uses: 6.4 servers' worth.
    assert by_name[comparison.DIVISION].loc[(16, 16), "qps"] == pytest.approx(
        one_client * 1.5 / 0.234, rel=0.01
    )


def test_the_briefs_screens_add_up_with_what_they_do_not_list():
    table = brief_server.threads().set_index(["figure", "kind"])
    tc = table.loc[("9", "tc")]
    assert tc["listed"] == 4
    assert tc["cpus"] == tc["cpus_low"] == tc["cpus_high"] == pytest.approx(3.29)
    query = table.loc[("9", "query")]
    assert query["listed"] == 4
    assert query["cpus_low"] == pytest.approx(2.63)
    assert query["cpus_low"] < query["cpus"] < query["cpus_high"]


def test_the_epyc_model_keeps_to_what_was_published_of_one_server():
    own = brief_server.epyc()
    predicted = model.predict(own, points((1, 16), (32, 1024))).set_index(["servers", "clients"])
    assert predicted.loc[(1, 32), "qps"] <= 230_000
    assert predicted.loc[(1, 1024), "qps"] == pytest.approx(230_000, rel=0.05)
    assert predicted.loc[(16, 1024), "qps"] > 5 * predicted.loc[(1, 1024), "qps"]


def test_splits_keep_the_number_of_threads_and_the_automatic_one_is_among_them():
    table = brief_server.splits()
    assert (table[list(brief_server.THREADS)].sum(axis=1) == 26).all()
    assert (table["query"] % table["ldm"] == 0).all()
    automatic = table[table["automatic"]].iloc[0]
    assert automatic["busiest"] == "tc"
    assert table["bound_qps"].max() > automatic["bound_qps"]


def test_a_faster_host_serves_as_much_more():
    """Throughput rises by the speed and latency falls by it, if no CPU is used without queries."""
    idle = {name: dataclasses.replace(law, background_cpus=0.0) for name, law in LAWS.items()}
    plain = dataclasses.replace(TRUTH, laws=idle)
    asked = points((1, 16), (16, 256))
    slow, fast = model.predict(plain, asked), model.predict(plain.at_speed(2.5), asked)
    assert fast["qps"].to_numpy() == pytest.approx(2.5 * slow["qps"].to_numpy())
    for latency in ("latency_avg_ms", "latency_p95_ms"):
        assert fast[latency].to_numpy() == pytest.approx(slow[latency].to_numpy() / 2.5)


def test_advice_takes_no_more_servers_than_it_needs():
    """One less has less throughput, and its prediction is the model's for the recommended split."""
    own = commands.advise(TRUTH)
    assert own["data_node_cpus"] + own["sql_cpus"] == pytest.approx(SHARES.host_cpus)
    split = own[["data_node_cpus", "sql_cpus"]].to_dict()
    there = dataclasses.replace(TRUTH, shares=dataclasses.replace(SHARES, **split))
    counts = np.array([own["servers"], own["servers"] - 1])
    asked = pd.DataFrame({"servers": counts, "clients": counts * own["clients"] // own["servers"]})
    enough, fewer = model.predict(there, asked)["qps"]
    assert enough == pytest.approx(own["qps"])
    assert fewer < enough


def test_twice_the_host_carries_twice_the_load():
    """With the same shares of it."""
    twice = dataclasses.replace(TRUTH, shares=SHARES.scaled(4.0))
    small, large = (commands.advise(own)["qps"] for own in (TRUTH, twice))
    assert large == pytest.approx(2 * small, rel=0.1)
