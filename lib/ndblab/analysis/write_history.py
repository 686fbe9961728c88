"""The checker of writes: what clients were told, against what the cluster holds afterwards.

In: the operations of a run's clients, the rows and counters of each replica. Out: what is wrong.
It knows no fault and excuses nothing: a lost write is lost, whatever was done to the cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from ndblab.analysis.formatting import count
from ndblab.planning.workload import OK, UNKNOWN, WRITE, WRONG, written_value

OPERATION = ["client", "seq"]
VALUES = ["first_value", "second_value"]
_WORDS: Mapping[str, tuple[str, str]] = {
    "lost": ("acknowledged write", "lost"),
    "halved": ("write", "in only one of its two tables"),
    "changed": ("row", "with another value than was written"),
    "phantom": ("row", "that no client wrote"),
    "miscounted": ("counter", "unlike the number of rows"),
    "replicas_differ": ("row", "not alike on all replicas"),
    "wrong_reads": ("read", "without what had been acknowledged"),
}


@dataclass(frozen=True)
class Findings:
    """What is wrong with the data of one run.

    `acknowledged` and `unknown` are writes by what their clients were told; `applied` of the
    unknown ones are there. `lost` are acknowledged writes that some replica lacks, `lost_t_s` when
    they were acknowledged. `examples` names the first of each kind that there is.
    """

    replicas: int
    acknowledged: int
    unknown: int
    applied: int
    lost: int = 0
    halved: int = 0
    changed: int = 0
    phantom: int = 0
    miscounted: int = 0
    replicas_differ: int = 0
    wrong_reads: int = 0
    lost_t_s: tuple[float, ...] = ()
    examples: Mapping[str, str] = field(default_factory=dict)

    @property
    def checked(self) -> bool:
        """Say whether there was anything to look for, and any place to look."""
        return self.replicas > 0 and self.acknowledged > 0

    @property
    def faults(self) -> int:
        """Count everything that is wrong."""
        return sum(getattr(self, name) for name in _WORDS)

    @property
    def sound(self) -> bool:
        """Say whether all is as the clients were told; what was not looked at is not sound."""
        return self.checked and not self.faults

    def words(self) -> str:
        """Tell it in a sentence without a full stop, with the first example of each fault."""
        wrong = [
            f"{count(number, noun)} {rest} (first: {self.examples.get(name, 'not known')})"
            for name, (noun, rest) in _WORDS.items()
            if (number := getattr(self, name))
        ]
        told = f"{count(self.acknowledged, 'acknowledged write')} on "
        told += count(self.replicas, "replica") if self.replicas else "replicas that were not read"
        told += f": {', '.join(wrong)}" if wrong else ", all there" if self.checked else ""
        if self.unknown and self.replicas:
            told += f"; {self.unknown} more were never answered, {self.applied} of them applied"
        return told


def check(
    history: pd.DataFrame,
    copies: pd.DataFrame,
    counters: pd.DataFrame,
    seed: object = None,
) -> Findings:
    """Hold what each replica has against what the clients of one run were told.

    Parameters
    ----------
    history : one row an operation: `client`, `seq`, `kind`, `outcome`, `t_s`.
    copies : one row for each row found: `replica`, `client`, `seq`, and its value in both tables,
        empty where one lacks it.
    counters : `replica`, `client`, `writes`.
    seed : of the values. Without it a value is wrong if the two tables, or replicas, disagree on
        it; with it also if all agree on another one than was written.

    Raises
    ------
    ValueError
        If the tables are of several runs, or have a row twice.
    """
    _of_one_run(history, copies, counters)
    _no_row_twice("history", history, OPERATION)
    _no_row_twice("copies", copies, ["replica", *OPERATION])
    _no_row_twice("counters", counters, ["replica", "client"])
    writes = history[history["kind"].astype(str) == WRITE].set_index(OPERATION)
    outcome = writes["outcome"].astype(str)
    acknowledged, unknown = (outcome.index[outcome == word] for word in (OK, UNKNOWN))
    rows = _rows(copies)
    replicas = len({*rows["replica"], *counters["replica"]})
    held = rows.groupby(level=OPERATION)["replica"].nunique()
    copies_of = held.reindex(acknowledged, fill_value=0)
    known = outcome.index[outcome.isin([OK, UNKNOWN])]
    reads = history[history["outcome"].astype(str) == WRONG].set_index(OPERATION)
    wrong = {
        "lost": copies_of.index[copies_of < replicas],
        "halved": rows.index[rows[VALUES].notna().sum(axis=1) == 1].unique(),
        "changed": rows.index[_changed(rows, seed)].unique(),
        "phantom": held.index[~held.index.isin(known)],
        "miscounted": _miscounted(rows, counters),
        "replicas_differ": _unlike(rows, counters, replicas),
        "wrong_reads": reads.index,
    }
    return Findings(
        replicas=replicas,
        acknowledged=len(acknowledged),
        unknown=len(unknown),
        applied=int((held.reindex(unknown, fill_value=0) > 0).sum()),
        lost_t_s=tuple(sorted(float(t_s) for t_s in writes["t_s"].reindex(wrong["lost"]))),
        examples={name: _named(found[0]) for name, found in wrong.items() if len(found)},
        **{name: len(found) for name, found in wrong.items()},
    )


def of_runs(
    history: pd.DataFrame, copies: pd.DataFrame, counters: pd.DataFrame, seed: object = None
) -> dict[str, Findings]:
    """Check every run that has a history, by its id; all runs of a dataset have one seed."""
    told, rows, numbers = (
        {str(name): part for name, part in table.groupby(table["run_id"].astype(str), sort=False)}
        for table in (history, copies, counters)
    )
    none = copies.iloc[:0], counters.iloc[:0]
    return {
        name: check(own, rows.get(name, none[0]), numbers.get(name, none[1]), seed)
        for name, own in told.items()
    }


def _rows(copies: pd.DataFrame) -> pd.DataFrame:
    """Give the rows that are in a table at all, by operation; an empty text is no value."""
    values = copies[VALUES].astype(object)
    values = values.where(values.notna() & (values != ""), None)
    table = copies[["replica", *OPERATION]].astype("int64").join(values)
    return table[values.notna().any(axis=1)].set_index(OPERATION)


def _changed(rows: pd.DataFrame, seed: object) -> pd.Series:
    """Mark rows whose two tables disagree, or that have not the value that was written."""
    first, second = (rows[name] for name in VALUES)
    unlike = first.notna() & second.notna() & (first != second)
    if seed is None:
        return unlike
    written = pd.Series(
        [written_value(seed, *operation) for operation in rows.index], rows.index, object
    )
    for found in (first, second):
        unlike |= found.notna() & (found != written)
    return unlike


def _miscounted(rows: pd.DataFrame, counters: pd.DataFrame) -> pd.Index:
    """Give the clients whose counter is, on some replica, not the number of their rows.

    A write in only one of its tables may count or not: that it is halved is said already.
    """
    each = rows.reset_index()[["replica", "client"]]
    each = each.assign(whole=rows[VALUES].notna().all(axis=1).to_numpy(), found=True)
    numbers = each.groupby(["replica", "client"])[["whole", "found"]].sum()
    writes = counters[["replica", "client", "writes"]].astype("int64")
    both = writes.set_index(["replica", "client"]).join(numbers, how="outer").fillna(0)
    wrong = both[(both["writes"] < both["whole"]) | (both["writes"] > both["found"])]
    return wrong.index.get_level_values("client").unique()


def _unlike(rows: pd.DataFrame, counters: pd.DataFrame, replicas: int) -> list[object]:
    """Give the operations and clients whose rows are not alike on all replicas."""
    both = rows["first_value"].fillna("") + "/" + rows["second_value"].fillna("")
    values = both.groupby(level=OPERATION)
    numbers = counters.groupby("client")["writes"]
    return [
        key
        for groups in (values, numbers)
        for key in _indices(groups.nunique() > 1, groups.size() < replicas)
    ]


def _indices(*marks: pd.Series) -> list[object]:
    first, second = marks
    return list(first.index[first | second])


def _named(key: object) -> str:
    if isinstance(key, tuple):
        client, seq = key
        return f"client {client}, operation {seq}"
    return f"client {key}"


def _of_one_run(*tables: pd.DataFrame) -> None:
    runs = {str(run_id) for table in tables for run_id in table["run_id"].unique()}
    if len(runs) > 1:
        raise ValueError(f"rows of several runs: {', '.join(sorted(runs))}")


def _no_row_twice(name: str, table: pd.DataFrame, key: list[str]) -> None:
    twice = table[table.duplicated(key)]
    if len(twice):
        which = ", ".join(f"{column} {twice.iloc[0][column]}" for column in key)
        raise ValueError(f"{name} has a row twice: {which}")
