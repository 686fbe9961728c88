"""Two clusters started at the same moment: both run, or nothing is left of either."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import waiting
from campaign import checks
from ndblab.cluster import pair, start_stop
from ndblab.cluster.cluster import Cluster
from ndblab.error import LabError
from ndblab.machine import host
from ndblab.machine.local import LOCAL
from ndblab.planning import deployment, twins

PORT = 15260


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Clusters that are one sleeping process each; in a folder called "bad" none comes up."""
    seen: dict[str, list[str]] = {"began": [], "ended": []}
    met = threading.Barrier(2, timeout=20)

    @contextlib.contextmanager
    def running(plan, binaries, progress, weighed) -> Iterator[Path]:
        folder = Path(plan.places.cluster_dir)
        folder.mkdir(exist_ok=True)
        met.wait()
        seen["began"].append(folder.name)
        process = LOCAL.spawn(["sleep", "600"], folder)
        try:
            if binaries == "bad":
                raise LabError("ndbmtd.1 ended", found="Error 2350: Invalid configuration")
            if binaries == "waits":
                process.wait()
                raise LabError("ndbmtd.1 was killed")
            yield folder
        finally:
            LOCAL.kill(process)
            seen["ended"].append(folder.name)

    monkeypatch.setattr(start_stop, "running", running)
    return seen


def two(folder: Path, a: str = "", b: str = "") -> dict[str, pair.Twin]:
    """Plans of two clusters, the second below the first."""
    first = start_stop.places(folder, PORT)
    plan = deployment.make(host.read(), deployment.Shape(1, 1, 1, budget="shared", places=first))
    other = twins.moved(plan, start_stop.places_together(first)[1])
    return {"a": pair.Twin(plan, a, "Side a (x)"), "b": pair.Twin(other, b, "Side b (y)")}


def test_both_start_at_the_same_moment_then_both_are_filled(tmp_path: Path, pretended):
    """Neither waits for the other to be up before it starts, both do before they are filled."""
    filled = []

    def fill(name: str, cluster: Path) -> str:
        assert len(pretended["began"]) == 2
        filled.append(name)
        return f"{name} is full"

    with pair.running(two(tmp_path / "first"), fill) as both:
        assert {name: (c.name, full) for name, (c, full) in both.items()} == {
            "a": ("first", "a is full"), "b": ("twin", "b is full"),
        }  # fmt: skip
        assert sorted(filled) == ["a", "b"]
    assert sorted(pretended["ended"]) == ["first", "twin"]


@pytest.mark.parametrize("bad", ["a", "b"])
def test_one_that_fails_is_named_and_the_other_is_not_waited_for(tmp_path, pretended, bad: str):
    """The message is the failure's, not that of the one that was ended for it."""
    sides = {"a": "waits", "b": "waits", bad: "bad"}
    began_s = time.monotonic()
    with (
        pytest.raises(LabError, match=rf"Side {bad} \([xy]\): ndbmtd.1 ended") as caught,
        pair.running(two(tmp_path / "first", **sides), lambda *_: None),
    ):
        pytest.fail("it runs")
    assert "Error 2350" in str(caught.value)
    assert time.monotonic() - began_s < 60
    assert sorted(pretended["ended"]) == ["first", "twin"]
    assert not LOCAL.marked(tmp_path / "first") + LOCAL.marked(tmp_path / "first/twin")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_both_while_they_start(tmp_path: Path, number: int):
    """A lab that is told to end waits for neither, and leaves nothing."""
    program = (
        "import contextlib, pathlib, signal, sys\n"
        "from types import SimpleNamespace as Of\n"
        "from ndblab.cluster import pair, start_stop\n"
        "from ndblab.error import LabError\n"
        "from ndblab.machine import commands\n"
        "from ndblab.machine.local import LOCAL\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "@contextlib.contextmanager\n"
        "def running(plan, binaries, progress, weighed):\n"
        "    LOCAL.spawn(['sleep', '600'], pathlib.Path(plan.places.cluster_dir)).wait()\n"
        "    raise LabError('ended')\n"
        "    yield\n"
        "start_stop.running = running\n"
        "twins = {n: pair.Twin(Of(places=Of(cluster_dir=f)), None, n)\n"
        "         for n, f in zip('ab', sys.argv[1:])}\n"
        "with commands.exit_on_sigterm(), pair.running(twins, print):\n"
        "    pass\n"
    )
    folders = [tmp_path / "a", tmp_path / "a/twin"]
    lab = subprocess.Popen(
        [sys.executable, "-c", program, *map(str, folders)], stderr=subprocess.DEVNULL
    )
    try:
        waiting.until(lambda: all(map(LOCAL.marked, folders)), 60, "both clusters")
        os.kill(lab.pid, number)
        assert lab.wait(60) != 0
        assert not any(map(LOCAL.marked, folders))
    finally:
        lab.kill()
        for folder in folders:
            LOCAL.end(folder)


@pytest.mark.cluster
def test_a_frozen_cluster_uses_no_cpu_and_serves_at_once_when_thawed(sbtest: Cluster):
    """No node is lost by it, however often: heartbeats are missed only after seconds."""

    def used_s() -> float:
        pids = [pid for _, _, pid, _ in sbtest.pids()]
        return sum(used.cpu_s for used in LOCAL.process_use(pids).values())

    before = sbtest.log()
    try:
        for _ in range(4):
            pair.freeze(sbtest)
            time.sleep(0.1)
            began_s = used_s()
            time.sleep(1.5)
            assert used_s() == began_s
            pair.thaw(sbtest)
            assert sbtest.query("SELECT COUNT(*) FROM sbtest.sbtest1", answer_s=5)
    finally:
        pair.thaw(sbtest)
    sbtest.check_alive()
    [(_, ready)] = sbtest.query("SHOW STATUS LIKE 'Ndb_number_of_ready_data_nodes'")
    assert int(ready) == len(sbtest.plan.data_nodes)
    assert not re.search("missed heartbeat|disconnected", sbtest.log()[len(before) :], re.I)


@pytest.mark.slow
@pytest.mark.cluster
def test_a_setting_that_keeps_one_twin_from_starting_leaves_neither(tmp_path: Path, binaries):
    """Side and line of its log are in the message; processes, ports and groups are gone."""
    wanted = {name: twin._replace(binaries=binaries) for name, twin in two(tmp_path / "x").items()}
    broken = dataclasses.replace(wanted["b"].plan, threads=deployment.Threads(ldm=2, query=3))
    wanted["b"] = wanted["b"]._replace(plan=broken)
    before = checks.orphaned_segments()

    def fill(name: str, cluster: Cluster) -> None:
        pytest.fail("both serve")

    with (
        pytest.raises(LabError, match=r"Side b \(y\): .*ended by itself") as caught,
        pair.running(wanted, fill),
    ):
        pytest.fail("both run")
    assert "query" in str(caught.value).lower()
    for folder, port in ((tmp_path / "x", PORT), (tmp_path / "x/twin", PORT + twins.PORTS)):
        assert not any(checks.leaks(folder, port, before).values())
