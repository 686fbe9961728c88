"""The programs an installation calls: run, logged, and never left behind.

In: command lines. Out: their output, or a LabError that shows the telling lines and the log.
It never hides a failure and never retries.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from ndblab.error import LabError

_TELLING = re.compile(r"\b(fatal )?error\b|^E: |^FAILED|No space left|Killed", re.IGNORECASE)
_GRACE_S = 10


class ChildFailed(LabError):
    """A program ended with a failure; `output` is what it printed."""

    output: str = ""


def telling_lines(text: str, most: int = 6) -> str:
    """Choose the lines of a log that say why it ended badly."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if _TELLING.search(line)] or lines
    return "\n            ".join(line[:300] for line in telling[-most:])


def run(
    argv: Sequence[str | Path],
    *,
    what: str,
    log: Path,
    on_line: Callable[[str], bool] | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> str:
    """Run one program, log what it prints, and return that text.

    Parameters
    ----------
    what : the sentence a failure begins with.
    on_line : is given each line; a line it returns True for is progress and not logged.
    """
    kept: list[str] = []
    with log.open("a") as stream, _child(argv, env=env, cwd=cwd) as child:
        stream.write(f"$ {' '.join(map(str, argv))}\n")
        assert child.stdout is not None
        for line in child.stdout:
            if on_line is not None and on_line(line):
                continue
            kept.append(line)
            stream.write(line)
    text = "".join(kept)
    if child.returncode:
        _fail(what, text, child.returncode, log)
    return text


def pipeline(commands: Sequence[Sequence[str | Path]], *, what: str, log: Path) -> None:
    """Run programs joined by pipes; the failure of any of them is a failure."""
    children: list[subprocess.Popen[bytes]] = []
    with log.open("a+b") as stream:
        stream.write(("$ " + " | ".join(" ".join(map(str, c)) for c in commands) + "\n").encode())
        stream.flush()
        begin = stream.tell()
        try:
            for number, command in enumerate(commands):
                last = number == len(commands) - 1
                previous = children[-1].stdout if children else subprocess.DEVNULL
                child = subprocess.Popen(
                    _tied(command),
                    stdin=previous,
                    stdout=stream if last else subprocess.PIPE,
                    stderr=stream,
                )
                # Only the next program may hold the pipe, or a failure of it goes unnoticed.
                if children and children[-1].stdout:
                    children[-1].stdout.close()
                children.append(child)
            codes = [child.wait() for child in children]
        except BaseException:
            for child in children:
                _end(child)
            raise
        if any(codes):
            stream.seek(begin)
            _fail(what, stream.read().decode(errors="replace"), max(codes, key=abs), log)


def output(argv: Sequence[str | Path], *, what: str, timeout_s: float = 30) -> str:
    """Run one quick program and return all it prints; its own words explain a failure."""
    program = str(argv[0])
    try:
        done = subprocess.run(
            list(map(str, argv)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=timeout_s,
        )
    except subprocess.TimeoutExpired:
        raise ChildFailed(what, found=f"{program} did not end in {timeout_s:g} s") from None
    except OSError as error:
        # The kernel's words for a program of another architecture mislead.
        reason = "made for another kind of machine" if error.errno == 8 else error.strerror
        raise ChildFailed(what, found=f"{program}: {reason}") from None
    if done.returncode:
        failure = ChildFailed(what, found=telling_lines(done.stdout, most=3) or "no message")
        failure.output = done.stdout
        raise failure
    return done.stdout


@contextmanager
def ended_by_sigterm() -> Iterator[None]:
    """Turn SIGTERM into an exception, so that everything opened is closed on the way out."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _child(
    argv: Sequence[str | Path], *, env: Mapping[str, str] | None, cwd: Path | None
) -> Iterator[subprocess.Popen[str]]:
    child = subprocess.Popen(
        _tied(argv),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        bufsize=1,
        env=env,
        cwd=cwd,
    )
    try:
        yield child
        child.wait()
    finally:
        _end(child)
        if child.stdout:
            child.stdout.close()


def _tied(argv: Sequence[str | Path]) -> list[str]:
    # The kernel ends the child when the installer is killed outright.
    tie = shutil.which("setpriv")
    return [*([tie, "--pdeathsig", "TERM", "--"] if tie else []), *map(str, argv)]


def _end(child: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    if child.poll() is not None:
        return
    child.terminate()
    try:
        child.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _fail(what: str, text: str, code: int, log: Path) -> NoReturn:
    failure = ChildFailed(
        what,
        found=telling_lines(text) or f"exit status {code} and no message",
        next_step=f"The whole log is in {log}. Mend the cause and install again: "
        "what is done already is kept.",
    )
    failure.output = text
    raise failure
