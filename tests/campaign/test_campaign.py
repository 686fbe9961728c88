"""The campaign of faults: what is drawn, where it strikes, what is looked for, what is counted."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from ndblab import benchmarks, dataset
from ndblab.campaign import aftermath, assessment, disk, run, steps, trial
from ndblab.campaign import lane as lanes
from ndblab.campaign.assessment import Judgement
from ndblab.campaign.lane import Ended, Lane
from ndblab.campaign.trial import KINDS, Trial, draw
from ndblab.campaign.victim import CRASHED, INTERRUPTED, MEASURED, TOLD, Order
from ndblab.cluster import datadir, lease, lifecycle
from ndblab.cluster.cluster import Cluster
from ndblab.error import LabError
from ndblab.machine import host
from ndblab.machine.local import LOCAL, MARK
from ndblab.planning import deployment
from small_runs import BASE, IDENTITY, tables

PORT = 14960
KILLED = -signal.SIGKILL


def test_a_fault_depends_on_its_seed_and_number_only():
    """The K-th can be repeated alone; another seed gives other faults."""
    whole = [draw(1, number) for number in range(1, 50)]
    assert draw(1, 17) == whole[16]
    assert whole != [draw(2, number) for number in range(1, 50)]


def test_two_hundred_faults_are_of_every_kind_and_strike_everywhere():
    """Every kind, node, disk, load and signal is drawn, and nearly every step."""
    drawn = [draw(1, number) for number in range(1, 201)]
    assert {each.kind for each in drawn} == set(KINDS)
    assert {(e.role, e.node) for e in drawn if e.role} == set(trial.NODES)
    assert {e.disk for e in drawn} == {"", "runs", "cluster"}
    assert {e.load for e in drawn} == {"", "sysbench", "client"}
    assert {e.signal for e in drawn} == {"", "SIGKILL", "SIGTERM", "SIGINT"}
    assert any(e.watcher for e in drawn)
    assert len({e.step for e in drawn}) > len(steps.STEPS) * 0.8


def test_control_groups_are_a_step_only_where_there_are_some():
    """A blow at a step that is never reached would tell nothing."""
    scaled = {step.where for step in steps.STEPS if step.scaled}
    drawn = [draw(3, number) for number in range(1, 400)]
    assert {e.budget for e in drawn if e.step in scaled} == {"scaled"}


def test_one_kind_can_be_asked_for_without_changing_any_fault():
    """The numbers are those of the whole campaign, the others are passed over."""
    numbers = trial.numbers(1, 1, 5, "disk-full")
    assert len(numbers) == 5
    assert {draw(1, number).kind for number in numbers} == {"disk-full"}
    assert trial.numbers(1, 7, 3) == [7, 8, 9]
    with pytest.raises(LabError) as error:
        trial.numbers(1, 1, 5, "disk-ful")
    assert "disk-full" in error.value.expected


@pytest.mark.parametrize("kind", KINDS)
def test_every_fault_is_told_in_words(kind: str):
    """The log says what was done, where and when."""
    one = draw(1, trial.numbers(1, 1, 1, kind)[0])
    assert one.words().startswith(f"{kind}: ")
    assert json.loads(json.dumps(one.to_dict()))["kind"] == kind


@pytest.mark.parametrize("step", steps.STEPS, ids=lambda step: step.where)
def test_every_step_is_a_function_of_the_lab(step: steps.Step):
    """A step that was renamed is noticed here, not by a campaign that strikes at nothing."""
    owner, name = steps._owner(step.where)
    assert callable(getattr(owner, name))


class Stage:
    """A stand-in for a module: a function, and a class with a method and a class method."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def play(self, what: str) -> str:
        self.done.append(what)
        return what.upper()

    @classmethod
    def made(cls) -> Stage:
        return cls()


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a class whose steps may be struck; it is as before afterwards."""
    for name in ("play", "made"):
        monkeypatch.setattr(Stage, name, Stage.__dict__[name])
    return f"{__name__}:Stage"


@pytest.mark.parametrize(("after", "done"), [(False, ["a"]), (True, ["a", "b"])])
def test_a_blow_falls_before_or_after_the_call_it_is_meant_for(stage, after, done):
    """Not at an earlier call, and once only."""
    fallen: list[list[str]] = []
    one = Stage()
    steps.strike_at(f"{stage}.play", 2, after, lambda: fallen.append(list(one.done)))
    assert [one.play(each) for each in "abc"] == ["A", "B", "C"]
    assert fallen == [done]


def test_a_class_method_can_be_a_step(stage):
    """It still gives what it gave."""
    fallen: list[str] = []
    steps.strike_at(f"{stage}.made", 1, True, lambda: fallen.append("here"))
    assert isinstance(Stage.made(), Stage)
    assert fallen == ["here"]


def victims(order: Order, body: str) -> subprocess.CompletedProcess:
    """Run a victim whose measurement is `body`, in a process of its own."""
    program = f"import json, sys\nfrom ndblab.campaign import victim\n{body}\n"
    program += "victim.measure = measure\n"
    program += "sys.exit(victim.main(victim.Order(**json.loads(sys.argv[1]))))\n"
    argv = [sys.executable, "-c", program, order.to_json()]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("body", "code", "told"),
    [
        ("pass", MEASURED, ""),
        ("from ndblab.error import LabError; raise LabError('No disk')", TOLD, "No disk."),
        ("open('/nowhere/file')", TOLD, "/nowhere/file: No such file or directory."),
        ("raise OSError(28, 'No space left')", CRASHED, "Traceback"),
        ("raise KeyboardInterrupt", INTERRUPTED, "interrupted"),
        ("1 / 0", CRASHED, "ZeroDivisionError"),
    ],
)
def test_a_victim_ends_as_the_lab_would_and_tells_it(body: str, code: int, told: str):
    """One message is one thing, a traceback another: no user should see the latter."""
    done = victims(Order("runs", PORT), f"def measure(order): {body}")
    assert done.returncode == code
    assert told in json.loads(done.stdout)["text"]


@pytest.mark.parametrize(("blow", "code"), [("SIGKILL", KILLED), ("SIGINT", INTERRUPTED)])
def test_a_victim_is_struck_at_its_step(blow: str, code: int):
    """It tells that the blow fell before it is gone."""
    order = Order("runs", PORT, blow=blow, step="os:rename", call=1)
    done = victims(order, "def measure(order):\n import os\n os.rename('/nowhere', '/nothing')")
    assert done.returncode == code
    assert json.loads(done.stdout.splitlines()[0])["struck"] == "os:rename"


def test_the_watcher_of_a_victim_can_be_killed_with_it(tmp_path: Path):
    """Then nobody cleans up before the next start."""
    body = f"""
def measure(order):
    import os, pathlib
    from ndblab.cluster import watchdog
    watcher = watchdog.start(pathlib.Path({str(tmp_path)!r}), os.open("/dev/null", os.O_RDONLY))
    print(json.dumps({{"watcher": watcher.pid}}), flush=True)
    os.rename("/nowhere", "/nothing")
"""
    order = Order("runs", PORT, blow="SIGKILL", step="os:rename", call=1, watcher=True)
    done = victims(order, body)
    assert done.returncode == KILLED
    assert aftermath.watchers(tmp_path) == []


def test_a_victim_ends_with_its_campaign():
    """A campaign that is killed leaves no measurement that goes on."""
    program = "import time\nfrom ndblab.campaign import victim\nvictim.end_with_campaign()\n"
    argv = [sys.executable, "-c", f"{program}print(flush=True)\ntime.sleep(60)\n"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        assert child.poll() is None
        child.stdin.close()
        assert child.wait(20) == -signal.SIGTERM


def test_a_victim_counts_the_calls_of_each_step():
    """That is how the table of steps is kept true."""
    order = Order("runs", PORT, count=True)
    done = victims(
        order,
        "def measure(order):\n import os\n"
        " for n in range(3):\n  os.fsync(os.open('/tmp', os.O_RDONLY))",
    )
    calls = json.loads(done.stdout)["calls"]
    assert (calls["os:fsync"], calls["os:rename"]) == (3, 0)


@pytest.mark.parametrize(
    ("drawn", "code", "struck", "well"),
    [
        (Trial(1, "lab-killed", signal="SIGKILL"), KILLED, True, True),
        (Trial(1, "lab-killed", signal="SIGKILL"), MEASURED, False, True),
        (Trial(1, "lab-killed", signal="SIGKILL"), TOLD, False, False),
        (Trial(1, "terminated", signal="SIGINT"), INTERRUPTED, True, True),
        (Trial(1, "terminated", signal="SIGINT"), CRASHED, True, False),
        (Trial(1, "terminated", signal="SIGTERM"), -signal.SIGTERM, True, True),
        (Trial(1, "disk-full", disk="runs"), TOLD, True, True),
        (Trial(1, "disk-full", disk="runs"), TOLD, False, False),
        (Trial(1, "disk-full", disk="runs"), CRASHED, True, False),
        (Trial(1, "disk-full", disk="runs"), None, True, False),
        (Trial(1, "load-stopped", load="sysbench"), MEASURED, True, True),
        (Trial(1, "load-stopped", load="sysbench"), TOLD, True, False),
        (Trial(1, "node-killed", role="mysqld", node=1), MEASURED, True, True),
        (Trial(1, "node-killed", role="mysqld", node=1), MEASURED, False, False),
    ],
)
def test_a_lab_may_end_by_its_signal_well_or_with_one_message(drawn, code, struck, well):
    """It never hangs, never shows a traceback, and fails for no reason but the fault."""
    ended = Ended(code, {"struck": "here"} if struck else {})
    assert (assessment.complaint(drawn, ended) == "") is well


def test_a_node_is_killed_started_and_waited_for():
    """The faults of nodes are those of the lab, at a moment that was drawn."""
    killed = Trial(1, "node-killed", role="ndbmtd", node=2, moment_s=0.5)
    frozen = Trial(1, "node-frozen", role="mysqld", node=1, moment_s=0.5, pause_s=1.25)
    what = [(each[0], each[1]) for each in assessment.actions(killed)]
    assert what == [(0.5, "kill"), (0.5, "start"), (0.5, "wait")]
    what = [(each[0], each[1]) for each in assessment.actions(frozen)]
    assert what == [(0.5, "freeze"), (1.75, "thaw"), (1.75, "wait")]


def test_a_process_that_was_left_is_named(tmp_path: Path):
    """One with the cluster's mark is found, and found no more once it has ended."""
    child = LOCAL.spawn(["sleep", "600"], tmp_path, log=tmp_path / "log")
    try:
        assert str(child.pid) in aftermath.processes(tmp_path)
    finally:
        LOCAL.end(tmp_path)
    child.wait()
    assert aftermath.processes(tmp_path) == ""


def test_a_port_or_socket_that_was_left_is_named(tmp_path: Path):
    """A port that somebody listens on, and the file of a socket."""
    assert aftermath.ports(tmp_path, PORT) == ""
    (tmp_path / "mysql.1.sock").touch()
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", PORT + 1))
        other.listen()
        found = aftermath.ports(tmp_path, PORT)
    assert str(PORT + 1) in found
    assert "mysql.1.sock" in found


def test_a_segment_is_an_orphan_once_nobody_uses_it_and_its_maker_is_dead(tmp_path: Path):
    """One that is attached, or whose maker lives, may yet be used."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    rows = [(1, gone.pid, 0), (2, gone.pid, 2), (3, os.getpid(), 0)]
    text = "key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime rss swap\n"
    for shmid, maker, attached in rows:
        text += f"0 {shmid} 1600 4096 {maker} 0 {attached} 0 0 0 0 0 0 0 4096 0\n"
    table = tmp_path / "shm"
    table.write_text(text)
    assert aftermath.orphaned_segments(table) == {1}


def test_leaks_are_looked_for_until_they_are_gone(tmp_path: Path):
    """What a watcher ends in time is no leak."""
    child = subprocess.Popen(["sleep", "2"], env={**os.environ, MARK: str(tmp_path)})
    found = aftermath.leaks(tmp_path, PORT, aftermath.orphaned_segments(), patience_s=0)
    assert found["processes"]
    found = aftermath.leaks(tmp_path, PORT, aftermath.orphaned_segments(), patience_s=10)
    child.wait()
    assert not any(found.values())


@pytest.fixture
def written(tmp_path: Path) -> dataset.Writer:
    """A dataset that is being written, with one run of two."""
    writer = dataset.Writer.open(tmp_path, "multi-server-scaling", IDENTITY, BASE)
    writer.append("s01_c0001_r1", tables("s01_c0001_r1"))
    yield writer
    writer.close()


def second(writer: dataset.Writer) -> None:
    """Append the second run and finish."""
    writer.append("s01_c0001_r2", tables("s01_c0001_r2", started_utc="2021-09-30T12:00:09Z"))
    writer.finish()


def test_a_dataset_that_was_gone_on_with_is_sound(written, tmp_path: Path):
    """All runs are there, the first one as it was."""
    kept = aftermath.whole_runs(tmp_path)
    assert kept == {"s01_c0001_r1": "2021-09-30T12:00:00Z"}
    second(written)
    assert aftermath.unfinished(tmp_path, kept, repeats=2) == ""
    assert aftermath.damaged(tmp_path) == ""


def test_a_dataset_that_nobody_went_on_with_is_found(written, tmp_path: Path):
    """It would stay unfinished for ever."""
    assert "not gone on with" in aftermath.unfinished(tmp_path, {}, repeats=2)
    assert aftermath.unfinished(tmp_path / "empty", {}, repeats=2) == "no dataset"


def test_a_whole_run_that_was_measured_again_is_found(written, tmp_path: Path):
    """A kept run has the time at which it began."""
    second(written)
    earlier = {"s01_c0001_r1": "2021-09-30T11:00:00Z"}
    assert "lost: s01_c0001_r1" in aftermath.unfinished(tmp_path, earlier, repeats=2)


def test_a_dataset_that_was_changed_is_damaged(written, tmp_path: Path):
    """A complete one by its sums, an unfinished one by its tables."""
    (part,) = tmp_path.glob("*/*/parts/*/runs.csv")
    whole = part.read_bytes()
    part.write_bytes(whole[:-20])
    assert written.id in aftermath.damaged(tmp_path)
    part.write_bytes(whole)
    second(written)
    table = written.path / "intervals.csv"
    table.write_text(table.read_text().replace("1200.25", "1200.26"))
    assert "intervals.csv is not the file that was measured" in aftermath.damaged(tmp_path)


def test_a_half_written_file_is_litter(written, tmp_path: Path):
    """The next measurement cleans up after the last one."""
    second(written)
    (written.path.parent / ".x-1.tmp").mkdir()
    assert ".x-1.tmp" in aftermath.unfinished(tmp_path, {}, repeats=2)


def line(number: int, kind: str = "lab-killed", **checks: str) -> dict:
    """A line of the log, as a trial gives it."""
    drawn = Trial(number, kind, signal="SIGKILL")
    return run.made(drawn, lambda: Judgement({"message": "", **checks}, struck=True))


def test_a_campaign_goes_on_after_its_last_whole_line(tmp_path: Path):
    """A line that was cut off by a kill counts for nothing and spoils no other."""
    file = tmp_path / "1.jsonl"
    log = run.Log(file)
    log.append(line(1))
    with file.open("a") as out:
        out.write('{"number": 2, "ki')
    again = run.Log(file)
    assert list(again.lines) == [1]
    again.append(line(2))
    again.append(line(1, processes="left"))
    last = run.Log(file).lines
    assert set(last) == {1, 2}
    assert run.failures(last[1]) == {"processes": "left"}


def test_what_cannot_be_judged_has_failed():
    """A checker that crashed is never a pass."""

    def crash() -> Judgement:
        raise ValueError("no idea")

    told = run.made(Trial(4, "lab-killed", signal="SIGKILL"), crash)
    assert "no idea" in run.failures(told)[run.CRASHED]
    assert run.CRASHED in run.table([told])


def test_the_table_counts_by_kind_and_check():
    """Faults that were passed over count nowhere."""
    lines = [line(1), line(2, processes="left"), line(3, "disk-full")]
    lines.append(run.made(Trial(4, "disk-full"), lambda: Judgement(skipped="no root")))
    rows = {text.split()[0]: text for text in run.table(lines).splitlines()}
    assert rows["lab-killed"].split()[1:3] == ["2", "2"]
    assert "1 failed" not in rows["disk-full"]
    assert rows["disk-full"].split()[1] == "1"
    assert "0, 1 failed" in rows["all"]


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[int]:
    """Judge faults without a cluster: number 3 fails. Gives the numbers in the order of making."""
    made: list[int] = []

    def judge(drawn: Trial, lane: Lane, evidence: Path) -> Judgement:
        made.append(drawn.number)
        return Judgement({"ports": "port left: 1" if drawn.number == 3 else ""}, struck=True)

    monkeypatch.setenv("NDBLAB_CLUSTER_DIR", str(tmp_path / "cluster"))
    monkeypatch.setattr(assessment, "judge", judge)
    monkeypatch.setattr(run.install, "ensure", lambda: None)
    monkeypatch.setattr(Lane, "warmed_up", lambda self: self)
    return made


def test_a_campaign_ends_with_its_failures_and_how_to_repeat_one(judged, tmp_path, capsys):
    """The command fails, the message names the fault; a resumed campaign makes only the rest."""
    run.campaign(2, seed=5, out=tmp_path)
    with pytest.raises(LabError, match="did not withstand 1 of 4 faults") as error:
        run.campaign(4, seed=5, at_once=2, out=tmp_path)
    assert sorted(judged) == [1, 2, 3, 4]
    assert "--seed 5 --first 3 --count 1" in error.value.next_step
    assert "port left: 1" in capsys.readouterr().out
    with pytest.raises(LabError, match="1 of 1"):
        run.campaign("1", seed="5", first="3", out=tmp_path)
    assert sorted(judged) == [1, 2, 3, 3, 4]


@pytest.mark.parametrize("option", ["count", "seed", "first", "at_once"])
def test_a_number_that_is_none_gives_one_message(judged, tmp_path, option):
    """It names the option as it is typed."""
    with pytest.raises(LabError, match=f"--{option.replace('_', '-')} is not usable"):
        run.campaign(**{"count": 1, option: "many"}, out=tmp_path)


def test_a_second_campaign_waits_for_the_folders_of_the_first(judged, tmp_path, monkeypatch):
    """It says so in the end, and kills nothing of the other one."""
    monkeypatch.setattr(lanes, "PATIENCE_S", 0)
    with (
        lanes.opened(0),
        pytest.raises(LabError, match="Another campaign"),
        lanes.opened(0),
    ):
        pass


def test_campaigns_in_two_folders_have_ports_of_their_own(judged, tmp_path, monkeypatch):
    """They may run beside each other; ports that somebody else listens on are left alone."""
    with lanes.opened(0) as first:
        monkeypatch.setenv("NDBLAB_CLUSTER_DIR", str(tmp_path / "other"))
        with lanes.opened(0) as second, socket.socket() as listening:
            assert first.home != second.home
            assert abs(first.port - second.port) >= lanes.PORTS_EACH
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(("127.0.0.1", second.port + lanes.PORTS_EACH))
            listening.listen()
            with lanes.opened(1) as third:
                assert third.port > second.port + lanes.PORTS_EACH


def test_the_campaign_is_no_benchmark():
    """`./lab bench` alone measures, and harms nothing; the name is known all the same."""
    assert "faults" not in benchmarks.BENCHMARKS
    with pytest.raises(LabError) as error:
        benchmarks.chosen("fault")
    assert "faults" in error.value.expected


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_small_disk_is_full_and_has_space_again(tmp_path: Path):
    """What is on it stays; one byte more is refused until there is space."""
    folder = tmp_path / "disk"
    try:
        disk.mount(folder, 1 << 20)
    except LabError as error:
        pytest.skip(f"no file system can be mounted here: {error.found}")
    try:
        (folder / "kept").write_bytes(b"x" * 8192)
        disk.fill(folder)
        with pytest.raises(OSError, match="No space left"):
            (folder / "more").write_bytes(b"x" * 8192)
        disk.widen(folder, 1 << 20)
        (folder / "more").write_bytes(b"x" * 8192)
        assert (folder / "kept").stat().st_size == 8192
    finally:
        disk.unmount(folder)
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("what", ["record", "configuration"])
def test_a_full_disk_under_the_cluster_is_told_in_one_message(what, tmp_path: Path):
    """The cluster's own files, too, are refused with a reason and no traceback."""
    folder = tmp_path / "disk"
    try:
        disk.mount(folder, 1 << 20)
    except LabError as error:
        pytest.skip(f"no file system can be mounted here: {error.found}")
    shape = deployment.Shape(1, 1, 1, budget="shared", places=lifecycle.places(folder, PORT))
    decided, programs = deployment.make(host.read(), shape), SimpleNamespace(mysqld_version="9.7.4")
    writes = {
        "record": lambda: lease.write(folder, {"text": "x" * 8192}),
        "configuration": lambda: datadir.lay_out(Cluster(decided, programs, folder)),
    }
    try:
        disk.fill(folder)
        with pytest.raises(LabError, match="The disk is full"):
            writes[what]()
    finally:
        disk.unmount(folder)


def test_a_next_start_removes_the_segments_that_a_lab_and_its_watcher_left(tmp_path: Path):
    """Processes that are ended before a start leave no shared memory either."""
    body = (
        "import ctypes, sys\nshmget = ctypes.CDLL(None, use_errno=True).shmget\n"
        "print(shmget(0, 4096, 0o1600), flush=True)\nsys.stdin.read()\n"
    )
    child = LOCAL.spawn(
        [sys.executable, "-c", body],
        tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    segment = int(child.stdout.readline())
    lease.write(tmp_path, {})
    with lease.hold(tmp_path):
        child.wait()
        assert segment not in aftermath.orphaned_segments()
    child.stdin.close()
    child.stdout.close()


def test_a_next_start_removes_the_groups_that_a_lab_and_its_watcher_left(tmp_path, monkeypatch):
    """Also if it makes none itself: its own record replaces the one that names them."""
    left = tmp_path / "groups/ndblab-1"
    left.mkdir(parents=True)
    folder = tmp_path / "cluster"
    folder.mkdir()
    lease.write(folder, {"groups": {"kind": "cgroup2", "base": str(left)}})
    shape = deployment.Shape(1, 1, 1, budget="shared", places=lifecycle.places(folder, PORT))
    decided = deployment.make(host.read(), shape)

    def seen(*_: object) -> None:
        assert not left.exists()
        raise LabError("Far enough")

    monkeypatch.setattr(lifecycle.datadir, "lay_out", seen)
    with pytest.raises(LabError, match="Far enough"), lifecycle.running(decided, None):
        pass


@pytest.mark.cluster
def test_the_steps_are_called_as_often_as_the_table_says(monkeypatch, tmp_path: Path):
    """A tiny measurement reaches every step, so that every fault that is drawn strikes."""
    monkeypatch.setenv("NDBLAB_CLUSTER_DIR", str(tmp_path / "cluster"))
    with lanes.opened(0) as lane:
        lane.warmed_up()
        ended = lane.run(Order(str(lane.runs), lane.port, "auto", count=True), "counted")
    assert ended.code == MEASURED, ended.words
    calls = ended.facts["calls"]
    scaled = calls["ndblab.machine.cgroups:Groups.create"] > 0
    wanted = {s.where: s.calls for s in steps.STEPS if scaled or not s.scaled}
    assert {where: calls[where] for where in wanted if calls[where] < wanted[where]} == {}


@pytest.mark.cluster
def test_a_lab_that_is_killed_as_it_writes_a_run_is_withstood(monkeypatch, tmp_path: Path):
    """The whole of it: a real lab, a real cluster, SIGKILL in the middle of a file's renaming."""
    monkeypatch.setenv("NDBLAB_CLUSTER_DIR", str(tmp_path / "cluster"))
    drawn = Trial(
        1, "lab-killed", repeats=2, signal="SIGKILL",
        step="ndblab.machine.files:replace_folder", call=2,
    )  # fmt: skip
    with lanes.opened(0) as lane:
        judgement = assessment.judge(drawn, lane, tmp_path / "evidence")
    assert judgement.struck, judgement.ended
    assert assessment.CHECKS[1:] == tuple(c for c in assessment.CHECKS if c in judgement.checks)
    assert judgement.sound, judgement.checks
