"""Another host, reached by a real SSH server in a network namespace, does what this one does."""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from stand_ins import put_program

import waiting
from hosts.left import programs_of, wait_for_nothing
from hosts.named import add_settings, alias, as_other_user, shell
from ndblab.error import LabError
from ndblab.hosts import namespaces, remote, ssh
from ndblab.hosts.namespaces import Network
from ndblab.hosts.remote import Remote
from ndblab.machine import Machine, host
from ndblab.machine.commands import ChildFailed
from ndblab.machine.local import LOCAL

PIPES = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def there(network: Network) -> Iterator[Remote]:
    """The connection to host a that most tests share."""
    with remote.connect("a", network.hosts["a"].folder / "cluster") as connected:
        yield connected


@pytest.fixture(params=["here", "there"])
def machine(request: pytest.FixtureRequest) -> Machine:
    """This machine, and another host."""
    return LOCAL if request.param == "here" else request.getfixturevalue("there")


@pytest.fixture
def mark(tmp_path: Path, machine: Machine) -> Iterator[Path]:
    """A folder whose marked processes are ended whether the test passes or fails."""
    yield tmp_path
    machine.end(tmp_path)


def test_folders_of_killed_labs_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Nobody else would: the guards of hosts that were namespaces died with them."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    dead, alive = (tmp_path / f"ndblab-hosts-{pid}-x" for pid in (999_999_999, os.getpid()))
    (dead / "a/cluster").mkdir(parents=True)
    alive.mkdir()
    namespaces.remove_dead()
    assert [*tmp_path.iterdir()] == [alive]


def test_it_offers_all_that_a_machine_does(machine: Machine):
    """By the same names and parameters, so that one kind of machine can take another's place."""
    for name, asked in vars(Machine).items():
        if callable(asked) and not name.startswith("_"):
            offered = inspect.signature(getattr(machine, name)).parameters
            assert list(offered) == list(inspect.signature(asked).parameters)[1:], name


def test_a_program_runs_to_its_end(machine: Machine):
    """Its output comes back, of both streams."""
    assert machine.run(["sh", "-c", "echo out; echo err >&2"], what="no") == "out\nerr\n"


@pytest.mark.parametrize(
    ("argv", "found"),
    [
        (["sh", "-c", "echo some error; exit 3"], "some error"),
        (["/no/program"], "No such file"),
        (["sleep", "9"], "did not end"),
    ],
)
def test_a_program_that_fails_is_one_message(machine: Machine, argv: list[str], found: str):
    """The same on every host, except that another one is named."""
    with pytest.raises(ChildFailed, match="It failed") as caught:
        machine.run(argv, what="It failed", next_step="Try again.", timeout_s=0.1)
    assert found in str(caught.value)
    assert str(caught.value).startswith("It failed." if machine is LOCAL else "On a: It failed.")
    if "echo" in argv[-1]:
        assert caught.value.output == "some error\n"


def test_output_arrives_as_it_is_printed(machine: Machine):
    """Not only at the end: a load generator tells when its clients have connected."""
    body = "echo ready; read word; echo $word; echo wrong >&2; exit 5"
    child = machine.spawn(["sh", "-c", body], stdin=subprocess.PIPE, **PIPES)
    assert child.pid > 0
    assert select.select([child.stdout], [], [], 10)[0] == [child.stdout]
    assert child.stdout.readline() == "ready\n"
    assert child.poll() is None
    child.stdin.write("go\n")
    child.stdin.flush()
    assert child.stdout.readline() == "go\n"
    assert (child.stdout.read(), child.stderr.read()) == ("", "wrong\n")
    assert child.wait(10) == child.poll() == child.returncode == 5


def test_input_and_both_outputs_are_communicated(machine: Machine):
    """Text as text; after a timeout another call goes on and nothing is lost."""
    body = "import sys, time; print('first', flush=True); time.sleep(0.5); print(sys.stdin.read())"
    argv = [sys.executable, "-c", body]
    child = machine.spawn(argv, stdin=subprocess.PIPE, **PIPES)
    with pytest.raises(subprocess.TimeoutExpired):
        child.communicate("word", timeout=0.1)
    assert child.communicate(timeout=20) == ("first\nword\n", "")
    assert child.returncode == 0


def test_streams_may_be_joined_dropped_or_go_to_files_of_the_lab(machine: Machine, tmp_path: Path):
    """As the options of Popen say; bytes stay bytes."""
    argv = ["sh", "-c", "cat; printf '\\377'; echo x >&2"]
    given = tmp_path / "given"
    given.write_bytes(b"\x00given")
    with given.open("rb") as source, (tmp_path / "errors").open("wb") as errors:
        child = machine.spawn(argv, stdin=source, stdout=subprocess.PIPE, stderr=errors)
        assert child.communicate() == (b"\x00given\xff", None)
        assert child.wait() == 0
    assert (tmp_path / "errors").read_text() == "x\n"
    child = machine.spawn(["sh", "-c", "echo out; echo err >&2"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)  # fmt: skip
    assert child.communicate()[0] == b"out\nerr\n"


def test_much_output_arrives_whole_beside_other_requests(there: Remote):
    """A reader that is slow holds up its program, and nothing else."""
    body = "import os, sys\nfor n in range(400): sys.stdout.buffer.write(bytes([n % 256]) * 50000)"
    child = there.spawn([sys.executable, "-c", body], stdout=subprocess.PIPE)
    time.sleep(0.3)
    assert child.poll() is None
    assert there.usable_cpus() == LOCAL.usable_cpus()
    expected = b"".join(bytes([n % 256]) * 50000 for n in range(400))
    assert hashlib.sha256(child.stdout.read()).digest() == hashlib.sha256(expected).digest()
    assert child.wait(20) == 0


def test_more_programs_have_streams_than_a_connection_has_sessions(there: Remote):
    """sshd allows 10 sessions in a connection by default."""
    children = [there.spawn(["cat"], stdin=subprocess.PIPE, **PIPES) for _ in range(12)]
    for number, child in enumerate(children):
        child.stdin.write(f"{number}")
        child.stdin.close()
        assert (child.stdout.read(), child.stderr.read()) == (str(number), "")
        assert child.wait(20) == 0


def test_a_program_ends_when_nobody_reads_it_any_more(machine: Machine):
    """By SIGPIPE, as in a shell."""
    child = machine.spawn(["yes"], stdout=subprocess.PIPE)
    child.stdout.readline()
    child.stdout.close()
    assert child.wait(20) == -signal.SIGPIPE


def test_the_environment_and_the_log_are_those_of_that_host(machine: Machine, tmp_path: Path):
    """What is added to the environment arrives; output is appended to the log."""
    log = tmp_path / "log"
    machine.put(log, "before\n")
    argv = ["sh", "-c", "echo $WORD; echo error >&2"]
    assert machine.spawn(argv, env={"WORD": "out"}, log=log).wait() == 0
    assert machine.get(log) == "before\nout\nerror\n"


def test_a_missing_program_is_one_message(machine: Machine):
    """And leaves nothing to wait for."""
    with pytest.raises(LabError, match="could not be started"):
        machine.spawn(["/no/mysqld"])


def test_files_are_put_read_and_removed(machine: Machine, tmp_path: Path):
    """A missing one is empty."""
    folder = tmp_path / "made"
    machine.make_folder(folder)
    machine.put(folder / "config.ini", "[ndbd]\né\n")
    assert machine.get(folder / "config.ini") == "[ndbd]\né\n"
    assert machine.get(folder / "none") == ""
    machine.put(folder / "keep", "")
    machine.remove(folder, "config.*", "nothing")
    assert [path.name for path in folder.iterdir()] == ["keep"]
    assert folder.stat().st_mode & 0o777 == 0o700


def test_marked_processes_are_found_and_ended_in_order(machine: Machine, mark: Path):
    """Those of another cluster are not."""
    others = mark / "others"
    other = machine.spawn(["sleep", "600"], others)
    try:
        child = machine.spawn(["sleep", "601"], mark)
        (marked,) = machine.marked(mark)
        assert (marked.pid, marked.program, marked.argv) == (child.pid, "sleep", ("sleep", "601"))
        assert marked.rss_bytes > 0
        assert machine.end(mark, ("sleep",), 5) == 1
        assert child.wait(10) is not None
        assert machine.marked(mark) == []
        assert other.poll() is None
    finally:
        machine.end(others)


def test_signals_reach_a_process(machine: Machine, mark: Path):
    """Frozen it does nothing, terminated it may clean up, killed it ends."""
    body = "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.02; done"
    child = machine.spawn(["sh", "-c", body], mark, **PIPES)
    child.stdout.readline()
    child.send_signal(signal.SIGSTOP)
    child.terminate()
    assert select.select([child.stdout], [], [], 0.2)[0] == []
    child.send_signal(signal.SIGCONT)
    assert child.stdout.readline() == "bye\n"
    assert child.wait(10) == 0
    killed = machine.spawn(["sleep", "600"], mark)
    killed.kill()
    assert killed.wait(10) == -signal.SIGKILL


def test_a_process_is_killed_with_all_that_it_has_started(machine: Machine, mark: Path):
    """If its session is to be killed too; else alone."""
    argv = ["sh", "-c", "sleep 600 & echo ready; wait"]

    def running() -> list[str]:
        return [process.program for process in machine.marked(mark)]

    for session, left in ((False, ["sleep"]), (True, [])):
        child = machine.spawn(argv, mark, **PIPES)
        child.stdout.readline()
        machine.kill(child, session)
        assert child.poll() == -signal.SIGKILL
        waiting.until(lambda left=left: running() == left, 10, f"{left}", seen=running)
        machine.end(mark)


def test_taken_ports_and_strange_addresses_are_refused(
    machine: Machine, network: Network, mark: Path
):
    """Of the address that is asked for, with the one who has it."""
    own = network.address if machine is LOCAL else network.hosts["a"].address
    body = f"import socket, time; s = socket.create_server(('{own}', 45678)); print('up')"
    argv = [sys.executable, "-uc", f"{body}; time.sleep(600)"]
    child = machine.spawn(argv, mark, **PIPES)
    assert child.stdout.readline() == "up\n"
    machine.check_ports([45678])
    with pytest.raises(LabError, match="Port 45678 is taken") as caught:
        machine.check_ports([45677, 45678], own)
    assert f"process {child.pid}" in str(caught.value)
    with pytest.raises(LabError, match="no address of this host") as caught:
        machine.check_ports([45678], network.hosts["b"].address)
    assert own in str(caught.value)


def test_limits_are_raised_for_programs_that_start_later(there: Remote):
    """Up to the hard limit, and not beyond."""
    hard = int(there.run(["sh", "-c", "ulimit -Hn"], what="no"))
    there.allow_open_files(min(hard, 2000))
    assert int(there.run(["sh", "-c", "ulimit -Sn"], what="no")) >= min(hard, 2000)
    with pytest.raises(LabError, match="On a: This process may not open enough files"):
        there.allow_open_files(hard + 1)


def test_the_host_is_described_as_it_describes_itself(there: Remote):
    """CPUs, memory and kernel; these namespaces are on this machine."""
    described, here = there.host(), host.read()
    assert (described.fingerprint, described.cpus) == (here.fingerprint, here.cpus)
    assert there.usable_cpus() == LOCAL.usable_cpus()
    assert there.run(["hostname"], what="no") == "a\n"


def test_use_is_dated_by_the_clock_of_this_machine(there: Remote):
    """Though the clock there is 1000 s ahead, and process ids are that host's."""
    pid = there.agent_pid
    before, use, after = time.monotonic(), there.process_use([pid, 999_999]), time.monotonic()
    assert use.keys() == {pid}
    assert use[pid].rss_bytes > 10**6
    slack_s = 0.05
    assert before - slack_s <= use[pid].at_s <= after + slack_s
    for read in (there.host_use, there.company):
        assert before - slack_s <= read().at_s <= time.monotonic() + slack_s
    assert there.host_use().total_s == pytest.approx(LOCAL.host_use().total_s, abs=5)


def test_clocks_are_compared(there: Remote):
    """It is the same clock here."""
    assert abs(there.clock_offset_ms()) < 50


def test_control_groups_limit_the_processes_of_that_host(there: Remote, mark: Path):
    """Made, checked, lifted and removed there."""
    if host.read().cpu_controller.kind not in ("cgroup1", "cgroup2"):
        pytest.skip("no control groups here")
    groups = there.groups("ndblab-several-hosts")
    try:
        groups.claim()
        groups.create("sql/mysqld.1", 0.5)
        child = there.spawn(["sleep", "600"], mark)
        groups.place("sql/mysqld.1", child.pid)
        groups.check("sql/mysqld.1", child.pid)
        assert there.run([*groups.entering("sql/mysqld.1"), "echo", "in"], what="no") == "in\n"
        with pytest.raises(LabError, match="On a: Process 1 has lost its CPU limit"):
            groups.check("sql/mysqld.1", 1)
        groups.lift()
        there.end(mark)
    finally:
        groups.remove()
    assert not groups.base.exists()


def test_a_tree_is_copied_and_replaced_by_another(there: Remote, tmp_path: Path):
    """With its permissions and links; nothing of an older copy remains."""
    source, copy = tmp_path / "source", tmp_path / "copy"
    (source / "bin").mkdir(parents=True)
    (source / "bin/mysqld").write_bytes(os.urandom(3_000_000))
    (source / "bin/mysqld").chmod(0o755)
    (source / "link").symlink_to("bin/mysqld")
    there.send_tree(source, copy)
    assert (copy / "bin/mysqld").read_bytes() == (source / "bin/mysqld").read_bytes()
    assert os.access(copy / "bin/mysqld", os.X_OK)
    assert os.readlink(copy / "link") == "bin/mysqld"
    (source / "bin/mysqld").rename(source / "bin/ndbmtd")
    there.send_tree(source, copy)
    assert [path.name for path in (copy / "bin").iterdir()] == ["ndbmtd"]


def test_a_tree_never_replaces_a_users_folder(there: Remote, tmp_path: Path):
    """However much was to be sent."""
    (tmp_path / "source").mkdir()
    (tmp_path / "source/large").write_bytes(bytes(5_000_000))
    (tmp_path / "home").mkdir()
    (tmp_path / "home/thesis.tex").touch()
    with pytest.raises(LabError, match=r"On a: .*contains other files"):
        there.send_tree(tmp_path / "source", tmp_path / "home")
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["thesis.tex"]


def test_a_users_folder_is_no_folder_of_a_cluster(there: Remote, tmp_path: Path):
    """Not even if a file in it is named as one of the lab's."""
    (tmp_path / "app").mkdir()
    (tmp_path / "app/state.json").write_text("{}")
    (tmp_path / "app/thesis.tex").touch()
    with (
        pytest.raises(LabError, match="contains other files"),
        remote.connect("a", tmp_path / "app"),
    ):
        pass
    assert {path.name for path in (tmp_path / "app").iterdir()} == {"state.json", "thesis.tex"}


def test_logs_are_fetched(there: Remote, tmp_path: Path):
    """Those that match; a folder that is not there is empty."""
    logs = tmp_path / "there/logs"
    logs.mkdir(parents=True)
    (logs / "mysqld.1.out").write_text("one\n" * 100_000)
    (logs / "data").write_text("two")
    there.fetch_tree(logs.parent, tmp_path / "here", "logs/*.out")
    fetched = [p.relative_to(tmp_path / "here") for p in (tmp_path / "here").rglob("*")]
    assert {str(path) for path in fetched} == {"logs", "logs/mysqld.1.out"}
    assert (tmp_path / "here/logs/mysqld.1.out").read_text() == "one\n" * 100_000
    there.fetch_tree(tmp_path / "nowhere", tmp_path / "empty")
    assert list((tmp_path / "empty").iterdir()) == []


def test_a_full_disk_there_is_one_message_with_the_hosts_name(there: Remote, tmp_path: Path):
    """For a file, a log and a tree; nothing half-sent remains."""
    small, source = tmp_path / "small", tmp_path / "source"
    small.mkdir()
    source.mkdir()
    (source / "large").write_bytes(bytes(3_000_000))
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(small)]
    there.run(mount, what="no small disk")
    try:
        with pytest.raises(LabError, match="On a: The disk is full"):
            there.send_tree(source, small / "copy")
        assert there.run(["ls", "-A", str(small)], what="no") == ""
        with pytest.raises(LabError, match="On a: The disk is full"):
            there.put(small / "config.ini", "x" * 1_000_000)
        with pytest.raises(LabError, match="On a: ") as caught:
            there.spawn(["true"], log=small / "none/log")
        assert "none/log" in str(caught.value)
    finally:
        there.run(["umount", str(small)], what="no")


def test_one_host_is_not_used_twice_for_one_cluster(there: Remote, network: Network):
    """Under two names, or by two labs."""
    again = f"ssh://root@{network.hosts['a'].address}:22"
    address, key = network.hosts["a"].address, network.folder / "key"
    add_settings(network, f"Host {address}\n IdentityFile {key}\n")
    with pytest.raises(LabError, match="in use already"), remote.connect(again, there.folder):
        pass
    with remote.connect("a", there.folder.with_name("other")) as own:
        assert own.run(["echo", "fine"], what="no") == "fine\n"
    assert there.run(["echo", "still there"], what="no") == "still there\n"


def test_hosts_do_not_share_a_folder(there: Remote):
    """As they would where the users' homes are on a file server."""
    with (
        pytest.raises(LabError, match=r"On b: .* in use by another host") as caught,
        remote.connect("b", there.folder),
    ):
        pass
    assert "a has locked it" in str(caught.value)


def test_nothing_is_left_after_the_block(network: Network, tmp_path: Path):
    """No process, folder or agent; also not if the block ends by an error."""
    folder = tmp_path / "cluster"

    def use(error: type[Exception] | None) -> None:
        with remote.connect("b", folder) as machine:
            machine.spawn(["sleep", "600"])
            machine.put(machine.folder / "data", "x")
            if error:
                raise error

    use(None)
    assert not folder.exists()
    with pytest.raises(ZeroDivisionError):
        use(ZeroDivisionError)
    assert not folder.exists()
    wait_for_nothing(network, "b", folder)


LAB = """
import sys, time
from pathlib import Path
from ndblab.hosts import remote, ssh
ssh.SOCKETS = Path(sys.argv[4])
with remote.connect(sys.argv[1], Path(sys.argv[2]), silence_s=float(sys.argv[3])) as machine:
    machine.spawn(["sh", "-c", "trap '' TERM HUP INT; sleep 600 & sleep 601"], machine.folder)
    machine.spawn(["sleep", "602"])
    group = ""
    try:
        groups = machine.groups("ndblab-several-hosts-dead")
        groups.claim()
        groups.create("data", 0.5)
        group = groups.base
    except Exception as error:
        print(error, file=sys.stderr)
    print(group, flush=True)
    time.sleep(600)
"""


@contextlib.contextmanager
def lab(
    name: str, folder: Path, silence_s: float, sockets: str = "/tmp"
) -> Iterator[tuple[subprocess.Popen, str]]:
    """Another lab, which has started programs on a host; yield it and its control group there."""
    argv = [sys.executable, "-c", LAB, name, str(folder), str(silence_s), sockets]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def test_a_lab_that_is_killed_leaves_nothing_on_a_host(network: Network, tmp_path: Path):
    """No process, however stubborn; no control group, no folder, no agent, no connection."""
    folder = tmp_path / "cluster"
    with lab("b", folder, 20) as (process, group):
        assert len(programs_of(network, "b")) >= 5
        process.kill()
        process.wait()
        assert wait_for_nothing(network, "b", folder) < 10
    assert list(tmp_path.iterdir()) == []
    limits_cpus = host.read().cpu_controller.kind in ("cgroup1", "cgroup2")
    assert bool(group) == limits_cpus
    assert not group or not Path(group).exists()


def test_a_lab_that_is_killed_leaves_no_half_of_a_copy(network: Network, tmp_path: Path):
    """Nor the connection's; a copy that was complete stays."""
    source, there = tmp_path / "source", tmp_path / "there"
    source.mkdir()
    with (source / "large").open("wb") as file:
        file.truncate(300_000_000)
    body = (
        "import sys\nfrom pathlib import Path\nfrom ndblab.hosts import remote\n"
        "source, there = map(Path, sys.argv[1:])\n"
        "with remote.connect('b', there / 'cluster') as machine:\n"
        "    machine.send_tree(source, there / 'copy')\n"
    )
    with subprocess.Popen([sys.executable, "-c", body, source, there]) as process:
        waiting.until(lambda: [*there.glob(".copy.*.partial/large")], 30, "half a copy", 0.01)
        process.kill()
    wait_for_nothing(network, "b", there / "cluster")
    assert list(there.iterdir()) == []


def test_a_network_that_is_cut_leaves_nothing_on_a_host(network: Network, tmp_path: Path):
    """Within the time that it may be silent; the lab says which host it has lost, and why."""
    folder, silence_s = tmp_path / "cluster", 3
    cut = network.hosts["c"]
    with remote.connect("c", folder, silence_s) as machine:
        child = machine.spawn(["sleep", "600"], stdout=subprocess.PIPE)
        cut.link("down")
        try:
            began = time.monotonic()
            assert child.stdout.read() == b""
            with pytest.raises(LabError, match="The connection to c is lost"):
                child.wait()
            assert time.monotonic() - began < 2 * silence_s
            wait_for_nothing(network, "c", folder, 2 * silence_s)
            child.kill()
            with pytest.raises(LabError, match="The connection to c is lost") as caught:
                machine.run(["true"], what="no")
        finally:
            cut.link("up")
    assert "found:    no answer for" in str(caught.value)
    assert "completed runs are saved" in str(caught.value)
    with remote.connect("c", folder, silence_s) as machine:
        assert machine.marked(folder) == []


def test_loss_in_one_direction_is_noticed_too(network: Network, tmp_path: Path):
    """What the lab says does not arrive, what the host says does."""
    folder, silence_s = tmp_path / "cluster", 2
    with remote.connect("c", folder, silence_s) as machine:
        machine.spawn(["sleep", "600"])
        network.hosts["c"].drop_from(network.address)
        try:
            wait_for_nothing(network, "c", folder, 3 * silence_s)
        finally:
            network.hosts["c"].accept_all()


def test_the_next_lab_waits_for_the_cleaning_up_after_a_dead_one(network: Network, tmp_path: Path):
    """Rather than meet its processes or lose its own to the guard."""
    folder = tmp_path / "cluster"
    with lab("b", folder, 20) as (process, _):
        process.kill()
        with remote.connect("b", folder) as machine:
            assert machine.marked(folder) == []
            child = machine.spawn(["sleep", "600"])
            time.sleep(0.5)
            assert child.poll() is None


def test_no_connection_leaves_its_socket(
    network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Neither a lab that ends nor one that is killed."""
    with tempfile.TemporaryDirectory(dir="/tmp") as sockets:
        monkeypatch.setattr(ssh, "SOCKETS", Path(sockets))
        with remote.connect("b", tmp_path / "cluster"):
            assert len(os.listdir(sockets)) == 1
        assert os.listdir(sockets) == []
        with lab("b", tmp_path / "cluster", 20, sockets) as (process, _):
            assert len(os.listdir(sockets)) == 1
            process.kill()
            waiting.until(lambda: not os.listdir(sockets), 20, "the end of its connection")


def refused(destination: str, folder: Path) -> str:
    """The message of a connection that is refused."""
    with pytest.raises(LabError) as caught, remote.connect(destination, folder / "never"):
        pass
    return str(caught.value)


@pytest.fixture
def difficult(network: Network, tmp_path: Path) -> Network:
    """Names for the host a that lead to trouble."""
    old = put_program(
        tmp_path / "programs/python3",
        '#!/bin/sh\ncase "$*" in *version_info*) exit 1;; *--version*) echo Python 3.6.8;; esac\n',
    )
    other = put_program(
        tmp_path / "other/python3", '#!/bin/sh\nexec setarch i686 /usr/bin/python3 "$@"\n'
    )
    for name, path in {
        "no-python": "/nowhere",
        "old-python": old.parent,
        "other-kind": f"{other.parent}:/usr/bin:/bin",
    }.items():
        alias(network, name, "a", shell(f"PATH={path}"))
    alias(network, "no-shell", "a", 'command="echo This account is closed."')
    alias(network, "new", "a", more=" UserKnownHostsFile /dev/null\n")
    add_settings(network, f"Host closed\n HostName {network.stranger.address}\n")
    return network


def test_every_refusal_is_one_message_with_the_hosts_name(difficult: Network, tmp_path: Path):
    """Each says what was found, what was expected, and what to do."""
    expected = {
        "closed": ("cannot be reached", "Connection refused"),
        "new": ("is not known", "verification failed"),
        "no-python": ("no suitable Python", "not found"),
        "old-python": ("no suitable Python", "Python 3.6.8"),
        "other-kind": ("another kind", "i686"),
        "no-shell": ("no connection", "This account is closed."),
    }
    for name, (what, found) in expected.items():
        message = refused(name, tmp_path)
        first, found_line, expected_line, next_line, *rest = message.splitlines()
        assert name in first
        assert what in first
        assert found in found_line
        assert expected_line.startswith("  expected: ")
        assert next_line.startswith("  next:     ")
        assert rest == []
    assert not (tmp_path / "never").exists()


def test_a_process_may_make_several_networks(network: Network, tmp_path: Path):
    """Each with links and addresses of its own; the end of one leaves the others as they are."""
    with namespaces.network("ab", tmp_path / "hosts") as other:
        assert other.address != network.address
        assert {host.space for host in other.hosts.values()}.isdisjoint(
            host.space for host in network.hosts.values()
        )
    assert network.hosts["a"].address in network.hosts["a"].run("ip", "address")
    with remote.connect("a", tmp_path / "cluster") as machine:
        assert machine.run(["hostname"], what="no") == "a\n"


def test_no_ssh_client_is_one_message(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """With the package that has one."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LabError, match="no SSH client"), remote.connect("a", tmp_path):
        pass


def test_what_a_hosts_shell_prints_does_not_matter(network: Network, tmp_path: Path):
    """A greeting before the agent's own words, and before those of a program."""
    alias(network, "talkative", "a", shell("echo Welcome; echo 1234 >&2"))
    with remote.connect("talkative", tmp_path / "cluster") as machine:
        assert machine.run(["echo", "fine"], what="no") == "fine\n"
        child = machine.spawn(["sh", "-c", "echo out; echo err >&2"], **PIPES)
        assert child.communicate(timeout=20) == ("out\n", "err\n")


def test_a_connection_that_the_user_shares_is_used(network: Network, tmp_path: Path):
    """Whose login may have taken a password; it outlives the lab's use of it."""
    address, socket_path = network.hosts["a"].address, f"/tmp/ndblab-shared-{os.getpid()}"
    add_settings(network, f"Host shared\n HostName {address}\n ControlPath {socket_path}\n")
    key = ["-o", "ControlMaster=yes", "-i", f"{network.folder}/key"]
    with subprocess.Popen(["ssh", *key, "-N", "shared"]) as master:
        waiting.until(Path(socket_path).exists, 20, "the shared connection")
        # Only the shared connection lets the user in.
        add_settings(network, "Host shared\n IdentityFile /nowhere\n")
        try:
            with remote.connect("shared", tmp_path / "cluster") as machine:
                options = {"stdin": subprocess.PIPE, **PIPES}
                children = [machine.spawn(["cat"], **options) for _ in range(9)]
                with pytest.raises(LabError, match="shared allows no further session"):
                    machine.spawn(["cat"], **options)
                assert children[0].communicate("fine", timeout=20) == ("fine", "")
            assert master.poll() is None
        finally:
            master.terminate()


def test_a_host_behind_another_is_reached_by_the_users_settings(network: Network, tmp_path: Path):
    """A jump host, as ssh_config names it."""
    alias(network, "behind", "b", more=" ProxyJump a\n")
    with remote.connect("behind", tmp_path / "cluster") as machine:
        assert machine.run(["hostname"], what="no") == "b\n"
        client = machine.run(["sh", "-c", "echo $SSH_CLIENT"], what="no")
    assert client.split()[0] == network.hosts["a"].address


def test_an_ordinary_user_needs_no_rights(network: Network):
    """What only root may do is one message; what is left by a dead lab is removed all the same."""
    with tempfile.TemporaryDirectory(dir="/tmp") as home:
        os.chown(home, 12345, 12345)
        alias(network, "ordinary", "b", as_other_user(home))
        with remote.connect("ordinary", Path(".cache/ndblab/cluster")) as machine:
            assert machine.run(["id", "-u"], what="no") == "12345\n"
            assert machine.folder == Path(home) / ".cache/ndblab/cluster"
            child = machine.spawn(["sleep", "600"])
            assert [marked.pid for marked in machine.marked(machine.folder)] == [child.pid]
            assert machine.process_use([child.pid])[child.pid].rss_bytes > 0
            with pytest.raises(LabError, match="On ordinary: "):
                machine.put(Path("/etc/ndblab"), "x")
            with pytest.raises(LabError, match="The connection to ordinary is lost"):
                machine.run(["kill", "-KILL", str(machine.agent_pid)], what="no")
        wait_for_nothing(network, "b", machine.folder)


def test_hosts_reach_each_other_and_a_stranger_has_no_way_in(network: Network):
    """The network itself: every host has its own address."""
    for name in ("b", "c"):
        with socket.create_connection((network.hosts[name].address, 22), timeout=5) as reached:
            assert reached.recv(4) == b"SSH-"
    probe = f"import socket; print(socket.create_connection(('{network.hosts['b'].address}', 22)))"
    assert network.address.rsplit(".", 1)[0] in network.stranger.run(sys.executable, "-c", probe)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((network.stranger.address, 22), timeout=5)
    assert json.loads(network.hosts["a"].run("ip", "-j", "link"))[0]["ifname"] == "lo"
