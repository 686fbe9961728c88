"""Programs that run to their end: what is logged, how failures read, and that no child is left."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

import waiting
from ndblab.machine import commands

CAPTURED = Path(__file__).parents[1] / "captured/apt"


def test_the_errors_of_a_log_explain_a_failure() -> None:
    """Of everything that apt printed, the user sees why it failed."""
    text = (CAPTURED / "update-expired.txt").read_text()
    assert commands.error_lines(text).startswith("E: Release file")


def test_a_failure_quotes_the_program_and_names_the_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    argv = ["sh", "-c", "echo fine; echo 'error: no such header' >&2; exit 3"]
    with pytest.raises(commands.ChildFailed) as caught:
        commands.run(argv, what="The build failed", log=log)
    assert "error: no such header" in str(caught.value)
    assert str(log) in str(caught.value)
    assert "fine" in log.read_text()


def test_progress_lines_are_not_logged(tmp_path: Path) -> None:
    """Lines that the caller takes for progress are in neither the log nor the returned text."""
    seen: list[str] = []

    def on_line(line: str) -> bool:
        seen.append(line)
        return line.startswith("[")

    argv = ["sh", "-c", "echo '[1/2] x'; echo result"]
    assert commands.run(argv, what="x", log=tmp_path / "log", on_line=on_line) == "result\n"
    assert seen == ["[1/2] x\n", "result\n"]


@pytest.mark.parametrize("broken", [0, 1])
def test_a_pipeline_fails_if_any_of_its_programs_fails(tmp_path: Path, broken: int) -> None:
    parts = [["sh", "-c", "exit 0"], ["cat"]]
    parts[broken] = ["sh", "-c", "echo 'error: disk full' >&2; exit 1"]
    with pytest.raises(commands.ChildFailed, match="The source"):
        commands.pipeline(parts, what="The source cannot be unpacked", log=tmp_path / "log")


def test_a_program_for_another_architecture_is_reported_as_such(tmp_path: Path) -> None:
    """The kernel calls it an exec format error; the user reads what that means."""
    program = tmp_path / "ndbmtd"
    program.write_bytes(b"\x7fELF\x02\x01\x01" + b"\0" * 57)
    program.chmod(0o755)
    with pytest.raises(commands.ChildFailed) as caught:
        commands.output([program, "--version"], what="ndbmtd does not run")
    assert "built for another kind of machine" in str(caught.value)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_no_child_outlives_the_installer(tmp_path: Path, ending: signal.Signals) -> None:
    script = (
        "import sys, pathlib, signal\n"
        "from ndblab.machine import commands\n"
        # A shell that starts the tests in the background makes them ignore Ctrl-C.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "with commands.exit_on_sigterm():\n"
        "    commands.run(['sh', '-c', 'echo $$; exec sleep 600'], what='x',\n"
        "        log=pathlib.Path(sys.argv[1]),\n"
        "        on_line=lambda line: print(line, end='', flush=True) is None)\n"
    )
    argv = [sys.executable, "-c", script, str(tmp_path / "log")]
    with subprocess.Popen(
        argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        os.kill(parent.pid, ending)
        try:
            parent.wait(20)
        finally:
            parent.kill()
    waiting.until(
        lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE, 10, "its end"
    )


@pytest.mark.parametrize(("before", "ends"), [(signal.SIG_DFL, True), (signal.SIG_IGN, False)])
def test_the_end_of_the_terminal_ends_what_nohup_did_not_start(
    before: signal.Handlers, ends: bool
) -> None:
    """SIGTERM ends it in any case."""
    with commands.handling(before, signal.SIGHUP):
        ending = pytest.raises(SystemExit) if ends else contextlib.nullcontext()
        with ending, commands.exit_on_signals(signal.SIGTERM, signal.SIGHUP):
            os.kill(os.getpid(), signal.SIGHUP)
        with pytest.raises(SystemExit), commands.exit_on_signals(signal.SIGTERM, signal.SIGHUP):
            os.kill(os.getpid(), signal.SIGTERM)
