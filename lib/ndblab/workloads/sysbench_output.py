"""What sysbench 1.0 or 1.1 printed: its report, its intervals and its error messages.

A truncated report or number is never taken for a whole one.

sysbench means to report every second. Short of CPU time it reports late, and catches up with a
report on the milliseconds that are left, whose rate means nothing: such reports are joined. A run
that ends before its first report is one interval.
"""

from __future__ import annotations

import math
import re
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ndblab.dataset import overrun
from ndblab.error import LabError
from ndblab.machine.commands import last_line
from ndblab.workloads.load_generator import METRICS, OK

if TYPE_CHECKING:
    import pandas as pd

INTERVAL_COLUMNS = ("t_s", "clients", "qps", "latency_p95_ms", "errors_per_s", "reconnects_per_s")
_P95 = 1
"""Place of p95 among the columns after the clients."""

_NUMBER = r"(-?\d{1,18}(?:\.\d{1,18})?)"
_INTERVAL = re.compile(
    rf"^\[ *{_NUMBER}s *\] *thds: (\d{{1,9}}) tps: {_NUMBER} qps: {_NUMBER} \(r/w/o: [\d./-]+\) "
    rf"lat \(ms,(\d{{1,3}})%\): {_NUMBER} err/s:? {_NUMBER} reconn/s:? {_NUMBER} *$"
)
_TOTALS = {
    "queries": re.compile(r"^ +queries: +(\d{1,18}) +\([\d.]+ per sec\.\)$"),
    "errors": re.compile(r"^ +ignored errors: +(\d{1,18}) +\([\d.]+ per sec\.\)$"),
    "reconnects": re.compile(r"^ +reconnects: +(\d{1,18}) +\([\d.]+ per sec\.\)$"),
    # 1.0 says "total time", 1.1 "time elapsed"
    "duration_s": re.compile(rf"^ +(?:total time|time elapsed): +{_NUMBER}s$"),
    "latency_min_ms": re.compile(rf"^ +min: +{_NUMBER}$"),
    "latency_avg_ms": re.compile(rf"^ +avg: +{_NUMBER}$"),
    "latency_max_ms": re.compile(rf"^ +max: +{_NUMBER}$"),
}
_PERCENTILE = re.compile(
    rf"^ +(?:(\d{{1,3}})th percentile: +{_NUMBER}|percentile stats: +disabled)$"
)
_CLIENTS = re.compile(r"^Number of threads: (\d{1,9})$")
_WARMING_UP = re.compile(r"^Warming up for \d+ seconds")
_COMPLAINT = re.compile(r"^(?:(?:FATAL|ALERT|PANIC): *(.+)|(invalid .+))$")
_ERROR_NUMBER = re.compile(r"\b(?:MySQL error: |error |errno = )(\d{3,5})\b")
_SHORTEST_S = 0.5
"""A report on less time than this is joined with the one before it."""
_EARLY_S, _LATE_S = 0.75, 1.5
"""How far the arrival of a report may lie before and after the whole second that it names; an
arrival farther off does not show when the report was made."""


@dataclass(frozen=True)
class Result:
    """A complete report of sysbench: `METRICS`, with SQL statements as queries, and intervals.

    `ended_s` has the end of each interval, in seconds since the clients started. If the run
    overran, `status` says so, and the rate is that of all clients at work (`dataset.overrun`).
    """

    duration_s: float
    metrics: Mapping[str, float]
    intervals: pd.DataFrame = field(compare=False, repr=False)
    ended_s: tuple[float, ...] = field(default=(), compare=False, repr=False)
    status: str = OK


class _Interval(NamedTuple):
    """A report on an interval: when that ended, and its `INTERVAL_COLUMNS`."""

    ended_s: float
    values: tuple[float, ...]

    def with_next(self, own_s: float, following: _Interval, its_s: float) -> _Interval:
        """Return both as one, with the p95 of the longer; they took `own_s` and `its_s`."""
        t_s, clients, *rates = following.values
        _, _, *before = self.values
        whole_s = own_s + its_s
        mixed = [
            (a * own_s + b * its_s) / whole_s if whole_s > 0 else b
            for a, b in zip(before, rates, strict=True)
        ]
        mixed[_P95] = before[_P95] if own_s >= its_s else rates[_P95]
        return _Interval(max(self.ended_s, following.ended_s), (t_s, clients, *mixed))


@dataclass(frozen=True)
class Outcome:
    """One execution: `status` is "ok" or the reason in one line, `result` is None without a report.

    `exit_status` is negative for a signal and None when the time ran out.
    """

    exit_status: int | None
    text: str
    result: Result | None
    status: str


def outcome(
    exit_status: int | None,
    out: str,
    err: str = "",
    timeout_s: float | None = None,
    arrived_s: Sequence[float] = (),
    asked_s: float | None = None,
    tolerated_errors: float = 0.0,
) -> Outcome:
    """Read the standard output and error of an execution that ended or ran out of time.

    Parameters
    ----------
    arrived_s, asked_s : as for `parse`.
    tolerated_errors : as for `status`.
    """
    text = out if not err.strip() else f"{out.rstrip()}\n{err}"
    result = None
    with suppress(LabError):
        result = parse(out, arrived_s, asked_s)
    said = status(exit_status, text, result, timeout_s, tolerated_errors)
    return Outcome(exit_status, text, result, said)


def status(
    exit_status: int | None,
    text: str,
    result: Result | None,
    timeout_s: float | None = None,
    tolerated_errors: float = 0.0,
) -> str:
    """Return "ok", or in one line why this run must not be averaged with others.

    Of its queries, the share `tolerated_errors` may fail.
    """
    why = complaint(text)
    tail = f": {why}" if why else ""
    if exit_status is None and (errors_per_s := only_errors(text)):
        return f"no transaction ended, each has errors: {errors_per_s:.0f} a second{tail}"
    if exit_status is None:
        return f"sysbench did not end within {timeout_s:g} s{tail}"
    if exit_status < 0:
        return f"sysbench died of {_signal_name(-exit_status)}{tail}"
    if exit_status > 0:
        return f"sysbench exited {exit_status}{tail}"
    if result is None:
        return f"sysbench printed no result{tail}"
    counts = {name: result.metrics[name] for name in ("errors", "reconnects")}
    if counts["reconnects"] or counts["errors"] > tolerated_errors * result.metrics["queries"]:
        return ", ".join(f"{name}: {count}" for name, count in counts.items() if count)
    return result.status if result.metrics["queries"] else "no query was answered"


def only_errors(text: str, until_s: float = 0) -> float:
    """Return the mean errors a second of a run in which every transaction fails, else 0.

    sysbench repeats a transaction after an error that it ignores: one that always fails is
    repeated for ever, whatever time the run was given. The reports must reach `until_s`.
    """
    reports = [match for match in map(_INTERVAL.match, text.splitlines()) if match]
    errors_per_s = [float(match[7]) for match in reports]
    ended = any(float(match[3]) for match in reports)
    if ended or not all(errors_per_s) or not reports or float(reports[-1][1]) < until_s:
        return 0.0
    return sum(errors_per_s) / len(errors_per_s)


def parse(text: str, arrived_s: Sequence[float] = (), asked_s: float | None = None) -> Result:
    """Read the report of one run of sysbench 1.0 or 1.1.

    An unfinished last line is ignored, since its numbers may be truncated. LabError if the text has
    no complete report.

    Parameters
    ----------
    arrived_s : when each line of the text came, in seconds since the clients started; without it,
        intervals end at the whole seconds that they name.
    asked_s : how long the run was to take; without it, `dataset.overrun` infers that.
    """
    totals: dict[str, float] = {}
    intervals: list[_Interval] = []
    p95, clients, warming_up = None, 0.0, False
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n")[:-1]):
        if match := _INTERVAL.match(line):
            t_s, threads, tps, qps, percent, latency, *counts = map(float, match.groups())
            # 1.1 counts the queries of the warm-up into the first interval after it.
            if not warming_up:
                # Where nothing ended, sysbench prints a p95 of 0.
                in_95 = latency if percent == 95 and tps else math.nan
                came_s = arrived_s[number] if number < len(arrived_s) else t_s
                ended_s = came_s if -_EARLY_S < came_s - t_s < _LATE_S else t_s
                intervals.append(_Interval(ended_s, (t_s, threads, qps, in_95, *counts)))
            warming_up = False
        elif match := _PERCENTILE.match(line):
            p95 = float(match[2]) if match[1] == "95" else math.nan
        elif match := _CLIENTS.match(line):
            clients = float(match[1])
        elif _WARMING_UP.match(line):
            warming_up = True
        else:
            matches = ((name, pattern.match(line)) for name, pattern in _TOTALS.items())
            totals |= {name: float(match[1]) for name, match in matches if match}
    if len(totals) < len(_TOTALS) or p95 is None:
        raise LabError(
            "sysbench printed no result",
            found=complaint(text) or last_line(text) or "nothing at all",
            expected="a report with SQL statistics and latencies",
            next_step="Read the run's log; the last lines of the servers' logs may say why.",
        )
    duration_s = totals.pop("duration_s")
    counts = {name: int(totals[name]) for name in ("queries", "errors", "reconnects")}
    qps = counts["queries"] / duration_s if duration_s > 0 else 0.0
    metrics = {**totals, **counts, "qps": qps, "latency_p95_ms": p95}
    if not intervals and duration_s > 0 and clients:
        per_s = (qps, p95, counts["errors"] / duration_s, counts["reconnects"] / duration_s)
        intervals = [_Interval(duration_s, (duration_s, clients, *per_s))]
    joined = _joined(intervals)
    ended_s, table = tuple(interval.ended_s for interval in joined), _frame(joined)
    own = overrun.judge(table, int(clients), duration_s, asked_s, ended_s)
    metrics["qps"] = qps if math.isnan(own.qps) else own.qps
    metrics = {name: metrics[name] for name in METRICS}
    return Result(duration_s, metrics, table, ended_s, own.status)


def complaint(text: str) -> str:
    """Return the line that best says what went wrong: one with a MySQL error number if any."""
    lines = [m[1] or m[2] for m in map(_COMPLAINT.match, text.splitlines()) if m and (m[1] or m[2])]
    numbered = [line for line in lines if _ERROR_NUMBER.search(line)]
    return (numbered or lines or [""])[0]


def _joined(intervals: Sequence[_Interval]) -> list[_Interval]:
    """Join each report on too little time with the one before it: their time and queries add up."""
    joined: list[_Interval] = []
    for interval in intervals:
        began_s = joined[-1].ended_s if joined else 0.0
        if joined and interval.ended_s - began_s < _SHORTEST_S:
            last = joined.pop()
            before_s = last.ended_s - (joined[-1].ended_s if joined else 0.0)
            joined.append(last.with_next(before_s, interval, max(0.0, interval.ended_s - began_s)))
        else:
            joined.append(interval)
    return joined


def _frame(intervals: Sequence[_Interval]) -> pd.DataFrame:
    import pandas as pd

    values = [interval.values for interval in intervals]
    return pd.DataFrame(values, columns=list(INTERVAL_COLUMNS), dtype=float).astype(
        {"clients": "int64"}
    )


def _signal_name(number: int) -> str:
    with suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"
