"""The user's own OpenSSH client: a connection, processes that run over it, and its refusals.

Settings, keys, agents and jump hosts are those of `ssh_config`.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path

from ndblab.error import LabError
from ndblab.hosts import boot
from ndblab.machine import Process
from ndblab.machine.local import LOCAL

ALIVE_S, ALIVE_TIMES = 5, 3
"""The loss of the network is noticed after the product of the two."""
REACH_TIMEOUT_S = 10
OPTIONS = (
    "BatchMode=yes", f"ConnectTimeout={REACH_TIMEOUT_S}", f"ServerAliveInterval={ALIVE_S}",
    f"ServerAliveCountMax={ALIVE_TIMES}", "ControlPersist=no", "ClearAllForwardings=yes",
    "RemoteCommand=none",
)  # fmt: skip
"""Nothing prompts in the middle of a measurement, and nothing of a user's settings for interactive
use gets in the way."""
SOCKETS = Path("/tmp")  # not the user's own folder: paths of sockets are short (unix(7))
OUTPUTS = ("stdout", "stderr")


class Connection:
    """An SSH connection to a host, with a session for each program that has streams.

    A connection that the user shares (ControlPath) is used. Where sshd allows no more sessions in
    one (MaxSessions, 10 by default), `ssh` makes a connection of its own for each further session.

    Parameters
    ----------
    name : the destination as `ssh` takes it.
    settings : an ssh_config to use in place of the user's and the system's.
    """

    def __init__(self, name: str, settings: str = "") -> None:
        if shutil.which("ssh") is None:
            raise LabError(
                "There is no SSH client on this machine",
                found="no ssh on PATH",
                expected="OpenSSH's client, by which the lab reaches other hosts",
                next_step="Install it (Debian: openssh-client).",
            )
        self.name = name
        self._program = ["ssh", *(["-F", settings] if settings else [])]
        self._clients: list[Process] = []
        self._lock = threading.Lock()
        self._errors = os.fdopen(os.memfd_create("ssh"), "wb", 0)
        self._socket: Path | None = SOCKETS / f"ndblab-ssh-{secrets.token_hex(8)}"
        with contextlib.suppress(LabError):
            LOCAL.run([*self._program, "-O", "check", "--", name], what="None is shared")
            self._socket = None

    def command(self, line: str, *options: str) -> list[str]:
        """Return the command that runs a line in the shell of the host."""
        path = [f"ControlPath={self._socket}"] if self._socket else []
        words = [word for option in (*options, *path, *OPTIONS) for word in ("-o", option)]
        return [*self._program, "-T", "-x", *words, "--", self.name, line]

    def first_session(self, line: str) -> Process:
        """Connect, and run a line in the shell of the host; its input and output are pipes."""
        master = f"ControlMaster={'yes' if self._socket else 'no'}"
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self._errors}
        return self._started(self.command(line, "LogLevel=ERROR", master), pipes)

    def said(self) -> list[str]:
        """Return the lines that `ssh` and the first session have printed as errors."""
        text = Path(f"/proc/self/fd/{self._errors.fileno()}").read_text(errors="replace")
        return [line.strip() for line in text.splitlines() if line.strip()]

    def session(self, python: Path, folder: Path, number: int, streams: dict) -> Process:
        """Open a session that hands its streams, as `Popen` has them, to the agent in `folder`.

        LabError if `ssh` ends before it has handed over the streams that are to be read.
        """
        piped = [name for name in OUTPUTS if streams.get(name) == subprocess.PIPE]
        marked = [str(boot.STREAMS.index(name)) for name in piped]
        program = [str(python), "-IS", "-c", boot.HAND_OVER, str(folder), str(number), *marked]
        line = f"exec {shlex.join(program)}"
        client = self._started(self.command(line, "LogLevel=QUIET", "ControlMaster=no"), streams)
        if not all(_skip_greeting(getattr(client, name).fileno()) for name in piped):
            raise LabError(
                f"{self.name} allows no further session",
                found=f"exit status {client.wait()} of ssh",
                expected="one for each program with streams, or a further login",
                next_step="Allow more in that host's sshd_config: MaxSessions 10.",
            )
        return client

    def end(self, why: str = "") -> None:
        """End the connection with all its sessions; `why` becomes the last line of `said`."""
        self._errors.write(why.encode())
        with self._lock:
            for client in self._clients:
                client.kill()
                client.wait()
        if self._socket:
            self._socket.unlink(missing_ok=True)

    def _started(self, argv: Sequence[str], streams: dict) -> Process:
        client = LOCAL.spawn(argv, **streams)
        with self._lock:
            self._clients = [known for known in self._clients if known.poll() is None] + [client]
        return client


def _skip_greeting(handle: int) -> bool:
    """Skip what a host's shell prints before a session's program; False if that prints no mark."""
    said, end = b"", boot.HANDED_OVER.encode()
    while not said.endswith(end) and (byte := os.read(handle, 1)):
        said += byte
    return said.endswith(end)


class RemoteProcess:
    """A process on another host, as `subprocess.Popen` would show it.

    `poll` and `wait` raise LabError if the connection is lost: the host's agent then ends the
    process, but its exit status is unknown.

    Parameters
    ----------
    session : the client of the SSH session with its streams; None if it has none.
    status : a future of its exit status.
    act : asks the host's agent for something.
    """

    def __init__(
        self,
        argv: Sequence[str],
        pid: int,
        session: Process | None,
        status: Future,
        act: Callable[..., object],
    ) -> None:
        self.args, self.pid = list(argv), pid
        self._session, self._status, self.act = session, status, act
        for name in boot.STREAMS:
            setattr(self, name, getattr(session, name, None))

    @property
    def returncode(self) -> int | None:
        """Exit status, or the negative number of a signal; None if unknown, as while it runs."""
        known = self._status.done() and self._status.exception() is None
        return self._status.result() if known else None

    def poll(self) -> int | None:
        """Return how it ended, or None."""
        return self._status.result() if self._status.done() else None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end, and for all of its output if that goes to files."""
        began = time.monotonic()
        try:
            code = self._status.result(timeout)
            if self._session and not (self.stdout or self.stderr):
                left_s = None if timeout is None else max(0, began + timeout - time.monotonic())
                self._session.wait(left_s)
        except (TimeoutError, subprocess.TimeoutExpired):
            raise subprocess.TimeoutExpired(self.args, timeout) from None
        return code

    def communicate(
        self, input: str | bytes | None = None, timeout: float | None = None
    ) -> tuple[str | bytes | None, str | bytes | None]:
        """Send `input`, read both streams to their ends and wait; as `Popen.communicate`."""
        printed = self._session.communicate(input, timeout) if self._session else (None, None)
        self.wait(timeout)
        return printed

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if not self._status.done():
            self.act("send_signal", int(number))

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill it."""
        self.send_signal(signal.SIGKILL)


def refusal(destination: str, said: Sequence[str], exit_status: int | None) -> LabError:
    """Explain why there is no connection.

    Parameters
    ----------
    said : the lines that `ssh` and the host printed.
    exit_status : that of `ssh`; None if it was killed because no answer came.
    """
    lines = [line.strip() for line in said if line.strip().strip("@")]
    text, last = "\n".join(lines), lines[-1] if lines else f"exit status {exit_status}"
    by_hand, changed = f"ssh {shlex.quote(destination)} true", "IDENTIFICATION HAS CHANGED" in text
    if exit_status is None:
        return LabError(
            f"{destination} does not answer",
            found=last if lines else "a connection, but no answer of the host",
            expected="a shell that runs a command",
            next_step=f"Find out what holds it up: {by_hand}",
        )
    if "Could not resolve hostname" in text:
        return LabError(
            f"The host {destination} is unknown",
            found=_line(lines, "Could not resolve hostname"),
            expected="a name or an address that this machine can resolve",
            next_step="Check its spelling, or add it to ~/.ssh/config with its HostName.",
        )
    if changed or "Host key verification failed" in text:
        return _of_host_key(destination, lines, changed, by_hand)
    if "Permission denied" in text:
        return LabError(
            f"{destination} does not let you in",
            found=_line(lines, "Permission denied"),
            expected="a login without a password or another question",
            next_step="Load your key into an agent (ssh-add), or have the host accept it "
            f"(ssh-copy-id {shlex.quote(destination)}), until this works: "
            f"ssh -o BatchMode=yes {shlex.quote(destination)} true",
        )
    if re.search(r"timed out|Connection refused|No route to host|unreachable", text):
        return LabError(
            f"{destination} cannot be reached",
            found=last,
            expected="an SSH server that answers",
            next_step=f"Check that the host is up and runs sshd: {by_hand}",
        )
    return LabError(
        f"There is no connection to {destination}",
        found=last,
        expected="a login by SSH that runs a command",
        next_step=f"Repair this first: {by_hand}",
    )


def _of_host_key(destination: str, lines: Sequence[str], changed: bool, by_hand: str) -> LabError:
    """Return the error for a host key that has changed or is unknown."""
    if not changed:
        return LabError(
            f"The host key of {destination} is not known here",
            found=_line(lines, "host key is known") or lines[-1],
            expected="a key that you have accepted",
            next_step=f"Compare its fingerprint and accept it, by typing: {by_hand}",
        )
    forget = _line(lines, "ssh-keygen -f") or f"ssh-keygen -R {shlex.quote(destination)}"
    return LabError(
        f"The host key of {destination} has changed",
        found=_line(lines, "fingerprint for", after=1) or lines[-1],
        expected="the key that this machine knows (" + _line(lines, "Offending") + ")",
        next_step="Someone may be posing as that host. If you know why its key is new, type: "
        f"{forget} && {by_hand}",
    )


class Lost(LabError):
    """A connection broke while it was in use."""


def lost(destination: str, why: str, silence_s: float) -> Lost:
    """Return the error for a connection that broke."""
    return Lost(
        f"The connection to {destination} is lost",
        found=why,
        expected="a connection that holds until the lab has finished",
        next_step="What the lab started there ends by itself, at the latest after "
        f"{silence_s:.0f} s without a connection. Check the network, then run the same command "
        "again; completed runs are saved.",
    )


def _line(lines: Sequence[str], word: str, after: int = 0) -> str:
    """Return the first line with a word, or one after it; empty if there is none."""
    places = [number for number, line in enumerate(lines) if word in line]
    return lines[places[0] + after] if places and places[0] + after < len(lines) else ""
