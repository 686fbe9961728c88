"""Tables as CSV, and the names of their columns."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import small_runs
from ndblab import dataset
from ndblab.dataset import schema, table
from ndblab.error import LabError


@given(cut=st.integers(min_value=0, max_value=3000), flip=st.integers(0, 255))
@settings(max_examples=60, deadline=None)
def test_no_damage_of_a_table_escapes(
    tmp_path_factory: pytest.TempPathFactory, cut: int, flip: int
) -> None:
    """Any one byte changed, or any end cut off, gives a LabError and nothing else."""
    frame = small_runs.tables()["runs"]
    whole = table.render("runs", frame, "runs.csv")
    at = cut % len(whole)
    for data in (whole[:at], whole[:at] + bytes([flip]) + whole[at + 1 :]):
        try:
            table.parse("runs", data, "runs.csv")
        except LabError:
            continue
        # some changes give another, equally possible table: the sha256 finds those
        assert data != whole[:at] or len(data) == whole.index(b"\n") + 1


def test_every_column_with_a_unit_ends_in_it() -> None:
    """Each number that is not a count, an id or a load has its unit in its name."""
    units = ("_s", "_ms", "_pct", "_bytes", "qps", "_per_s")
    bare = {*schema.COUNTS, "clients", "servers", "repeat", "node_id", "thr_no", "host_load_1min"}
    bare |= {"client", "seq", "first_server", "server", "attempts", "error", "replica", "writes"}
    bare |= {"block", "slot", "of", "start", "tables", "rows", "locks"}
    bare |= {"query", "executions", "joins", "joined", "defined", "dropped", "executed", "reads"}
    bare |= {"committed", "failed", "transactions", "local_reads", "scans", "pruned_scans"}
    bare |= {"probes", "hinted", "local_rows", "steps"}
    for declared in dataset.SCHEMAS.values():
        numbers = {name for name, column in declared.columns.items() if column.dtype != "str"}
        assert all(name.endswith(units) for name in numbers - bare)


def test_only_a_run_that_ends_by_itself_may_lack_a_rate() -> None:
    """A dump has a duration and no queries; a good run of sysbench without them is damaged."""
    nothing = {"queries": float("nan"), "qps": float("nan")}
    for workload, passes in (("dump", True), ("oltp_point_select", False)):
        frame = small_runs.tables(workload=workload, **nothing)["runs"]
        if passes:
            assert "dump" in table.render("runs", frame, "runs.csv").decode()
            continue
        with pytest.raises(LabError, match="breaks its schema"):
            table.render("runs", frame, "runs.csv")
