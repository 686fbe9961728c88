"""This machine: processes by their mark, files, ports, and what is left of processes that ended.

What other hosts do alike is tested here and there by `hosts/test_remote.py`.
"""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from ndblab.error import LabError
from ndblab.machine import local
from ndblab.machine.local import LOCAL


@pytest.fixture
def mark(tmp_path: Path):
    """A folder whose marked processes are ended whether the test passes or fails."""
    yield tmp_path
    LOCAL.end(tmp_path)


def segments() -> set[int]:
    """Ids of all System V memory segments."""
    return {int(line.split()[1]) for line in local.SEGMENTS.read_text().splitlines()[1:]}


def segment_of_another_process(mark: Path | None) -> tuple[subprocess.Popen, int]:
    """Have another process make a memory segment to which no process attaches."""
    body = (
        "import ctypes, sys\nshmget = ctypes.CDLL(None, use_errno=True).shmget\n"
        "print(shmget(0, 4096, 0o1600), flush=True)\nsys.stdin.read()\n"
    )
    argv = [sys.executable, "-c", body]
    child = LOCAL.spawn(argv, mark, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return child, int(child.stdout.readline())


def test_programs_are_ended_in_the_order_that_is_asked_for(mark: Path):
    """Each ends before the next is asked to; those that the order does not name are killed."""
    log = mark / "log"
    for program in ("ndb_mgmd", "ndbmtd", "mysqld"):
        (mark / program).symlink_to("/bin/sh")
        # What is not in the order would answer too late, were it waited for.
        wait = "sleep 5; " if program == "ndb_mgmd" else ""
        body = f"trap '{wait}echo {program}; exit' TERM; echo ready >&2; "
        body += "while :; do sleep 0.02; done"
        child = LOCAL.spawn(
            [str(mark / program), "-c", body], mark,
            stdout=log.open("ab"), stderr=subprocess.PIPE,
        )  # fmt: skip
        child.stderr.readline()
    LOCAL.end(mark, order=("mysqld", "ndbmtd"), patience_s=10)
    assert log.read_text().split() == ["mysqld", "ndbmtd"]


def test_a_process_that_ignores_its_end_is_killed(mark: Path):
    """Once its time is up."""
    body = "import signal; signal.signal(15, signal.SIG_IGN); print(flush=True); signal.pause()"
    child = LOCAL.spawn([sys.executable, "-c", body], mark, stdout=subprocess.PIPE)
    child.stdout.readline()
    assert LOCAL.end(mark, order=(psutil.Process(child.pid).name(),), patience_s=0.1) == 1
    assert not psutil.pid_exists(child.pid)


def test_a_killed_process_leaves_no_memory_segment(tmp_path: Path):
    """Segments of other processes stay."""
    other, unrelated = segment_of_another_process(None)
    child, made = segment_of_another_process(tmp_path)
    try:
        LOCAL.kill(child)
        assert child.poll() == -9
        assert {unrelated, made} & segments() == {unrelated}
    finally:
        other.communicate("")
        ctypes.CDLL(None).shmctl(unrelated, 0, None)


def test_the_users_password_for_other_servers_is_not_handed_on(monkeypatch):
    """The library of sysbench would send it for an account that has none, and be refused."""
    monkeypatch.setenv("MYSQL_PWD", "secret")
    child = LOCAL.spawn(["printenv", "MYSQL_PWD"], stdout=subprocess.PIPE, text=True)
    assert child.communicate() == ("", None)


def test_only_what_matches_is_removed(tmp_path: Path):
    """Files and folders with all they hold; a link is removed, not what it points to."""
    (tmp_path / "mysqld.1/data").mkdir(parents=True)
    (tmp_path / "logs").mkdir()
    (tmp_path / "mysqld.2").symlink_to(tmp_path / "logs")
    LOCAL.remove(tmp_path, "mysqld.*", "nothing")
    assert [path.name for path in tmp_path.iterdir()] == ["logs"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root may give a folder away")
def test_a_folder_of_another_user_is_refused(tmp_path: Path):
    """Sockets in it would be at that user's mercy."""
    os.chown(tmp_path, 12345, -1)
    with pytest.raises(LabError, match="belongs to another user"):
        LOCAL.make_folder(tmp_path)


def test_a_taken_port_is_refused_with_its_owner():
    """The message names the port, the process that has it, and the option."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(LabError, match=f"Port {port} is taken") as caught:
            LOCAL.check_ports([port])
    assert str(os.getpid()) in str(caught.value)
    assert "--base-port" in str(caught.value)
    LOCAL.check_ports([port])


def test_an_address_of_another_kind_is_no_taken_port():
    """The nodes listen on IPv4; the message has the addresses that this host has."""
    with pytest.raises(LabError, match="fd00::1 is no address of this host") as caught:
        LOCAL.check_ports([45679], "fd00::1")
    assert "127.0.0.1" in str(caught.value)


def test_more_files_than_the_hard_limit_allows_are_refused():
    """The message says what may be done about it."""
    _, hard = local.resource.getrlimit(local.resource.RLIMIT_NOFILE)
    if hard == local.resource.RLIM_INFINITY:
        pytest.skip("no hard limit here")
    with pytest.raises(LabError, match="may not open enough files"):
        LOCAL.allow_open_files(hard + 1)


def test_cpu_time_and_memory_of_a_process_are_read():
    """Both of this process are there; a process that has ended is left out."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    use = LOCAL.process_use([os.getpid(), ended.pid])
    assert use.keys() == {os.getpid()}
    assert use[os.getpid()].cpu_s == pytest.approx(time.process_time(), abs=1)
    assert use[os.getpid()].rss_bytes > 10**6


def test_cpu_time_of_the_host_only_grows():
    """Busy, stolen and idle time are parts of the whole."""
    first, second = LOCAL.host_use(), LOCAL.host_use()
    assert second.total_s >= first.total_s > first.busy_s + first.steal_s > 0


def test_a_folder_that_others_may_enter_is_closed_to_them(tmp_path: Path):
    """One that root has made on a data disk, say: passwords and sockets come into it."""
    tmp_path.chmod(0o755)
    LOCAL.make_folder(tmp_path)
    assert tmp_path.stat().st_mode & 0o777 == 0o700
