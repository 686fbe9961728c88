"""What sysbench prints is read completely or refused; reports were captured from real runs."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndblab.error import LabError
from ndblab.workloads import sysbench_output
from ndblab.workloads.load_generator import METRICS

CAPTURED = Path(__file__).parents[1] / "captured" / "sysbench"
WHOLE = ("ndb_c1", "ndb_c8", "ndb_c64", "ndb_c2_no_interval", "ndb_percentile0", "ignored_errors")
WITHOUT_RESULT = {
    "connect_plugin": "caching_sha2_password",
    "missing_database": "Unknown database",
    "missing_table": "doesn't exist",
    "no_such_script": "Cannot find benchmark",
    "prepare": "",
    "server_killed": "Lost connection",
    "server_restarted_segfault": "",
    "sysbench_killed": "",
    "unknown_option": "invalid option: --warmup-time=2",
    "wrong_socket": "/run/lab/nothing.sock",
}
"""What sysbench printed when it failed or was killed, with the words that explain it, if any do."""


def captured(name: str) -> str:
    return (CAPTURED / f"{name}.txt").read_text()


def test_reads_a_captured_report() -> None:
    """Every number of a report printed by a real run is read, with the unit in its name."""
    result = sysbench_output.parse(captured("ndb_c8"))
    assert result.duration_s == 6.0133
    assert tuple(result.metrics) == METRICS
    assert result.metrics == {
        "queries": 13568,
        "errors": 0,
        "reconnects": 0,
        "qps": pytest.approx(2256.07, rel=5e-4),
        "latency_min_ms": 0.07,
        "latency_avg_ms": 3.54,
        "latency_p95_ms": 11.45,
        "latency_max_ms": 90.85,
    }


@pytest.mark.parametrize("asked_s", [8, 34, None])
def test_seconds_after_clients_have_left_are_no_part_of_the_rate(asked_s) -> None:
    """Eight good seconds of sixteen clients, then three that hang for 26."""
    text = captured("ndb_c8").replace("threads: 8", "threads: 16").replace("6.0133s", "34.2000s")
    line = text[text.index("[ 1s ]") : text.index("[ 2s ]")].replace("2512.70", "1000.00")
    hung = line.replace("thds: 8", "thds: 3").replace("1000.00", "0.00")
    lines = [(line if n <= 8 else hung).replace("[ 1s", f"[ {n}s") for n in range(1, 35)]
    report = "".join(lines).replace("thds: 8", "thds: 16")
    text = text[: text.index("[ 1s ]")] + report + text[text.index("SQL stat") :]
    done = sysbench_output.outcome(0, text, asked_s=asked_s)
    assert done.status == "overran, with clients stuck: all of them worked for 8 s of 34.2 s"
    assert done.result is not None
    assert done.result.metrics["qps"] == 1000


def test_reads_captured_intervals() -> None:
    """Each interval line becomes a row at the interval's end."""
    intervals = sysbench_output.parse(captured("ndb_c8")).intervals
    assert list(intervals["t_s"]) == [1, 2, 3, 4, 5, 6]
    assert list(intervals["qps"])[:2] == [2512.70, 2413.52]
    assert list(intervals["latency_p95_ms"])[:2] == [9.06, 9.91]
    assert set(intervals["clients"]) == {8}


def test_a_report_on_milliseconds_is_joined_with_the_late_one_before_it() -> None:
    """Queries and time of both add up, and the latency is that of the longer one."""
    text = captured("ndb_c8").replace("qps: 1863.22", "qps: 1000.00")
    text = text.replace("qps: 1880.72", "qps: 100000.00")
    arrived_s = [0.0] * text[: text.index("[ 1s ]")].count("\n") + [1.0, 2.0, 3.96, 4.0, 5.0, 6.0]
    result = sysbench_output.parse(text, arrived_s)
    assert list(result.intervals["t_s"]) == [1, 2, 4, 5, 6]
    assert result.intervals["qps"][2] == pytest.approx((1000 * 1.96 + 100000 * 0.04) / 2)
    assert result.intervals["latency_p95_ms"][2] == 13.70
    assert result.ended_s == pytest.approx((1.0, 2.0, 4.0, 5.0, 6.0))


def test_a_run_that_ends_before_its_first_report_is_one_interval() -> None:
    """A second on an emulated machine: what is drawn second by second would otherwise lack it."""
    result = sysbench_output.parse(captured("ndb_c2_no_interval"))
    assert result.intervals.to_dict("records") == [
        {
            "t_s": 1.4215, "clients": 2, "qps": pytest.approx(43.6, abs=0.1),
            "latency_p95_ms": 77.19, "errors_per_s": 0, "reconnects_per_s": 0,
        }
    ]  # fmt: skip
    assert result.ended_s == (1.4215,)


def test_lines_that_came_at_an_impossible_time_are_taken_at_their_word() -> None:
    """A whole text at once, or a reader that was held up, does not say when reports were made."""
    text = (CAPTURED / "ndb_c8.txt").read_text()
    at_once = sysbench_output.parse(text, [0.01] * text.count("\n"))
    assert list(at_once.intervals["qps"]) == list(sysbench_output.parse(text).intervals["qps"])
    assert at_once.ended_s == (1, 2, 3, 4, 5, 6)


def test_counts_ignored_errors_of_a_captured_run() -> None:
    """Errors that sysbench ignores are counted, so that the run is marked and not averaged in."""
    text = captured("ignored_errors")
    result = sysbench_output.parse(text)
    assert result.metrics["errors"] == 437
    assert list(result.intervals["errors_per_s"]) == [101.64, 142.02, 79.00, 108.22]
    assert sysbench_output.status(0, text, result) == "errors: 437"


def test_reads_the_report_of_1_1() -> None:
    """A report in the layout of sysbench 1.1 (written after public sources, not captured) is read
    as one of 1.0 is, without the interval that spans its warm-up."""
    result = sysbench_output.parse(captured("derived_from_public_sources_1.1.0"))
    assert (result.metrics["queries"], result.duration_s) == (7503, 3.0003)
    assert (result.metrics["latency_p95_ms"], result.metrics["latency_max_ms"]) == (9.91, 41.12)
    assert list(result.intervals["t_s"]) == [2, 3]


@pytest.mark.parametrize("name", ["ndb_percentile0", "ndb_percentile99_histogram"])
def test_another_percentile_is_never_called_p95(name: str) -> None:
    """Where sysbench printed no 95th percentile the column is empty."""
    result = sysbench_output.parse(captured(name))
    assert math.isnan(result.metrics["latency_p95_ms"])
    assert result.intervals["latency_p95_ms"].isna().all()


@pytest.mark.parametrize(("name", "words"), WITHOUT_RESULT.items())
def test_no_report_is_no_result_and_the_status_has_the_reason(name: str, words: str) -> None:
    """Nothing of it is taken for numbers; the status has the line that explains the failure."""
    with pytest.raises(LabError, match="printed no result"):
        sysbench_output.parse(captured(name))
    status = sysbench_output.status(1, captured(name), None)
    assert status.startswith("sysbench exited 1: " if words else "sysbench exited 1")
    assert words in status
    assert "\n" not in status


def test_status_names_signals_time_outs_and_silence() -> None:
    """A crash, a hang and an empty report each have a status of their own."""
    text = captured("server_restarted_segfault")
    assert sysbench_output.status(-11, text, None) == "sysbench died of SIGSEGV"
    assert sysbench_output.status(None, text, None, 30) == "sysbench did not end within 30 s"
    assert sysbench_output.status(0, "", None) == "sysbench printed no result"
    whole = captured("ndb_c8")
    assert sysbench_output.status(0, whole, sysbench_output.parse(whole)) == "ok"


@given(st.sampled_from(WHOLE), st.integers(min_value=0, max_value=20_000))
def test_any_beginning_of_a_report_is_read_right_or_refused(name: str, length: int) -> None:
    """A report cut anywhere gives the whole report's numbers or a LabError, nothing in between."""
    text = captured(name)
    try:
        result = sysbench_output.parse(text[:length])
    except LabError:
        return
    assert str(result) == str(sysbench_output.parse(text))


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text makes the reader raise anything but a LabError."""
    with pytest.raises(LabError):
        sysbench_output.parse(text)
    sysbench_output.complaint(text)


NOISE = (
    "WARNING: the --test option is deprecated.",
    "PANIC: unprotected error in call to Lua API",
    "FATAL: mysql_drv_query() returned error 1205 (Lock wait timeout exceeded)",
    "(last message repeated 3 times)",
    "",
    "Reconnecting to the database server...",
)


@given(st.sampled_from(WHOLE), st.lists(st.tuples(st.integers(0, 60), st.sampled_from(NOISE))))
def test_warnings_between_the_lines_change_nothing(name: str, noise: list[tuple[int, str]]) -> None:
    text = captured(name)
    lines = text.splitlines()
    for place, words in noise:
        lines.insert(min(place, len(lines)), words)
    result = sysbench_output.parse("\n".join(lines) + "\n")
    assert str(result) == str(sysbench_output.parse(text))
    assert result.intervals.equals(sysbench_output.parse(text).intervals)


counts = st.integers(min_value=1, max_value=10**12)
hundredths = st.integers(min_value=0, max_value=10**9).map(lambda n: n / 100)


@given(
    st.sampled_from(["    total time: ", "    time elapsed: "]),
    counts,
    st.integers(min_value=1, max_value=10**9).map(lambda n: n / 10_000),
    st.lists(hundredths, min_size=4, max_size=4),
    st.lists(hundredths, max_size=20),
)
def test_printed_numbers_are_read_back(
    time_words: str, queries: int, seconds: float, latencies: list[float], rates: list[float]
) -> None:
    least, mean, p95, most = latencies
    report = "".join(
        f"[ {t}s ] thds: 4 tps: {q:.2f} qps: {q:.2f} (r/w/o: {q:.2f}/0.00/0.00) "
        f"lat (ms,95%): {p95:.2f} err/s: 0.00 reconn/s: 0.00\n"
        for t, q in enumerate(rates, 1)
    )
    report += (
        f"    queries:                             {queries:<6} (1.00 per sec.)\n"
        f"    ignored errors:                      0      (0.00 per sec.)\n"
        f"    reconnects:                          0      (0.00 per sec.)\n"
        f"{time_words:<41}{seconds:.4f}s\n"
        f"         min: {least:>39.2f}\n         avg: {mean:>39.2f}\n"
        f"         max: {most:>39.2f}\n         95th percentile: {p95:>27.2f}\n"
    )
    result = sysbench_output.parse(report)
    assert (result.metrics["queries"], result.duration_s) == (queries, seconds)
    assert result.metrics["qps"] == pytest.approx(queries / seconds)
    assert [
        result.metrics[f"latency_{name}_ms"] for name in ("min", "avg", "p95", "max")
    ] == latencies
    assert list(result.intervals["qps"]) == rates
