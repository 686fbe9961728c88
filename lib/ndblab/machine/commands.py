"""Programs that run to their end: logged or captured, and never left behind.

It never hides a failure and never retries.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from ndblab.error import LabError
from ndblab.machine import speed

_ERROR = re.compile(r"\b(fatal )?error\b|^E: |^FAILED|No space left|Killed", re.IGNORECASE)
_GRACE_S = 10
_ENGLISH = {"LC_ALL": "C.UTF-8", "LANGUAGE": ""}
"""What programs print tells their failures apart. gettext reads LANGUAGE before LC_ALL."""


class ChildFailed(LabError):
    """A program failed; `output` is everything it printed."""

    def __init__(self, what: str, *, output: str = "", **parts: Any) -> None:
        self.output = output
        super().__init__(what, **parts)


def error_lines(text: str, most: int = 6) -> str:
    """Choose the last lines of a log that report errors, or its last lines if none does."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if _ERROR.search(line)] or lines
    return "\n            ".join(line[:300] for line in errors[-most:])


def last_line(text: str) -> str:
    """Return the last line that is not blank; empty if there is none."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def exit_reason(code: int) -> str:
    """Describe how a process ended, from its exit status as `subprocess` reports it."""
    return f"killed by signal {-code}" if code < 0 else f"exit status {code}"


def run(
    argv: Sequence[str | Path],
    *,
    what: str,
    log: Path,
    on_line: Callable[[str], bool] | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> str:
    """Run one program, append what it prints to a log, and return that text.

    ChildFailed if the program fails.

    Parameters
    ----------
    what : the first sentence of the error if it fails.
    on_line : called with each line; lines for which it returns True are progress, not logged.
    """
    lines: list[str] = []
    with log.open("a") as stream:
        child = subprocess.Popen(
            _tied(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            bufsize=1,
            env={**(os.environ if env is None else env), **_ENGLISH},
            cwd=cwd,
            start_new_session=True,
        )
        try:
            stream.write(f"$ {' '.join(map(str, argv))}\n")
            for line in child.stdout:
                if on_line is None or not on_line(line):
                    lines.append(line)
                    stream.write(line)
            child.wait()
        finally:
            _end(child)
            child.stdout.close()
    text = "".join(lines)
    if child.returncode:
        raise ChildFailed(
            what,
            output=text,
            found=error_lines(text) or f"exit status {child.returncode} and no message",
            next_step=f"See the full log in {log}. Fix the cause and repeat the command; "
            "completed steps are not repeated.",
        )
    return text


def pipeline(commands: Sequence[Sequence[str | Path]], *, what: str, log: Path) -> None:
    """Run programs joined by pipes, as bash does; ChildFailed if any of them fails."""
    stages = " | ".join(shlex.join(_tied(command)) for command in commands)
    run(["bash", "-o", "pipefail", "-c", stages], what=what, log=log)


def output(
    argv: Sequence[str | Path],
    *,
    what: str,
    next_step: str | None = None,
    timeout_s: float | None = 30,
) -> str:
    """Run one quick program and return everything it prints.

    `timeout_s` is what it may take on an ordinary machine; None for no limit. ChildFailed if it
    fails, takes too long or cannot be executed.
    """
    program = str(argv[0])
    limit_s = None if timeout_s is None else speed.timeout_s(timeout_s)
    try:
        done = subprocess.run(
            list(map(str, argv)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=limit_s,
        )
    except subprocess.TimeoutExpired:
        raise ChildFailed(what, found=f"{program} did not end in {limit_s:.3g} s") from None
    except OSError as error:
        # The kernel's message for a program of another architecture is misleading.
        reason = "built for another kind of machine" if error.errno == 8 else error.strerror
        raise ChildFailed(what, found=f"{program}: {reason}") from None
    if done.returncode:
        said = error_lines(done.stdout, most=3) or "no message"
        raise ChildFailed(what, output=done.stdout, found=said, next_step=next_step)
    return done.stdout


@contextmanager
def handling(action: Callable | signal.Handlers, *numbers: signal.Signals) -> Iterator[None]:
    """Handle signals by `action` for the length of a `with` block, in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, action) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def exit_on_signals(*numbers: signal.Signals) -> AbstractContextManager[None]:
    """Turn signals into SystemExit, so that `with` blocks and `finally` clauses clean up.

    SIGHUP stays ignored where it is, as under nohup.
    """
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    taken = (number for number in numbers if not (ignored and number == signal.SIGHUP))
    return handling(lambda number, _: sys.exit(128 + number), *taken)


def exit_on_sigterm() -> AbstractContextManager[None]:
    """Turn SIGTERM into SystemExit."""
    return exit_on_signals(signal.SIGTERM)


def _tied(argv: Sequence[str | Path]) -> list[str]:
    """Have the kernel end the child if we are killed."""
    tie = shutil.which("setpriv")
    return [*([tie, "--pdeathsig", "TERM", "--"] if tie else []), *map(str, argv)]


def _end(child: subprocess.Popen) -> None:
    """End a program that still runs, and all stages of a pipeline with it."""
    if child.poll() is not None:
        return
    os.killpg(child.pid, signal.SIGTERM)
    try:
        child.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
