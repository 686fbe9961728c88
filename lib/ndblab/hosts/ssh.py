"""The user's own OpenSSH client: its command line, and what its refusals mean.

In: a destination as `ssh` takes it, and what `ssh` printed. Out: a command, or a LabError that says
what to do. It starts nothing. Settings, keys, agents and jump hosts are those of `ssh_config`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from ndblab.error import LabError

ALIVE_S, ALIVE_TIMES = 5, 3
"""A network that has gone is noticed after their product."""
REACH_TIMEOUT_S = 10
OPTIONS = (
    "BatchMode=yes", f"ConnectTimeout={REACH_TIMEOUT_S}", f"ServerAliveInterval={ALIVE_S}",
    f"ServerAliveCountMax={ALIVE_TIMES}", "ControlMaster=no", "ClearAllForwardings=yes",
    "RemoteCommand=none", "LogLevel=ERROR",
)  # fmt: skip
"""Nothing prompts in the middle of a measurement, and nothing of a user's settings for interactive
use gets in the way. A connection that the user shares (ControlPath) is used."""


def command(destination: str, line: str, settings: str = "") -> list[str]:
    """Return the command that runs a line in the shell of a host.

    Parameters
    ----------
    settings : an ssh_config to use in place of the user's and the system's.
    """
    options = [word for option in OPTIONS for word in ("-o", option)]
    instead = ["-F", settings] if settings else []
    return ["ssh", "-T", "-x", *instead, *options, "--", destination, line]


def refusal(destination: str, said: Sequence[str], exit_status: int | None) -> LabError:
    """Explain why there is no connection.

    Parameters
    ----------
    said : the lines that `ssh` and the host printed.
    exit_status : that of `ssh`; None if it was killed since nothing came.
    """
    lines = [line.strip() for line in said if line.strip().strip("@")]
    text, last = "\n".join(lines), lines[-1] if lines else f"exit status {exit_status}"
    by_hand = f"ssh {shlex.quote(destination)} true"
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
    if "IDENTIFICATION HAS CHANGED" in text:
        remedy = re.search(r"ssh-keygen -f .+ -R .+", text)
        forget = remedy[0] if remedy else f"ssh-keygen -R {shlex.quote(destination)}"
        return LabError(
            f"The host key of {destination} has changed",
            found=_line(lines, "fingerprint for", after=1) or last,
            expected="the key that this machine knows (" + _line(lines, "Offending") + ")",
            next_step="Someone may be posing as that host. If you know why its key is new, type: "
            f"{forget} && {by_hand}",
        )
    if "Host key verification failed" in text:
        return LabError(
            f"The host key of {destination} is not known here",
            found=_line(lines, "host key is known") or last,
            expected="a key that you have accepted",
            next_step=f"Compare its fingerprint and accept it, by typing: {by_hand}",
        )
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


def lost(destination: str, why: str, silence_s: float) -> LabError:
    """Return the error of a connection that broke while it was in use."""
    return LabError(
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
