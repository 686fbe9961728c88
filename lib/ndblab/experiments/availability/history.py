"""The checker of writes: compares what the cluster holds with the replies that clients received.

It knows nothing about faults: a lost write is lost, whatever the fault.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from ndblab.experiments.availability import OK, UNKNOWN, WRITE, WRONG, written_value
from ndblab.formatting import count

OPERATION = ["client", "seq"]
# An operation as one number: client times this, plus seq.
_CLIENT = 2**40
VALUES = ["first_value", "second_value"]
_WORDS: Mapping[str, tuple[str, str]] = {
    "lost": ("acknowledged write", "lost"),
    "halved": ("write", "in only one of its two tables"),
    "changed": ("row", "with another value than was written"),
    "phantom": ("row", "that no client wrote"),
    "miscounted": ("counter", "different from the number of rows"),
    "replicas_differ": ("row", "that differ between replicas"),
    "wrong_reads": ("read", "without an acknowledged write"),
}


@dataclass(frozen=True)
class Findings:
    """What is wrong with the data of one run.

    `acknowledged` and `unknown` count writes by outcome; `applied` counts the unknown ones found.
    `lost_t_s` says when the lost writes were acknowledged. `wrong` names everything that is wrong,
    by the kinds of `_WORDS`; a kind without a fault is not in it.
    """

    replicas: int
    acknowledged: int
    unknown: int
    applied: int
    lost_t_s: tuple[float, ...] = ()
    wrong: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def lost(self) -> int:
        """Return the number of acknowledged writes that some replica lacks."""
        return len(self.lost_t_s)

    @property
    def checked(self) -> bool:
        """Return whether there was anything to check, on at least one replica."""
        return self.replicas > 0 and self.acknowledged > 0

    @property
    def faults(self) -> int:
        """Return the number of faults of all kinds."""
        return sum(map(len, self.wrong.values()))

    @property
    def sound(self) -> bool:
        """Return whether all data were checked and agree with the replies that clients received."""
        return self.checked and not self.faults

    def words(self) -> str:
        """Return a sentence without a full stop, with the first example of each fault."""
        wrong = [
            f"{count(len(names), noun)} {rest} (first: {names[0]})"
            for kind, (noun, rest) in _WORDS.items()
            if (names := self.wrong.get(kind))
        ]
        text = f"{count(self.acknowledged, 'acknowledged write')} on "
        text += count(self.replicas, "replica") if self.replicas else "replicas that were not read"
        text += f": {', '.join(wrong)}" if wrong else ", all there" if self.checked else ""
        if self.unknown and self.replicas:
            text += f"; {self.unknown} more were never answered, {self.applied} of them applied"
        return text


def check(
    history: pd.DataFrame,
    copies: pd.DataFrame,
    counters: pd.DataFrame,
    seed: object = None,
) -> Findings:
    """Compare the rows on each replica with the replies to the clients of one run.

    ValueError if the tables are of several runs, or have a row twice.

    Parameters
    ----------
    history : one row per operation: `client`, `seq`, `kind`, `outcome`, `t_s`.
    copies : one row per row found: `replica`, `client`, `seq`, and its value in both tables, empty
        if missing from one.
    counters : `replica`, `client`, `writes`.
    seed : of the values. Without it a value is wrong if the two tables, or replicas, disagree on
        it; with it also if all agree on a value that was not written.
    """
    _of_one_run(history, copies, counters)
    _no_row_twice("history", history, OPERATION)
    _no_row_twice("copies", copies, ["replica", *OPERATION])
    _no_row_twice("counters", counters, ["replica", "client"])
    outcomes = history["outcome"].astype(str)
    is_write = history["kind"].astype(str) == WRITE
    writes = history[is_write].set_index(_operations(history[is_write]))
    outcome = outcomes[is_write].to_numpy()
    acknowledged, unknown = (writes.index[outcome == word] for word in (OK, UNKNOWN))
    rows = _rows(copies)
    replicas = len({*rows["replica"], *counters["replica"]})
    held = rows.index.value_counts(sort=False)
    halved = (rows["first_value"] == "") | (rows["second_value"] == "")
    lost = acknowledged[held.reindex(acknowledged, fill_value=0) < replicas]
    wrong = {
        "lost": _named(lost),
        "halved": _named(rows.index[halved].unique()),
        "changed": _named(rows.index[_changed(rows, seed)].unique()),
        "phantom": _named(held.index.difference(acknowledged.union(unknown))),
        "miscounted": _miscounted(rows, counters),
        "replicas_differ": _different(rows, counters, held, replicas),
        "wrong_reads": _named(_operations(history[outcomes == WRONG])),
    }
    return Findings(
        replicas=replicas,
        acknowledged=len(acknowledged),
        unknown=len(unknown),
        applied=int(unknown.isin(held.index).sum()),
        lost_t_s=tuple(sorted(writes["t_s"].reindex(lost).astype(float))),
        wrong={kind: names for kind, names in wrong.items() if names},
    )


def of_runs(
    history: pd.DataFrame, copies: pd.DataFrame, counters: pd.DataFrame, seed: object = None
) -> dict[str, Findings]:
    """Check every run that has a history, by its id; all runs of a dataset have one seed."""
    operations, rows, numbers = (by_run(table) for table in (history, copies, counters))
    none = copies.iloc[:0], counters.iloc[:0]
    return {
        name: check(own, rows.get(name, none[0]), numbers.get(name, none[1]), seed)
        for name, own in operations.items()
    }


def by_run(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the rows of each run, by its id."""
    return {str(name): rows for name, rows in table.groupby("run_id", sort=False, observed=True)}


def _operations(table: pd.DataFrame) -> pd.Index:
    """Return each row's operation as one number, which is much faster to match than two."""
    return pd.Index(table["client"].astype("int64") * _CLIENT + table["seq"].astype("int64"))


def _named(operations: pd.Index) -> list[str]:
    return [f"client {key // _CLIENT}, operation {key % _CLIENT}" for key in operations]


def _rows(copies: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that are in at least one table, by operation; a missing value is empty."""
    values = copies[VALUES].astype(object).fillna("")
    table = values.assign(replica=copies["replica"].astype("int64"), client=copies["client"])
    return table.set_index(_operations(copies))[(values != "").any(axis=1).to_numpy()]


def _changed(rows: pd.DataFrame, seed: object) -> pd.Series:
    """Mark rows whose two tables disagree, or that do not hold the value that was written."""
    first, second = (rows[name] for name in VALUES)
    wrong = (first != "") & (second != "") & (first != second)
    if seed is None:
        return wrong
    written = {key: written_value(seed, *divmod(key, _CLIENT)) for key in rows.index.unique()}
    expected = rows.index.map(written).to_numpy()
    return wrong | ((first != "") & (first != expected)) | ((second != "") & (second != expected))


def _miscounted(rows: pd.DataFrame, counters: pd.DataFrame) -> list[str]:
    """Name the clients whose counter differs, on some replica, from the number of their rows.

    A write in only one of its tables may count or not: it is reported as halved already.
    """
    key = ["replica", "client"]
    whole = (rows[VALUES] != "").all(axis=1)
    held = rows[key].astype("int64").assign(whole=whole, any=True).groupby(key).sum()
    writes = counters[[*key, "writes"]].astype("int64").set_index(key)
    both = writes.join(held, how="outer").fillna(0)
    wrong = both[(both["writes"] < both["whole"]) | (both["writes"] > both["any"])]
    return [f"client {client}" for client in wrong.index.get_level_values("client").unique()]


def _different(
    rows: pd.DataFrame, counters: pd.DataFrame, held: pd.Series, replicas: int
) -> list[str]:
    """Name the operations and clients whose rows or counters differ between replicas."""
    ordered = rows.sort_index(kind="stable")
    one, other = ordered.iloc[:-1], ordered.iloc[1:]
    unlike = (one[VALUES].to_numpy() != other[VALUES].to_numpy()).any(axis=1)
    keys = other.index[unlike & (one.index == other.index)]
    operations = keys.union(held.index[held < replicas])
    numbers = counters.groupby("client")["writes"]
    clients = numbers.nunique()[(numbers.nunique() > 1) | (numbers.size() < replicas)].index
    return [*_named(operations.unique()), *(f"client {client}" for client in clients)]


def _of_one_run(*tables: pd.DataFrame) -> None:
    runs = {str(run_id) for table in tables for run_id in table["run_id"].unique()}
    if len(runs) > 1:
        raise ValueError(f"rows of several runs: {', '.join(sorted(runs))}")


def _no_row_twice(name: str, table: pd.DataFrame, key: list[str]) -> None:
    twice = table[table.duplicated(key)]
    if len(twice):
        which = ", ".join(f"{column} {twice.iloc[0][column]}" for column in key)
        raise ValueError(f"{name} has a row twice: {which}")
