"""Checks on CPU of processes and on pairs of variants. All made up, never a measurement."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from made_up import BRIEF_MODEL, PROCESSES, Double, decided, double, verdict

FILLED = {"rows": 80_000, "data_memory_bytes": {"2": 60_000_000, "3": 60_800_000}}
PLANNED = {"plan": {"threads": {"automatic_cpus": None, "ldm": 2}}, "profile": {"tables": 8}}


def with_cpu(dataset: Double, **cpu_pct: float) -> Double:
    """Let every run use this CPU by role; a role that ends with a number has that node id."""
    rows = [
        (run_id, t_s, role.rstrip("0123456789"), number, pct * (1 + 0.01 * (t_s - 1)), 1)
        for run_id in dataset.runs["run_id"]
        for number, (role, pct) in enumerate(cpu_pct.items())
        for t_s in (0, 1, 2)
    ]
    dataset.processes = pd.DataFrame(rows, columns=PROCESSES).astype({"role": "category"})
    return dataset


def with_variant(name: str, factor: float, noise: float = 0.002) -> Double:
    """Add to runs of one server a variant whose throughput is the default's times a factor."""
    dataset = double(servers=(1,), clients=(4, 8, 16))
    default = dataset.runs.assign(variant="default")
    sign = [(-1) ** at for at in range(len(default))]
    other = default.assign(
        variant=name, qps=default["qps"] * factor * (1 + noise * pd.Series(sign))
    )
    other["run_id"] += f"_{name}"
    dataset.runs = pd.concat([default, other], ignore_index=True)
    return dataset


@pytest.mark.parametrize(
    ("factor", "noise", "expected"),
    [
        (0.9, 0.002, "reproduced"),
        (1.05, 0.002, "contradicted"),
        (0.99, 0.05, "inconclusive"),
    ],
)
def test_clients_over_tcp_are_compared_pair_by_pair(
    factor: float, noise: float, expected: str
) -> None:
    """TCP/IP clients that get less throughput than those of the socket reproduce; more do not."""
    row = decided(with_variant("tcp-clients", factor, noise), "B-sockets")
    assert row.verdict == expected
    assert row.measured == pytest.approx(factor, rel=0.01)
    assert "12 pairs" in row.reason


@pytest.mark.parametrize(("factor", "expected"), [(1.0, "reproduced"), (0.9, "contradicted")])
def test_redo_settings_should_make_no_difference(factor: float, expected: str) -> None:
    """The same throughput with the small redo log reproduces, a tenth less contradicts."""
    assert verdict(with_variant("redo-small", factor), "B-redo").verdict == expected


def test_a_variant_never_mixes_into_the_default() -> None:
    """Whatever a variant's runs say, claims on the plain cluster stay as they were."""
    plain, mixed = double(servers=(1,), clients=(4, 8, 16)), with_variant("redo-small", 5.0)
    for name in ("F4-peak-clients", "F4-peak-qps"):
        assert verdict(plain, name).equals(verdict(mixed, name))


def test_a_variant_that_was_not_measured_is_unknown() -> None:
    """A dataset without the variant says so, and nothing is decided."""
    row = verdict(double(), "B-redo")
    assert row.verdict == "unknown"
    assert "dataset lacks the data" in row.reason


def test_idle_servers_are_not_counted_as_the_one_that_works() -> None:
    """All 16 servers run under a sweep: the CPU of one server is that of the one with clients."""
    dataset = with_cpu(double(clients=(32,), servers=(1,)), mysqld1=23.0, mysqld2=1.0, ndbmtd=9.0)
    row = verdict(dataset, "F4-cpu-32")
    assert row.measured == pytest.approx(23.0)
    assert row.verdict == "not comparable"
    assert "5.47 per logical CPU (256 of them)" in row.reason
    assert "11.5 per logical CPU (2)" in row.reason


@pytest.mark.parametrize(("cpu", "expected"), [(1450, "reproduced"), (900, "contradicted")])
def test_cpu_of_the_briefs_own_host_is_judged(cpu: float, expected: str) -> None:
    """There, 14.5 logical CPUs count as about 14, and 9 do not."""
    host: dict[str, Any] = {"budget": "pinned", "cpus": 256, "model": BRIEF_MODEL}
    dataset = with_cpu(double(clients=(32,), servers=(1,), **host), mysqld=cpu, ndbmtd=9.0)
    dataset.processes["cpu_pct"] += dataset.processes["run_id"].str[-1].astype(int)
    assert verdict(dataset, "F4-cpu-32").verdict == expected


def grown(nodes: float, servers: float, qps: float = 8.0) -> Double:
    """Let CPU of data nodes, of mysqld, and throughput grow from 1 client to 8."""
    dataset = double(lambda n, c: 100 * qps if c >= 8 else 100, servers=(1,), clients=(1, 8))
    rows = []
    for run in dataset.runs.itertuples():
        many, wobble = run.clients == 8, 1 + 0.01 * (-1) ** run.repeat
        rows.append((run.run_id, 1, "ndbmtd", 2, 10 * (nodes if many else 1) * wobble, 1))
        rows.append((run.run_id, 1, "mysqld", 11, 10 * (servers if many else 1), 1))
    dataset.processes = pd.DataFrame(rows, columns=PROCESSES).astype({"role": "category"})
    return dataset


def test_cpu_of_which_side_follows_the_load() -> None:
    """Data nodes that grow less than mysqld reproduce, more contradict."""
    assert verdict(grown(1.3, 5), "F4-cpu-with-load").verdict == "reproduced"
    row = verdict(grown(5, 1.3), "F4-cpu-with-load")
    assert row.verdict == "contradicted"
    assert row.measured == pytest.approx(5 / 1.3, rel=0.02)


def test_without_a_rise_of_throughput_nothing_follows_it() -> None:
    """If one client saturates the server, growth of CPU means nothing."""
    row = verdict(grown(1.01, 1.1, qps=1.1), "F4-cpu-with-load")
    assert row.verdict == "inconclusive"
    assert "too little" in row.reason


def test_less_cpu_for_data_nodes_counts_where_nothing_divides_the_cpus() -> None:
    """Without a CPU division the data nodes' smaller use is a finding; quotas rule it out."""
    used = {"mysqld": 100.0, "ndbmtd": 40.0, "sysbench": 20.0, "ndb_mgmd": 0.4}
    free = with_cpu(double(budget="shared", spread=0.01), **used)
    free.processes["cpu_pct"] *= 1 + free.processes["run_id"].str[-1].astype(int) / 1000
    assert verdict(free, "B-less-cpu").verdict == "reproduced"
    held = verdict(with_cpu(double(), **used), "B-less-cpu")
    assert held.verdict == "unknown"
    assert "without quotas" in held.reason
    assert verdict(free, "B-split").measured == pytest.approx(0.25, abs=0.01)
    busy = with_cpu(double(budget="shared"), mysqld=40.0, ndbmtd=100.0)
    busy.processes["cpu_pct"] += busy.processes["run_id"].str[-1].astype(int)
    assert verdict(busy, "B-less-cpu").verdict == "contradicted"


@pytest.mark.parametrize(("cpu", "expected"), [(0.4, "reproduced"), (4.0, "contradicted")])
def test_the_management_node_is_idle_or_not(cpu: float, expected: str) -> None:
    """Less than a hundredth of the cluster's CPU reproduces, more contradicts."""
    dataset = with_cpu(double(), ndb_mgmd=cpu, ndbmtd=50.0, mysqld=100.0)
    assert verdict(dataset, "B-mgmd-idle").verdict == expected


def test_rows_are_counted_in_the_memory_they_took() -> None:
    """Bytes per row come from the memory that filling the tables took, on each data node."""
    dataset = double()
    dataset.manifest = {"filled": FILLED, **PLANNED}
    row = verdict(dataset, "B-row-bytes")
    assert (row.verdict, row.measured, row.high) == ("reproduced", 755, 760)
    assert row.low < 750
    twice = {key: 2 * value for key, value in FILLED["data_memory_bytes"].items()}
    dataset.manifest = {"filled": {**FILLED, "data_memory_bytes": twice}, **PLANNED}
    assert verdict(dataset, "B-row-bytes").verdict == "contradicted"


def test_partly_filled_pages_cancel_between_two_sizes_of_the_tables() -> None:
    """What both fillings take besides their rows does not count for a row."""
    dataset, besides = double(), 4_000_000
    taken, half = ({"2": 750 * n + besides, "3": 750 * n + besides} for n in (80_000, 40_000))
    filled = {"rows": 80_000, "data_memory_bytes": taken}
    filled["half"] = {"rows": 40_000, "data_memory_bytes": half}
    dataset.manifest = {"filled": filled, **PLANNED}
    row = verdict(dataset, "B-row-bytes")
    assert (row.verdict, row.measured) == ("reproduced", 750)
    assert row.low < 750 < row.high < 775
    small = {**filled, "rows": 2000, "half": {**filled["half"], "rows": 1000}}
    dataset.manifest = {
        "filled": small | {"data_memory_bytes": {"2": 2.5e6, "3": 2.5e6}},
        **PLANNED,
    }
    dataset.manifest["filled"]["half"]["data_memory_bytes"] = {"2": 1.3e6, "3": 1.3e6}
    assert verdict(dataset, "B-row-bytes").verdict == "unknown"


def test_tables_of_a_few_rows_say_nothing_of_a_row() -> None:
    """Pages that are partly filled must not look like large rows."""
    dataset = double()
    few = {"rows": 2000, "data_memory_bytes": {"2": 3_000_000, "3": 3_000_000}}
    dataset.manifest = {"filled": few, **PLANNED}
    row = verdict(dataset, "B-row-bytes")
    assert row.verdict == "unknown"
    assert "partly filled" in row.reason
