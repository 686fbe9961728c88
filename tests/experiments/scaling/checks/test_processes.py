"""Checks on CPU of processes and on pairs of variants. All made up, never a measurement."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from made_up import (
    BRIEF_MODEL,
    PROCESSES,
    Double,
    contrasted,
    double,
    slices_use,
    verdict,
    with_plan,
)

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


def test_a_variant_never_mixes_into_the_default() -> None:
    """Whatever a variant's runs say, claims on the plain cluster stay as they were."""
    plain = double(servers=(1,), clients=(4, 8, 16))
    default = plain.runs.assign(variant="default")
    other = default.assign(variant="redo-small", qps=5 * default["qps"])
    other["run_id"] += "_redo"
    mixed = replace(plain, runs=pd.concat([default, other], ignore_index=True))
    for name in ("F4-peak-clients", "F4-peak-qps"):
        assert verdict(plain, name).equals(verdict(mixed, name))


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


@pytest.mark.parametrize(("rise", "word"), [(1.1, "not testable here"), (3.0, "reproduced")])
def test_without_a_rise_of_throughput_nothing_follows_it(rise: float, word: str) -> None:
    """If one client loads the server as many do, growth of CPU means nothing."""
    sides = {"a": (1, 32, {"qps": 1000.0 * rise}), "b": (1, 1, {"qps": 1000.0})}
    data = contrasted(double(servers=(1,)), "load-1-k", sides, claims=("F4-cpu-with-load",))
    data = slices_use(data, lambda row: {"ndbmtd": 10.0, "mysqld": 50.0 if row.side == "a" else 9})
    row = verdict(with_plan(data), "F4-cpu-with-load")
    assert row.verdict == word
    assert f"throughput grows by a factor of {rise:.1f}" in row.reason


@pytest.mark.parametrize(
    ("stolen", "word"),
    [(0.4, "reproduced"), (6.35, "not testable here"), (math.nan, "not testable here")],
)
def test_cpus_that_were_stolen_are_not_free(stolen: float, word: str) -> None:
    """A full host looks free while the hypervisor takes its CPUs."""
    one = {"qps": 1000.0, "host_steal_pct": stolen}
    sides = {"a": (1, 32, {"qps": 3000.0}), "b": (1, 1, one)}
    data = contrasted(double(servers=(1,)), "load-1-k", sides, claims=("F4-cpu-with-load",))
    data = slices_use(data, lambda row: {"ndbmtd": 10.0, "mysqld": 50.0 if row.side == "a" else 9})
    row = verdict(with_plan(data), "F4-cpu-with-load")
    assert row.verdict == word
    assert ("% of the host's CPUs (3 % or less wanted)" in row.reason) == (stolen > 3)


@pytest.mark.parametrize(("nodes", "word"), [(40.0, "reproduced"), (110.0, "contradicted")])
def test_less_cpu_for_data_nodes_counts_where_nothing_divides_the_cpus(
    nodes: float, word: str
) -> None:
    """Without a CPU division the data nodes' use is a finding; quotas rule it out."""
    sides = {"a": (16, 256, {})}
    level = contrasted(double(), "undivided", sides, claims=("B-less-cpu",), variant="undivided")
    data = slices_use(level, lambda row: {"mysqld": 100.0, "ndbmtd": nodes})
    free = {"mysqld": None, "ndbmtd": None, "sql": None}
    assert verdict(with_plan(data, 0.25, 0.23, 1.5, undivided=free), "B-less-cpu").verdict == word
    held = verdict(with_plan(data, 0.25, 0.23, 1.5), "B-less-cpu")
    assert held.verdict == "not testable here"
    assert "quotas limit" in held.reason
    assert "the data nodes to 0.500 CPUs" in held.reason


def test_rows_are_counted_in_the_memory_they_took() -> None:
    """Bytes per row come from the memory that filling the tables took, on each data node."""
    dataset = double()
    dataset.manifest = {"filled": FILLED, **PLANNED}
    row = verdict(dataset, "B-row-bytes")
    assert (row.verdict, row.measured, row.high) == ("reproduced", 755, 760)
    assert row.low < 750
    twice = {key: 2 * value for key, value in FILLED["data_memory_bytes"].items()}
    dataset.manifest = {"filled": {**FILLED, "data_memory_bytes": twice}, **PLANNED}
    assert verdict(dataset, "B-row-bytes").verdict == "differs here"


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
    assert "+0 % against 60 GB and -7 % against 60 GiB" in row.reason
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
