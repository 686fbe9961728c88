"""What sysbench printed: a pure, total reader of its report, its intervals and its complaints.

In: the text of one execution of sysbench 1.0 or 1.1. Out: a `Result`, or the line that says what
went wrong. It never takes half a report, or half a number, for a whole one.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ndblab.error import LabError

if TYPE_CHECKING:
    import pandas as pd

INTERVAL_COLUMNS = ("t_s", "clients", "qps", "latency_p95_ms", "errors_per_s", "reconnects_per_s")

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
_PERCENTILE = re.compile(rf"^ +(\d{{1,3}})th percentile: +{_NUMBER}$")
_NO_PERCENTILE = re.compile(r"^ +percentile stats: +disabled$")
_CLIENTS = re.compile(r"^Number of threads: (\d{1,9})$")
_WARMING_UP = re.compile(r"^Warming up for \d+ seconds")

_COMPLAINT = re.compile(r"^(?:(?:FATAL|ALERT|PANIC): *(.+)|(invalid .+))$")
_ERROR_NUMBER = re.compile(r"\b(?:MySQL error: |error |errno = )(\d{3,5})\b")


@dataclass(frozen=True)
class Result:
    """What one whole report of sysbench says; counts are of SQL statements."""

    clients: int
    queries: int
    errors: int
    reconnects: int
    duration_s: float
    qps: float
    latency_min_ms: float
    latency_avg_ms: float
    latency_p95_ms: float
    latency_max_ms: float
    intervals: pd.DataFrame = field(compare=False, repr=False)
    warnings: tuple[str, ...] = ()


def parse(text: str) -> Result:
    """Read the report of one run, of sysbench 1.0 or 1.1.

    An unfinished last line is not read: half a number would be taken for a whole one.

    Raises
    ------
    LabError : when there is no whole report in the text.
    """
    lines = text.replace("\r\n", "\n").split("\n")[:-1]
    totals: dict[str, float] = {}
    percentiles: dict[int, float] = {}
    intervals: list[tuple[float, ...]] = []
    warnings: list[str] = []
    clients, without_percentile, warming_up = 0, False, False
    for line in lines:
        if found := _INTERVAL.match(line):
            t_s, threads, _tps, qps, percent, latency, errors, reconnects = map(
                float, found.groups()
            )
            if warming_up:
                # 1.1 counts the queries of the warm-up into the first interval after it
                warming_up = False
                warnings.append("the first interval spans the warm-up and was left out")
                continue
            p95 = latency if percent == 95 else math.nan
            intervals.append((t_s, threads, qps, p95, errors, reconnects))
        elif found := _PERCENTILE.match(line):
            percentiles[int(found[1])] = float(found[2])
        elif found := _CLIENTS.match(line):
            clients = int(found[1])
        elif _NO_PERCENTILE.match(line):
            without_percentile = True
        elif _WARMING_UP.match(line):
            warming_up = True
        else:
            for name, pattern in _TOTALS.items():
                if found := pattern.match(line):
                    totals[name] = float(found[1])
                    break
    if len(totals) < len(_TOTALS) or not (percentiles or without_percentile):
        raise LabError(
            "sysbench printed no result",
            found=complaint(text) or _last_line(text) or "nothing at all",
            expected="a report with SQL statistics and latencies",
            next_step="Read the run's log; the last lines of the servers' logs may say why.",
        )
    p95 = percentiles.get(95, math.nan)
    warnings += _doubts(totals, p95, percentiles)
    return Result(
        clients=clients,
        queries=int(totals["queries"]),
        errors=int(totals["errors"]),
        reconnects=int(totals["reconnects"]),
        duration_s=totals["duration_s"],
        qps=totals["queries"] / totals["duration_s"] if totals["duration_s"] > 0 else 0.0,
        latency_min_ms=totals["latency_min_ms"],
        latency_avg_ms=totals["latency_avg_ms"],
        latency_p95_ms=p95,
        latency_max_ms=totals["latency_max_ms"],
        intervals=_frame(intervals),
        warnings=tuple(warnings),
    )


def complaint(text: str) -> str:
    """Return the line that best says what went wrong: one with a MySQL error number if any."""
    found = [m[1] or m[2] for m in map(_COMPLAINT.match, text.splitlines()) if m and (m[1] or m[2])]
    numbered = [line for line in found if _ERROR_NUMBER.search(line)]
    return (numbered or found or [""])[0]


def error_numbers(text: str) -> tuple[int, ...]:
    """Return the MySQL error numbers that sysbench names, each once, in order of appearance."""
    return tuple(dict.fromkeys(int(number) for number in _ERROR_NUMBER.findall(text)))


def _doubts(totals: dict[str, float], p95: float, percentiles: dict[int, float]) -> list[str]:
    if math.isnan(p95):
        other = ", ".join(str(p) for p in percentiles) or "none"
        return [f"no 95th percentile was printed (percentiles: {other})"]
    if p95 > totals["latency_max_ms"]:
        return [
            f"the 95th percentile, {p95:g} ms, is above the maximum, "
            f"{totals['latency_max_ms']:g} ms: the top of its histogram bucket"
        ]
    if p95 == 0 and totals["queries"] > 0:
        return ["the 95th percentile is printed as 0"]
    return []


def _frame(intervals: list[tuple[float, ...]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(intervals, columns=list(INTERVAL_COLUMNS), dtype=float).astype(
        {"clients": "int64"}
    )


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
