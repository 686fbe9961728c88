"""Tables 1 and 2 of the brief beside a host: what it has, what is unknown, what is wrong."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from ndblab.experiments.the_brief import tables_1_2 as brief_tables
from ndblab.judging import publication
from ndblab.machine import host

CAPTURED = Path(__file__).parents[2] / "captured/hosts/vm-2cpu-cgroup1"


@pytest.fixture(scope="module")
def small() -> host.Host:
    """A real virtual machine of two CPUs."""
    return host.read(CAPTURED)


def test_every_published_item_is_there_in_its_order(small):
    """A reader finds each line of the brief's tables."""
    for name, table in (
        ("table1", brief_tables.table1(small)),
        ("table2", brief_tables.table2(small, {})),
    ):
        published = publication.tables()[name]
        assert list(table.index) == [item.item for item in published]
        assert list(table["published"]) == [item.value for item in published]


def test_what_a_host_does_not_tell_is_not_invented(small):
    """Firmware settings, caches and disks are in no host description."""
    here = brief_tables.table1(small)["this host"]
    for item in ("boost frequency", "l3 cache per socket", "storage", "bios IOMMU", "os governor"):
        assert here[item] == brief_tables.UNKNOWN
    assert set(brief_tables.table2(small, {})["this host"][["database", "load generator"]]) == {
        brief_tables.UNKNOWN
    }


def test_what_it_tells_is_shown(small):
    """Sockets, CPUs, memory, SMT, distribution, kernel and versions come from the host."""
    here = brief_tables.table1(small)["this host"]
    assert here["logical CPUs"] == "2"
    assert here["memory"] == f"{small.memory_bytes / 2**30:.0f} GiB"
    software = brief_tables.table2(small, {"ndb": "9.7.4", "sysbench": "1.0.20"})["this host"]
    assert software["database"] == "MySQL NDB Cluster 9.7.4"
    assert software["load generator"] == "sysbench 1.0.20"
    assert software["kernel"] == small.kernel


def test_a_limit_on_cpu_time_is_shown(small):
    """Eight CPUs of which a container may use two are not eight."""
    limited = dataclasses.replace(small, cpu_limit=1.5)
    assert (
        brief_tables.table1(limited)["this host"]["logical CPUs"]
        == "2, limited to 1.5 by CPU bandwidth"
    )


def test_the_briefs_own_description_contradicts_its_table():
    """SMT was on and a socket one NUMA node, whatever Table 1 says; the note names the reason."""
    table = brief_tables.table1(host.load(publication.FOLDER / "host.json"))
    assert table["published"]["bios SMT"] == "off"
    assert table["this host"]["bios SMT"] == "on: 2 logical CPUs per core"
    assert table["this host"]["bios NPS"] == "1 per socket visible"
    assert table["this host"]["cores per socket"] == "64"
    assert table["note"]["bios SMT"].endswith("(smt)")
    assert table["note"]["bios NPS"].endswith("(numa)")
    assert table["note"]["sockets"] == ""
