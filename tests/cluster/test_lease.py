"""One lab at a time in a cluster's folder, and nothing outlives the lab that holds it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

import waiting
from campaign import checks, small_disk
from machine.test_local import segment_of_another_process
from ndblab.cluster import datadir, lease, start_stop
from ndblab.cluster.cluster import Cluster
from ndblab.error import LabError
from ndblab.machine import host
from ndblab.machine.local import LOCAL
from ndblab.planning import deployment

PORT = 14960
SLEEP = ["sleep", "600"]


def one_server(folder: Path) -> deployment.Plan:
    """The plan for the smallest cluster in a folder."""
    shape = deployment.Shape(1, 1, 1, budget="shared", places=start_stop.places(folder, PORT))
    return deployment.make(host.read(), shape)


def child_of_a_dead_lab(folder: Path, how: int) -> int:
    """Let a lab start a process and a watchdog in `folder`, end the lab, return the process id."""
    program = (
        "import pathlib, signal, sys, time\n"
        "from ndblab.cluster import lease, watchdog\n"
        "from ndblab.machine.local import LOCAL\n"
        # A shell that starts the tests in the background makes them ignore these.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "with lease.hold(folder) as fd:\n"
        "    watchdog.start(folder, fd)\n"
        "    child = LOCAL.spawn(['sleep', '600'], folder)\n"
        "    print(child.pid, flush=True); time.sleep(600)\n"
    )
    argv = [sys.executable, "-c", program, str(folder)]
    lab = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    pid = int(lab.stdout.readline())
    lab.send_signal(how)
    lab.wait(20)
    return pid


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGHUP])
def test_nothing_outlives_a_lab_that_is_killed(tmp_path: Path, how: int):
    """The watchdog ends the processes of a dead lab, whichever signal ended it."""
    pid = child_of_a_dead_lab(tmp_path, how)
    waiting.until(lambda: not psutil.pid_exists(pid), 20, "the end of the orphan")
    assert LOCAL.marked(tmp_path) == []


def test_the_next_lab_waits_for_the_watchdog_of_a_dead_one(tmp_path: Path):
    """A new lab in the same folder neither fails nor has its own processes killed."""
    child_of_a_dead_lab(tmp_path, signal.SIGKILL)
    with lease.hold(tmp_path):
        child = LOCAL.spawn(SLEEP, tmp_path)
        assert [marked.pid for marked in LOCAL.marked(tmp_path)] == [child.pid]
        LOCAL.end(tmp_path)
        assert not psutil.pid_exists(child.pid)


@pytest.mark.parametrize(
    ("ports", "end"), [(True, "and give another --base-port."), (False, "to another folder.")]
)
def test_a_second_lab_in_the_same_folder_is_refused(tmp_path: Path, ports: bool, end: str):
    """The message names the process that holds it, and other ports only if the cluster has any."""
    with (
        lease.hold(tmp_path, ports),
        pytest.raises(LabError, match="Another lab uses") as caught,
        lease.hold(tmp_path, ports),
    ):
        pass
    assert str(os.getpid()) in str(caught.value)
    assert caught.value.next_step.endswith(end)


def test_a_cluster_started_by_hand_is_not_ended(tmp_path: Path):
    """The next lab says how to stop it instead."""
    lease.write(tmp_path, {"by_hand": True})
    child = LOCAL.spawn(SLEEP, tmp_path)
    try:
        with pytest.raises(LabError, match="started by hand"), lease.hold(tmp_path):
            pass
        assert child.poll() is None
    finally:
        LOCAL.end(tmp_path)


def test_a_folder_with_other_files_is_refused(tmp_path: Path):
    """A cluster's start removes files, but never a user's documents."""
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(LabError, match="other files") as caught, lease.hold(tmp_path):
        pass
    assert "thesis.txt" in str(caught.value)


def test_the_next_start_removes_the_segments_that_a_lab_and_its_watchdog_left(tmp_path: Path):
    """Processes that are ended before a start leave no shared memory."""
    child, segment = segment_of_another_process(tmp_path)
    lease.write(tmp_path, {})
    with lease.hold(tmp_path):
        child.wait()
        assert segment not in checks.orphaned_segments()
    child.stdin.close()
    child.stdout.close()


def test_the_next_start_removes_the_groups_that_a_lab_and_its_watchdog_left(tmp_path, monkeypatch):
    """Even if it creates none itself: its own record replaces the one that names them."""
    left = tmp_path / "groups/ndblab-1"
    left.mkdir(parents=True)
    folder = tmp_path / "cluster"
    folder.mkdir()
    lease.write(folder, {"groups": {"kind": "cgroup2", "base": str(left)}})

    def seen(*_: object) -> None:
        assert not left.exists()
        raise LabError("Far enough")

    monkeypatch.setattr(start_stop.datadir, "lay_out", seen)
    with pytest.raises(LabError, match="Far enough"), start_stop.running(one_server(folder), None):
        pass


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("what", ["record", "configuration"])
def test_a_full_disk_under_the_cluster_gives_one_message(what, tmp_path: Path):
    """The cluster's own files are refused with a reason and no traceback."""
    folder = tmp_path / "disk"
    try:
        small_disk.mount(folder, 1 << 20)
    except LabError as error:
        pytest.skip(f"no file system can be mounted here: {error.found}")
    programs = SimpleNamespace(ndb_version="9.7.4", mysqld_version="9.7.4")
    writes = {
        "record": lambda: lease.write(folder, {"text": "x" * 8192}),
        "configuration": lambda: datadir.lay_out(Cluster(one_server(folder), programs, folder)),
    }
    try:
        small_disk.fill(folder)
        with pytest.raises(LabError, match="The disk is full"):
            writes[what]()
    finally:
        small_disk.unmount(folder)
