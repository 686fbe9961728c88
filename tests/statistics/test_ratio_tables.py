"""Tables of paired ratios. The runs are made up, never a measurement."""

from __future__ import annotations

import pandas as pd
import pytest

from made_up import contrasted, double, slices_use
from ndblab.error import MissingData
from ndblab.statistics import ratio_tables

RUNS = double(lambda servers, clients: 1000.0, servers=(1,), clients=(4, 8), repeats=3).runs.assign(
    variant="default"
)


def other(factor: float, **kind: str) -> pd.DataFrame:
    return RUNS.assign(run_id=RUNS["run_id"] + "_other", qps=RUNS["qps"] * factor, **kind)


def test_without_slices_the_cpu_of_roles_is_missing_data() -> None:
    """As after a measurement whose time was over before the first block."""
    data = contrasted(double(), "shm", {"a": (1, 8, {}), "b": (1, 8, {})})
    with pytest.raises(MissingData):
        ratio_tables.of_roles(data.slices.iloc[:0], data.processes)


def test_a_variant_is_compared_at_equal_clients_and_over_all() -> None:
    """Every number of clients has its ratio, and a last row the ratio of all pairs together."""
    runs = pd.concat([RUNS, other(0.8, variant="tcp-clients")], ignore_index=True)
    table = ratio_tables.variants(runs, ["tcp-clients"])
    assert table["clients"].to_list() == [4, 8, ratio_tables.ALL]
    assert table["pairs"].to_list() == [3, 3, 6]
    assert table["ratio"].to_list() == pytest.approx([0.8] * 3)
    assert ((table["low"] <= table["ratio"]) & (table["ratio"] <= table["high"])).all()


def test_workloads_are_compared_apart() -> None:
    """Shared memory over TCP under transactions does not enter its ratio under reads."""
    parts = [RUNS, other(0.5, transporter="tcp")]
    rw = [part.assign(workload="oltp_read_write", run_id=part["run_id"] + "_rw") for part in parts]
    rw[1]["qps"] = rw[0]["qps"].to_numpy()
    table = ratio_tables.transporters(pd.concat([*parts, *rw], ignore_index=True))
    ratios = table[table["clients"] == ratio_tables.ALL].set_index("workload")["ratio"]
    assert ratios.to_dict() == pytest.approx({"oltp_point_select": 2.0, "oltp_read_write": 1.0})


def test_a_run_with_errors_makes_no_pair() -> None:
    """Neither a failed run nor its partner counts, and where no pair is left there is no ratio."""
    failed = other(9.0, variant="tcp-clients").assign(errors=1)
    with pytest.raises(MissingData):
        ratio_tables.variants(pd.concat([RUNS, failed], ignore_index=True), ["tcp-clients"])


def test_each_contrast_of_two_sides_is_a_row() -> None:
    """The ratio is that of blocks; a level has no ratio, and no slices give no row."""
    dataset = contrasted(
        double(), "fall", {"a": (1, 128, {"qps": 80.0}), "b": (1, 32, {"qps": 100.0})}
    )
    dataset = contrasted(dataset, "recv", {"a": (1, 256, {})})
    table = ratio_tables.of_contrasts(dataset.slices)
    assert table[["contrast", "units", "clients"]].to_numpy().tolist() == [["fall", 9, 128]]
    assert table["clients_other"].to_list() == [32]
    assert table["ratio"].iloc[0] == pytest.approx(0.8, rel=0.01)
    assert table["low"].iloc[0] < table["ratio"].iloc[0] < table["high"].iloc[0]
    assert ratio_tables.of_contrasts(dataset.slices.iloc[:0]).empty


def test_contrasts_compare_any_positive_quantity() -> None:
    """A contrast without the quantity has no row."""
    sides = {"a": (1, 8, {"latency_p95_ms": 3.0}), "b": (1, 8, {"latency_p95_ms": 2.0})}
    dataset = contrasted(double(), "fall", sides)
    dataset = contrasted(dataset, "redo", {"a": (1, 8, {}), "b": (1, 8, {})})
    table = ratio_tables.of_contrasts(dataset.slices, "latency_p95_ms")
    assert table["contrast"].to_list() == ["fall"]
    assert table["ratio"].iloc[0] == pytest.approx(1.5, rel=0.01)
    assert table["latency_p95_ms_other"].iloc[0] == pytest.approx(2.0, rel=0.01)


def test_the_cpu_time_of_each_role_is_compared_by_contrast() -> None:
    """With 30 % of a CPU for 1 250 queries/s and for 1 000, a query takes 20 % less."""
    sides = {"a": (1, 32, {"qps": 1250.0}), "b": (1, 32, {"qps": 1000.0})}
    dataset = contrasted(double(), "shm", sides, spread=0.0)
    used = slices_use(dataset, lambda row: {"mysqld": 30.0, "ndbmtd": 0.01 * row["qps"]})
    table = ratio_tables.of_roles(used.slices, used.processes).set_index("role")
    assert table.loc["mysqld", ["cpu_us", "cpu_us_other"]].tolist() == pytest.approx([240, 300])
    assert table.loc[["mysqld", "ndbmtd"], "ratio"].tolist() == pytest.approx([0.8, 1.0])
