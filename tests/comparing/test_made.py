"""The experiment that compares two sides."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from ndblab.cluster import start_stop
from ndblab.comparing import choice, made, sides
from ndblab.comparing.made import Load
from ndblab.design.contrast import TWINS
from ndblab.design.experiment import Experiment
from ndblab.error import LabError
from ndblab.install.binaries import named
from ndblab.machine import host
from ndblab.measuring import blocks
from ndblab.measuring.dry_run import noted
from ndblab.planning import config, deployment
from ndblab.planning.point import Point
from ndblab.planning.shape import Places

LOAD = Load("oltp_point_select", 1, 16)


def compared(*words: str) -> Experiment:
    """Return the experiment of these words."""
    parsed = sides.parse(words)
    return made.experiment(parsed, choice.choose(parsed), LOAD)


def files(experiment: Experiment, variant: str) -> str:
    """Return config.ini and my.cnf of a side on this host."""
    size = experiment.size("smoke", {"servers": [1], "clients": [16]})
    plan = experiment.plans(size, "auto", host.read(), Places("/lab", "/lab"))[variant]
    return config.config_ini(plan, "9.7.4") + config.my_cnf(plan, "9.7.4")


def test_what_changes_under_load_is_set_on_the_running_servers() -> None:
    """Both sides share a cluster, so that nothing else differs."""
    experiment = compared("ndb_batch_size=64K")
    assert experiment.clusters() == (("default", "b"),)
    assert experiment.variant("b").set_global == {"ndb_batch_size": 65536}
    assert files(experiment, "b") == files(experiment, "default")


def test_a_number_of_cpus_of_zero_keeps_the_lab_s_own_threads() -> None:
    """It is the default; the command that measures a gain again names it."""
    experiment = compared("NumCPUs=0", "NumCPUs=1")
    assert "\nThreadConfig=" in files(experiment, "default")
    assert "\nThreadConfig=" not in files(experiment, "b")


def test_two_clusters_of_many_servers_start_without_native_io() -> None:
    """Linux's default is enough for 28 servers, on which side soever they are."""
    off = {"innodb_use_native_aio": 0}.items()
    spins = "SpinMethod=StaticSpinning", "SpinMethod=CostBasedSpinning"
    for words in (("servers=16", spins[1]), ("servers=16", "servers=1", *spins)):
        many = compared(*words)
        assert all(off <= many.variant(name).my_cnf.items() for name in ("default", "b"))
    few = compared("servers=14", spins[1])
    assert not off & few.variant("b").my_cnf.items()


@pytest.mark.parametrize(
    "spins", [("SpinMethod=StaticSpinning", "SpinMethod=CostBasedSpinning"), ()]
)
def test_each_of_two_clusters_starts_the_servers_of_its_own_side(
    spins: tuple[str, ...],
) -> None:
    """Those of the other side would be idle, and use CPU."""
    experiment = compared("servers=4", "servers=1", *spins)
    size = experiment.size("smoke", {"servers": [1, 4], "clients": [16]})
    [contrast] = experiment.contrasts(experiment, size, None)
    assert contrast.design == TWINS
    plans = experiment.plans(size, "auto", host.read(), Places("/lab", "/lab"))
    assert [len(plans[name].servers) for name in ("default", "b")] == [4, 1]


@pytest.mark.parametrize("block", [1, 2, 3])
def test_each_side_fills_and_loads_servers_that_its_own_cluster_has(
    block: int, tmp_path: Path
) -> None:
    """However many the other has, in either place, turned or not; nothing is started."""
    spins = "SpinMethod=StaticSpinning", "SpinMethod=CostBasedSpinning"
    experiment, machine = compared("servers=1", "servers=3", *spins), host.read()
    size = experiment.size("smoke", {"servers": [1, 3], "clients": [16]})
    plans = experiment.plans(size, "auto", machine, start_stop.places(tmp_path))
    clusters = noted.NotedClusters(
        experiment, size, plans, named("9.7.4", "1.0.20"), noted.Unwritten(), False, machine=machine
    )
    [contrast] = experiment.contrasts(experiment, size, None)
    sockets: dict[str, list[str]] = {}
    for [slice_] in contrast.block(block, 1):
        cluster, start = clusters.twin(contrast, slice_)
        job = blocks._asked(contrast, slice_, clusters, cluster, start, size).job
        assert job.servers == cluster.plan.servers
        assert config.config_ini(cluster.plan, "9.7.4").count("[mysqld]") == len(job.servers)
        sockets[slice_.side] = [node.socket for node in job.servers]
        filled = f"--mysql-socket={job.servers[0].socket} "
        assert any(filled in line and line.endswith(" prepare") for line in clusters.lines)
    assert [len(sockets[side]) for side in "ab"] == [1, 3]
    assert not set(sockets["a"]) & set(sockets["b"])


def test_what_both_sides_have_is_in_their_files() -> None:
    """Only the difference is switched."""
    experiment = compared("clients=1", "clients=2", "ndb_batch_size=64K", "SchedulerSpinTimer=50")
    assert experiment.clusters() == (("default", "b"),)
    for name in ("default", "b"):
        assert "\nndb_batch_size=65536\n" in files(experiment, name)
        assert "\nSchedulerSpinTimer=50\n" in files(experiment, name)
        assert not experiment.variant(name).set_global


@pytest.mark.parametrize(
    ("word", "there", "not_there"),
    [
        ("SpinMethod=CostBasedSpinning", "SpinMethod=CostBasedSpinning", None),
        ("shm:ShmSize=2M", "[shm default]\nShmSize=2097152", None),
        ("UseShm=off", "UseShm=0", "UseShm=1"),
        ("log_bin=on", "log-bin=binlog", "skip-log-bin"),
        ("NumCPUs=4", "NumCPUs=4", "\nThreadConfig"),
    ],
)
def test_what_needs_a_start_is_in_the_files_of_one_side(
    word: str, there: str, not_there: str | None
) -> None:
    """Each side has a cluster of its own."""
    experiment = compared(word)
    assert len(experiment.clusters()) == 2
    assert there in files(experiment, "b")
    assert there not in files(experiment, "default")
    assert not_there is None or not_there not in files(experiment, "b")


@pytest.mark.parametrize(
    ("words", "of_a", "of_b"),
    [
        (("performance_schema=on",), "", "performance_schema=ON"),
        (
            ("performance_schema=on", "performance_schema=off", "ndb_batch_size=64K"),
            "performance_schema=ON",
            "performance_schema=OFF",
        ),
        (("ndb_cluster_connection_pool=4",), "", "ndb-cluster-connection-pool=4"),
    ],
)
def test_a_restart_of_mysqld_gives_each_side_a_server_of_one_cluster(words, of_a, of_b) -> None:
    """The sides change places in every other block."""
    experiment = compared(*words)
    assert experiment.clusters() == (("default", "b"),)
    size = experiment.size("smoke", {"servers": [1], "clients": [16]})
    plan = experiment.plans(size, "auto", host.read(), Places("/lab", "/lab"))["default"]
    for plan_, (first, second) in ((plan, (of_a, of_b)), (deployment.turned(plan), (of_b, of_a))):
        _, one, other = config.my_cnf(plan_, "9.7.4").split("[mysqld.")
        assert first in one
        assert second in other
        assert not first or first not in other
        assert not second or second not in one
    used = [experiment.usable_servers(plan, point(experiment, name)) for name in ("default", "b")]
    assert [[node.number for node in nodes] for nodes in used] == [[1], [2]]


def point(experiment: Experiment, variant: str) -> Point:
    """Return the point of a side."""
    [contrast] = experiment.contrasts(experiment, experiment.size("smoke"), None)
    return next(s.point for s in (contrast.a, contrast.b) if s.point.variant == variant)


def test_cpus_are_undivided_unless_a_side_divides_them() -> None:
    """25 % for the data nodes are an eighth for each of two; servers and clients have the rest."""
    assert compared("servers=1", "servers=2").budget == "shared"
    split = compared("data_nodes=25%")
    assert split.budget == "scaled"
    assert split.variant("b").quotas == {"ndbmtd": 0.125, "mysqld": None, "sql": 0.75}
    assert set(split.variant("default").quotas.values()) == {None}


def test_each_mysql_server_gets_its_quota_beside_the_split_or_without_it() -> None:
    """Without a split, data nodes and clients may use all CPUs."""
    capped = compared("server_cpus=10%", "server_cpus=20%", "servers=2")
    assert capped.budget == "scaled"
    for name, share in (("default", 0.1), ("b", 0.2)):
        assert capped.variant(name).quotas == {"ndbmtd": None, "mysqld": share, "sql": None}
    assert capped.clusters() == (("default", "b"),)
    both = compared("server_cpus=10%", "server_cpus=20%", "data_nodes=50%")
    assert both.variant("b").quotas == {"ndbmtd": 0.25, "mysqld": 0.2, "sql": 0.5}


def test_a_table_option_gets_tables_of_its_own_in_one_cluster() -> None:
    """Both kinds of tables are filled, in two databases."""
    experiment = compared("READ_BACKUP=0")
    assert experiment.variant("b").table_options == "COMMENT='NDB_TABLE=READ_BACKUP=0'"
    assert experiment.filled("b") == ("default", "b")


@pytest.mark.parametrize(
    ("words", "design", "servers"),
    [(("servers=1", "servers=2"), TWINS, (1, 2)), (("UseShm=off",), TWINS, (1, 1))],
)
def test_the_contrast_has_both_sides(words: tuple[str, ...], design: str, servers) -> None:
    """A comes first; two comparisons of different sides are two measurements."""
    experiment = compared(*words)
    [contrast] = experiment.contrasts(experiment, experiment.size("smoke"), None)
    assert contrast.design == design
    assert (contrast.a.point.servers, contrast.b.point.servers) == servers
    turned = compared("servers=2", "servers=1")
    assert turned.asked != compared("servers=1", "servers=2").asked


def in_turns(word: str, runs: pd.DataFrame | None) -> bool:
    """Return whether clients take turns in what is measured after these runs."""
    parsed = sides.parse([word])
    experiment = made.experiment(parsed, choice.choose(parsed, turns=True), LOAD)
    [contrast] = experiment.contrasts(experiment, experiment.size("smoke"), runs)
    return contrast.turns


@pytest.mark.parametrize("word", ["ndb_batch_size=64K", "performance_schema=on", "UseShm=off"])
@pytest.mark.parametrize(
    ("p95_ms", "turns"),
    [([2.0, 3.0], True), ([50.0], True), ([50.1], False), ([2.0, 120.0], False), ([], True)],
)
def test_queries_that_last_too_long_are_measured_in_slices(
    word: str, p95_ms: list[float], turns: bool
) -> None:
    """One such side is enough: a client would finish its query in the turn of the other side."""
    runs = pd.DataFrame({"latency_p95_ms_mean": p95_ms}, dtype=float)
    assert in_turns(word, runs) == turns


def test_clients_take_turns_until_runs_say_otherwise() -> None:
    """A dry run shows the plan made before any run; no run turns slices into turns."""
    assert in_turns("ndb_batch_size=64K", None)
    quick = pd.DataFrame({"latency_p95_ms_mean": [1.0]})
    experiment = compared("ndb_batch_size=64K")
    [contrast] = experiment.contrasts(experiment, experiment.size("smoke"), quick)
    assert not contrast.turns


def test_a_comparison_of_turns_is_not_resumed_as_one_of_slices() -> None:
    """What was asked differs, so their datasets differ."""
    parsed = sides.parse(["ndb_batch_size=64K"])
    asked = [
        made.experiment(parsed, choice.choose(parsed, turns=on), LOAD).asked for on in (False, True)
    ]
    assert asked[0] != asked[1]
    assert "turns" not in asked[0]["contrast"]


def test_every_server_has_a_client() -> None:
    """Many servers get more clients by default; a request for too few clients is refused."""
    parsed = sides.parse(["servers=1", "servers=40"])
    assert made.load(parsed, "x", 1, None, 2.0).clients == 40
    assert made.load(sides.parse(["UseShm=off"]), "x", 1, None, 2.0).clients == 16
    with pytest.raises(LabError, match="Side B has fewer clients than MySQL servers"):
        made.load(parsed, "x", 1, 8, 2.0)


def test_tls_encrypts_the_links_of_one_side() -> None:
    """Twins, both over TCP; over shared memory it would change nothing, and is refused."""
    words = "tls=off", "tls=on"
    sides_over_tcp = compared("UseShm=off", *words)
    assert [sides_over_tcp.variant(name).shape for name in ("default", "b")] == [
        {"transporter": "tcp", "tls": False}, {"transporter": "tcp", "tls": True},
    ]  # fmt: skip
    [contrast] = sides_over_tcp.contrasts(sides_over_tcp, sides_over_tcp.size("smoke"), None)
    assert contrast.design == TWINS
    with pytest.raises(LabError, match="TLS changes nothing on side B") as caught:
        made.load(sides.parse(words), "x", 1, None, 2.0)
    assert caught.value.next_step == "Compare: ./lab compare UseShm=off tls=off tls=on"


def test_a_search_whose_links_are_not_encrypted_says_what_to_search() -> None:
    """It has no sides, and is not told to compare."""
    baseline = sides.parse(["tls=on"]).of("b")
    with pytest.raises(LabError, match="TLS changes nothing here") as caught:
        made.load(sides.Sides((), (), baseline), "x", 1, None, 2.0)
    assert caught.value.next_step == "Search: ./lab tune UseShm=off tls=on"
    over_tcp = sides.parse(["tls=on", "UseShm=off"]).of("b")
    assert made.load(sides.Sides((), (), over_tcp), "x", 1, None, 2.0).clients == 16


def test_a_cluster_that_is_for_one_side_only_has_its_name() -> None:
    """Messages about it name its side; a cluster for both sides has no side's name."""
    each_its_own = compared("SpinMethod=CostBasedSpinning")
    assert [each_its_own.side_of(name) for name in ("default", "b")] == ["a", "b"]
    shared = compared("ndb_batch_size=64K")
    assert [shared.side_of(name) for name in ("default", "b")] == ["", ""]
