"""Headings of tables in words with units, made from the names of columns."""

from __future__ import annotations

NAMES = {
    "clients_other": "clients of the other",
    "qps": "queries/s",
    "qps_other": "queries/s of the other",
    "qps_default": "queries/s, default",
    "qps_tcp": "queries/s over TCP",
    "qps_before": "operations/s before",
    "qps_during": "operations/s during",
    "qps_after": "operations/s after",
    "law_qps": "queries/s by the law",
    "of_law": "queries/s over the law's",
    "tps": "transactions/s",
    "tpm_c": "New-Order transactions/min",
    "latency_p95_ms": "p95 latency, ms",
    "latency_p95_ms_other": "p95 latency of the other, ms",
    "latency_avg_ms": "mean latency, ms",
    "p95_ms_low": "p95 at least, ms",
    "p95_ms_high": "p95 at most, ms",
    "cpu_us": "CPU per query, \N{MICRO SIGN}s",
    "cpu_us_other": "CPU per query of the other, \N{MICRO SIGN}s",
    "query_us": "CPU per query, \N{MICRO SIGN}s",
    "one_us": "one query alone, \N{MICRO SIGN}s",
    "each_us": "each client more, \N{MICRO SIGN}s",
    "low": "95 % low",
    "high": "95 % high",
    "units": "blocks or runs",
    "sd_pct": "standard deviation, %",
    "ape_pct": "error without sign, %",
    "bias_pct": "mean error, %",
    "p90_pct": "90th percentile, %",
    "bound_qps": "limit, queries/s",
    "limit_qps": "limit, queries/s",
    "t_s": "time, s",
    "mb_per_s": "content, MB/s",
    "rows_per_s": "rows/s",
    "lookups_per_s": "lookups/s",
    "lookup_us": "CPU per lookup, \N{MICRO SIGN}s",
    "row_us": "CPU per row, \N{MICRO SIGN}s",
    "queries_per_s": "queries/s",
    "trend_pct_per_hour": "trend, % per hour",
    "of_whole": "mean over that of the whole run",
    "is_pushed": "pushed",
    "times_row_above": "times the row above",
}
"""Names of columns that are not words, and what they are called."""
_UNITS = {
    "ms": "ms", "us": "\N{MICRO SIGN}s", "s": "s", "pct": "%", "mib": "MiB", "mb": "MB",
    "bytes": "bytes", "cpus": "CPUs",
}  # fmt: skip
_PARTS = {"mean": "", "low": ", 95 % low", "high": ", 95 % high", "min": ", least", "max": ", most"}


def words(column: object) -> object:
    """Name a column in words with its unit; anything but an identifier stays as it is.

    A column of several levels has the inner ones in brackets, without their units.

    >>> words("qps_low"), words("longest_gap_s"), words("mysqld_us"), words("READ COMMITTED")
    ('queries/s, 95 % low', 'longest gap, s', 'mysqld, µs', 'READ COMMITTED')
    """
    if isinstance(column, tuple):
        outer, *inner = (str(words(level)) for level in column)
        return f"{outer} ({', '.join(name.partition(',')[0] for name in inner)})"
    if not isinstance(column, str) or not column.islower():
        return column
    if column in NAMES:
        return NAMES[column]
    stem, _, last = column.rpartition("_")
    if stem and last in _PARTS:
        return f"{words(stem)}{_PARTS[last]}"
    if stem.endswith("_cv") and last == "pct":
        return f"variation of {words(stem.removesuffix('_cv'))}".partition(",")[0] + ", %"
    if stem and last in _UNITS:
        return f"{stem.replace('_', ' ')}, {_UNITS[last]}"
    return column.replace("_", " ")
