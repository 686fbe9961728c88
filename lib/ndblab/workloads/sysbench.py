"""sysbench: its command line and its run.

In: sockets, tables, clients and seconds. Out: an argument list, or one `Outcome` that holds the
text, the exit status and, where there was one, the `Result`.
It never retries and never decides what a failure means for a sweep.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from ndblab.error import LabError
from ndblab.workloads.sysbench_output import Result, complaint, error_numbers, parse

__all__ = [
    "COMMANDS",
    "Outcome",
    "Result",
    "argv",
    "complaint",
    "error_numbers",
    "parse",
    "run",
    "status",
]

COMMANDS = ("prepare", "run", "cleanup")

_DISTRIBUTIONS_1_0 = ("uniform", "gaussian", "special", "pareto")
_DISTRIBUTIONS_1_1 = (*_DISTRIBUTIONS_1_0, "zipfian")
_SINCE_1_1 = ("--warmup-time", "--rand-zipfian-exp", "--thread-init-timeout")


@dataclass(frozen=True)
class Outcome:
    """One execution: `status` is "ok" or the reason in one line, `result` is None without a report.

    `exit_status` is negative for a signal and None when the time ran out. `began` is when all
    clients were connected and the measuring started, by `time.monotonic`.
    """

    result: Result | None
    text: str
    exit_status: int | None
    status: str
    mysql_errors: tuple[int, ...] = ()
    began: float | None = None


def argv(
    sysbench: Path | str,
    script: str,
    *,
    sockets: Sequence[Path | str] = (),
    ports: Sequence[str] = (),
    tables: int,
    table_size: int,
    clients: int,
    time_s: int = 0,
    report_interval_s: int = 1,
    percentile: int = 95,
    rand_type: str = "uniform",
    command: str = "run",
    extra: Sequence[str] = (),
    version: str = "1.0.20",
    user: str = "root",
    database: str = "sbtest",
) -> list[str]:
    """Compose one command line that this version of sysbench understands.

    The clients come by the Unix sockets, or over TCP/IP to these ports on loopback.
    `prepare` and `cleanup` use the first socket only and one client a table, the most that the
    scripts can keep busy.
    """
    _check_words(command, rand_type, extra, version)
    _check_numbers(
        tables=(tables, 1),
        table_size=(table_size, 1),
        clients=(clients, 1),
        time_s=(time_s, 1 if command == "run" else 0),
        report_interval_s=(report_interval_s, 0),
        percentile=(percentile, 0),
    )
    servers = [str(s) for s in sockets or ports]
    used = servers if command == "run" else servers[:1]
    if not used or any("," in s or not s for s in used):
        raise LabError(
            "sysbench needs the sockets of its MySQL servers",
            found=used or "none",
            expected="at least one path, without commas",
            next_step="Choose a folder whose path has no comma.",
        )
    line = [
        str(sysbench),
        script,
        "--db-driver=mysql",
        *(
            [f"--mysql-socket={','.join(used)}"]
            if sockets
            else ["--mysql-host=127.0.0.1", f"--mysql-port={','.join(used)}"]
        ),
        f"--mysql-user={user}",
        f"--mysql-db={database}",
        f"--tables={tables}",
        f"--table_size={table_size}",
        f"--threads={clients if command == 'run' else min(clients, tables)}",
    ]
    if command == "run":
        line += [
            f"--time={time_s}",
            "--events=0",
            f"--report-interval={report_interval_s}",
            f"--percentile={percentile}",
            f"--rand-type={rand_type}",
        ]
    return [*line, *extra, command]


def run(
    argv: Sequence[str],
    env: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
    spawn: Callable[..., Any] = subprocess.Popen,
) -> Outcome:
    """Run sysbench to its end and say what came of it; nothing of it outlives this call.

    `env` is added to the lab's own environment; `spawn` takes what `subprocess.Popen` takes and
    returns what it returns.
    """
    try:
        child = spawn(
            list(argv),
            env=os.environ | dict(env or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
    except OSError as error:
        raise LabError(
            "sysbench cannot be started",
            found=f"{argv[0]}: {error.strerror or error}",
            expected="an executable program",
            next_step="Run ./lab doctor; it says what is missing.",
        ) from error
    out_lines, err_lines, began = [], [], []
    readers = [
        threading.Thread(target=_gather, args=(child.stdout, out_lines, began)),
        threading.Thread(target=_gather, args=(child.stderr, err_lines, [])),
    ]
    exit_status: int | None
    try:
        for reader in readers:
            reader.start()
        exit_status = child.wait(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        exit_status = None
    finally:
        with suppress(ProcessLookupError):
            child.kill()
        child.wait()
        for reader in readers:
            reader.join()
    out, err = "".join(out_lines), "".join(err_lines)
    text = out if not err.strip() else f"{out.rstrip()}\n{err}"
    result = None
    with suppress(LabError):
        result = parse(out)
    return Outcome(
        result=result,
        text=text,
        exit_status=exit_status,
        status=status(
            exit_status, text, result, timeout_s, report=argv[-1] not in ("prepare", "cleanup")
        ),
        mysql_errors=error_numbers(text),
        began=began[0] if began else None,
    )


def _gather(stream: TextIO, lines: list[str], began: list[float]) -> None:
    """Read to the end, and note when sysbench says that its clients start."""
    for line in stream:
        lines.append(line)
        if line.startswith("Threads started"):
            began.append(time.monotonic())


def status(
    exit_status: int | None,
    text: str,
    result: Result | None,
    timeout_s: float | None = None,
    *,
    report: bool = True,
) -> str:
    """Say "ok", or in one line why this run cannot be averaged with others."""
    why = complaint(text)
    tail = f": {why}" if why else ""
    if exit_status is None:
        return f"sysbench did not end within {timeout_s:g} s{tail}"
    if exit_status < 0:
        return f"sysbench died of {_signal_name(-exit_status)}{tail}"
    if exit_status > 0:
        return f"sysbench exited {exit_status}{tail}"
    if not report:
        return "ok"
    if result is None:
        return f"sysbench printed no result{tail}"
    if result.errors or result.reconnects:
        return ", ".join(
            f"{name}: {count}"
            for name, count in (("errors", result.errors), ("reconnects", result.reconnects))
            if count
        )
    if result.queries == 0:
        return "no query was answered"
    return "ok"


def _check_words(command: str, rand_type: str, extra: Sequence[str], version: str) -> None:
    numbers = re.match(r"(\d+)\.(\d+)", version)
    release = (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)
    if release < (1, 0):
        raise LabError(
            "This version of sysbench is not supported",
            found=version or "no version",
            expected="1.0 or later",
            next_step="Put a newer sysbench on PATH, or let ./lab install get one.",
        )
    distributions = _DISTRIBUTIONS_1_1 if release >= (1, 1) else _DISTRIBUTIONS_1_0
    for what, value, known in (
        ("sysbench command", command, COMMANDS),
        (f"key distribution of sysbench {version}", rand_type, distributions),
    ):
        if value not in known:
            raise LabError(
                f"Unknown {what}",
                found=value,
                expected=", ".join(known),
                next_step="Choose one of these.",
            )
    too_new = [o for o in extra if o.split("=")[0] in _SINCE_1_1 and release < (1, 1)]
    if too_new:
        raise LabError(
            f"sysbench {version} does not know an option",
            found=", ".join(too_new),
            expected="options of sysbench 1.0",
            next_step="Leave it out, or put sysbench 1.1 on PATH.",
        )


def _check_numbers(**numbers: tuple[int, int]) -> None:
    for name, (value, least) in numbers.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise LabError(
                f"sysbench cannot take this {name}",
                found=repr(value),
                expected=f"a whole number, at least {least}",
                next_step=f"Change {name}.",
            )


def _signal_name(number: int) -> str:
    with suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"
