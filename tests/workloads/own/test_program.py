"""Programs of the user's own, with scripted ones in their place."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from ndblab.error import LabError
from ndblab.planning import profile
from ndblab.planning.point import Point
from ndblab.workloads.load_generator import Command, Job
from ndblab.workloads.own import program
from workloads.doubles import CLUSTER

SERVERS = [SimpleNamespace(socket=f"/s/{n}.sock", port=None, endpoint="localhost") for n in (1, 2)]
SECONDS = """
import json, sys, time
for _ in range({lines}):
    time.sleep(0.2)
    print(json.dumps({line}), flush=True)
"""


def job(servers: int = 1, **changes: object) -> Job:
    size = profile.get("smoke", {"warmup_s": 0, "duration_s": 2})
    return Job(None, size, Point(servers, 4), SERVERS[:servers], **changes)


def run(code: str):
    command = Command([sys.executable, "-c", code])
    with program.running(CLUSTER, command, job()) as load:
        return load.finish()


def test_lines_become_intervals_and_totals():
    """Each line counts the second that it ends."""
    report = run(SECONDS.format(lines=3, line='{"queries": 10, "latency_p95_ms": 2.5}'))
    assert report.status == "ok"
    assert (report.metrics["queries"], report.metrics["errors"]) == (30, 0)
    assert list(report.intervals["latency_p95_ms"]) == [2.5] * 3
    assert list(report.intervals["clients"]) == [4] * 3
    assert report.ended_s[0] == 1
    assert report.lasted_s == report.ended_s[-1]


@pytest.mark.parametrize(("errors", "good"), [(1, True), (2, False)])
def test_more_than_one_error_in_a_thousand_makes_a_run_void(errors, good):
    """It is not the load that was asked for."""
    line = f'{{"queries": 1000, "errors": {errors}}}'
    report = run(SECONDS.format(lines=3, line=line))
    assert report.status == ("ok" if good else "errors: 6 of 3000 queries, more than 0.1 %")


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("print('hello')", "the load printed 'hello', not {\"queries\""),
        ("print('{\"queries\": -1}')", "the load printed '{\"queries\": -1}', not"),
        ("print('[1]')", "the load printed '[1]', not"),
        (
            "import sys; print('no route', file=sys.stderr); sys.exit(3)",
            "the load ended with exit status 3: no route",
        ),
        ("pass", "the load printed nothing before it ended"),
        (SECONDS.format(lines=1, line='{"queries": 5}'), "the load ended after 1 s of 2 s"),
    ],
)
def test_what_goes_wrong_is_one_line(code, status):
    """With the last line that the program printed to its standard error."""
    report = run(code)
    assert report.status.startswith(status)
    assert not report.metrics


def test_a_program_that_prints_nothing_is_ended_with_all_it_started(monkeypatch):
    """It waits for the first line no longer than for clients to connect."""
    monkeypatch.setattr(program, "FIRST_LINE_S", 0.2)
    code = "import subprocess; subprocess.run(['sleep', '600'])"
    report = run(code)
    assert report.status.startswith("the load printed nothing in ")


def test_a_command_line_names_the_server_and_the_time():
    """One second more than is measured, so that the last one is whole."""
    line = program.read(f"{sys.executable} -s {{socket}} -t {{seconds}} -c {{clients}} {{x")
    argv = program.command(line, job(), 5).argv
    assert argv[1:] == ["-s", "/s/1.sock", "-t", "6", "-c", "4", "{x"]
    several = program.read(f"{sys.executable} {{sockets}} {{seconds}}")
    assert program.command(several, job(2), 5).argv[1] == "/s/1.sock,/s/2.sock"


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("nothing-of-this-name {socket} {seconds}", "does not exist"),
        (f"{sys.executable} {{socket}}", "for how long"),
        (f"{sys.executable} {{seconds}}", "where to connect"),
        (f"{sys.executable} {{socket}} {{seconds}} {{foo}}", "unknown placeholder"),
        (f"{sys.executable} '{{socket}} {{seconds}}", "cannot be read"),
    ],
)
def test_a_command_line_that_cannot_work_is_refused(line, what):
    """Before anything starts."""
    with pytest.raises(LabError, match=what):
        program.read(line)


def test_servers_that_it_cannot_reach_are_refused():
    """One socket is not two; a server without networking has no port."""
    with pytest.raises(LabError, match="one MySQL server"):
        program.command(program.read(f"{sys.executable} {{socket}} {{seconds}}"), job(2), 5)
    with pytest.raises(LabError, match="sockets only"):
        program.command(program.read(f"{sys.executable} {{port}} {{seconds}}"), job(), 5)


def test_its_identity_changes_with_its_content(tmp_path):
    """Also of a script that an interpreter runs."""
    script = tmp_path / "load.py"
    script.write_text("print(1)")
    line = f"{sys.executable} {script} {{socket}} {{seconds}}"
    first = program.read(line).sha256
    assert program.read(line).sha256 == first
    script.write_text("print(2)")
    assert program.read(line).sha256 != first
