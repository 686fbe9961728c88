"""Processes of a cluster are found and ended, whatever became of the lab that started them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from ndblab.cluster import lease
from ndblab.error import LabError
from ndblab.machine import process

SLEEP = ["sleep", "600"]


def children_of_a_dead_lab(folder: Path, how: int) -> int:
    """Let a lab start a process and a watcher in `folder`, end the lab, give the process id."""
    program = (
        "import sys, time, pathlib, signal; from ndblab.machine import process; from ndblab.cluster import lease\n"
        # A shell that starts the tests in the background has them ignore these.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "with lease.hold(folder) as fd:\n"
        "    lease.write(folder, {})\n"
        "    process.guard(folder, fd)\n"
        "    child = process.start(['sleep', '600'], folder / 'log', folder)\n"
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
    """The watcher ends the processes of a lab that died, by whichever signal."""
    pid = children_of_a_dead_lab(tmp_path, how)
    process.wait_until(lambda: not psutil.pid_exists(pid), 20, "the end of the orphan")
    assert process.marked(tmp_path) == []


def test_the_next_lab_waits_for_the_watcher_of_a_dead_one(tmp_path: Path):
    """A new lab in the same folder neither fails nor has its own processes killed."""
    children_of_a_dead_lab(tmp_path, signal.SIGKILL)
    with lease.hold(tmp_path):
        child = process.start(SLEEP, tmp_path / "log", tmp_path)
        assert [p.pid for p in process.marked(tmp_path)] == [child.pid]
        process.end_marked(tmp_path)
        assert not psutil.pid_exists(child.pid)


def test_a_second_lab_in_the_same_folder_is_refused(tmp_path: Path):
    """The message names the process that holds it."""
    with lease.hold(tmp_path):
        lease.write(tmp_path, {})
        with pytest.raises(LabError, match="Another lab uses") as caught, lease.hold(tmp_path):
            pass
    assert str(os.getpid()) in str(caught.value)


def test_a_cluster_started_by_hand_is_not_swept_away(tmp_path: Path):
    """The next lab says how to stop it instead."""
    lease.write(tmp_path, {"by_hand": True})
    child = process.start(SLEEP, tmp_path / "log", tmp_path)
    try:
        with pytest.raises(LabError, match="started by hand"), lease.hold(tmp_path):
            pass
        assert child.poll() is None
    finally:
        process.end_marked(tmp_path)


def test_only_the_processes_of_this_cluster_are_ended(tmp_path: Path):
    """Another cluster on the same machine goes on."""
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    children = []
    for folder in (ours, theirs):
        folder.mkdir()
        children.append(process.start(SLEEP, folder / "log", folder))
    try:
        assert process.end_marked(ours) == {children[0].pid}
        assert children[1].poll() is None
    finally:
        process.end_marked(theirs)


def test_a_program_that_is_not_there_gives_one_message(tmp_path: Path):
    """No traceback of subprocess for a missing binary."""
    with pytest.raises(LabError, match="could not be started"):
        process.start([str(tmp_path / "mysqld")], tmp_path / "log", tmp_path)


def test_waiting_in_vain_ends_with_what_was_waited_for():
    """The message names it; nothing hangs."""
    with pytest.raises(LabError, match="Waited in vain for the moon"):
        process.wait_until(lambda: False, 0.1, "the moon")
