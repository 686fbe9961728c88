"""Loads that end by themselves: their time, and what becomes of those that fail or never end."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import psutil

import waiting
from ndblab.workloads import action
from ndblab.workloads.load_generator import Command, Report
from workloads.doubles import CLUSTER


def run(line: str, timeout_s: float = 20, checked: action.Checked = lambda ended: ended) -> Report:
    with action.running(CLUSTER, Command(["bash", "-c", line]), timeout_s, checked) as load:
        return load.finish()


def test_an_action_lasts_until_its_program_ends():
    """It has no queries and no rate, but whatever a check of its result adds."""
    table = pd.DataFrame({"size_bytes": [7]})

    def checked(ended: action.Ended) -> action.Ended:
        assert ended.output == "done\n"
        return replace(ended, tables={"dumps": table})

    report = run("sleep 0.2; echo done", checked=checked)
    assert (report.status, dict(report.metrics)) == ("ok", {"errors": 0})
    assert 0.2 <= report.lasted_s < 5
    assert report.tables["dumps"] is table


def test_a_program_that_fails_is_a_failed_run_in_its_own_words():
    """Its last message is the reason, and nothing that it left is taken for a result."""
    report = run("echo half; echo 'mysqldump: Got error: 1049: Unknown database' >&2; exit 2")
    assert report.status == "exit status 2: mysqldump: Got error: 1049: Unknown database"
    assert not report.metrics
    assert "half" in report.logs[action.LOG]


def test_a_result_that_is_wrong_is_a_failed_run():
    """An action that ended well may still be refused; it then leaves no table."""
    report = run("true", checked=lambda ended: ended.failed("the dump holds 1 row, not 2"))
    assert report.status == "the dump holds 1 row, not 2"
    assert not report.tables


def test_an_action_that_does_not_end_is_killed_with_all_it_started(tmp_path):
    """Also the program behind the pipe, which would go on for ever."""
    pid = tmp_path / "pid"
    report = run(f"bash -c 'echo $$ > {pid}; exec sleep 60' | cat", timeout_s=1)
    assert report.status == "not ended after 1 s"
    waiting.until(lambda: has_ended(int(pid.read_text())), 5, "the end of its child")


def has_ended(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
