"""What all tests share: their tiers, one running cluster, and tolerance of other programs."""

from __future__ import annotations

import dataclasses
import importlib
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

import system_packages
from campaign import checks
from ndblab import dataset, install
from ndblab.cluster import datadir, start_stop
from ndblab.cluster.cluster import Cluster
from ndblab.design import catalogue
from ndblab.hosts import connected, namespaces
from ndblab.hosts.namespaces import Network
from ndblab.machine import host
from ndblab.machine import interference as company
from ndblab.measuring import measurement
from ndblab.measuring.request import Request
from ndblab.planning import deployment, profile
from ndblab.planning.point import Point
from ndblab.workloads import sysbench
from ndblab.workloads.load_generator import Job

hypothesis.settings.register_profile("lab", deadline=None)
# How long an example takes says what else the host does.
hypothesis.settings.load_profile("lab")

SLOW = ("attach/test_on_cluster.py", "_killed_at_any_step", "_killed_on_the_way")
"""What is of the second tier, by the path or the name of a test."""
_WORKER_PORTS = 12_000 * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
PORT = 12860 + _WORKER_PORTS
OWN_PORT = 13060 + _WORKER_PORTS
"""First port of the clusters that a test starts itself, one after the other; two of pytest-xdist's
workers run beside each other."""
CLEANED_UP_S = 2
"""The other worker's cluster may be between the end of its processes and that of its segments."""
MORE_ROWS = 100_000
"""Room for the other databases, beside that of TPC-C."""


def left_at_once(folder: Path, port: int, before: set[int]) -> dict[str, str]:
    """Name what a cluster has left the moment it ended, by kind.

    Memory segments do not tell whose they are: another worker's have `CLEANED_UP_S` to go.
    """
    left = checks.leaks(folder, port, before, 0)
    own = any(names for kind, names in left.items() if kind != "segments")
    return left if own else checks.leaks(folder, port, before, CLEANED_UP_S)


def names_cluster(file: Path) -> bool:
    """Return whether a file of tests marks any of them as one of a real cluster."""
    return "mark.cluster" in file.read_text(encoding="utf-8")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Where only tests of a real cluster are asked for, import no file that has none.

    All files would take every process of pytest 8 s more of CPU.
    """
    only = config.getoption("-m").endswith(" and cluster")
    is_file = collection_path.match("test_*.py")
    return True if only and is_file and not names_cluster(collection_path) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is slow by its name, folder or fixtures; leave virtual machines to their marker.

    Emulated, these take an hour or more.
    """
    for item in items:
        over_hosts = "hosts" in item.path.parts and item.get_closest_marker("cluster")
        reads_site = {"browser", "site"} & {*item.fixturenames}
        if item.get_closest_marker("cluster") and not names_cluster(item.path):
            raise pytest.UsageError(f"{item.path} has to name mark.cluster itself")
        if over_hosts or reads_site or any(name in item.nodeid for name in SLOW):
            item.add_marker("slow")
    if "virtual_machine" not in config.getoption("-m"):
        left_out = [item for item in items if item.get_closest_marker("virtual_machine")]
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


@pytest.fixture(scope="session")
def binaries() -> install.Binaries:
    """The real programs."""
    return install.ensure(progress=False)


@pytest.fixture(scope="session")
def template(binaries: install.Binaries, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder that mysqld initialises before a first start, which takes seconds of CPU."""
    folder = tmp_path_factory.mktemp("template")
    (folder / "logs").mkdir()
    return datadir.template(Cluster(None, binaries, folder), "")


def started_before(folder: Path, template: Path) -> Path:
    """Make a cluster's folder in which a start finds what the first one has initialised."""
    folder.mkdir(mode=0o700)
    (folder / "lock").touch(mode=0o600)
    datadir.copy(template, folder / template.name)
    return folder


@pytest.fixture
def cluster_folder(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the lab's clusters in this test and the programs that it starts."""
    folder = started_before(tmp_path / "cluster", template)
    monkeypatch.setenv("NDBLAB_CLUSTER_DIR", str(folder))
    return folder


@pytest.fixture(scope="session")
def cluster(
    binaries: install.Binaries, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    """The cluster that tests share: two data nodes, two MySQL servers with sockets and ports.

    Each test file fills databases of its own in it. It has no CPU limits unless a test sets them,
    and leaves nothing behind.
    """
    folder, before = tmp_path_factory.mktemp("ndb") / "cluster", checks.orphaned_segments()
    tpc_c = catalogue.find("tpc-c")
    size = tpc_c.size("smoke", {"servers": 2})
    shape = tpc_c.cluster_shape(size, "default", "auto", start_stop.places(folder, PORT))
    shape = dataclasses.replace(shape, rows=shape.rows + MORE_ROWS, max_clients=64)
    plan = deployment.make(host.read(), shape)
    with start_stop.running(plan, binaries, progress=False) as running:
        yield running
    assert not any(left_at_once(folder, PORT, before).values())


@pytest.fixture(scope="session")
def sbtest(cluster: Cluster) -> Cluster:
    """The shared cluster, with sysbench's tables in it."""
    size, servers = profile.get("smoke"), cluster.plan.servers
    sysbench.prepare(cluster, Job(cluster.binaries, size, Point(2, 4), servers))
    return cluster


@pytest.fixture(autouse=True)
def company_is_tolerated(monkeypatch: pytest.MonkeyPatch):
    """Measure as on a quiet host, whatever else this one does; tests of company set a limit."""
    # Verdicts keep the real limit: a module that is first imported during a test would copy this.
    importlib.import_module("ndblab.experiments.scaling.checks.processes")
    monkeypatch.setattr(company, "LIMIT_PCT", math.inf)
    monkeypatch.setattr(company, "STEAL_LIMIT_PCT", math.inf)


@pytest.fixture(scope="session")
def namespaces_usable(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Install what network namespaces need, where the tests may; without it, skip the test."""
    # Where systemd runs, a package would start a server of its own.
    may_install = os.geteuid() == 0 and not Path("/run/systemd/system").exists()
    if may_install and install.has_debian() and (packages := namespaces.missing()):
        system_packages.install(packages, tmp_path_factory.mktemp("packages") / "apt.log")
    if why := connected.lacks():
        pytest.skip(why)


@pytest.fixture
def measure(
    cluster_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., dataset.Dataset]:
    """Measure an experiment's smoke profile, with its cluster and its dataset in folders apart."""
    monkeypatch.setattr(measurement, "RUNS", tmp_path / "runs")

    def measured(experiment, budget="auto", port=OWN_PORT, size=None, **options):
        request = Request("smoke", budget, size or {}, port, progress=False, **options)
        return measurement.measure(experiment, request)

    return measured


@pytest.fixture
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment with an empty cache, no NDB_HOME, and a PATH without any database."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "tar", "gzip", "setpriv", "rm"):
        place = next(p for p in (Path("/usr/bin"), Path("/bin")) if (p / name).exists())
        (tools / name).symlink_to(place / name)
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("NDB_HOME", raising=False)
    return tmp_path


@pytest.fixture(scope="session")
def network(namespaces_usable: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    """Hosts a, b and c, whose names `ssh` knows.

    OpenSSH's client takes the user's folder from /etc/passwd, not from HOME: a script named `ssh`
    that names the settings is first on PATH instead.
    """
    folder = tmp_path_factory.mktemp("network")
    with namespaces.network("abc", folder / "hosts") as made, pytest.MonkeyPatch.context() as patch:
        script = folder / "ssh"
        script.write_text(f'#!/bin/sh\nexec {namespaces.program("ssh")} -F {made.settings} "$@"\n')
        script.chmod(0o755)
        patch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        yield made
