"""What a measurement would do, read before it is done."""

from __future__ import annotations

import pytest

from ndblab.experiments import catalogue, dry_run


@pytest.fixture(scope="module")
def hour() -> list[str]:
    """Every line of the brief's own hour on the brief's own server."""
    told = dry_run.dry_run(catalogue.find(figure=1), "brief", "auto", {}, None, "brief")
    return told.splitlines()


def test_the_briefs_hour_can_be_read_command_by_command(hour):
    """A management node, 2 data nodes, 16 servers, filling, warm-up and run, bound as published."""
    commands = [line for line in hour if line and not line.startswith("#")]
    assert len(commands) == 1 + 2 + 16 + 1 + 2
    assert commands[1].startswith("numactl -C 0-15,128-143 -m 0 ndbmtd ")
    assert commands[3].startswith("numactl -C 16-63,144-191 -m 0 mysqld ")
    assert "--table_size=10000000" in commands[19]
    assert "--time=120" in commands[20]
    assert "--time=3600" in commands[21]
    assert "--threads=1024" in commands[21]
    assert "/tmp/mysql.16.sock" in commands[21]


def test_the_times_and_the_budget_come_first(hour):
    """Before any command: which host, how the CPUs are divided, how long."""
    assert "EPYC 7742" in hour[1]
    assert hour[2].startswith("# budget pinned")
    assert "about 2.2 h once installed" in hour[3]


def test_each_cluster_says_what_is_other_about_it():
    """A variant's own lines of config.ini stand before its commands."""
    told = dry_run.dry_run(
        catalogue.find("shm-vs-tcp"), "smoke", "auto", {"repeats": 1}, None, "brief"
    )
    assert "# the cluster of variant shm-spin\n# config.ini: ShmSpintime=200" in told
    assert told.count("# the cluster of variant") == 3
