"""The lab's agent on another host: what is sent there, how it starts, and why it may not.

The lab sends its modules about machines, the agent and psutil. The host needs Python and nothing
else.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import platform
import shlex
import threading
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from ndblab.error import LabError
from ndblab.hosts import boot, ssh, wire
from ndblab.machine import Process

GREETING = "ndblab agent: "
"""What the agent says first; all that comes before it is the host's own, such as a shell's."""
NO_PYTHON = "ndblab: no Python"
OLDEST_PYTHON = (3, 9)
"""That of the distributions in use: Red Hat's and Oracle's release 9. The lab itself needs a newer
one."""
_NAMES = ("python3", *(f"python3.{minor}" for minor in range(14, OLDEST_PYTHON[1] - 1, -1)))
_LIBRARY = Path(__file__).parents[2]
_OF_HOSTS = ("__init__", "agent", "boot", "guard", "trees", "wire")
"""Modules of this package that run on the other host."""


def start(
    connection: ssh.Connection, facts: Mapping[str, object], timeout_s: float
) -> tuple[Process, dict]:
    """Start the agent on a host.

    LabError if the host cannot be reached, lets nobody in, cannot run the agent or is in use.

    Parameters
    ----------
    facts : what the agent is told, see `agent.main`.

    Returns
    -------
    The client of its SSH session, and its answer.
    """
    client = connection.first_session(command())
    timer = threading.Timer(timeout_s, client.kill)
    timer.start()
    try:
        sent = order(facts)
        printed, answer = _ask(client, sent)
        if answer and "again" in answer:
            printed, answer = _ask(client, sent)
        in_time = timer.is_alive()
        if answer is None:
            status = client.wait()
            said = [*connection.said(), *printed]
            raise _no_agent(connection.name, said, status if in_time else None)
        if failure := _failure(connection.name, answer):
            raise failure
        return client, answer
    except BaseException:
        connection.end()
        raise
    finally:
        timer.cancel()


def _ask(client: Process, sent: bytes) -> tuple[list[str], dict | None]:
    """Send the agent; return what the host's shell prints, and the agent's answer or None."""
    printed = []
    with contextlib.suppress(BrokenPipeError):
        client.stdin.write(sent)
        client.stdin.flush()
    for line in client.stdout:
        text, greeting, answer = line.decode(errors="replace").partition(GREETING)
        if greeting:
            return printed, json.loads(answer)
        printed.append(text)
    return printed, None


def _no_agent(destination: str, said: Sequence[str], exit_status: int | None) -> LabError:
    old = next((line for line in said if line.startswith(NO_PYTHON)), None)
    if old is None:
        return ssh.refusal(destination, said, exit_status)
    oldest = ".".join(map(str, OLDEST_PYTHON))
    return LabError(
        f"{destination} has no suitable Python",
        found=old.removeprefix(NO_PYTHON).strip(": \n") or "no python3 on PATH",
        expected=f"python3 {oldest} or newer on the PATH of a command run by ssh",
        next_step="Install it on that host (Debian: apt-get install python3; Oracle Linux 8: "
        "dnf install python3.11).",
    )


def _failure(destination: str, answer: Mapping) -> Exception | None:
    """Say why an agent that answered cannot serve; None if it can."""
    if answer["machine"] != platform.machine():
        return LabError(
            f"{destination} is a machine of another kind",
            found=answer["machine"],
            expected=f"{platform.machine()}, as this one, whose programs it is to run",
            next_step="Leave it out, or start the lab on a machine of that kind.",
        )
    if "problem" in answer:
        return LabError(
            f"The lab's agent cannot run on {destination}",
            found=answer["problem"],
            expected=f"a Python that can load psutil as built for {platform.machine()} and glibc",
            next_step="Look at that host's Python: " + str(answer["python"]),
        )
    return wire.error_from(answer["error"], destination) if "error" in answer else None


def command() -> str:
    """Return the line for the shell of a host that starts the first good Python there."""
    *flags, start = boot.OPTIONS
    good = f"import sys; sys.exit(sys.version_info < {OLDEST_PYTHON})"
    script = (
        f'for name in {" ".join(_NAMES)}; do "$name" -c "{good}" 2>/dev/null && '
        f'exec "$name" {" ".join(flags)} "{start}"; done; '
        f'echo "{NO_PYTHON}: $(python3 --version 2>&1)"; exit 1'
    )
    return f"exec /bin/sh -c {shlex.quote(script)}"


def order(facts: Mapping[str, object]) -> bytes:
    """Return what the first code on a host reads: itself, the order and the modules.

    `facts` are what the agent is told besides, as plain data for JSON.
    """
    archive, compiled = _archive(), _compiled()
    line = {
        **facts,
        "greeting": GREETING,
        "machine": platform.machine(),
        "archive_bytes": len(archive),
        "compiled_bytes": {name: len(data) for name, data in compiled.items()},
    }
    first = Path(boot.__file__).read_bytes()
    parts = [f"{len(first)}\n".encode(), first, json.dumps(line).encode(), b"\n", archive]
    return b"".join([*parts, *compiled.values()])


@functools.cache
def _archive() -> bytes:
    package, psutil_folder = _LIBRARY / "ndblab", Path(psutil.__file__).parent
    files = [package / "__init__.py", package / "error.py", *package.glob("machine/*.py")]
    files += [package / "hosts" / f"{name}.py" for name in _OF_HOSTS]
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            archive.writestr(str(file.relative_to(_LIBRARY)), file.read_bytes())
        for file in psutil_folder.glob("*.py"):
            archive.writestr(f"psutil/{file.name}", file.read_bytes())
    return held.getvalue()


def _compiled() -> dict[str, bytes]:
    """Return the compiled modules of psutil by their names."""
    files = sorted(Path(psutil.__file__).parent.glob("*.so"))
    return {f"psutil.{file.name.partition('.')[0]}": file.read_bytes() for file in files}
