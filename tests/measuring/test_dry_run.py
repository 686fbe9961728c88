"""What a measurement would do, read before it is done."""

from __future__ import annotations

import contextlib
import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from ndblab import install
from ndblab.cluster import start_stop
from ndblab.design import catalogue, grids
from ndblab.design.contrast import TWINS, Contrast, Side
from ndblab.design.experiment import Experiment, Variant
from ndblab.error import LabError
from ndblab.hosts import connected, spread
from ndblab.install import engines
from ndblab.judging import publication
from ndblab.machine import host
from ndblab.measuring import dry_run, feasible, measurement
from ndblab.measuring.request import Request
from ndblab.planning.point import Point
from ndblab.workloads import turns
from ndblab.workloads.own.resolving import resolve

PORT = 13860
NUMA_31_GIB = [{"id": node, "memory_bytes": 31 * 2**30} for node in (0, 1)]


def dry(
    experiment, size="smoke", budget="auto", overrides=None, port=None, described=None, **options
) -> str:
    """What a measurement with these options would do."""
    request = Request(size, budget, overrides or {}, port, **options)
    return dry_run.dry_run(experiment, request, described)


@pytest.fixture(scope="module")
def hour() -> list[str]:
    """Every line of the brief's own hour on the brief's own server."""
    return dry(catalogue.find(figure=1), "brief", described="brief").splitlines()


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


def test_a_load_of_the_users_own_shows_what_it_became(tmp_path, monkeypatch):
    """The script that sysbench runs stands before its commands, once."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    queries = tmp_path / "queries.sql"
    queries.write_text("SELECT c FROM sbtest1 WHERE id = :int(1,rows);")
    own = Experiment("mine", "?", "", (), (), grids.every_variant, resolve(queries).name)
    printed = dry(own, described="brief")
    assert printed.count("#   local function prepare_all()") == 1
    assert printed.count("# no server has checked this SQL yet") == 1
    script = printed.index("#   -- Compiled by the lab: 1 statement")
    assert script < printed.index(" prepare\n") < printed.index(" run\n")


@pytest.fixture(scope="module")
def transporters() -> str:
    """The comparison of transporters, once."""
    return dry(catalogue.find("shm-vs-tcp"), overrides={"repeats": 1}, described="brief")


def test_each_cluster_shows_its_own_parameters(transporters: str):
    """A variant's own lines of the configuration files stand before its commands."""
    assert "# cluster of variant shm-spin\n# config.ini: ShmSpintime=200" in transporters
    assert transporters.count("# cluster of variant") == 3


def test_every_other_cluster_deals_transporters_from_the_last_server(transporters: str):
    """As a measurement does: the server by TCP is the first one of the second cluster."""
    _, _, second, _ = transporters.split("# cluster of variant ")
    load = second.split("_tcp\n")[1].splitlines()[0]
    assert "mysql.1.sock" in load
    assert "mysql.2.sock" not in load


def test_each_engine_has_a_cluster_and_programs_of_its_own(monkeypatch):
    """In the order in which they are named; without names a line says which option has them."""
    brief = dry_run._binaries("brief")
    both = engines.Engines(*(replace(brief, ndbmtd=Path(f"/{name}/ndbmtd")) for name in "ab"))
    monkeypatch.setattr(engines, "find", {"a,b": both, "a,c.tar.gz": None}.get)
    monkeypatch.setattr(install, "find", lambda: brief)

    def printed(named):
        options = "smoke", "shared", {"repeats": 1}, PORT
        return dry(catalogue.find("engines"), *options, engines=named)

    def started(lines, variant):
        after = lines[lines.index(f"# cluster of variant {variant}") :]
        return next(line for line in after if "ndbmtd --no-defaults --ndb-nodeid" in line)

    lines = printed("a,b").splitlines()
    assert started(lines, "default").startswith("/a/ndbmtd")
    assert started(lines, "second-engine").startswith("/b/ndbmtd")
    assert "which --engines A,B names" in printed(None)
    assert printed("a,c.tar.gz").endswith("# Not both are installed yet: a,c.tar.gz")


def test_engines_are_refused_where_nothing_compares_them():
    """As a measurement refuses them."""
    with pytest.raises(LabError, match="uses one installation"):
        dry(catalogue.find(figure=6), engines="a,b")


def test_contrasts_follow_the_sweep_and_are_marked_as_supposed():
    """Sides, claims and seconds per block; the clients are supposed, as there is no sweep yet."""

    def few(experiment, size, points):
        assert points.empty
        a, b = Side(Point(2, 8), {"rate": 100}), Side(Point(1, 8, variant="tcp"))
        return (Contrast("servers-1-2", "alternation", a, b, ("F6-peak", "F7-doubling")),)

    experiment = replace(catalogue.find(figure=6), contrasts=few)
    printed = dry(experiment, "quick", described="brief").splitlines()
    [at] = [number for number, line in enumerate(printed) if "# here, before the sweep" in line]
    assert printed[at + 1 : at + 3] == [
        "#   servers-1-2 (alternation, 15 s a block): "
        "(2 servers, 8 clients, rate=100) and (1 server, 8 clients, tcp)",
        "#     for F6-peak, F7-doubling",
    ]


SPINNING = Contrast(
    "spinning", TWINS, Side(Point(1, 8, variant="shm-spin")), Side(Point(1, 8)), ("T-spin-low",)
)


def of_twins(monkeypatch: pytest.MonkeyPatch, *twins: Contrast) -> str:
    """What a comparison of transporters by these twins would do here."""
    monkeypatch.setattr(install, "find", lambda: dry_run._binaries("brief"))
    experiment = replace(catalogue.find("shm-vs-tcp"), contrasts=lambda *_: twins)
    return dry(experiment, "smoke", "shared", {"repeats": 1}, PORT)


def test_both_clusters_of_twins_are_shown_in_their_places(monkeypatch):
    """Each with its own parameters, ports and folders, also where the settings are the same."""
    equal = replace(SPINNING, name="spinning-nowhere", a=SPINNING.b)
    different, equal = of_twins(monkeypatch, SPINNING, equal).split("# twins spinning")[1:]
    for text in (different, equal):
        one, other = text.split("# side b, variant default, in ")
        other, loads = other.split("# loaded in turn, ")
        starts = {line for line in text.splitlines() if line.startswith("ndb_mgmd ")}
        assert len(starts) == 2
        assert f"PortNumber={PORT + 256}" in other
        assert one.count("ndbmtd --no-defaults") == other.count("ndbmtd --no-defaults") == 2
        assert loads.count("--threads=8 --time=3 ") == 2
    assert "config.ini: ShmSpintime=200" in different
    assert "ShmSpintime" not in equal


def test_loads_that_take_turns_are_shown_for_as_long_as_their_block(monkeypatch):
    """Both for all of it: one second after the other is of one side."""
    twins, experiment = replace(SPINNING, turns=True), catalogue.find("shm-vs-tcp")
    printed = of_twins(monkeypatch, twins)
    [_, loads] = printed.split("# all clients connected, they work in turn, ")
    assert "loaded in turn" not in printed
    size = experiment.size("smoke")
    sides = [slice_.side for block in twins.block(1, size.seed) for slice_ in block]
    assert loads.startswith(f"{' '.join(sides)}, a second each")
    seconds = turns.Schedule.of(sides, experiment.slice_length(size).warmup_s, 0).load_s
    assert loads.count(f"--threads=8 --time={seconds} ") == 2


@pytest.mark.slow
@pytest.mark.cluster
@pytest.mark.usefixtures("cluster_folder")
def test_printed_commands_run_when_they_are_typed():
    """On a cluster that is up, with the overlay of its variant: they fill the tables and load them,
    in the control group and the environment of a measurement."""
    variant = Variant(
        config_ini={"ndbd default": {"TimeBetweenGlobalCheckpoints": 1500}},
        my_cnf={"sort_buffer_size": "64K"},
        options={"rand-type": "pareto", "point-selects": 1},
        table_options="COMMENT='NDB_TABLE=READ_BACKUP=0'",
    )
    experiment = replace(catalogue.find(figure=6), workload="oltp_read_only", variants=(variant,))
    size = {"servers": 1, "clients": 2, "duration_s": 1}
    lines = dry(experiment, "smoke", "auto", size, PORT).splitlines()
    prepare, _, run = (line for line in lines if "--mysql-db" in line)
    plan = measurement.plan_for(experiment, experiment.size("smoke", size), "auto", PORT)[1]
    with start_stop.running(plan, install.ensure(progress=False), progress=False) as cluster:
        cluster.query("CREATE DATABASE sbtest")
        typed(prepare)
        created = cluster.query("SHOW CREATE TABLE sbtest.sbtest1")[0][1]
        cluster.limit()
        printed = typed(run)
        [(_, buffer)] = cluster.query("SHOW VARIABLES LIKE 'sort_buffer_size'")
        [(checkpoints,)] = cluster.query(
            "SELECT DISTINCT config_value FROM ndbinfo.config_values v JOIN "
            "ndbinfo.config_params p ON v.config_param = p.param_number "
            "WHERE p.param_name = 'TimeBetweenGlobalCheckpoints'"
        )
    assert "queries:" in printed
    assert "READ_BACKUP=0" in created
    assert (buffer, checkpoints) == ("65536", "1500")


def typed(line: str) -> str:
    """Type a line in a shell of its own; what it prints."""
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_what_the_host_lacks_is_a_comment_before_the_commands(monkeypatch):
    """All of it, however many lines: what is printed stays a shell script."""

    def lacking(machine, *plans, engines):
        raise LabError("This host lacks it", found="numactl\nGo", next_step="Type once: sudo x")

    monkeypatch.setattr(feasible, "check", lacking)
    lines = dry(catalogue.find(figure=6), overrides={"servers": 1}).splitlines()
    at = lines.index("# This host lacks it.")
    assert "Type once: sudo x" in lines[at + 3]
    assert all(line.startswith("# ") for line in lines[: at + 4])


@pytest.mark.parametrize(
    ("small", "lacks"),
    [
        ({"memory_available_bytes": 31 * 2**30}, "# This host has too little memory for the plan."),
        ({"numa_nodes": NUMA_31_GIB}, "# A NUMA node has too little memory for the processes that"),
        ({}, ""),
    ],
)
def test_a_described_host_is_checked_as_this_one_is(tmp_path, small, lacks):
    """Memory and NUMA nodes; what is free on its disk is not known."""
    described = tmp_path / "host.json"
    brief = host.load(publication.FOLDER / "host.json").to_dict()
    described.write_text(json.dumps(brief | small))
    options = "brief", "pinned", {"servers": 1}, None, str(described)
    printed = dry(catalogue.find(figure=6), *options).splitlines()
    warned = [line for line in printed if line.startswith(("# This host", "# A NUMA"))]
    assert [line for line in warned if not line.startswith(lacks)] == []
    assert bool(warned) == bool(lacks)


def test_a_measurement_over_several_hosts_names_the_host_of_each_command():
    """Nodes and load generators; what the hosts are comes first."""
    printed = dry(catalogue.find("network-cost"), budget="shared", described="brief")
    assert "# over 5 network namespaces of this machine" in printed
    assert "#   d: sql\n" in printed
    commands = [line for line in printed.splitlines() if line and not line.startswith("#")]
    where = [(line.split(" # on ")[0], line.rpartition(" # on ")[2]) for line in commands]
    assert [name for line, name in where if "defaults-group-suffix" in line] == list("bcdebc")
    local = [(line, name) for line, name in where if "--mysql-socket=" in line]
    assert local
    assert all(name == "b" and "/b/mysql.1.sock" in line for line, name in local)
    assert {name for line, name in where if "--mysql-host=" in line} == {"a"}


def test_hosts_that_are_described_are_planned_without_being_reached():
    """Their names stand for their addresses, links are encrypted, and a namespace needs no root."""
    options = catalogue.find(figure=6), "smoke", "shared", {"servers": 2}, None, "brief"
    printed = dry(*options, hosts="me@db1.invalid,me@db2.invalid,me@db3.invalid")
    assert "# over 3 hosts such as this one; none was reached:" in printed
    assert "#   db2.invalid: data, sql\n" in printed
    started = [line for line in printed.splitlines() if "defaults-group-suffix" in line]
    assert [line.rpartition(" # on ")[2] for line in started] == ["db2.invalid", "db3.invalid"]
    assert "--mysql-host=db2.invalid" in printed
    assert "# over 3 network namespaces" in dry(*options, hosts="namespaces")


def test_hosts_that_an_experiment_cannot_use_are_refused_as_a_measurement_refuses_them():
    with pytest.raises(LabError, match="cannot be measured over several hosts"):
        dry(catalogue.find("tpc-c"), budget="shared", hosts="a,b,c")
    with pytest.raises(LabError, match="hosts with other roles"):
        dry(catalogue.find("network-cost"), budget="shared", hosts="a,b,c")


def test_hosts_are_looked_at_and_get_nothing(monkeypatch):
    """Each by its own description; what one lacks is a comment."""
    described = host.load(publication.FOLDER / "host.json")

    @contextlib.contextmanager
    def connected_to(placed, ours, insecure_network=False):
        assert (ours, insecure_network) == (None, False)
        reached = tuple(replace(place, address=f"10.0.0.{n}") for n, place in enumerate(placed))
        hosts = spread.Hosts(reached, {place.name: described for place in placed})
        yield connected.Connected(hosts, {"a": None}, {})

    def lacking(*_):
        raise LabError("Host a: This host has too little memory", next_step="Free some there")

    monkeypatch.setattr(connected, "connected", connected_to)
    monkeypatch.setattr(connected.Connected, "check", lacking)
    printed = dry(catalogue.find(figure=6), "smoke", "shared", {"servers": 2}, hosts="a,b,c")
    assert f"#   b: data, sql; {described.describe()}" in printed
    assert "# Host a: This host has too little memory." in printed
