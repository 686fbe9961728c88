"""The campaign: what is logged, counted, resumed and repeated."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from campaign import execution, run, sandbox
from campaign.execution import Outcome
from campaign.injection import Injection
from campaign.sandbox import Sandbox
from ndblab.error import LabError


def line(number: int, kind: str = "lab-killed", **checks: str) -> dict:
    """A line of the log."""
    killed = Injection(number, kind, signal="SIGKILL")
    return run.line_of(killed, lambda: Outcome({"message": "", **checks}, injected=True))


def test_a_campaign_resumes_after_its_last_whole_line(tmp_path: Path):
    """A line that was cut off by a kill is ignored and damages no other."""
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


def test_a_skipped_fault_is_tried_again(tmp_path: Path):
    """What it lacked may be there now; one that was injected is not repeated."""
    log = run.Log(tmp_path / "1.jsonl")
    log.append(line(1))
    log.append(run.line_of(Injection(2, "disk-full"), lambda: Outcome(skipped="no root")))
    assert log.missing([1, 2, 3]) == [2, 3]


def test_an_injection_that_crashes_the_campaign_has_failed():
    """A check that crashed is never a pass."""

    def crash() -> Outcome:
        raise ValueError("no idea")

    crashed = run.line_of(Injection(4, "lab-killed", signal="SIGKILL"), crash)
    assert "no idea" in run.failures(crashed)[run.CRASHED]
    assert run.CRASHED in run.table([crashed])


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[int]:
    """Execute without a cluster: number 3 fails. Returns the numbers in order of execution."""
    numbers: list[int] = []

    def execute(injection: Injection, sandbox: Sandbox, evidence: Path) -> Outcome:
        numbers.append(injection.number)
        wrong = "port left: 1" if injection.number == 3 else ""
        return Outcome({"ports": wrong}, injected=True)

    def together(group: Sequence[Injection], sandbox: Sandbox, evidence: Path) -> list[Outcome]:
        return [execute(injection, sandbox, evidence) for injection in group]

    def warm_up(sandbox: Sandbox) -> None:
        calls = {"os.fsync": 3}
        sandbox.calls, sandbox.duration_s = {"shared": calls, "scaled": calls}, 20

    monkeypatch.setenv("NDBLAB_CLUSTER_DIR", str(tmp_path / "cluster"))
    monkeypatch.setattr(execution, "execute", execute)
    monkeypatch.setattr(execution, "execute_together", together)
    monkeypatch.setattr(execution, "execute_in_turn", together)
    monkeypatch.setattr(run, "_give_hosts", lambda opened, stack: None)
    monkeypatch.setattr(run.install, "ensure", lambda: None)
    monkeypatch.setattr(Sandbox, "warm_up", warm_up)
    return numbers


def test_a_campaign_ends_with_its_failures_and_how_to_repeat_one(executed, tmp_path, capsys):
    """The command fails and names the fault; a resumed campaign injects only the rest."""
    run.campaign(2, seed=5, out=tmp_path)
    with pytest.raises(LabError, match="did not withstand 1 of 4 faults") as error:
        run.campaign(4, seed=5, at_once=2, out=tmp_path)
    assert sorted(executed) == [1, 2, 3, 4]
    assert "--seed 5 --first 3 --count 1" in error.value.next_step
    assert "port left: 1" in capsys.readouterr().out
    with pytest.raises(LabError, match="1 of 1"):
        run.campaign("1", seed="5", first="3", out=tmp_path)
    assert sorted(executed) == [1, 2, 3, 3, 4]


@pytest.mark.parametrize("option", ["count", "seed", "first", "at_once"])
def test_an_option_that_is_no_number_gives_one_message(executed, tmp_path, option):
    """It names the option as it is typed."""
    with pytest.raises(LabError, match=f"--{option.replace('_', '-')} is not usable"):
        run.campaign(**{"count": 1, option: "many"}, out=tmp_path)


def test_an_unknown_kind_is_refused(executed, tmp_path):
    """With those that there are."""
    with pytest.raises(LabError) as error:
        run.campaign(1, kind="disk-ful", out=tmp_path)
    assert "disk-full" in error.value.expected


def test_a_second_campaign_waits_for_the_folders_of_the_first(tmp_path, monkeypatch):
    """In the end it says so, and kills nothing of the other one."""
    monkeypatch.setenv("NDBLAB_CLUSTER_DIR", str(tmp_path / "cluster"))
    monkeypatch.setattr(sandbox, "PATIENCE_S", 0)
    with sandbox.opened(0), pytest.raises(LabError, match="Another campaign"), sandbox.opened(0):
        pass
