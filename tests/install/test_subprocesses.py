from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from ndblab.install import subprocesses

CAPTURED = Path(__file__).parents[1] / "captured/apt"


def test_the_telling_lines_of_a_log_are_its_errors() -> None:
    """Of all that apt printed, the user sees why it failed."""
    text = (CAPTURED / "update-expired.txt").read_text()
    assert subprocesses.telling_lines(text).startswith("E: Release file")


def test_a_failure_names_the_log_and_the_programs_own_message(tmp_path: Path) -> None:
    """A failed program is reported in its own words, with the place of the whole log."""
    log = tmp_path / "log"
    argv = ["sh", "-c", "echo fine; echo 'error: no such header' >&2; exit 3"]
    with pytest.raises(subprocesses.ChildFailed) as caught:
        subprocesses.run(argv, what="The build failed", log=log)
    assert "error: no such header" in str(caught.value)
    assert str(log) in str(caught.value)
    assert "fine" in log.read_text()


def test_progress_lines_are_shown_and_not_logged(tmp_path: Path) -> None:
    """Lines taken for progress stay out of the log and of the returned text."""
    seen: list[str] = []

    def on_line(line: str) -> bool:
        seen.append(line)
        return line.startswith("[")

    argv = ["sh", "-c", "echo '[1/2] x'; echo result"]
    assert subprocesses.run(argv, what="x", log=tmp_path / "log", on_line=on_line) == "result\n"
    assert seen == ["[1/2] x\n", "result\n"]


@pytest.mark.parametrize("broken", [0, 1])
def test_the_failure_of_any_part_of_a_pipeline_is_a_failure(tmp_path: Path, broken: int) -> None:
    """A pipeline whose first program failed did not succeed because its last one did."""
    commands = [["sh", "-c", "exit 0"], ["cat"]]
    commands[broken] = ["sh", "-c", "echo 'error: disk full' >&2; exit 1"]
    with pytest.raises(subprocesses.ChildFailed, match="The source"):
        subprocesses.pipeline(commands, what="The source cannot be unpacked", log=tmp_path / "log")


def test_a_program_of_another_architecture_is_named_as_such(tmp_path: Path) -> None:
    """A file that this machine cannot execute is explained, not just refused."""
    program = tmp_path / "ndbmtd"
    program.write_bytes(b"\x7fELF\x02\x01\x01" + b"\0" * 57)
    program.chmod(0o755)
    with pytest.raises(subprocesses.ChildFailed) as caught:
        subprocesses.output([program, "--version"], what="ndbmtd does not run")
    assert "made for another kind of machine" in str(caught.value)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_no_child_outlives_the_installer(tmp_path: Path, ending: signal.Signals) -> None:
    """However the installer is ended, the programs it started end with it."""
    script = (
        "import sys, pathlib, signal\n"
        "from ndblab.install import subprocesses\n"
        # A shell that starts the tests in the background has them ignore Ctrl-C.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "with subprocesses.ended_by_sigterm():\n"
        "    subprocesses.run(['sh', '-c', 'echo $$; exec sleep 600'], what='x',\n"
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
    assert gone_within(child, 10)


def gone_within(process: psutil.Process, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not process.is_running() or process.status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.02)
    return False
