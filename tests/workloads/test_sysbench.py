"""The command lines of sysbench, and its execution with scripted programs."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from ndblab.error import LabError
from ndblab.experiments.read_write import IN_LISTS
from ndblab.planning import profile
from ndblab.planning.point import Point
from ndblab.workloads import registry, sysbench, sysbench_output
from ndblab.workloads.execution import executing
from ndblab.workloads.load_generator import Command, Job
from workloads.doubles import BINARIES, CLUSTER

CAPTURED = Path(__file__).parents[1] / "captured" / "sysbench"
SERVERS = [
    SimpleNamespace(socket=f"/s/{n}.sock", port=13300 + n, endpoint="127.0.0.1") for n in (1, 2)
]


def job(**changes: object) -> Job:
    size = profile.get("smoke", {"tables": 8, "duration_s": 5})
    words = {"binaries": BINARIES, "profile": size, "point": Point(2, 16), "servers": SERVERS}
    return Job(**(words | changes))


def program(code: str) -> Command:
    return Command([sys.executable, "-c", code])


def run(code: str, timeout_s: float | None = 30) -> sysbench_output.Outcome:
    with executing(CLUSTER, program(code), timeout_s) as execution:
        return execution.wait()


def test_every_option_is_known_to_the_real_program() -> None:
    """Each option of a command line is in the help that sysbench 1.0.20 itself prints."""
    helped = "".join(
        (CAPTURED / f"help_{name}.txt").read_text()
        for name in ("1.0.20", "oltp_point_select_1.0.20")
    ).replace("_", "-")
    known = set(re.findall(r"--[a-z-]+", helped))
    for command in (sysbench.prepare_command(job()), *sysbench.commands(job(tcp_clients=True))):
        used = {re.match(r"--[a-z_-]+", word)[0] for word in command.argv[2:-1]}
        assert {word.replace("_", "-") for word in used} <= known


def test_a_run_uses_all_servers_and_uniform_keys() -> None:
    """Clients are spread over all servers and draw keys as in the brief; a warm-up comes first."""
    warm_up, measured = (command.argv for command in sysbench.commands(job()))
    assert "--mysql-socket=/s/1.sock,/s/2.sock" in measured
    assert {"--threads=16", "--time=5", "--rand-type=uniform", "--percentile=95"} <= set(measured)
    assert measured[-1] == "run"
    assert [w for w in warm_up if w not in measured] == ["--time=1"]


def test_tcp_clients_connect_to_ports() -> None:
    """On loopback; only a run does, tables are filled through the socket."""
    words = sysbench.commands(job(tcp_clients=True))[-1].argv
    assert {"--mysql-host=127.0.0.1", "--mysql-port=13301,13302"} <= set(words)
    assert "--mysql-socket=/s/1.sock" in sysbench.prepare_command(job(tcp_clients=True)).argv


def test_servers_without_a_socket_are_filled_over_tcp_too() -> None:
    """sysbench takes every port on every host: each is named once."""
    there = [SimpleNamespace(socket="", port=3306, endpoint=host) for host in ("db1", "db2")]
    asked = job(servers=there, user="bench", options_file="/f")
    words = sysbench.commands(asked)[-1].argv
    assert {"--mysql-host=db1,db2", "--mysql-port=3306", "--mysql-user=bench"} <= set(words)
    assert "--config-file=/f" in words
    assert {"--mysql-host=db1", "--mysql-port=3306"} <= set(sysbench.prepare_command(asked).argv)


def test_tables_are_filled_through_one_socket_with_a_client_per_table() -> None:
    """In the storage engine of NDB, with the options of the job."""
    words = sysbench.prepare_command(job(table_options="COMMENT='NDB_TABLE=READ_BACKUP=0'")).argv
    assert {"--mysql-socket=/s/1.sock", "--threads=8"} <= set(words)
    engine = "--mysql-storage-engine=ndbcluster COMMENT='NDB_TABLE=READ_BACKUP=0'"
    assert words[-2:] == [engine, "prepare"]


def test_options_of_a_job_are_passed_on() -> None:
    """After the lab's own, so that they take precedence."""
    words = sysbench.commands(job(options={"rand-type": "special"}))[-1].argv
    assert words.index("--rand-type=special") > words.index("--rand-type=uniform")


def test_a_line_for_the_shell_has_the_environment() -> None:
    """What is typed finds the libraries and scripts that the lab's own process finds."""
    line = sysbench.commands(job())[-1].line(["nice"])
    assert line.startswith("nice env 'LUA_PATH=/a folder/?.lua' sysbench oltp_point_select ")


def test_a_script_of_the_lab_is_named_by_its_path() -> None:
    """It lies in the library, with the options of its own; sysbench finds its common part."""
    point = Point(2, 16, workload=IN_LISTS)
    words = sysbench.commands(job(point=point, options={"in_list": 10}))[-1].argv
    assert Path(words[1]).is_file()
    assert Path(words[1]).name == "oltp_in_lists.lua"
    assert "--in_list=10" in words


def test_several_processes_share_clients_and_servers() -> None:
    """Two warm up at once, then two are measured."""
    argvs = [command.argv for command in sysbench.commands(job(processes=2, point=Point(2, 5)))]
    assert [argv[-1] for argv in argvs] == ["run"] * 4
    threads = [next(w for w in argv if w.startswith("--threads")) for argv in argvs]
    assert threads == ["--threads=3", "--threads=2"] * 2
    sockets = [next(w for w in argv if w.startswith("--mysql-socket=")) for argv in argvs[2:]]
    assert [w.split("=")[1] for w in sockets] == ["/s/1.sock,/s/2.sock", "/s/2.sock,/s/1.sock"]
    assert [("--time=1" in argv) for argv in argvs] == [True, True, False, False]


def test_any_other_workload_is_a_script_of_sysbench() -> None:
    """The script's name is that of the workload; nothing else needs to know it."""
    assert registry.find("oltp_write_only") is sysbench
    assert sysbench.commands(job(point=Point(1, 1, workload="bulk_insert")))[0].argv[1] == (
        "bulk_insert"
    )


@pytest.mark.parametrize("servers", [[], [SimpleNamespace(socket="/a,b/1.sock")]])
def test_sockets_that_sysbench_cannot_take_are_refused(servers: list) -> None:
    """It splits them at commas."""
    with pytest.raises(LabError, match="sockets"):
        sysbench.prepare_command(job(servers=servers))


def test_an_execution_gives_result_text_and_status() -> None:
    path = CAPTURED / "ndb_c8.txt"
    outcome = run(f"print(open({str(path)!r}).read(), end='')")
    assert (outcome.status, outcome.exit_status) == ("ok", 0)
    assert outcome.text == path.read_text()
    assert outcome.result == sysbench_output.parse(path.read_text())


def test_an_execution_that_fails_gives_text_and_reason() -> None:
    """It gives no numbers, but the reason and the raw text."""
    path = CAPTURED / "wrong_socket.txt"
    outcome = run(
        f"import sys; print(open({str(path)!r}).read()); print('oops', file=sys.stderr); exit(1)"
    )
    assert (outcome.result, outcome.exit_status) == (None, 1)
    assert "nothing.sock" in outcome.status
    assert outcome.text.rstrip().endswith("oops")


def test_an_execution_that_hangs_is_ended() -> None:
    with executing(CLUSTER, program("__import__('signal').pause()"), 0.5) as execution:
        outcome = execution.wait()
    assert outcome.status == "sysbench did not end within 0.5 s"
    assert outcome.exit_status is None
    assert not psutil.pid_exists(execution.pid)


def test_an_execution_of_nothing_but_errors_is_ended_soon() -> None:
    """sysbench repeats a transaction until it succeeds; one that always fails would never end."""
    report = (CAPTURED / "ignored_errors.txt").read_text()
    line = report[report.index("[ 1s ]") : report.index("[ 2s ]")].strip()
    failing = line.replace("tps: 1626.16", "tps: 0.00").replace("[ 1s ]", "[ {}s ]")
    code = (
        "import sys, time\nprint('Threads started!', flush=True)\n"
        f"for n in range(1, 60): time.sleep(1); print({failing!r}.format(n), flush=True)"
    )
    with executing(CLUSTER, program(code), 50, asked_s=1) as execution:
        began = time.monotonic()
        outcome = execution.wait()
    assert time.monotonic() - began < 25
    assert outcome.status == "no transaction ended, each has errors: 102 a second"
    assert not psutil.pid_exists(execution.pid)


@pytest.mark.parametrize(
    ("tps", "errors"), [("0.00", "0.00"), ("1.00", "101.64"), ("0.00", "101.64")]
)
def test_only_a_whole_run_of_errors_is_one_of_nothing_but_errors(tps: str, errors: str) -> None:
    """Not one that hangs, nor one in which a transaction ended, nor one that is not over."""
    lines = (CAPTURED / "ignored_errors.txt").read_text().splitlines()
    [line] = [line for line in lines if line.startswith("[ 3s ]")]
    text = line.replace("1384.94", tps).replace("79.00", errors) + "\n"
    fails = (tps, errors) == ("0.00", "101.64")
    assert sysbench_output.only_errors(text, 3) == (101.64 if fails else 0)
    assert sysbench_output.only_errors(text, 3.5) == 0


def test_an_interrupted_execution_leaves_no_process() -> None:
    """Ctrl-C in the `with` block ends sysbench before it is passed on."""
    context = executing(CLUSTER, program("__import__('signal').pause()"))
    execution = context.__enter__()
    context.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert not psutil.pid_exists(execution.pid)
