"""What a management node reports of a cluster, read through NDB's own management client.

The lab sends it `show` and `all status`, and never anything that changes the cluster.
"""

from __future__ import annotations

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
_DEACTIVATED = "(not connected, node is deactivated)"
DEACTIVATED = "deactivated"
"""State of a node that RonDB has in its configuration for later (its manual, "NodeActive")."""
_STATE = re.compile(r"^Node (\d+): ([a-z][a-z ]*?)(?: \(|$)", re.MULTILINE)
_CONNECTED = re.compile(r"^Connected to management server at (\S+) port (\d+)", re.I | re.M)
_OLDER = re.compile(r"^Connected to Management Server at: (\S+):(\d+)", re.MULTILINE)


@dataclass(frozen=True)
class Shown:
    """A node as the management client shows it; `address` and `version` if it is connected.

    `state` is that of a data node, such as "started", or DEACTIVATED for a node of any kind.
    """

    node_id: int
    kind: str
    address: str = ""
    version: str = ""
    state: str = ""


def states(status: str) -> dict[int, str]:
    """Read the state of each data node, by node id, from the answer to `all status`."""
    return {int(node): state for node, state in _STATE.findall(status)}


def nodes(show: str, status: str) -> tuple[Shown, ...]:
    """Read the nodes from the answers to `show` and `all status`."""
    shown, kind, state_of = [], "", states(status)
    for line in show.splitlines():
        if section := _SECTION.match(line):
            kind = section[1]
        elif kind and (node := _NODE.match(line)):
            address, version = node[2] or "", (node[3] or "").strip()
            state = DEACTIVATED if _DEACTIVATED in line else state_of.get(int(node[1]), "")
            shown.append(Shown(int(node[1]), kind, address, version, state))
    return tuple(shown)


def server(answer: str) -> tuple[str, int] | None:
    """Return host and port of the management node that gave an answer."""
    line = _CONNECTED.search(answer) or _OLDER.search(answer)
    return (line[1], int(line[2])) if line else None


def ask(ndb_mgm: Path, connectstring: str) -> tuple[tuple[str, int], tuple[Shown, ...]]:
    """Ask for the nodes of a cluster; return which management node answered, and the nodes.

    LabError if nothing answers there, or something other than a management node does.
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
        known, there = nodes(shown, answer("all status")), server(shown)
    except ChildFailed as failure:
        raise _silent(connectstring, str(failure.found)) from None
    if there is None or not known:
        raise _silent(connectstring, " / ".join(shown.split("\n")[:2]) or "an empty answer")
    return there, known


def _silent(connectstring: str, found: str) -> LabError:
    return LabError(
        f"No management node of an NDB Cluster answers at {connectstring}",
        found=found,
        expected="the answer of an ndb_mgmd to `show`",
        next_step="Correct --attach (host:port, or several separated by commas), or start the "
        "management node.",
    )
