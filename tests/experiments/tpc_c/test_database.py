"""The points of TPC-C, its tables and their rows, and what consistent rows are; also on a cluster
of one warehouse.
"""

from __future__ import annotations

import re

import pytest

from experiments import planned
from ndblab.cluster.cluster import Cluster
from ndblab.dataset import table
from ndblab.design import catalogue
from ndblab.error import LabError
from ndblab.experiments.tpc_c import consistency, go_tpc
from ndblab.experiments.tpc_c import database as tables
from ndblab.experiments.tpc_c import load as generator
from ndblab.experiments.tpc_c.consistency import Order, Stand
from ndblab.machine import host
from ndblab.measuring import measured_run, slices
from ndblab.planning.shape import Places
from ndblab.workloads.load_generator import Job


def test_only_one_database_is_partitioned_by_warehouse() -> None:
    """All tables but item, whose rows belong to no warehouse; both have the same columns."""
    mine, other = (tables.statements(name, "COMMENT='x'") for name in tables.DATABASES)
    assert len(mine) == len(other) == 9
    partitioned = [text for text in mine if "PARTITION BY KEY" in text]
    assert len(partitioned) == 8
    assert not any("PARTITION" in text for text in other)
    for text, plain in zip(mine, other, strict=True):
        assert re.sub(r" PARTITION BY KEY \((\w+_)?w_id\)", "", text) == plain
        assert plain.endswith("ENGINE=ndbcluster COMMENT='x'")


def test_the_rows_are_those_that_go_tpc_needs() -> None:
    """Its numbers of districts, customers and items; one order for each customer."""
    rows = tables.per_warehouse()
    assert (rows["district"], rows["customer"], rows["stock"]) == (10, 30_000, 100_000)
    assert rows["orders"] == rows["customer"]
    assert rows["new_order"] == 10 * tables.UNDELIVERED
    undelivered = [tables.lines(n) for n in range(3000 - tables.UNDELIVERED + 1, 3001)]
    assert set(undelivered) == set(range(5, 16))
    assert rows["order_line"] == 10 * (3000 - tables.UNDELIVERED + sum(undelivered))
    assert tables.counts(3)["item"] == 100_000
    assert tables.counts(3)["stock"] == 300_000


def test_every_table_has_statements_that_fit_a_transaction() -> None:
    """NDB limits the rows that one of them changes."""
    filled = [*tables.of_items(), *tables.of_warehouse(2)]
    names = [re.match(r"INSERT INTO (\w+) ", text)[1] for text in filled]
    assert set(names) == set(tables.counts(1)) - {"history"}
    for text in filled:
        span = re.search(r"SELECT (\d+) UNION ALL SELECT i \+ 1 FROM n WHERE i < (\d+)", text)
        first, last = span.groups()
        assert int(last) - int(first) < tables.ROWS_AT_ONCE


EXPERIMENT = catalogue.find("tpc-c")
QUICK, SMOKE = (EXPERIMENT.size(name) for name in ("quick", "smoke"))


def test_both_ways_of_partitioning_share_a_cluster() -> None:
    """They are databases, and the one by whole key has the most servers only."""
    todo = EXPERIMENT.sweep(QUICK)
    assert todo.clusters == (("default", "by-key"),)
    by_key = [point for point in todo.points if point.variant == "by-key"]
    assert {point.servers for point in by_key} == {4}
    assert all(point.clients >= point.servers for point in todo.points)


def test_each_contrast_changes_one_thing() -> None:
    """Partitioning, or servers with as many clients for each."""
    contrasts = planned.contrasts(EXPERIMENT)
    a, b = contrasts["partitioning"].a.point, contrasts["partitioning"].b.point
    assert (a.servers, a.clients) == (b.servers, b.clients)
    assert (a.variant, b.variant) == ("default", "by-key")
    for name in ("servers-1-2", "servers-2-4"):
        a, b = contrasts[name].a.point, contrasts[name].b.point
        assert (a.servers, a.clients) == (2 * b.servers, 2 * b.clients)
        assert a.variant == b.variant
    assert list(planned.contrasts(EXPERIMENT, "smoke")) == ["partitioning"]


def test_memory_is_that_of_its_rows() -> None:
    """They are smaller than those of the brief, of which there would be no room for as many."""
    shape = EXPERIMENT.cluster_shape(QUICK, "default", "shared", Places("/x", "/x"))
    assert shape.networking
    plan = EXPERIMENT.plans(QUICK, "shared", host.read(), Places("/x", "/x"))["default"]
    assert plan.memory.data_bytes == QUICK.rows * shape.row_bytes < 2**31
    assert all(node.port for node in plan.servers)


def test_the_command_names_servers_database_and_warehouses() -> None:
    """One execution has warm-up, run and end; transactions that fail do not stop it."""
    plan = EXPERIMENT.plans(QUICK, "shared", host.read(), Places("/x", "/x"))["default"]
    [_, point] = [p for p in EXPERIMENT.grid(EXPERIMENT, QUICK) if p.variant == "by-key"]
    [command] = generator.commands(EXPERIMENT.job(QUICK, None, plan, point))
    words = " ".join(command.argv)
    ports = ",".join(str(node.port) for node in plan.servers)
    assert f"-H 127.0.0.1 -P {ports}" in words
    assert f"-D {tables.TPCC_BY_KEY} -T {point.clients} --warehouses 4 --time 8s" in words
    assert "--ignore-error" in words


def test_another_number_of_rows_is_refused() -> None:
    """A warehouse has as many as it has."""
    with pytest.raises(LabError, match="fixed number of rows"):
        tables.warehouses(EXPERIMENT.size("quick", {"table_size": 1000}))


DISTRICT = (2, 7)
GOOD = Order(DISTRICT, 40, customer=9, carrier=3, line_count=6, lines=6, undelivered_lines=0)
OPEN = GOOD._replace(number=60, carrier=None, undelivered_lines=6)
STAND = Stand(next_order=101, oldest=51, newest=100)


@pytest.mark.parametrize(
    ("order", "violated"),
    [
        (GOOD, []),
        (OPEN, []),
        (GOOD._replace(carrier=None, undelivered_lines=6), ["5"]),
        (OPEN._replace(carrier=3, undelivered_lines=0), ["5"]),
        (GOOD._replace(lines=5), ["6"]),
        (GOOD._replace(undelivered_lines=1), ["7"]),
        (OPEN._replace(lines=0, undelivered_lines=0), ["6"]),
    ],
)
def test_an_order_keeps_conditions_5_6_and_7(order: Order, violated: list[str]) -> None:
    """What is violated is named with its number, order and district."""
    violations = list(consistency.of_order(order, STAND))
    assert [text.partition(":")[0] for text in violations] == violated
    assert all("district (2, 7)" in text for text in violations)


def test_orders_to_check_are_those_delivered_and_those_entered() -> None:
    """Nothing, if nothing happened."""
    assert consistency.spans(STAND, STAND._replace(next_order=104, oldest=53)) == [
        (51, 52),
        (101, 103),
    ]
    assert consistency.spans(STAND, STAND) == []


def test_customers_to_check_are_those_of_delivered_orders() -> None:
    """Each once."""
    orders = [GOOD._replace(number=51), GOOD._replace(number=52), OPEN]
    after = {DISTRICT: STAND._replace(oldest=53)}
    assert consistency.delivered(orders, {DISTRICT: STAND}, after) == [(2, 7, 9)]


@pytest.fixture(scope="module")
def filled(cluster: Cluster) -> None:
    """Fill the tables; their rows fit into the data memory that the experiment plans for them."""
    go_tpc.ensure(progress=False)
    filled = generator.prepare(cluster, smoke_job(cluster))
    assert filled.rows == 2 * sum(tables.counts(1).values())
    own = EXPERIMENT.plans(SMOKE, "auto", host.read(), cluster.plan.places)["default"]
    assert max(filled.data_memory_bytes.values()) < own.memory.data_bytes / 1.2


def smoke_job(cluster: Cluster, variant: str = "default") -> Job:
    [point] = [point for point in EXPERIMENT.grid(EXPERIMENT, SMOKE) if point.variant == variant]
    return EXPERIMENT.job(SMOKE, cluster.binaries, cluster.plan, point)


@pytest.mark.cluster
@pytest.mark.usefixtures("filled")
def test_both_databases_have_the_same_rows_in_other_partitions(cluster: Cluster) -> None:
    """All rows of the one warehouse are in one partition, or in several."""
    filled = {}
    for database in tables.DATABASES:
        rows = cluster.query(
            "SELECT fragment_num, SUM(fixed_elem_count) FROM ndbinfo.memory_per_fragment"
            f" WHERE fq_name = '{database}/def/stock' GROUP BY 1"
        )
        filled[database] = sum(number > 0 for _, number in rows)
    assert filled[tables.TPCC] == 1 < filled[tables.TPCC_BY_KEY]


@pytest.mark.cluster
@pytest.mark.usefixtures("filled")
def test_a_run_and_a_slice_of_each_way_have_all_their_tables(cluster: Cluster) -> None:
    """Consistent rows, transactions of every kind; only one way prunes its scans."""
    for variant in ("default", "by-key"):
        run = measured_run.measure(cluster, smoke_job(cluster, variant), 1)
        place = {"run_id": "partitioning_b001_1a", "contrast": "partitioning", "block": 1,
                 "slot": 1, "side": "a"}  # fmt: skip
        asked = slices.Asked({**place, "of": 4, "start": 1}, smoke_job(cluster, variant))
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


@pytest.mark.cluster
@pytest.mark.usefixtures("filled")
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
    newest = f"SELECT MAX(no_o_id) FROM {tables.TPCC}.new_order WHERE no_d_id = 3"
    # A load delivers the oldest orders, and enters new ones.
    order = cluster.query(newest)[0][0] - 1
    for statement in (damage.format(order=order), repair.format(order=order)):
        with cluster.connect() as connection:
            cursor = connection.cursor()
            cursor.execute(f"USE {tables.TPCC}")
            assert cursor.execute(statement) == 1
        if statement == damage.format(order=order):
            run = measured_run.measure(cluster, smoke_job(cluster), 1)
    status = run.tables["runs"]["status"].iloc[0]
    assert status.startswith(tuple(f"inconsistent rows, condition {n}: " for n in conditions))
    assert run.tables["runs"]["qps"].isna().all()
    assert "transactions" not in run.tables


@pytest.mark.cluster
@pytest.mark.usefixtures("filled")
def test_a_lost_delivery_is_found(cluster: Cluster) -> None:
    """Condition 12 compares what was delivered to a customer with the balance."""
    with cluster.connect() as connection:
        cursor = connection.cursor()
        cursor.execute(f"USE {tables.TPCC_BY_KEY}")
        customer = "c_w_id = 1 AND c_d_id = 5 AND c_id = 7"
        cursor.execute(f"UPDATE customer SET c_balance = c_balance - 3 WHERE {customer}")
        [violation] = consistency._of_customers(cursor, [(1, 5, 7), (1, 5, 8)])
        cursor.execute(f"UPDATE customer SET c_balance = c_balance + 3 WHERE {customer}")
        assert list(consistency._of_customers(cursor, [(1, 5, 7)])) == []
    assert violation.startswith("12: customer (1, 5, 7) ")
