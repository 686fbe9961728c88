"""What go-tpc prints: transactions by kind, interval by interval and in all, and its errors.

go-tpc always exits with 0. It counts a transaction that fails under its kind with "_ERR", prints
why, and goes on with another one: it repeats none. Its percentiles have one significant digit, and
nothing below 1 ms.

Also here: how local a load's reads were, by counters of the MySQL servers' NDB API. A read is
local if the data node that coordinates the transaction holds the row itself. With one node group
and READ_BACKUP, NDB's default, every node holds every row, so that only reads that lock go
elsewhere: to the primary replica.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd
from pymysql.cursors import Cursor

from ndblab.experiments.tpc_c import TRANSACTIONS
from ndblab.formatting import count
from ndblab.machine.commands import last_line

EARLY_S = 0.3
"""go-tpc ends when all its clients have ended; if it ends early by more than this, they cannot have
worked to the end."""
ABORTS = {
    1205: "Lock wait timeout",
    1213: "Deadlock",
    1297: "Temporary error of NDB",
}
"""MySQL's errors of a transaction that NDB gives up, and which a client may repeat."""
_FAILED = "_ERR"
_STATISTICS = re.compile(r"^\[(Current|Summary)\] (\w+)\s+- (.*)$")
_ERROR = re.compile(
    r"^(?:\[[^\]]*\] )?execute run failed, err (.*?)"
    r"(?=^(?:\[[^\]]*\] )?execute run failed|^\[(?:Current|Summary)\]|^Finished|\Z)",
    re.MULTILINE | re.DOTALL,
)
_NUMBER = re.compile(r"Error (\d+)(?: \(\w+\))?: ")
_STATEMENT = re.compile(
    r"exec (?:(SELECT|DELETE)\b.*?\bFROM|(INSERT)\s+INTO|(UPDATE))\s+(\w+)",
    re.IGNORECASE | re.DOTALL,
)
COUNTERS = {
    "reads": ("Ndb_api_read_row_count",),
    "local_reads": ("Ndb_api_trans_local_read_row_count",),
    "scans": ("Ndb_api_range_scan_count", "Ndb_api_table_scan_count"),
    "pruned_scans": ("Ndb_api_pruned_scan_count",),
    "transactions": ("Ndb_api_trans_start_count",),
}
"""Global status variables of a MySQL server, by column."""
PROBES = 10
_HINTED = "Ndb_trans_hint_count_session"
_PROBE = """SELECT c_discount, c_last, c_credit, w_tax FROM customer, warehouse
 WHERE w_id = 1 AND c_w_id = w_id AND c_d_id = {} AND c_id = 1"""


@dataclass(frozen=True)
class Kind:
    """Transactions of one kind: those that committed, and those that did not."""

    committed: int = 0
    failed: int = 0
    latency_avg_ms: float | None = None
    latency_p95_ms: float | None = None


@dataclass(frozen=True)
class Interval:
    """What was counted from the end of the previous interval to `ended_s` after the start."""

    ended_s: float
    committed: int
    failed: int


@dataclass(frozen=True)
class Outcome:
    """What became of a load.

    `status` is "ok", or one line on why the load does not count. `errors` counts failed
    transactions by MySQL's error and statement.
    """

    status: str
    intervals: tuple[Interval, ...] = ()
    kinds: dict[str, Kind] = field(default_factory=dict)
    errors: dict[tuple[int, str], int] = field(default_factory=dict)

    @property
    def committed(self) -> int:
        """Transactions of all kinds that committed."""
        return sum(kind.committed for kind in self.kinds.values())


def outcome(lines: Sequence[tuple[float, str]], seconds: float, ended: str = "") -> Outcome:
    """Read everything that go-tpc printed in a run of `seconds`.

    Each of `lines` has the seconds from the start until it arrived. `ended` says in words why the
    run did not end as it should.
    """
    text = "".join(line for _, line in lines)
    if ended:
        last = last_line(text)
        return Outcome(f"{ended}: {last}" if last else ended)
    finished_s = next((at for at, line in lines if line.startswith("Finished")), None)
    if finished_s is None:
        return Outcome(f"go-tpc printed no result: {last_line(text) or 'nothing at all'}")
    kinds = _kinds(lines)
    errors, unknown = _errors(text)
    status = "ok"
    if finished_s < seconds - EARLY_S:
        status = f"go-tpc ended by itself after {finished_s:.1f} s of {seconds:g} s"
        status += f": {_one_line(unknown[0])}" if unknown else ""
    elif unknown:
        status = f"{count(len(unknown), 'transaction')} failed: {_one_line(unknown[0])}"
    elif not any(kind.committed for kind in kinds.values()):
        status = "no transaction committed"
    return Outcome(status, tuple(_intervals(lines)), kinds, errors)


def _kinds(lines: Sequence[tuple[float, str]]) -> dict[str, Kind]:
    counted = {}
    for _, line in lines:
        match = _STATISTICS.match(line)
        if match and match[1] == "Summary":
            counted[match[2].lower()] = _values(match[3])
    kinds = {}
    for name in TRANSACTIONS:
        good, bad = (counted.get(key, {}) for key in (name, f"{name}{_FAILED.lower()}"))
        kinds[name] = Kind(
            int(good.get("Count", 0)),
            int(bad.get("Count", 0)),
            good.get("Avg(ms)"),
            good.get("95th(ms)"),
        )
    return kinds


def _intervals(lines: Sequence[tuple[float, str]]) -> list[Interval]:
    """Group lines that were printed at once; go-tpc prints nothing for an idle interval."""
    intervals: list[Interval] = []
    names: set[str] = set()
    for at_s, line in lines:
        match = _STATISTICS.match(line)
        if match is None or match[1] != "Current":
            continue
        name, number = match[2], int(_values(match[3])["Count"])
        if not intervals or name in names or at_s - intervals[-1].ended_s > EARLY_S:
            intervals.append(Interval(at_s, 0, 0))
            names.clear()
        names.add(name)
        last = intervals[-1]
        good, bad = (0, number) if name.endswith(_FAILED) else (number, 0)
        intervals[-1] = Interval(last.ended_s, last.committed + good, last.failed + bad)
    return intervals


def _errors(text: str) -> tuple[dict[tuple[int, str], int], list[str]]:
    """Count failed transactions by error and statement; return those that nothing explains."""
    counted: Counter[tuple[int, str]] = Counter()
    unknown = []
    for message in _ERROR.findall(text):
        number = _NUMBER.search(message)
        if number and int(number[1]) in ABORTS:
            counted[int(number[1]), _statement(message)] += 1
        else:
            unknown.append(message)
    return dict(counted), unknown


def _statement(message: str) -> str:
    """Name a statement by its verb, its first table and whether it locks what it reads."""
    match = _STATEMENT.search(message)
    if match is None:
        return "COMMIT" if not message.startswith("exec") else "other"
    verb = next(filter(None, match.groups()[:3])).upper()
    locking = " FOR UPDATE" if re.search(r"\bFOR UPDATE\b", message, re.IGNORECASE) else ""
    return f"{verb} {match[4]}{locking}"


def _values(text: str) -> dict[str, float]:
    pairs = (pair.partition(": ") for pair in text.strip().split(", "))
    return {name: float(value) for name, _, value in pairs}


def _one_line(message: str) -> str:
    return " ".join(message.split())[:300]


def tables(outcome: Outcome, local: Mapping[str, int]) -> dict[str, pd.DataFrame]:
    """Return the tables of a dataset that only TPC-C has."""
    kinds = [{"transaction": name, **vars(kind)} for name, kind in outcome.kinds.items()]
    aborts = [
        {"error": code, "statement": statement, "transactions": number}
        for (code, statement), number in sorted(outcome.errors.items())
    ]
    made = {"transactions": pd.DataFrame(kinds), "locality": pd.DataFrame([dict(local)])}
    return made | ({"aborts": pd.DataFrame(aborts)} if aborts else {})


def mean_ms(outcome: Outcome) -> float | None:
    """Return the mean latency of all committed transactions, warm-up and end included."""
    total = sum((kind.latency_avg_ms or 0.0) * kind.committed for kind in outcome.kinds.values())
    return total / outcome.committed if outcome.committed else None


def counted(cursors: Iterable[Cursor]) -> dict[str, int]:
    """Add up the counters of MySQL servers."""
    total = dict.fromkeys(COUNTERS, 0)
    for cursor in cursors:
        cursor.execute("SHOW GLOBAL STATUS LIKE 'Ndb\\_api\\_%'")
        status = dict(cursor.fetchall())
        for column, variables in COUNTERS.items():
            total[column] += sum(int(status[variable]) for variable in variables)
    return total


def between(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """Return what was counted in between."""
    return {column: after[column] - before[column] for column in COUNTERS}


def probed(cursor: Cursor) -> dict[str, int]:
    """Begin transactions as New-Order does; count those with a hint on where to begin.

    The counter belongs to a session, and the sessions of go-tpc are over.
    """
    before = _hinted(cursor)
    for number in range(1, PROBES + 1):
        cursor.execute(_PROBE.format(number))
        cursor.fetchall()
    return {"probes": PROBES, "hinted": _hinted(cursor) - before}


def _hinted(cursor: Cursor) -> int:
    cursor.execute(f"SHOW SESSION STATUS LIKE '{_HINTED}'")
    return int(dict(cursor.fetchall())[_HINTED])
