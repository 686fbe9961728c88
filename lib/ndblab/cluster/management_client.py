"""What a management node says of a cluster, by NDB's own management client.

In: a connect string, and `show` or `all status`; never a command that changes anything. Out: the
nodes of the cluster.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ndblab.error import LabError
from ndblab.machine.commands import ChildFailed
from ndblab.machine.local import LOCAL

TIMEOUT_S = 30
_SECTION = re.compile(r"^\[\w+\((NDB|MGM|API)\)\]")
_NODE = re.compile(r"^id=(\d+)\s+(?:@(\S+)\s+\(([^,)]*)|\()")
_STATE = re.compile(r"^Node (\d+): ([a-z][a-z ]*?)(?: \(|$)", re.MULTILINE)
_CONNECTED = re.compile(r"^Connected to management server at (\S+) port (\d+)", re.I | re.M)
_OLDER = re.compile(r"^Connected to Management Server at: (\S+):(\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Shown:
    """A node as the management client shows it; `address` and `version` if it is connected."""

    node_id: int
    kind: str
    address: str = ""
    version: str = ""
    state: str = ""


def nodes(show: str, status: str) -> tuple[Shown, ...]:
    """Read the nodes from the answers to `show` and `all status`."""
    found, kind = [], ""
    for line in show.splitlines():
        if section := _SECTION.match(line):
            kind = section[1]
        elif kind and (node := _NODE.match(line)):
            address, version = node[2] or "", (node[3] or "").strip()
            found.append(Shown(int(node[1]), kind, address, version))
    states = {int(node): state for node, state in _STATE.findall(status)}
    return tuple(dataclasses.replace(n, state=states.get(n.node_id, "")) for n in found)


def server(answer: str) -> tuple[str, int] | None:
    """Return host and port of the management node that gave an answer."""
    found = _CONNECTED.search(answer) or _OLDER.search(answer)
    return (found[1], int(found[2])) if found else None


def ask(ndb_mgm: Path, connectstring: str) -> tuple[tuple[str, int], tuple[Shown, ...]]:
    """Ask for the nodes of a cluster; return which management node answered, and the nodes.

    Raises
    ------
    LabError
        If nobody answers there, or not a management node.
    """

    def answer(command: str) -> str:
        argv = [
            str(ndb_mgm), f"--ndb-connectstring={connectstring}", "--connect-retries=1",
            f"--execute={command}",
        ]  # fmt: skip
        return LOCAL.run(argv, what="No management node answers", timeout_s=TIMEOUT_S)

    return _asked(answer, connectstring)


def _asked(
    answer: Callable[[str], str], connectstring: str
) -> tuple[tuple[str, int], tuple[Shown, ...]]:
    try:
        shown = answer("show")
        found, there = nodes(shown, answer("all status")), server(shown)
    except ChildFailed as failure:
        raise _silent(connectstring, str(failure.found)) from None
    if there is None or not found:
        raise _silent(connectstring, " / ".join(shown.split("\n")[:2]) or "an empty answer")
    return there, found


def _silent(connectstring: str, found: str) -> LabError:
    return LabError(
        f"No management node of an NDB Cluster answers at {connectstring}",
        found=found,
        expected="the answer of an ndb_mgmd to `show`",
        next_step="Correct --attach (host:port, or several separated by commas), or start the "
        "management node.",
    )
