"""TPC-C on a real cluster, one warehouse."""

from __future__ import annotations

import pytest

from ndblab.cluster.cluster import Cluster
from ndblab.dataset import table
from ndblab.design import catalogue
from ndblab.experiments.tpc_c import consistency, go_tpc
from ndblab.experiments.tpc_c import database as tables
from ndblab.experiments.tpc_c import load as generator
from ndblab.machine import host
from ndblab.measuring import measured_run, slices
from ndblab.workloads.load_generator import Job

pytestmark = pytest.mark.cluster

EXPERIMENT = catalogue.find("tpc-c")
SIZE = EXPERIMENT.size("smoke")


@pytest.fixture(scope="module", autouse=True)
def filled(cluster: Cluster) -> None:
    """Fill the tables; their rows fit into the data memory that the experiment plans for them."""
    go_tpc.ensure(progress=False)
    filled = generator.prepare(cluster, job(cluster))
    assert filled.rows == 2 * sum(tables.counts(1).values())
    own = EXPERIMENT.plans(SIZE, "auto", host.read(), cluster.plan.places)["default"]
    assert max(filled.data_memory_bytes.values()) < own.memory.data_bytes / 1.2


def job(cluster: Cluster, variant: str = "default") -> Job:
    [point] = [point for point in EXPERIMENT.grid(EXPERIMENT, SIZE) if point.variant == variant]
    return EXPERIMENT.job(SIZE, cluster.binaries, cluster.plan, point)


def test_both_databases_have_the_same_rows_in_other_partitions(cluster: Cluster) -> None:
    """All rows of the one warehouse are in one partition, or in several."""
    filled = {}
    for database in tables.DATABASES:
        rows = cluster.query(
            "SELECT fragment_num, SUM(fixed_elem_count) FROM ndbinfo.memory_per_fragment"
            f" WHERE fq_name = '{database}/def/stock' GROUP BY 1"
        )
        filled[database] = sum(number > 0 for _, number in rows)
    assert filled[tables.BY_WAREHOUSE] == 1 < filled[tables.BY_KEY]


def test_a_run_and_a_slice_of_each_way_have_all_their_tables(cluster: Cluster) -> None:
    """Consistent rows, transactions of every kind; only one way prunes its scans."""
    for variant in ("default", "by-key"):
        run = measured_run.measure(cluster, job(cluster, variant), 1)
        place = {"run_id": "partitioning_b001_1a", "contrast": "partitioning", "block": 1,
                 "slot": 1, "side": "a"}  # fmt: skip
        asked = slices.Asked({**place, "of": 4, "start": 1}, job(cluster, variant))
        [piece] = slices.measure(cluster, [asked])
        for measured, own in ((run, "runs"), (piece, "slices")):
            assert measured.tables[own]["status"].iloc[0] == "ok"
            assert measured.tables[own]["qps"].iloc[0] > 0
            for name, rows in measured.tables.items():
                table.render(name, rows, name)
        kinds = run.tables["transactions"].set_index("transaction")["committed"]
        assert kinds[["new_order", "payment"]].min() > 0
        local = run.tables["locality"].iloc[0]
        assert local["hinted"] == local["probes"]
        assert (local["pruned_scans"] > local["scans"] / 2) == (variant == "default")


@pytest.mark.parametrize(
    ("damage", "repair", "conditions"),
    [
        ("UPDATE warehouse SET w_ytd = w_ytd + 1", "UPDATE warehouse SET w_ytd = w_ytd - 1", (1,)),
        (
            "DELETE FROM new_order WHERE no_d_id = 3 AND no_o_id = {order}",
            "INSERT INTO new_order VALUES ({order}, 3, 1)",
            # A gap, unless the load has delivered all older orders; without a carrier either way.
            (3, 5),
        ),
    ],
)
def test_damaged_rows_fail_a_run(
    cluster: Cluster, damage: str, repair: str, conditions: tuple[int, ...]
) -> None:
    """Whatever it carried: the message names a condition that the damage violates."""
    newest = f"SELECT MAX(no_o_id) FROM {tables.BY_WAREHOUSE}.new_order WHERE no_d_id = 3"
    # A load delivers the oldest orders, and enters new ones.
    order = cluster.query(newest)[0][0] - 1
    for statement in (damage.format(order=order), repair.format(order=order)):
        with cluster.connect() as connection:
            cursor = connection.cursor()
            cursor.execute(f"USE {tables.BY_WAREHOUSE}")
            assert cursor.execute(statement) == 1
        if statement == damage.format(order=order):
            run = measured_run.measure(cluster, job(cluster), 1)
    status = run.tables["runs"]["status"].iloc[0]
    assert status.startswith(tuple(f"inconsistent rows, condition {n}: " for n in conditions))
    assert run.tables["runs"]["qps"].isna().all()
    assert "transactions" not in run.tables


def test_a_lost_delivery_is_found(cluster: Cluster) -> None:
    """Condition 12 compares what was delivered to a customer with the balance."""
    with cluster.connect() as connection:
        cursor = connection.cursor()
        cursor.execute(f"USE {tables.BY_KEY}")
        customer = "c_w_id = 1 AND c_d_id = 5 AND c_id = 7"
        cursor.execute(f"UPDATE customer SET c_balance = c_balance - 3 WHERE {customer}")
        [violation] = consistency._of_customers(cursor, [(1, 5, 7), (1, 5, 8)])
        cursor.execute(f"UPDATE customer SET c_balance = c_balance + 3 WHERE {customer}")
        assert list(consistency._of_customers(cursor, [(1, 5, 7)])) == []
    assert violation.startswith("12: customer (1, 5, 7) ")
