"""The command: words in, exit status out."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import tasks
from invoke import Context

from ndblab import discovery
from ndblab.comparing import comparison
from ndblab.comparing.request import Request
from ndblab.error import LabError
from ndblab.measuring import feasible

LAB = Path(__file__).parents[2] / "lab"


@pytest.mark.parametrize("status", [0, 1, 3])
def test_the_exit_status_is_the_outcome(
    status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    """It is a gate for scripts; the answer is printed whatever it is."""
    monkeypatch.setattr(comparison, "compare", lambda *a, **k: ("an answer", status))
    try:
        tasks.compare.body(Context(), side=["ndb_batch_size=64K"])
        code = 0
    except tasks.Exit as ended:
        code = ended.code
    assert code == status
    assert "an answer" in capsys.readouterr().out


def test_a_mistake_has_a_status_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not the status of a slower side."""

    def refuse(*words: object, **options: object) -> None:
        raise LabError("No setting is called x")

    monkeypatch.setattr(comparison, "compare", refuse)
    with pytest.raises(tasks.Exit, match="No setting is called x") as ended:
        tasks.compare.body(Context(), side=["x=1"])
    assert ended.value.code == 2


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("compare a=1 --minutes 3 b=2 --json c/ --within=5",
         "compare --side a=1 --minutes 3 --side b=2 --json --side c/ --within=5"),
        ("compare a=1 -h", "compare --side a=1 -h"),
        ("watch --baseline nightly a=1", "watch --baseline nightly --side a=1"),
        ("claims F6-peak P-tc --csv", "claims --id F6-peak,P-tc --csv"),
        ("claims --csv", "claims --csv"),
        ("bench large", "bench --only large"),
        ("--list", "--list"),
    ],
)  # fmt: skip
def test_plain_words_are_what_the_command_is_about(typed: str, expected: str) -> None:
    """Wherever they stand between options, which may have values; by `./lab` and by `invoke`."""
    assert tasks.spelled_out(typed.split()) == expected.split()


def test_a_dry_run_installs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A build takes minutes, and packages as root."""
    monkeypatch.setattr(feasible.install, "find", lambda: None)
    monkeypatch.setattr(feasible.install, "ensure", lambda **_: pytest.fail("it installs"))
    with pytest.raises(LabError, match="dry run") as caught:
        feasible.programs(only_plan=True)
    assert "./lab install" in caught.value.next_step


def test_a_mistyped_option_is_no_result() -> None:
    """Status 1 says that B is slower."""
    done = subprocess.run(
        [sys.executable, LAB.with_name("tasks.py"), "compare", "a=1", "--nosuch"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "--nosuch" in done.stderr
    assert "Traceback" not in done.stderr


def test_closed_streams_are_no_failure() -> None:
    """A cron job may have them; the command still ends with status 0."""
    line = f"{sys.executable} {LAB.with_name('tasks.py')} commands <&- >&-"
    done = subprocess.run(line, shell=True, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_misspelt_workload_gets_those_that_are_close() -> None:
    """A load that ends by itself has no rate to compare."""
    loads = discovery.modules("load")
    ends = next(load.WORKLOADS[0] for load in loads if getattr(load, "ENDS_BY_ITSELF", False))
    with pytest.raises(LabError, match="no workload called oltp_read_writ") as caught:
        comparison.compare(Request(("servers=2",), workload="oltp_read_writ"))
    assert "oltp_read_write" in caught.value.expected
    with pytest.raises(LabError, match="ends by itself"):
        comparison.compare(Request(("servers=2",), workload=ends))


def test_the_command_is_given_back_as_it_was_typed() -> None:
    """It includes the load, so that it can be pasted; minutes are added to go on."""
    asked = Request(
        ("x=1",), "my queries.sql", writes=True, servers=2, within=5,
        overrides={"tables": 4, "seed": None}, minutes=3,
    )  # fmt: skip
    assert asked.command == (
        "./lab compare x=1 --workload 'my queries.sql' --servers 2 --within 5 --tables 4 --writes"
    )


def test_a_dry_run_shows_what_each_server_is_restarted_with(binaries, monkeypatch, tmp_path):
    """Nothing is started; as JSON, the plan is data for programs."""
    monkeypatch.setenv("NDBLAB_CLUSTER_DIR", str(tmp_path / "cluster"))
    words = ("performance_schema=on", "ndb_cluster_connection_pool=4")
    text, status = comparison.compare(Request(words, only_plan=True))
    assert status == 0
    assert "# side a: mysqld.1 with nothing of its own" in text
    assert "# side b: mysqld.2 with performance_schema=ON and 4 connections" in text
    plain, status = comparison.compare(Request(words, only_plan=True, as_json=True))
    known = json.loads(plain)
    assert status == 0
    assert known["b"] == ["performance_schema=ON", "ndb_cluster_connection_pool=4"]
    assert known["design"] == "restarts"
    assert known["minutes_to_decide"]["0.1"] < known["minutes_to_decide"]["0.05"]
    assert not (tmp_path / "cluster").exists()


@pytest.mark.parametrize(("name", "turns"), [("", True), ("mine.lua", False)])
def test_clients_of_a_script_of_the_users_own_take_no_turns(
    name: str, turns: bool, binaries, monkeypatch, tmp_path: Path
) -> None:
    """A script may connect and run what it likes at any time; the plan shows how it is compared."""
    monkeypatch.setenv("NDBLAB_CLUSTER_DIR", str(tmp_path / "cluster"))
    options = {}
    if name:
        script = tmp_path / name
        script.write_text("function event()\nend\n")
        options = {"workload": str(script)}
    request = Request(("ndb_batch_size=64K",), only_plan=True, **options)
    text, status = comparison.compare(request)
    assert status == 0
    assert ("which work in turn in one cluster, a second each" in text) == turns
    assert ("slices of both sides in turn" in text) != turns


@pytest.mark.parametrize(
    ("ending", "status", "words"),
    [(KeyboardInterrupt(), 130, "interrupted"), (SystemExit(143), 143, "ended by SIGTERM")],
)
def test_who_ends_a_comparison_reads_how_it_goes_on(
    ending: BaseException, status: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One message; neither status is that of an answer."""

    def end(*words: object, **options: object) -> None:
        raise ending

    monkeypatch.setattr(comparison, "compare", end)
    with pytest.raises(tasks.Exit, match=words) as caught:
        tasks.compare.body(Context(), side=["ndb_batch_size=64K"])
    assert caught.value.code == status
    assert "run the same command again" in str(caught.value)


def test_a_setting_that_the_other_side_has_decides_no_design(binaries, monkeypatch, tmp_path):
    """The lab's own clusters have performance_schema off: only the servers differ."""
    monkeypatch.setenv("NDBLAB_CLUSTER_DIR", str(tmp_path / "cluster"))
    words = ("servers=2", "performance_schema=off")
    plain, _ = comparison.compare(Request(words, only_plan=True, as_json=True))
    known = json.loads(plain)
    assert known["b"] == ["performance_schema=OFF", "servers=2"]
    assert (known["design"], known["because"]) == ("twins", ["servers"])
