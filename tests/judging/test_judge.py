"""Verdicts on claims, whatever they are on. The datasets are made up, never a measurement."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from made_up import BRIEF_MODEL, BY_ID, CLAIMS, contrasted, double, verdict
from ndblab.error import LabError
from ndblab.judging import checks, conditions, evidence, judge, publication
from ndblab.judging import verdict as verdicts

SCOPE = [c.id for c in CLAIMS if c.id.startswith(("F6-", "F7-")) or c.id == "F4-peak-clients"]


def test_every_claim_of_an_experiment_has_a_check() -> None:
    """All claims that an experiment is about have a check, and each check a claim."""
    families = ("F1-", "F4-", "F5-", "F6-", "F7-", "F8-", "F9-", "W-", "S-", "T-", "B-", "P-tc")
    families += ("P-pool-", "R-long", "D-indexstat")
    about = {name for name in BY_ID if name.startswith(families)} - {"F9-next-step", "T-all-1536"}
    assert [name for name in about if checks.find(name) is None] == []
    assert set(checks.CHECKS) <= set(BY_ID)


def test_a_claim_that_no_host_can_test_says_why() -> None:
    """Without data: what needs another version is not testable, the rest is not measured yet."""
    rows = judge.unmeasured(CLAIMS).set_index("id")
    assert rows.loc["T-all-1536", "verdict"] == "not testable here"
    assert "7.5.9" in rows.loc["T-all-1536", "reason"]
    assert rows.loc["F6-peak", "reason"] == "no recorded dataset measures it yet"
    assert rows.loc["R-nosql", "reason"] == "no recorded dataset measures it yet"
    assert not rows["verdict"].isin(["reproduced", "contradicted"]).any()


@pytest.mark.parametrize("budget", publication.BUDGETS)
def test_a_check_that_crashes_is_unknown(monkeypatch: pytest.MonkeyPatch, budget: str) -> None:
    """A crash of a check is unknown with its reason, under every budget, and stops no other."""

    def broken(claim: publication.Claim, seen: evidence.Evidence) -> verdicts.Finding:
        raise ZeroDivisionError("a slip")

    # Looked for first, as finding the experiments' checks is what fills the register.
    assert checks.find("F6-8-to-16")
    monkeypatch.setitem(checks.CHECKS, "F6-8-to-16", broken)
    table = judge.judge(double(budget=budget), ["F6-8-to-16", "F6-peak-qps"], CLAIMS)
    assert table["verdict"][0] == "unknown"
    assert "a slip" in table["reason"][0]
    assert table["verdict"][1] == "not comparable"


def test_a_condition_that_crashes_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a check that does: it is never taken for one that holds."""

    def broken(claim: publication.Claim, seen: evidence.Evidence) -> conditions.State:
        raise ZeroDivisionError("a slip")

    assert "saturated" in conditions.CONDITIONS
    monkeypatch.setitem(conditions.CONDITIONS, "saturated", broken)
    row = verdict(double(), "F6-overload")
    assert row.verdict == "unknown"
    assert "a slip" in row.reason


def test_a_dataset_that_cannot_be_looked_at_is_unknown() -> None:
    """A table with a column missing makes every check unknown, never reproduced."""
    dataset = double()
    dataset.runs = dataset.runs.drop(columns="qps")
    table = judge.judge(dataset, SCOPE, CLAIMS)
    assert set(table["verdict"]) == {"unknown"}


def test_a_claim_without_a_check_is_unknown() -> None:
    """A claim that nothing checks says that no experiment measures it yet."""
    claim = replace(BY_ID["H-q20"], id="R-new", source="rondb-2021-05")
    row = judge.judge(double(), ["R-new"], [claim]).iloc[0]
    assert row.verdict == "unknown"
    assert "no experiment measures it yet" in row.reason


@pytest.mark.parametrize("name", ["D-2110", "D-indexstat", "H-q20", "H-q2"])
def test_a_claim_on_two_releases_says_which_it_needs(name: str) -> None:
    """No other engine stands in for them."""
    row = judge.unmeasured([BY_ID[name]]).iloc[0]
    assert row.verdict == "not testable here"
    assert row.reason.startswith("needs RonDB 21.04")
    assert ("--engines A,B" in row.reason) == (name == "D-indexstat")


def test_an_unknown_budget_is_refused() -> None:
    """A dataset with a budget of another name is refused."""
    with pytest.raises(LabError, match="CPU budget"):
        judge.judge(double(budget="half"), None, CLAIMS)


# No deadline: how long an example takes depends on the machine.
@settings(deadline=None, max_examples=40)
@given(
    level=st.floats(10, 1e6),
    servers_power=st.floats(-1, 2),
    clients_power=st.floats(-1, 1.5),
    spread=st.sampled_from([0.0, 0.001, 0.05]),
    model=st.sampled_from(["x", BRIEF_MODEL]),
    cpus=st.sampled_from([1, 2, 64, 256, 1024]),
)
def test_what_is_imposed_is_never_a_finding(
    level: float,
    servers_power: float,
    clients_power: float,
    spread: float,
    model: str,
    cpus: int,
) -> None:
    """Whatever the data: `scaled` rules a claim out with the same word, for and against it."""
    dataset = double(
        lambda n, c: level * n**servers_power * c**clients_power,
        p95=lambda n, c: level / c**clients_power,
        spread=spread,
        repeats=2,
        clients=(16, 32, 64, 512, 1024, 2048),
        cpus=cpus,
        model=model,
    )
    imposed = [name for name in SCOPE if BY_ID[name].budgets["scaled"] != "yes"]
    assert {"F7-growth", "F4-peak-clients", "F7-one"} <= set(imposed)
    for row in judge.judge(dataset, imposed, CLAIMS).itertuples():
        answer = BY_ID[row.id].budgets["scaled"]
        word = verdicts.BY_CONSTRUCTION
        if not answer.startswith(word):
            absolute = BY_ID[row.id].kind == "absolute"
            word = verdicts.NOT_COMPARABLE if absolute else verdicts.NOT_TESTABLE
        elif pd.isna(row.measured):
            # A value that is forced stands beside a measured one, or it is not called so.
            word, answer = verdicts.NOT_TESTABLE, answer.removeprefix(f"{word}: ")
        assert row.verdict == word
        assert answer.removeprefix(f"{word}: ") in row.reason


@pytest.mark.parametrize(
    ("scope", "model", "word"),
    [
        ("any", "x", verdicts.CONTRADICTED),
        ("machine", "x", verdicts.DIFFERS),
        ("machine", BRIEF_MODEL, verdicts.CONTRADICTED),
        ("machine, network", BRIEF_MODEL, verdicts.DIFFERS),
    ],
)
def test_no_claim_is_contradicted_beyond_its_scope(scope: str, model: str, word: str) -> None:
    """What a source says of its own machine differs elsewhere; on that machine it is wrong."""
    claim = replace(BY_ID["F6-overload"], scope=scope, condition="")
    rising = contrasted(
        double(lambda n, c: 100.0, clients=(16, 32, 64), cpus=256, model=model),
        "overload",
        {"a": (16, 64, {"qps": 120.0}), "b": (16, 32, {"qps": 100.0})},
    )
    row = judge.judge(rising, ["F6-overload"], [claim]).iloc[0]
    assert row.verdict == word
    assert ("of its own" in row.reason) == (word == verdicts.DIFFERS)
    assert word in verdicts.TESTED


@pytest.mark.parametrize("name", SCOPE)
def test_a_sweep_alone_decides_nothing(name: str) -> None:
    """Without contrasts no claim on more servers or clients is reproduced or contradicted."""
    for host in ({"budget": "pinned", "cpus": 256}, {"budget": "shared"}, {}):
        row = verdict(double(**host), name)
        assert row.verdict in ("inconclusive", *verdicts.RULED_OUT, "unknown")


def test_no_check_crashes_on_a_small_sweep() -> None:
    """With 1 and 2 servers only, missing data are reported as missing, in every budget."""
    for budget in ("scaled", "shared", "pinned"):
        dataset = double(servers=(1, 2), clients=(2, 8), repeats=1, budget=budget)
        table = judge.judge(dataset, None, publication.claims())
        assert not table["reason"].str.contains("crashed").any()


def test_failed_idle_and_foreign_runs_decide_nothing() -> None:
    """Runs with errors, with fewer clients than servers, or over TCP are left out of values."""
    dataset = double()
    wild = dataset.runs.assign(qps=50 * dataset.runs["qps"], status="errors: 12")
    wild["run_id"] += "_wild"
    idle = wild[wild["clients"] < wild["servers"]].assign(status="ok")
    other = dataset.runs.assign(transporter="tcp", qps=1e9)
    other["run_id"] += "_tcp"
    both = replace(dataset, runs=pd.concat([dataset.runs, wild, idle, other], ignore_index=True))
    names = ["F4-peak-qps", "F6-peak-qps", "F4-peak-clients", "F7-saturated"]
    assert judge.judge(both, names, CLAIMS).equals(judge.judge(dataset, names, CLAIMS))
