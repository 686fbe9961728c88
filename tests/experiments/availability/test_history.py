"""The checker of writes. The histories are made up, never a measurement."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.availability import made_up as faults
from ndblab.experiments.availability import (
    FAILED,
    OK,
    READ,
    UNKNOWN,
    WRITE,
    WRONG,
    history,
    written_value,
)
from ndblab.experiments.availability.history import Findings

Tables = dict[str, pd.DataFrame]


def replies(*operations: tuple[int, int, str, str]) -> pd.DataFrame:
    """Make a history of (client, seq, kind, outcome), an operation a second."""
    rows = [
        ("run", client, seq, kind, 1, 1, float(at), 4.0, outcome, 1, 0)
        for at, (client, seq, kind, outcome) in enumerate(operations, start=1)
    ]
    return pd.DataFrame(rows, columns=faults.HISTORY)


@pytest.fixture
def tables() -> Tables:
    """A sound run: two clients, four acknowledged writes, one of them after a failed one."""
    operations = replies(
        (0, 0, WRITE, OK), (1, 0, WRITE, OK), (0, 1, READ, OK), (0, 2, WRITE, FAILED),
        (0, 3, WRITE, OK), (1, 1, WRITE, OK),
    )  # fmt: skip
    copies, counters = faults.held(operations)
    return {"history": operations, "copies": copies, "counters": counters}


def wrong(tables: Tables, seed: object = None) -> dict[str, int]:
    """Give what is found to be wrong, by kind."""
    findings = history.check(**tables, seed=seed)
    assert findings.sound == (findings.faults == 0)
    assert findings.lost == len(findings.wrong.get("lost", ()))
    return {kind: len(names) for kind, names in findings.wrong.items()}


def without(tables: Tables, *replicas: int, client: int = 1, seq: int = 1) -> None:
    """Take a row away from some replicas, with its place in their counters."""
    copies, counters = tables["copies"], tables["counters"]
    row = (copies["client"] == client) & (copies["seq"] == seq) & copies["replica"].isin(replicas)
    tables["copies"] = copies[~row]
    counters.loc[(counters["client"] == client) & counters["replica"].isin(replicas), "writes"] -= 1


def test_a_sound_run_is_sound(tables: Tables) -> None:
    """Every acknowledged write is there, on both replicas, and no other."""
    findings = history.check(**tables, seed=1)
    assert findings == Findings(replicas=2, acknowledged=4, unknown=0, applied=0)
    assert findings.sound
    assert findings.words() == "4 acknowledged writes on 2 replicas, all there"


def test_an_acknowledged_write_that_no_replica_has_is_lost(tables: Tables) -> None:
    """It is reported with client, number and the time of its acknowledgement."""
    without(tables, 2, 3)
    findings = history.check(**tables)
    assert wrong(tables) == {"lost": 1}
    assert findings.lost_t_s == (6.0,)
    assert "1 acknowledged write lost (first: client 1, operation 1)" in findings.words()


def test_a_write_that_one_replica_lacks_is_lost_there(tables: Tables) -> None:
    """A read from that replica does not find it, and the replicas differ."""
    without(tables, 3)
    # The row, and the counter that went with it.
    assert wrong(tables) == {"lost": 1, "replicas_differ": 2}


@pytest.mark.parametrize("missing", [None, float("nan"), ""])
@pytest.mark.parametrize("column", history.VALUES)
def test_a_write_in_one_of_its_tables_is_half_a_transaction(
    tables: Tables, column: str, missing: object
) -> None:
    """Both tables or none, whatever way a missing value is written; it is not lost as well."""
    here = (tables["copies"]["client"] == 0) & (tables["copies"]["seq"] == 3)
    tables["copies"].loc[here, column] = missing
    assert wrong(tables) == {"halved": 1}


def test_a_row_that_both_tables_lack_is_not_there(tables: Tables) -> None:
    """An empty row is no row."""
    without(tables, 2, 3)
    nothing = pd.DataFrame([("run", 2, 1, 1, None, "")], columns=faults.COPIES)
    tables["copies"] = pd.concat([tables["copies"], nothing], ignore_index=True)
    assert wrong(tables) == {"lost": 1}


def test_two_tables_that_disagree_on_a_value_are_seen(tables: Tables) -> None:
    """One of them is not what was written."""
    first = tables["copies"]["seq"] == 3
    tables["copies"].loc[first, "second_value"] = written_value(1, 0, 0)
    assert wrong(tables) == {"changed": 1}


def test_a_value_that_all_agree_on_is_compared_with_the_seed(tables: Tables) -> None:
    """Four copies of another value than was written are as wrong as one."""
    first = tables["copies"]["seq"] == 3
    tables["copies"].loc[first, history.VALUES] = written_value(1, 0, 0)
    assert wrong(tables, seed=1) == {"changed": 1}
    assert wrong(tables) == {}


def test_replicas_that_hold_another_value_differ(tables: Tables) -> None:
    """Each may be whole in itself."""
    one = (tables["copies"]["seq"] == 3) & (tables["copies"]["replica"] == 3)
    tables["copies"].loc[one, history.VALUES] = written_value(1, 0, 0)
    assert wrong(tables) == {"replicas_differ": 1}


@pytest.mark.parametrize(
    ("client", "seq"), [(0, 2), (0, 1), (7, 0)], ids=["given up", "a read", "a stranger"]
)
def test_a_row_that_no_client_wrote_is_a_phantom(tables: Tables, client: int, seq: int) -> None:
    """What was surely not applied, or never written, must not be there."""
    text = written_value(1, client, seq)
    more = [("run", replica, client, seq, text, text) for replica in faults.REPLICAS]
    counters = tables["counters"]
    counters.loc[counters["client"] == client, "writes"] += 1
    if client not in set(counters["client"]):
        number = [("run", replica, client, 1) for replica in faults.REPLICAS]
        added = pd.DataFrame(number, columns=faults.COUNTERS)
        tables["counters"] = pd.concat([counters, added], ignore_index=True)
    rows = pd.DataFrame(more, columns=faults.COPIES)
    tables["copies"] = pd.concat([tables["copies"], rows], ignore_index=True)
    assert wrong(tables) == {"phantom": 1}


@pytest.mark.parametrize("by", [-1, 1])
def test_a_counter_counts_the_rows_of_its_client(tables: Tables, by: int) -> None:
    """It is written in the same transaction, so a difference means a torn transaction."""
    tables["counters"].loc[tables["counters"]["client"] == 1, "writes"] += by
    assert wrong(tables) == {"miscounted": 1}


def test_a_counter_that_is_gone_counts_nothing(tables: Tables) -> None:
    """On both replicas: rows without a counter are not what was committed."""
    tables["counters"] = tables["counters"][tables["counters"]["client"] != 1]
    assert wrong(tables) == {"miscounted": 1}


def test_a_wrong_read_is_never_sound(tables: Tables) -> None:
    """A client missed an acknowledged write, though all are there later."""
    tables["history"].loc[tables["history"]["kind"] == READ, "outcome"] = WRONG
    assert wrong(tables) == {"wrong_reads": 1}


@pytest.mark.parametrize("applied", [True, False])
def test_a_commit_without_a_reply_may_be_there_or_not(tables: Tables, applied: bool) -> None:
    """Either is right; the number applied is reported."""
    late = (tables["history"]["client"] == 1) & (tables["history"]["seq"] == 1)
    tables["history"].loc[late, "outcome"] = UNKNOWN
    if not applied:
        without(tables, 2, 3)
    findings = history.check(**tables)
    assert findings.sound
    assert (findings.unknown, findings.applied) == (1, int(applied))
    assert f"1 more were never answered, {int(applied)} of them applied" in findings.words()


def test_what_was_not_read_back_is_not_sound(tables: Tables) -> None:
    """Without a replica nothing is known, so the run is not sound."""
    none = {name: tables[name].iloc[:0] for name in ("copies", "counters")}
    findings = history.check(tables["history"], **none)
    assert not findings.sound
    assert not findings.lost
    assert findings.words() == "4 acknowledged writes on replicas that were not read"
    tables["history"].loc[tables["history"]["kind"] == READ, "outcome"] = WRONG
    findings = history.check(tables["history"], **none)
    assert "not read: 1 read without an acknowledged write" in findings.words()


def test_a_load_that_wrote_nothing_proves_nothing(tables: Tables) -> None:
    """Without an acknowledged write there was nothing to lose."""
    findings = history.check(
        replies((0, 0, WRITE, FAILED)),
        tables["copies"].iloc[:0],
        tables["counters"].assign(writes=0).drop_duplicates("replica"),
    )
    assert not findings.checked
    assert findings.words() == "0 acknowledged writes on 2 replicas"


@pytest.mark.parametrize("name", ["history", "copies", "counters"])
def test_a_row_twice_is_refused(tables: Tables, name: str) -> None:
    """A duplicate key is an error in the table."""
    tables[name] = pd.concat([tables[name], tables[name].iloc[:1]], ignore_index=True)
    with pytest.raises(ValueError, match=f"{name} has a row twice: .*client 0"):
        history.check(**tables)


def test_runs_are_checked_one_by_one(tables: Tables) -> None:
    """Clients of all runs have the same numbers: rows of runs are never compared."""
    other = {name: table.assign(run_id="other") for name, table in tables.items()}
    without(other, 2, 3)
    both = {name: pd.concat([tables[name], other[name]], ignore_index=True) for name in tables}
    findings = history.of_runs(**both)
    assert {name: one.lost for name, one in findings.items()} == {"run": 0, "other": 1}
    with pytest.raises(ValueError, match="several runs: other, run"):
        history.check(**both)


@st.composite
def sound_runs(draw: st.DrawFn) -> Tables:
    """Any clients, operations and outcomes of a correct cluster."""
    kinds = st.one_of(
        st.tuples(st.just(WRITE), st.sampled_from([OK, OK, FAILED, UNKNOWN])),
        st.tuples(st.just(READ), st.sampled_from([OK, FAILED])),
    )
    clients = draw(st.lists(st.lists(kinds, max_size=8), min_size=1, max_size=4))
    rows = [
        (client, seq, kind, outcome)
        for client, operations in enumerate(clients)
        for seq, (kind, outcome) in enumerate(operations)
    ]
    operations = replies((9, 0, WRITE, OK), *rows)
    # Of the writes without a reply, any number may have been applied.
    unknown = operations.index[operations["outcome"] == UNKNOWN]
    applied = draw(st.lists(st.booleans(), min_size=len(unknown), max_size=len(unknown)))
    as_held = operations.copy()
    as_held.loc[unknown[applied], "outcome"] = OK
    copies, counters = faults.held(as_held)
    order = draw(st.permutations(range(len(copies))))
    return {"history": operations, "copies": copies.iloc[order], "counters": counters}


# No deadline: how long an example takes depends on the machine.
@settings(deadline=None)
@given(sound_runs())
def test_any_sound_run_passes(tables: Tables) -> None:
    """Whatever failed or stayed open, a correct cluster is never called wrong."""
    assert history.check(**tables, seed=1).sound


@settings(deadline=None)
@given(sound_runs(), st.data())
def test_one_row_taken_away_is_always_found(tables: Tables, data: st.DataObject) -> None:
    """Any row of any replica: a write lost there, or replicas that differ, and a wrong counter."""
    at = data.draw(st.integers(0, len(tables["copies"]) - 1))
    tables["copies"] = tables["copies"].drop(index=tables["copies"].index[at])
    kinds = wrong(tables)
    assert kinds["replicas_differ"] == 1
    assert kinds["miscounted"] == 1
