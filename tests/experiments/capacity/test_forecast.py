"""The capacity model applied: fitted to one dataset, compared with another, asked by a user."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import made_up_model as made
from ndblab import formatting
from ndblab.error import LabError
from ndblab.experiments.capacity import brief_server, comparison, demands, forecast, model
from ndblab.experiments.capacity import commands as answers
from ndblab.judging import answers as findings
from ndblab.measuring import recorded
from publishing.test_results import invoke


@pytest.fixture(scope="module")
def own() -> forecast.Forecast:
    """A model of a made-up cluster, compared with more servers of the same."""
    return forecast.of(made.dataset(), made.dataset((1, 2, 4, 8), (8, 16, 64, 128), name="more"))


def test_a_cluster_over_several_hosts_is_refused() -> None:
    """The model would take their CPUs for those of one."""
    data = made.dataset()
    data.manifest["hosts"] = {"a": {}, "b": {}, "c": {}}
    with pytest.raises(LabError, match="on one host"):
        forecast.of(data)


def test_one_server_predicts_many(own: forecast.Forecast) -> None:
    """A cluster that keeps every assumption of the model is predicted within its noise."""
    verdict = own.verdicts.set_index(["name", "metric"]).loc[(comparison.MODEL, "qps")]
    assert verdict["median_pct"] < 3
    assert verdict["points"] == len(own.several)
    assert own.demands["servers"].unique().tolist() == [1]
    assert own.shares == made.SHARES


def test_every_measured_point_is_predicted(own: forecast.Forecast) -> None:
    """One row each, the points of one server too; errors are of several servers only."""
    keys = ["servers", "clients"]
    assert own.predicted[keys].to_numpy().tolist() == own.points[keys].to_numpy().tolist()
    assert (own.predicted["latency_p95_ms"] > own.predicted["latency_avg_ms"]).all()
    assert own.errors["servers"].min() == 2
    assert set(own.errors["metric"]) == {"qps", "latency_p95_ms"}
    assert own.errors["name"].nunique() == 4
    assert own.verdicts["median_pct"].notna().all()


def test_bounds_hold_the_model_and_meet_at_the_balanced_point(own: forecast.Forecast) -> None:
    """Throughput stays between its bounds, mean latency between the ones that follow of them."""
    table = own.bounds
    assert (table["qps"] <= table["qps_most"] * (1 + 1e-9)).all()
    assert (table["qps"] >= table["qps_least"] * (1 - 1e-9)).all()
    assert (table["latency_least_ms"] <= table["latency_avg_ms"] * (1 + 1e-9)).all()
    [row] = own.balance.itertuples()
    law_us = sum(float(law.us(1)) for law in made.LAWS.values())
    # One client alone uses more than the quota of its server.
    assert row.clients == pytest.approx(law_us * made.SERVER_CPUS / 80.0, rel=0.05)
    assert row.bottleneck == demands.SERVER


def test_utilisation_includes_background_cpu_use(own: forecast.Forecast) -> None:
    """Predicted and measured utilisation are alike, and agree where the model is true."""
    both = own.use.merge(own.measured_use, on=["servers", "clients", "resource"])
    assert set(both["servers"]) == {1, 4, 8}
    assert both["utilisation_x"].to_numpy() == pytest.approx(
        both["utilisation_y"].to_numpy(), rel=0.06
    )
    nodes = both[(both["resource"] == model.DATA_NODES) & (both["servers"] == 8)]
    assert nodes["utilisation_y"].iloc[0] == pytest.approx(1.0, abs=0.05)
    assert set(comparison.RESOURCES) == set(both["resource"])


def test_demands_that_depart_from_their_law_show(own: forecast.Forecast) -> None:
    """10 us more of tc per query with eight servers show there, and in the sum of all parts."""
    dearer = own.tested_demands.copy()
    there = (dearer["resource"] == "tc") & (dearer["servers"] == 8)
    dearer.loc[there, "cpus"] += 10e-6 * dearer.loc[there, "qps"]
    table = comparison.beyond_laws(own.model, dearer) - own.beyond_laws
    assert table.loc[8, ["tc", "all"]].to_numpy() == pytest.approx(10)
    assert table.loc[4, "tc"] == table.loc[8, "ldm"] == pytest.approx(0)
    assert own.beyond_laws["tc"].abs().max() < 1


def test_littles_law_is_checked_on_both_datasets(own: forecast.Forecast) -> None:
    """Every good run of each dataset has its ratio."""
    assert set(own.little["dataset"]) == {"made-up-1", "more"}
    assert own.little["ratio"].to_numpy() == pytest.approx(1.0)
    assert len(own.little) == len(own.fitted.runs) + len(own.tested.runs)


def test_a_model_is_held_against_the_sweep_of_its_own_hours(monkeypatch) -> None:
    """Of several recordings they are those that began nearest to each other, new or old."""
    days = {
        "old one": "2026-11-25",
        "new one": "2026-12-03",
        "before": "2026-11-23",
        "near": "2026-11-26",
        "newest": "2026-11-29",
    }
    began = {name: SimpleNamespace(manifest={"started_utc": day}) for name, day in days.items()}
    ones, others = (
        [began[name] for name in names]
        for names in (("old one", "new one"), ("before", "near", "newest"))
    )
    known = {"single-server-scaling": ones, "multi-server-scaling": others}
    monkeypatch.setattr(recorded, "of_sweep", known.__getitem__)
    monkeypatch.setattr(forecast, "of", lambda fitted, tested: (fitted, tested))
    assert forecast.obtain.__wrapped__() == (began["old one"], began["near"])


def test_one_dataset_can_be_both(own: forecast.Forecast) -> None:
    """The model is fitted to the runs with one server and compared with the others."""
    same = forecast.of(own.tested)
    assert same.model.clients_per_server == (8.0, 128.0)
    assert same.verdicts["points"].iloc[0] == len(own.several)


def test_a_dataset_without_one_server_is_refused() -> None:
    """The message says what it has, what is needed and what to type."""
    with pytest.raises(LabError, match="needs a sweep of one MySQL server") as caught:
        forecast.of(made.dataset((2, 4)))
    assert "no run of one server in made-up-1" in str(caught.value)
    assert "--experiment single-server-scaling" in str(caught.value)


def test_too_few_clients_are_refused_with_the_runs_that_failed() -> None:
    """Runs that failed are counted, with what became of them."""
    data = made.dataset()
    data.runs.loc[data.runs["clients"] > 2, "status"] = "killed"
    data.runs.loc[0, "errors"] = 3
    with pytest.raises(LabError) as caught:
        forecast.of(data)
    assert "good runs with 1 and 2 clients of one server" in str(caught.value)
    assert "16 of 21 runs left out: 15 x killed, 1 x errors" in str(caught.value)


def test_runs_of_another_kind_are_not_fitted_to() -> None:
    """Transactions, TCP and variants are not what the model is of."""
    data = made.dataset()
    other = data.runs.assign(workload="oltp_read_write")
    data.runs = pd.concat([data.runs.head(3), other.tail(18)], ignore_index=True)
    with pytest.raises(LabError, match="needs a sweep of one MySQL server"):
        forecast.of(data)


def test_a_budget_that_divides_nothing_is_refused() -> None:
    """The message says why, and which command such a sweep is for."""
    with pytest.raises(LabError, match="does not cover this CPU budget") as caught:
        forecast.of(made.dataset(budget="shared"))
    assert "do not show what several servers leave each other" in str(caught.value)
    assert "./lab size" in str(caught.value)


def test_a_dataset_without_monitors_is_refused() -> None:
    """Without CPU use there are no demands."""
    data = made.dataset()
    data.ndb_threads = data.ndb_threads.head(0)
    with pytest.raises(LabError, match="lacks the CPU use of its runs"):
        forecast.of(data)


def test_two_hosts_are_not_mixed() -> None:
    """A model of one host is not compared with the sweep of another."""
    other = made.dataset((1, 2), name="elsewhere")
    other.host = {**other.host, "cpus": other.host["cpus"] * 2}
    with pytest.raises(LabError, match="cannot be compared with runs of another") as caught:
        forecast.of(made.dataset(), other)
    assert "4 logical CPUs in elsewhere" in str(caught.value)


def test_a_sweep_of_one_server_has_no_errors_to_show() -> None:
    """Asked for errors, it says which sweep is missing; it can be asked for predictions."""
    alone = forecast.of(made.dataset())
    with pytest.raises(LabError, match="nothing to compare the model with"):
        alone.errors  # noqa: B018
    assert len(alone.predicted) == len(made.COUNTS)


def test_an_answer_is_complete(own: forecast.Forecast) -> None:
    """Throughput with its interval, both latencies, the bottleneck, the busiest, the source."""
    text = answers.predict(own, "8", "128")
    point = pd.DataFrame({"servers": [8], "clients": [128]})
    row = own.predict(point).iloc[0]
    assert text.startswith("8 MySQL servers, 128 clients, 2 logical CPUs\n")
    assert f"{formatting.plain(row['qps'])} queries/s" in text
    for number in ("qps_low", "qps_high"):
        assert formatting.plain(row[number]) in text
    assert "p95 latency" in text
    assert "as in the fitted runs" in text
    assert f"bottleneck    {model.DATA_NODES}, saturates at" in text
    assert "data nodes 100 %" in text
    assert "21 runs of one server with 1 to 64 clients, dataset made-up-1" in text
    assert "Extrapolated" not in text


def test_an_answer_marks_extrapolation(own: forecast.Forecast) -> None:
    """More CPUs, more servers, more clients a server, idle servers, runs left out."""
    text = " ".join(answers.predict(own, 16, 2048, "64", "90000").split())
    assert "64 logical CPUs; measured on 2 logical CPUs" in text
    assert "16 servers; measured with up to 8" in text
    assert "128 clients per server; measured 1 to 64" in text
    assert text.count("Extrapolated") == 3
    assert "6 of the servers, which have no client" in answers.predict(own, 8, 2)
    data = made.dataset()
    data.runs.loc[0, "status"] = "killed"
    assert "1 of 21 runs left out: 1 x killed" in answers.predict(forecast.of(data), 1, 8)


@pytest.fixture
def simple(monkeypatch: pytest.MonkeyPatch) -> str:
    """The recorded comparisons favour a simple method for p95."""
    used = {"qps": comparison.MODEL, "latency_p95_ms": comparison.LINEAR}
    monkeypatch.setattr(forecast, "methods", lambda: used)
    return comparison.LINEAR


def test_p95_is_that_of_the_method_that_was_nearer(own: forecast.Forecast, simple: str) -> None:
    """It is named, with its recorded error; on a host twice as fast it is half as long."""
    point = pd.DataFrame({"servers": [8], "clients": [64]})
    arguments = own.demands, own.fitted_runs, own.shares, point, (simple,)
    [p95_ms] = comparison.simpler(*arguments)["latency_p95_ms"]
    text = " ".join(answers.predict(own, 8, 64).split())
    assert f'p95 latency {formatting.plain(p95_ms)} ms, by the simple method "{simple}"' in text
    assert re.search(r"nearer than the model: \d+ % off at the median", text)
    best = float(own.predict(pd.DataFrame({"servers": 1, "clients": made.COUNTS}))["qps"].max())
    fast = " ".join(answers.predict(own, 8, 64, None, 2 * best).split())
    shown = re.search(r"p95 latency ([\d.]+) ms", fast)[1]
    assert float(shown) == pytest.approx(p95_ms / 2, rel=0.02)


def test_p95_is_the_models_where_no_simple_method_was_tested(
    own: forecast.Forecast, simple: str
) -> None:
    """More clients per server than measured, or other CPUs: the answer says what is missing."""
    for question in ((1, 128), (8, 64, 4, 90_000)):
        text = " ".join(answers.predict(own, *question).split())
        assert "approximated from the mean times at each resource. A simple method is" in text
        assert simple not in text


def test_p95_is_the_models_where_that_was_nearer(
    own: forecast.Forecast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then nothing is said of simple methods."""
    used = dict.fromkeys(comparison.GOAL_PCT, comparison.MODEL)
    monkeypatch.setattr(forecast, "methods", lambda: used)
    assert "imple method" not in answers.predict(own, 8, 64)


def test_the_recorded_comparisons_decide_the_method() -> None:
    """Throughput is the model's, whose interval `predict` prints: if the rule ever prefers another
    method, `predict` must follow. Wherever p95 is another method's, the answer and notebook 05 say
    so, and it stays above the model's mean."""
    own, used = forecast.obtain(), forecast.methods()
    assert used["qps"] == comparison.MODEL
    said = str(findings.answer("capacity-model", own.verdicts))
    assert ("For p95 use a simple method" in said) == (used["latency_p95_ms"] != comparison.MODEL)
    assert (own.predicted["latency_p95_ms"] > own.predicted["latency_avg_ms"]).all()


def predicted_qps(*question: object) -> float:
    """Read the throughput off an answer."""
    text = answers.predict(*question).replace("\N{NARROW NO-BREAK SPACE}", "")
    return float(re.search(r"throughput +(\d+) queries", text)[1])


def test_the_speed_of_another_host_is_asked_for(own: forecast.Forecast) -> None:
    """More CPUs say nothing of their speed, so no answer is made up, for either command."""
    for ask in (lambda: answers.predict(own, 8, 128, 256), lambda: answers.size(own, 256)):
        with pytest.raises(LabError, match="speed of another host is unknown") as caught:
            ask()
        assert "--qps-one-server" in str(caught.value)


def test_one_server_of_another_host_scales_the_prediction(own: forecast.Forecast) -> None:
    """One server reaches what was given, at its best; twice as fast a host has twice as much."""
    assert predicted_qps(own, 1, 1, 4, 5000) == pytest.approx(5000, rel=0.02)
    assert predicted_qps(own, 1, 64, 4, 5000) < 4900
    slow, fast = (predicted_qps(own, 8, 128, 4, qps) for qps in (5000, 10000))
    assert fast / slow == pytest.approx(2, rel=0.01)


def test_the_published_point_stands_beside_its_prediction(own: forecast.Forecast) -> None:
    """Only for a host as large as the brief's, and for a point that it published."""
    published = "about 1\N{NARROW NO-BREAK SPACE}700\N{NARROW NO-BREAK SPACE}000 queries/s"
    assert published in answers.predict(own, 16, 1024, 256, 230_000)
    assert "published" not in answers.predict(own, 16, 512, 256, 230_000)
    assert "published" not in answers.predict(own, 16, 1024, 128, 230_000)


def test_a_host_that_is_divided_by_affinity_is_covered_too() -> None:
    """Under `pinned` a MySQL server has no quota: shares are counted in CPUs."""

    def cpus(number: int) -> dict[str, object]:
        return {"cpus": list(range(number)), "memory_nodes": [], "quota_cpus": None}

    data = made.dataset(budget="pinned")
    nodes, servers = [{"share": cpus(8)}] * 2, [{"share": cpus(24)}]
    data.manifest["plan"].update(sql_side=cpus(48), data_nodes=nodes, servers=servers)
    data.host = {**data.host, "cpus": [made.HOST.to_dict()["cpus"][0]] * 64}
    own = forecast.of(data)
    shares = own.shares
    assert (shares.sql_cpus, shares.data_node_cpus, shares.server_cpus) == (48, 16, None)
    assert "queries/s" in answers.predict(own, 2, 16)
    assert own.use["utilisation"].max() < 1
    assert own.balance.empty


def test_advice_says_how_to_divide_a_host_and_why(own: forecast.Forecast) -> None:
    """Servers, clients per server, CPUs of both sides, the prediction and the reason."""
    text = " ".join(answers.size(own, "64", "90000").split())
    assert text.startswith("For 64 logical CPUs")
    for word in ("MySQL servers", "clients per server", "data nodes", "SQL side", "predicted"):
        assert word in text
    assert "because with" in text
    assert "measured on 2 logical CPUs" in text


@pytest.mark.parametrize(
    ("servers", "clients", "cpus", "message"),
    [
        (None, "8", None, "--servers is missing"),
        ("0", "8", None, "--servers is not usable"),
        ("300", "8", None, "--servers is not usable"),
        ("2", "many", None, "--clients is not usable"),
        ("2", "8", "0", "--cpus is not usable"),
    ],
)
def test_a_question_that_cannot_be_answered_is_refused(
    own: forecast.Forecast, servers: object, clients: object, cpus: object, message: str
) -> None:
    """Each with the option that is wrong."""
    with pytest.raises(LabError, match=message):
        answers.predict(own, servers, clients, cpus)


def test_the_briefs_numbers_keep_littles_law() -> None:
    """The mean that follows from clients over throughput is below every p95 of its point."""
    table = brief_server.little()
    last = table[(table["servers"] == 16) & (table["qps"] == 1_600_000)]
    assert last["latency_avg_ms"].to_numpy() == pytest.approx(0.64)
    assert (table["latency_avg_ms"] < table["p95_ms_high"]).all()


def test_published_numbers_are_shown_once() -> None:
    """Figures 6 and 8 state one throughput both; Figure 1 gives p95 of the last point."""
    anchors = brief_server.anchors()
    places = [(a.unit, a.servers, a.clients, a.value) for a in anchors]
    assert len(places) == len(set(places))
    assert ("ms", 16, 1024, 1.35) in places
    assert ("queries/s", 1, 32, 230_000) in places


def test_threads_of_the_briefs_server_have_limits() -> None:
    """The tc threads saturate first, as in the brief."""
    table = brief_server.limits()
    assert table.index[0] == "tc"
    assert np.isfinite(table["limit_qps"]).all()


def test_nothing_is_said_of_failures_where_nothing_failed() -> None:
    """The list of runs that were left out is empty."""
    assert demands.left_out(made.dataset().runs) == ""


def test_the_briefs_server_is_predicted_from_the_recorded_data() -> None:
    """The command of the README: near what was published, and marked as extrapolated."""
    done = invoke("predict", "--servers", "16", "--clients", "1024", "--cpus", "256",
                  "--qps-one-server", "230000")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "256 logical CPUs; measured on" in " ".join(done.stdout.split())
    assert done.stderr == ""
    assert predicted_qps(forecast.obtain(), 16, 1024, 256, 230_000) == pytest.approx(
        1.65e6, rel=0.1
    )


def test_predict_and_size_read_any_dataset() -> None:
    """--from takes the folder of a dataset."""
    folder = recorded.folder(recorded.find("multi-server-scaling"))
    cpus = formatting.plain(forecast.obtain().shares.host_cpus)
    for question in (["predict", "--servers", "2", "--clients", "16"], ["size", "--cpus", cpus]):
        done = invoke(*question, "--from", str(folder))
        assert done.returncode == 0, done.stderr
        assert folder.name in done.stdout
    assert done.stdout.splitlines()[-1].startswith("  ./lab compare servers=1 servers=")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["predict"], "--servers is missing"),
        (["predict", "--servers", "2", "--clients", "4", "--from", "/nowhere"], "not a dataset"),
        (["size", "--cpus", "64", "--qps-one-server", "fast"], "--qps-one-server is not usable"),
        (
            ["reproduce", "--experiment", "capacity-model", "--dataset", "/nowhere"],
            "has no dataset of its own",
        ),
        (["reproduce", "--experiment", "capacity-model", "--dry-run"], "measures nothing"),
    ],
)
def test_a_users_mistake_gives_one_message(arguments: list[str], message: str) -> None:
    """Exit status 1 and no traceback."""
    done = invoke(*arguments)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr + done.stdout
