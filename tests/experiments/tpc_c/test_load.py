"""go-tpc: where it is found, how it is built, what it prints, and the report of its load."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import pytest
from stand_ins import put_program

from ndblab.dataset import table
from ndblab.error import LabError
from ndblab.experiments.tpc_c import go_tpc
from ndblab.experiments.tpc_c import load as generator
from ndblab.experiments.tpc_c.go_tpc import Interval, Kind, Outcome
from ndblab.install import requirements
from ndblab.measuring import slice_tables
from ndblab.planning import profile
from ndblab.planning.point import Point
from ndblab.workloads.load_generator import Job

LOCAL = {"reads": 100, "local_reads": 90, "scans": 9, "pruned_scans": 8, "transactions": 50,
         "probes": 10, "hinted": 10}  # fmt: skip
FOUND = Outcome(
    "ok",
    (Interval(1.02, 10, 0), Interval(2.01, 20, 1), Interval(3.04, 30, 0), Interval(4.0, 4, 0)),
    {"new_order": Kind(40, 0, 20.0, 30.0), "delivery": Kind(25, 2, 46.0, 60.0)},
    {(1205, "SELECT new_order FOR UPDATE"): 2},
)


def job(warmup_s: int = 1, duration_s: int = 2) -> Job:
    size = profile.get("smoke", {"warmup_s": warmup_s, "duration_s": duration_s})
    return Job(None, size, Point(1, 4, workload="tpc_c"), [])


def reported(status: str = "ok", warmup_s: int = 1):
    return generator.report(job(warmup_s), FOUND, status, 100.0, LOCAL, "printed")


def test_the_warm_up_and_the_end_are_left_out() -> None:
    """Of the transactions, the time and the intervals: clients end one after another."""
    report = reported()
    assert report.status == "ok"
    assert report.began == pytest.approx(101.02)
    assert report.lasted_s == pytest.approx(2.02)
    assert report.metrics["queries"] == 50
    assert report.metrics["qps"] == pytest.approx(50 / 2.02)
    assert list(report.intervals["t_s"]) == [1, 2]
    assert report.intervals["qps"].iloc[0] == pytest.approx(20 / 0.99)
    assert report.metrics["latency_avg_ms"] == pytest.approx((40 * 20 + 25 * 46) / 65)


def test_transactions_that_ndb_gave_up_are_no_errors_of_the_run() -> None:
    """They have a table of their own, and a run with them is averaged."""
    report = reported()
    assert report.metrics["errors"] == 0
    assert list(report.tables["aborts"]["error"]) == [1205]
    for name, rows in {**report.tables, "intervals": report.intervals}.items():
        assert table.render(name, rows.assign(run_id="x"), name)


def test_inconsistent_rows_are_a_failed_run_and_never_a_number() -> None:
    """The message is all that is left of it."""
    report = reported("inconsistent rows, condition 1: warehouse 1 has 2.00")
    assert report.status.startswith("inconsistent rows, condition 1")
    assert report.metrics == report.tables == {}
    assert report.intervals.empty
    assert report.logs["go-tpc.txt"] == "printed"


def test_a_load_without_intervals_after_its_warm_up_has_failed() -> None:
    """There would be nothing to tell a steady load by."""
    assert reported(warmup_s=4).status == "go-tpc printed nothing after the warm-up"


def test_an_idle_second_at_the_end_of_the_run_is_counted() -> None:
    """go-tpc prints nothing for it: the run goes on to the next line before the load ends."""

    def of(*intervals: Interval):
        outcome = dataclasses.replace(FOUND, intervals=(*FOUND.intervals[:2], *intervals))
        return generator.report(job(), outcome, "ok", 100.0, LOCAL, "printed")

    idle = of(Interval(4.1, 40, 0), Interval(5.0, 4, 0))
    assert idle.metrics["queries"] == 60
    assert idle.lasted_s == pytest.approx(3.08)
    assert list(idle.intervals["t_s"]) == [1, 2]
    ended = of(Interval(6.1, 40, 0))
    assert ended.metrics["queries"] == 20
    assert ended.lasted_s == pytest.approx(0.99)


def test_a_slice_cuts_its_own_warm_up() -> None:
    """Totals are what is left of the whole execution."""
    report = generator.report(job(0, 3), FOUND, "ok", 100.0, LOCAL, "printed")
    totals = slice_tables._totals(report, job().profile)
    assert totals["queries"] == 50
    assert totals["duration_s"] == pytest.approx(2.02)


def test_a_slice_counts_though_go_tpc_began_late() -> None:
    """Its seconds end a fraction after the lab's, never before."""
    late = (Interval(1.6, 10, 0), Interval(2.6, 20, 0), Interval(3.6, 30, 0))
    outcome = dataclasses.replace(FOUND, intervals=late)
    report = generator.report(job(0, 3), outcome, "ok", 100.0, LOCAL, "printed")
    assert slice_tables._totals(report, job().profile)["queries"] == 50


TIMES = "TPM: 900.0, Sum(ms): 300.0, Avg(ms): 20.0, 50th(ms): 18.9, 90th(ms): 31.5, 95th(ms): 35.7"
FAILED = "[2026-11-22 09:00:01] execute run failed, err "
LOCKED = (
    f"{FAILED}exec SELECT no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? ORDER BY no_o_id"
    " ASC LIMIT 1 FOR UPDATE failed Error 1205: Lock wait timeout exceeded; try restarting"
)
TWO_LINES = (
    f"{FAILED}exec UPDATE customer SET c_balance = c_balance - ?, \nc_payment_cnt = c_payment_cnt"
    " + 1 failed Error 1297 (HY000): Got temporary error 410 from NDBCLUSTER"
)
BROKEN = f"{FAILED}exec DELETE FROM new_order WHERE x failed Error 1146: Table does not exist"


def interval(at_s: float, new_orders: int, payments: int, failed: int = 0) -> list:
    kinds = [("NEW_ORDER", new_orders), ("PAYMENT", payments), ("DELIVERY_ERR", failed)]
    return [
        (at_s, f"[Current] {name} - Takes(s): 1.0, Count: {count}, {TIMES}\n")
        for name, count in kinds
        if count
    ]


def summary(at_s: float, **counts: int) -> list:
    said = "[Summary] {} - Takes(s): 3.0, Count: {}, {}"
    text = [said.format(n.upper(), c, TIMES) for n, c in counts.items()]
    lines = ["Finished", *text, "tpmC: 900.0, efficiency: 100.0%"]
    return [(at_s, f"{line}\n") for line in lines]


def lines(*messages: str, end_s: float = 3.02) -> list:
    said = [(1.5, f"{part}\n") for message in messages for part in message.split("\n")]
    counted = summary(end_s, new_order=45, payment=40, delivery_err=len(messages))
    return [*interval(1.0, 15, 10), *said, *interval(2.01, 20, 20, len(messages)), *counted]


def test_transactions_are_counted_by_kind_and_by_interval() -> None:
    """The end of the load is in no interval; its transactions are in the summary."""
    outcome = go_tpc.outcome(lines(), 3)
    assert outcome.status == "ok"
    assert [(i.ended_s, i.committed, i.failed) for i in outcome.intervals] == [
        (1.0, 25, 0),
        (2.01, 40, 0),
    ]
    assert outcome.committed == 85
    assert outcome.kinds["new_order"].latency_p95_ms == 35.7
    assert outcome.kinds["stock_level"] == Kind()


def test_a_transaction_that_ndb_gives_up_is_counted_by_error_and_statement() -> None:
    """go-tpc writes the statement as it stands, over several lines."""
    outcome = go_tpc.outcome(lines(LOCKED, LOCKED, TWO_LINES), 3)
    assert outcome.status == "ok"
    assert outcome.errors == {
        (1205, "SELECT new_order FOR UPDATE"): 2,
        (1297, "UPDATE customer"): 1,
    }
    assert outcome.kinds["delivery"].failed == 3


@pytest.mark.parametrize(
    ("printed", "status"),
    [
        (lines(BROKEN), "1 transaction failed: exec DELETE FROM new_order WHERE x failed Error"),
        (lines(end_s=1.2), "go-tpc ended by itself after 1.2 s of 3 s"),
        (lines(BROKEN, end_s=1.2), "go-tpc ended by itself after 1.2 s of 3 s: exec DELETE"),
        (summary(3.0, delivery_err=1), "no transaction committed"),
        ([(0.1, "panic: dial tcp: refused\n")], "go-tpc printed no result: panic: dial tcp"),
        ([], "go-tpc printed no result: nothing at all"),
    ],
)
def test_what_is_no_load_has_a_status_that_says_why(printed: list, status: str) -> None:
    """go-tpc exits with 0 in all of these."""
    assert go_tpc.outcome(printed, 3).status.startswith(status)


def test_an_exit_with_an_error_is_one_whatever_was_printed() -> None:
    """A killed go-tpc has no summary to believe."""
    outcome = go_tpc.outcome(lines(), 3, "go-tpc ended with killed by signal 9")
    assert outcome.status.startswith("go-tpc ended with killed by signal 9")
    assert outcome.committed == 0


def test_idle_intervals_print_nothing_and_make_the_next_one_longer() -> None:
    """Two intervals with the same kinds are never taken for one."""
    printed = [*interval(1.0, 5, 0), *interval(1.1, 6, 0), *interval(4.0, 7, 0)]
    outcome = go_tpc.outcome([*printed, *summary(4.5, new_order=18)], 4)
    assert [i.committed for i in outcome.intervals] == [5, 6, 7]


SAYS = '#!/bin/sh\necho "Git Commit Hash: x"\necho "Release version: {}"\n'
GO = (
    """#!/bin/sh
while [ "$1" != -o ]; do shift; done
grep -q go-tpc go.mod && grep -q h1: go.sum && [ "$GOTOOLCHAIN" = local ] || exit 1
mkdir -p "$GOMODCACHE"
cat >"$2" <<'END'
"""
    + SAYS.format("v1.0.12")
    + 'END\nchmod +x "$2"\n'
)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without Go, and with an empty cache; the folder is on its PATH."""
    folder = tmp_path / "path"
    for name in ("sh", "grep", "mkdir", "cat", "chmod"):
        folder.mkdir(exist_ok=True)
        (folder / name).symlink_to(shutil.which(name))
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


def test_without_go_the_message_says_what_to_install(machine: Path) -> None:
    """In one line, too, for whoever leaves TPC-C out."""
    assert go_tpc.find() is None
    assert "golang-go" in go_tpc.lacks()
    with pytest.raises(LabError, match="go-tpc is missing") as caught:
        go_tpc.ensure(progress=False)
    assert "golang-go" in caught.value.next_step


@pytest.mark.parametrize(
    ("program", "line"),
    [
        ("dnf", "sudo dnf install -y golang)"),
        ("zypper", "sudo zypper install -y go)"),
        (None, "(Install with this machine's package manager: go)"),
    ],
)
def test_go_is_named_as_this_distribution_names_it(
    machine: Path, monkeypatch: pytest.MonkeyPatch, program: str | None, line: str
) -> None:
    """Debian's command is of no use to others."""
    here = requirements.PackageManager(program, "another")
    monkeypatch.setattr(requirements, "package_manager", lambda: here)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert go_tpc.lacks().endswith(line)


def test_the_one_on_path_goes_first_with_its_own_version(machine: Path) -> None:
    """The digits of its file tell two builds of a version apart."""
    program = put_program(machine / "go-tpc", SAYS.format("v9.9.9"))
    known = go_tpc.find()
    assert known is not None
    assert known.program == program
    assert known.version.startswith("v9.9.9 (")
    assert go_tpc.lacks() == ""


def test_it_is_built_once_and_nothing_else_is_left(machine: Path) -> None:
    """From pinned modules, with the Go that is there."""
    put_program(machine / "go", GO)
    assert go_tpc.lacks() == ""
    built = go_tpc.ensure(progress=False)
    assert built.version.startswith("v1.0.12 (")
    left = {place.name for place in (machine.parent / "cache/ndblab").iterdir()}
    assert left == {"go-tpc-v1.0.12", "go-tpc.log", "install.lock"}
    (machine / "go").unlink()
    assert go_tpc.ensure(progress=False) == built


def test_a_build_that_fails_shows_its_last_lines(machine: Path) -> None:
    """And leaves no program."""
    put_program(machine / "go", "#!/bin/sh\necho 'error: checksum mismatch'\nexit 1\n")
    with pytest.raises(LabError, match="cannot be built") as caught:
        go_tpc.ensure(progress=False)
    assert "checksum mismatch" in str(caught.value)
    assert go_tpc.find() is None
