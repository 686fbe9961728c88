"""What loads of TPC-C committed, in numbers, words and pictures. The runs are made up."""

from __future__ import annotations

import re

import pandas as pd
import pytest

import made_up_slices
import small_runs
from drawn import caption, outside, said, title, written
from made_up import CLAIMS, Double
from ndblab import figures
from ndblab.design import catalogue
from ndblab.error import LabError, MissingData
from ndblab.experiments.tpc_c import TRANSACTIONS
from ndblab.experiments.tpc_c import analysis as loads
from ndblab.experiments.tpc_c.analysis import BY_KEY
from ndblab.judging import answers, judge
from ndblab.planning.point import Point

EXPERIMENT = catalogue.find("tpc-c")
SIZE = EXPERIMENT.size("quick")
RATIO = {"partitioning": 1.3, "servers-1-2": 1.8, "servers-2-4": 1.4}
"""True ratios of transactions per second, by contrast."""
MIX = dict(zip(TRANSACTIONS, (45, 43, 4, 4, 4), strict=True))
FAILED = 3
"""Deliveries of each run that fail."""
WRONG = "inconsistent rows, condition 3: new_order of district (1, 1) has 9 rows from 1 to 10"
IDS = ["D-linear", "D-2110"]
KEY = "tpc-c"


def tps(point: Point) -> float:
    """Throughput that the made-up cluster has at a point."""
    served = point.clients / (point.clients + point.servers)
    return 40 * point.servers**0.7 * served / (1.3 if point.variant == BY_KEY else 1.0)


def made_runs(repeats: int = 3) -> pd.DataFrame:
    """Make the runs of the quick sweep."""
    return small_runs.swept(EXPERIMENT, repeats, tps, latency_p95_ms=float("nan"))


def made_slices(blocks: int = 6) -> pd.DataFrame:
    """Make slices of every contrast."""
    planned = EXPERIMENT.contrasts(EXPERIMENT, SIZE, pd.DataFrame())
    made = [
        made_up_slices.of(contrast, blocks, ratio=RATIO[contrast.name], qps=50.0, seed=number)
        for number, contrast in enumerate(planned)
    ]
    return pd.concat(made, ignore_index=True)


def made_tables(repeats: int = 3, blocks: int = 6) -> dict[str, pd.DataFrame]:
    """Make all tables of a dataset; a transaction by whole key takes twice the CPU."""
    swept, sliced = made_runs(repeats), made_slices(blocks)
    both = pd.concat([swept[["run_id", "variant"]], sliced[["run_id", "variant"]]])
    kinds, aborts, local = [], [], []
    for row in both.itertuples():
        by_key = row.variant == BY_KEY
        kinds += [
            {"run_id": row.run_id, "transaction": name, "committed": 2 * weight,
             "failed": FAILED * (name == "delivery"), "latency_avg_ms": 10.0 * (1 + by_key),
             "latency_p95_ms": 20.0}
            for name, weight in MIX.items()
        ]  # fmt: skip
        aborts += [
            {"run_id": row.run_id, "error": 1297, "statement": "UPDATE stock", "transactions": 1},
            {"run_id": row.run_id, "error": 1205, "statement": "SELECT new_order FOR UPDATE",
             "transactions": FAILED - 1},
        ]  # fmt: skip
        local.append(
            {"run_id": row.run_id, "reads": 1000, "local_reads": 600 if by_key else 900,
             "scans": 200, "pruned_scans": 0 if by_key else 150, "transactions": 210,
             "probes": 10, "hinted": 10}
        )  # fmt: skip
    used = [("mysqld", 60.0), ("ndbmtd", 30.0), ("client", 10.0)]
    processes = pd.concat(
        [
            pd.DataFrame(
                {"run_id": sliced["run_id"], "t_s": 4.0, "role": role, "node_id": number,
                 "cpu_pct": pct * (1 + (sliced["variant"] == BY_KEY)), "rss_bytes": 1}
            )
            for number, (role, pct) in enumerate(used)
        ],
        ignore_index=True,
    )  # fmt: skip
    return {
        "runs": swept, "slices": sliced, "processes": processes,
        "transactions": pd.DataFrame(kinds), "aborts": pd.DataFrame(aborts),
        "locality": pd.DataFrame(local),
    }  # fmt: skip


def test_new_orders_a_minute_are_their_share_of_all_transactions() -> None:
    """45 % of what commits; what fails is a share of all."""
    runs = loads.runs(made_tables())
    assert (runs["tpm_c"] / runs["tps"]).to_numpy() == pytest.approx(60 * 0.45)
    assert runs["failed_share"].to_numpy() == pytest.approx(3 / 203)


def test_reads_and_scans_are_told_apart_by_partitioning() -> None:
    """As the counters have them."""
    points = loads.points(made_tables()).groupby("variant").last()
    assert points["local_share"].to_dict() == {"default": 0.9, "by-key": 0.6}
    assert points["pruned_share"].to_dict() == {"default": 0.75, "by-key": 0.0}


def test_kinds_come_in_the_order_of_the_specification() -> None:
    """Of the loads that both ways of partitioning had, each way by itself."""
    made = made_tables()
    kinds = loads.kinds(made)
    plain = kinds[kinds["variant"] == "default"]
    assert list(plain["transaction"]) == list(TRANSACTIONS)
    number = int((made["locality"]["local_reads"] == 600).sum())
    assert list(plain["committed"]) == [2 * w * number for w in (45, 43, 4, 4, 4)]
    assert plain["latency_avg_ms"].to_numpy() == pytest.approx(10)


def test_aborts_are_counted_by_error_and_statement() -> None:
    """The most frequent first, a column for each way of partitioning."""
    aborts = loads.aborts(made_tables())
    assert list(aborts["error"]) == [1205, 1297]
    assert aborts["statement"].iloc[0] == "SELECT new_order FOR UPDATE"
    assert (aborts["default"] == aborts["by-key"]).all()


def test_failures_in_slices_count_among_the_most() -> None:
    """These have more clients than the runs."""
    made = made_tables()
    table = made["transactions"]
    table.loc[table["run_id"].isin(made["runs"]["run_id"]), "failed"] = 0
    assert loads.most_failed(made) == pytest.approx(3 / 203)


def test_partitioning_that_costs_throughput_is_not_advised(monkeypatch) -> None:
    """However few partitions its scans read."""
    monkeypatch.setitem(RATIO, "partitioning", 0.7)
    assert answered().advice == ()


def test_ratios_have_intervals_and_the_cpu_of_the_data_nodes() -> None:
    """That is compared between ways of partitioning alone."""
    ratios = loads.ratios(made_tables())
    assert list(ratios["contrast"]) == ["partitioning", *RATIO]
    assert ratios["ratio"].to_numpy() == pytest.approx([1.3, 0.5 / 1.3, 1.8, 1.4], rel=0.1)
    assert (ratios["low"] < ratios["ratio"]).all()


def test_inconsistent_rows_give_no_number_but_their_message() -> None:
    """However many transactions such a run committed."""
    made = made_tables()
    made["runs"]["status"] = WRONG
    with pytest.raises(MissingData, match="no good run of TPC-C"):
        loads.runs(made)
    assert loads.inconsistent(made) == [WRONG]


def test_a_dataset_without_aborts_has_an_empty_table() -> None:
    """And no transaction failed."""
    made = made_tables()
    made["aborts"] = made["aborts"].iloc[:0]
    made["transactions"]["failed"] = 0
    assert loads.aborts(made).empty
    assert (loads.runs(made)["failed_share"] == 0).all()


def answered(**changes) -> answers.Answer:
    dataset = Double(**{**made_tables(), **changes})
    return answers.answer("tpc-c", judge.judge(dataset, IDS, CLAIMS), dataset)


def test_partitioning_and_servers_are_certain_once_they_have_intervals() -> None:
    """And that nothing became inconsistent; what one host cannot tell is said."""
    answer = answered()
    text = str(answer).lower()
    first = "under CPU quotas, partitioning tables by warehouse raised throughput by 29 %"
    assert answer.certain[0].startswith(first)
    for words in (
        "cpu for a transaction by ", "75 % of the scans",
        "1.48 % of the transactions failed in any configuration, and all rows that were checked",
    ):  # fmt: skip
        assert words in text
    assert "what more data nodes gain" in answer.untestable
    assert answer.advice[0].endswith("scans then read one partition")


def test_what_servers_with_quotas_gain_is_no_finding() -> None:
    """The quotas of servers and data nodes decide it; without quotas it is one."""
    divided = answered()
    [more] = [said for said in divided.untestable if said.startswith("what more servers gain (")]
    assert re.search(r"\(\+[78]\d % \(.*\): quotas of servers or of data nodes decide it", more)
    assert not any("MySQL server" in said for said in divided.certain)
    free = answered(budget="shared")
    assert any(said.startswith("a second MySQL server raised throu") for said in free.certain)
    assert not any("quota" in said for said in (*free.certain, *free.untestable))


def test_one_block_is_no_finding() -> None:
    """It has a ratio, but no interval."""
    slices = made_slices(blocks=1)
    assert "throughput" not in str(answered(slices=slices))


def test_inconsistent_rows_come_first() -> None:
    """And nothing is said to be consistent."""
    runs = made_runs()
    runs.loc[0, "status"] = WRONG
    answer = answered(runs=runs)
    assert answer.certain[0] == WRONG
    assert "were consistent" not in str(answer)


def test_ratios_lead() -> None:
    """The title is on partitioning: what more servers gain, quotas decide."""
    figure = figures.draw(KEY, made_tables(), [], caption())
    words = written(figure)
    for label in (
        "4 servers",
        "by whole key",
        "2 servers over 1",
        "data nodes' CPU per transaction",
    ):
        assert label in words
    assert " transactions/s of TPC-C" in title(figure)
    assert title(figure).startswith("Under CPU quotas, partitioning by warehouse ")
    assert "CPU quotas, which decide what more servers gain" in said(figure)
    free = figures.draw(KEY, made_tables(), [], caption("shared"))
    assert "quota" not in said(free)
    assert figure.axes[1].get_ylabel() == "Throughput, transactions/s"
    assert "All rows were checked" in said(figure)


def test_the_description_says_what_the_picture_shows() -> None:
    """Points and ratios."""
    words = figures.describe(KEY, made_tables(), [])
    assert "by whole key with 4 servers and 16 clients" in words
    assert "2 servers over 1 +" in words


def test_one_run_of_each_point_is_drawn_without_intervals() -> None:
    """As the smoke profile has it."""
    made = made_tables(repeats=1, blocks=1)
    assert outside(figures.draw(KEY, made, [], caption())) == []


def test_inconsistent_rows_are_not_drawn() -> None:
    """The message says which condition they violate."""
    made = made_tables()
    made["runs"]["status"] = "inconsistent rows, condition 1: warehouse 1 has 2.00"
    with pytest.raises(LabError, match="nothing to draw") as caught:
        figures.draw(KEY, made, [], caption())
    assert "condition 1" in str(caught.value)
