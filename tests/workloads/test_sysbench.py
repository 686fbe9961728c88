from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndblab.error import LabError
from ndblab.workloads import sysbench

CAPTURED = Path(__file__).parents[1] / "captured" / "sysbench"
WHOLE = ("ndb_c1", "ndb_c8", "ndb_c64", "ndb_percentile0", "ignored_errors")
WITHOUT_RESULT = (
    "connect_plugin",
    "missing_database",
    "missing_table",
    "no_such_script",
    "prepare",
    "server_killed",
    "server_restarted_segfault",
    "sysbench_killed",
    "unknown_option",
    "wrong_socket",
)


def captured(name: str) -> str:
    return (CAPTURED / f"{name}.txt").read_text()


def line(**changes: object) -> list[str]:
    words = {"sockets": ["/s/1.sock", "/s/2.sock"], "tables": 8, "table_size": 1000, "clients": 16}
    return sysbench.argv("sysbench", "oltp_point_select", **(words | {"time_s": 5} | changes))


def test_reads_a_captured_report() -> None:
    """Every number of a report printed by a real run is read, with the unit in its name."""
    result = sysbench.parse(captured("ndb_c8"))
    assert (result.clients, result.queries, result.errors, result.reconnects) == (8, 13568, 0, 0)
    assert result.duration_s == 6.0133
    assert result.qps == pytest.approx(2256.07, rel=5e-4)
    assert (result.latency_min_ms, result.latency_avg_ms) == (0.07, 3.54)
    assert (result.latency_p95_ms, result.latency_max_ms) == (11.45, 90.85)
    assert result.warnings == ()


def test_reads_captured_intervals() -> None:
    """Each interval line becomes a row at the interval's end."""
    intervals = sysbench.parse(captured("ndb_c8")).intervals
    assert list(intervals["t_s"]) == [1, 2, 3, 4, 5, 6]
    assert list(intervals["qps"])[:2] == [2512.70, 2413.52]
    assert list(intervals["latency_p95_ms"])[:2] == [9.06, 9.91]
    assert set(intervals["clients"]) == {8}


def test_counts_ignored_errors_of_a_captured_run() -> None:
    """Errors that sysbench ignores are counted, so that the run is marked and not averaged in."""
    text = captured("ignored_errors")
    result = sysbench.parse(text)
    assert result.errors == 437
    assert list(result.intervals["errors_per_s"]) == [101.64, 142.02, 79.00, 108.22]
    assert sysbench.status(0, text, result) == "errors: 437"


def test_reads_the_report_of_1_1() -> None:
    """A report in the layout of sysbench 1.1 (written after public sources, not captured) is read
    as one of 1.0 is, without the interval that spans its warm-up."""
    result = sysbench.parse(captured("derived_from_public_sources_1.1.0"))
    assert (result.clients, result.queries, result.duration_s) == (8, 7503, 3.0003)
    assert (result.latency_p95_ms, result.latency_max_ms) == (9.91, 41.12)
    assert list(result.intervals["t_s"]) == [2, 3]
    assert "warm-up" in result.warnings[0]


@pytest.mark.parametrize("name", ["ndb_percentile0", "ndb_percentile99_histogram"])
def test_another_percentile_is_never_called_p95(name: str) -> None:
    """Where sysbench printed no 95th percentile the column is empty and a warning says so."""
    result = sysbench.parse(captured(name))
    assert result.latency_p95_ms != result.latency_p95_ms
    assert result.intervals["latency_p95_ms"].isna().all()
    assert "no 95th percentile" in result.warnings[0]


@pytest.mark.parametrize(
    ("p95", "word"), [("95.00", "above the maximum"), ("0.00", "printed as 0"), ("11.45", "")]
)
def test_doubtful_percentiles_are_told(p95: str, word: str) -> None:
    """A p95 above the maximum, or of 0, is kept as printed and carries a warning."""
    text = captured("ndb_c8").replace(" 11.45\n", f" {p95}\n")
    result = sysbench.parse(text)
    assert result.latency_p95_ms == float(p95)
    assert word in "".join(result.warnings)
    assert bool(word) == bool(result.warnings)


@pytest.mark.parametrize("name", WITHOUT_RESULT)
def test_no_report_is_no_result(name: str) -> None:
    """What sysbench prints when it fails or is killed is never taken for a result."""
    with pytest.raises(LabError, match="printed no result"):
        sysbench.parse(captured(name))


@pytest.mark.parametrize(
    ("name", "numbers", "words"),
    [
        ("connect_plugin", (1156,), "caching_sha2_password"),
        ("missing_database", (1049,), "Unknown database"),
        ("missing_table", (1146,), "doesn't exist"),
        ("no_such_script", (), "Cannot find benchmark"),
        ("server_killed", (2013,), "Lost connection"),
        ("unknown_option", (), "invalid option: --warmup-time=2"),
        ("wrong_socket", (2002,), "/run/lab/nothing.sock"),
    ],
)
def test_the_reason_of_a_failure_is_found(name: str, numbers: tuple[int, ...], words: str) -> None:
    """The status of a failed run holds the line that explains it, and MySQL's error numbers."""
    text = captured(name)
    status = sysbench.status(1, text, None)
    assert status.startswith("sysbench exited 1: ")
    assert words in status
    assert "\n" not in status
    assert sysbench.error_numbers(text) == numbers


def test_status_names_signals_time_outs_and_silence() -> None:
    """A crash, a hang and an empty report each have a status of their own."""
    text = captured("server_restarted_segfault")
    assert sysbench.status(-11, text, None) == "sysbench died of SIGSEGV"
    assert sysbench.status(None, text, None, 30) == "sysbench did not end within 30 s"
    assert sysbench.status(0, "", None) == "sysbench printed no result"
    whole = captured("ndb_c8")
    assert sysbench.status(0, whole, sysbench.parse(whole)) == "ok"


@given(st.sampled_from(WHOLE), st.integers(min_value=0, max_value=20_000))
def test_any_beginning_of_a_report_is_read_right_or_refused(name: str, length: int) -> None:
    """A report cut anywhere gives the whole report's numbers or a LabError, nothing in between."""
    text = captured(name)
    try:
        result = sysbench.parse(text[:length])
    except LabError:
        return
    assert str(result) == str(sysbench.parse(text))


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text makes the reader raise anything but a LabError."""
    with pytest.raises(LabError):
        sysbench.parse(text)
    sysbench.complaint(text)
    sysbench.error_numbers(text)


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
    """Lines that sysbench or a library throws in do not change the result."""
    text = captured(name)
    lines = text.splitlines()
    for place, words in noise:
        lines.insert(min(place, len(lines)), words)
    result = sysbench.parse("\n".join(lines) + "\n")
    assert str(result) == str(sysbench.parse(text))
    assert result.intervals.equals(sysbench.parse(text).intervals)


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
    """Whatever numbers a report prints are the numbers read."""
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
    result = sysbench.parse(report)
    assert (result.queries, result.duration_s) == (queries, seconds)
    assert result.qps == pytest.approx(queries / seconds)
    assert [
        result.latency_min_ms,
        result.latency_avg_ms,
        result.latency_p95_ms,
        result.latency_max_ms,
    ] == latencies
    assert list(result.intervals["qps"]) == rates


@pytest.mark.parametrize("command", sysbench.COMMANDS)
def test_every_option_is_known_to_the_real_program(command: str) -> None:
    """Each option of a command line stands in the help that sysbench 1.0.20 itself prints."""
    helped = captured("help_1.0.20") + captured("help_oltp_point_select_1.0.20")
    known = set(re.findall(r"--[a-z_-]+", helped))
    used = {re.match(r"--[a-z_-]+", word)[0] for word in line(command=command)[2:-1]}
    assert used <= known


def test_run_uses_all_sockets_and_uniform_keys() -> None:
    """A run spreads its clients over all servers and draws keys as the brief did."""
    words = line()
    assert "--mysql-socket=/s/1.sock,/s/2.sock" in words
    assert {"--threads=16", "--time=5", "--rand-type=uniform", "--percentile=95"} <= set(words)
    assert words[-1] == "run"


def test_prepare_uses_one_socket_and_a_client_a_table() -> None:
    """Preparing goes through the first server, several tables at once."""
    words = line(command="prepare", time_s=0, extra=["--mysql_storage_engine=ndbcluster"])
    assert "--mysql-socket=/s/1.sock" in words
    assert "--threads=8" in words
    assert words[-2:] == ["--mysql_storage_engine=ndbcluster", "prepare"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"clients": 0}, "clients"),
        ({"clients": "8"}, "clients"),
        ({"clients": True}, "clients"),
        ({"tables": -1}, "tables"),
        ({"time_s": 0}, "time_s"),
        ({"sockets": []}, "sockets"),
        ({"sockets": ["/a,b/1.sock"]}, "sockets"),
        ({"command": "destroy"}, "command"),
        ({"rand_type": "zipfian"}, "distribution"),
        ({"version": "0.5"}, "not supported"),
        ({"version": ""}, "not supported"),
        ({"extra": ["--warmup-time=3"]}, "does not know"),
    ],
)
def test_bad_input_is_refused(changes: dict[str, object], words: str) -> None:
    """What this sysbench cannot do is refused before it is started."""
    with pytest.raises(LabError, match=words):
        line(**changes)


def test_newer_versions_may_use_newer_options() -> None:
    """Options and distributions of 1.1 pass when the program is 1.1."""
    words = line(version="1.1.0-2ca9e3f", rand_type="zipfian", extra=["--warmup-time=3"])
    assert "--warmup-time=3" in words


def program(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_run_gives_result_text_and_status() -> None:
    """A run that ends well gives its numbers, its raw text and "ok"."""
    path = CAPTURED / "ndb_c8.txt"
    outcome = sysbench.run(program(f"print(open({str(path)!r}).read(), end='')"), timeout_s=30)
    assert outcome.status == "ok"
    assert outcome.exit_status == 0
    assert outcome.text == captured("ndb_c8")
    assert outcome.result == sysbench.parse(captured("ndb_c8"))


def test_run_that_fails_keeps_text_and_reason() -> None:
    """A run that fails gives no numbers, but the reason, the error numbers and the raw text."""
    path = CAPTURED / "wrong_socket.txt"
    code = f"import sys; print(open({str(path)!r}).read()); print('oops', file=sys.stderr); exit(1)"
    outcome = sysbench.run(program(code), timeout_s=30)
    assert outcome.result is None
    assert outcome.exit_status == 1
    assert outcome.mysql_errors == (2002,)
    assert "nothing.sock" in outcome.status
    assert outcome.text.rstrip().endswith("oops")


def test_preparing_needs_no_report() -> None:
    """Preparing and cleaning up print no report and are fine when the program says so."""
    for command in ("prepare", "cleanup"):
        assert sysbench.run([*program("pass"), command], timeout_s=30).status == "ok"
        assert sysbench.run([*program("exit(3)"), command]).status == "sysbench exited 3"
    assert sysbench.run([*program("pass"), "run"]).status == "sysbench printed no result"


def test_run_that_hangs_is_ended() -> None:
    """A sysbench that does not end is killed when its time is up, and the status says so."""
    started = []

    def spawn(*args: object, **kwargs: object) -> subprocess.Popen[str]:
        started.append(subprocess.Popen(*args, **kwargs))
        return started[0]

    outcome = sysbench.run(program("__import__('signal').pause()"), timeout_s=0.5, spawn=spawn)
    assert outcome.status == "sysbench did not end within 0.5 s"
    assert outcome.exit_status is None
    assert not psutil.pid_exists(started[0].pid)


def test_interrupted_run_leaves_no_process() -> None:
    """Ctrl-C during a run ends sysbench before it is passed on."""
    started = []

    class Interrupted(subprocess.Popen):
        def wait(self, timeout: float | None = None) -> int:
            if not started:
                started.append(self)
                raise KeyboardInterrupt
            return super().wait(timeout)

    with pytest.raises(KeyboardInterrupt):
        sysbench.run(program("__import__('signal').pause()"), spawn=Interrupted)
    assert not psutil.pid_exists(started[0].pid)


def test_program_that_is_not_there_is_told() -> None:
    """A missing sysbench is one clear message."""
    with pytest.raises(LabError, match="cannot be started"):
        sysbench.run(["/nowhere/sysbench"])
