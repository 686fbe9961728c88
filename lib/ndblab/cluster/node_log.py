"""The nodes' logs: why a node ended, and what happened in the cluster."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ndblab.error import LabError
from ndblab.formatting import listed
from ndblab.machine import commands, files

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster, Site
    from ndblab.planning.deployment import Node

FULL_BYTES = 1 << 20

_DATA_NODE = re.compile(r"^(?:Message|Error data|Error object): (.+)$", re.MULTILINE)
_SIGNAL = re.compile(r"Received signal \d+\. Running error handler")
_WARNED = re.compile(r"\[ndbd\] (?:WARNING|ERROR|ALERT|CRITICAL) +-- (.+)$", re.MULTILINE)
_LINE = re.compile(
    r"^(?P<date>\d{4}-\d\d-\d\d)[T ](?P<time>\d\d:\d\d:\d\d(?:\.\d+)?)(?P<utc>Z?) "
    r"\[MgmtSrvr\] (?P<level>\w+) +-- (?:Node (?P<node>\d+): )?(?P<text>.+)$",
    re.MULTILINE,
)
_KINDS = (
    ("local_checkpoint_started", re.compile(r"Local checkpoint \d+ started")),
    ("local_checkpoint_completed", re.compile(r"Local checkpoint \d+ completed")),
    ("node_started", re.compile(r"Started \(")),
    ("node_failed", re.compile(r"Forced node shutdown|Node shutdown completed|failure", re.I)),
    ("node_connected", re.compile(r"Node \d+ Connected")),
    ("node_disconnected", re.compile(r"Node \d+ Disconnected")),
)


class Event(NamedTuple):
    """One event: seconds since the epoch, and the node that reported it (0: management node)."""

    at_s: float
    node_id: int
    event: str
    text: str


def reason(role: str, own_log: str, output: str) -> str:
    """Return why a node ended, as far as its logs say.

    Parameters
    ----------
    own_log : text of the node's error log.
    output : what it wrote to standard output and error.
    """
    if role == "ndbmtd" and own_log:
        entries = [entry.strip() for entry in _DATA_NODE.findall(own_log)[-3:]]
        # A signal does not say why the node ended; its last warning before that does.
        if killed := _SIGNAL.search(output):
            warned = _WARNED.findall(output[: killed.start()])[-1:]
            entries = [*(line.rstrip(". ") for line in warned), *entries]
        return "; ".join(entries) or tail(own_log)
    if role == "mysqld":
        errors = [line for line in own_log.splitlines() if "[ERROR]" in line]
        if errors:
            return errors[0]
    return tail(output) or "nothing in its log"


def ended(cluster: Cluster, nodes: Sequence[Node]) -> LabError:
    """Explain why nodes have ended: a full disk, or else what the first one's log says."""
    full = {host: site.folder for host, site in cluster.every_site.items() if _is_full(site)}
    node = next((node for node in nodes if node.host in full), nodes[0])
    folder, output = Path(node.data_dir), cluster.output(node)
    get = cluster.machine_of(node).get
    own = {"ndbmtd": f"ndb_{node.node_id}_error.log", "mysqld": "error.log"}.get(node.role)
    why = reason(node.role, get(folder / own) if own else "", get(output))
    next_step = _where(cluster, node)
    for host, place in full.items():
        why = f"no space left in {place}{host and f' of host {host}'}"
        next_step = f"Free some space there. {next_step}"
    return LabError(
        f"{node.name} (node {node.node_id}) ended by itself, "
        f"{commands.exit_reason(cluster.processes[node.name].poll())}",
        found=why,
        expected="a node that keeps running",
        next_step=next_step,
    )


def late(cluster: Cluster, nodes: Sequence[Node], known: str, after_s: float) -> LabError:
    """Explain that nodes run but do not serve in time, with what is `known` of them.

    The end of the first one's log is quoted.
    """
    first = nodes[0]
    own = Path(first.data_dir) / "error.log" if first.role == "mysqld" else cluster.output(first)
    text = ""
    with contextlib.suppress(LabError):
        text = cluster.machine_of(first).get(own)
    names = listed(f"{node.name} (node {node.node_id})" for node in nodes)
    return LabError(
        f"Timed out waiting for {names}",
        found=f"{known} after {after_s:.0f} s; the log of {first.name} ends: "
        f"{tail(text, 2) or 'nothing in it'}",
        expected="a node that serves",
        next_step=f"{_where(cluster, first)} Look there for the cause, such as a setting or too "
        "little CPU; then run the same command again.",
    )


def _where(cluster: Cluster, node: Node) -> str:
    folder, output = Path(node.data_dir), cluster.output(node)
    places = kept(cluster, folder, node.host), kept(cluster, output, node.host).parent
    return f"Its logs are in {places[0]} and {places[1]}."


def tail(text: str, lines: int = 3) -> str:
    """Join the last lines of a text into one."""
    return " / ".join(text.strip().splitlines()[-lines:])


def events(cluster_log: str, began_s: float, ended_s: float) -> list[Event]:
    """Read the events of a time span, in seconds since the epoch, from the cluster log.

    Lines are dated in UTC from 9.0 on and in local time before. Events are checkpoints, starts,
    ends and connections of nodes, and warnings.
    """
    selected = []
    for at_s, line in _lines(cluster_log, began_s, ended_s):
        kinds = (kind for kind, pattern in _KINDS if pattern.search(line["text"]))
        kind = next(kinds, "warning" if line["level"] in ("WARNING", "ALERT", "ERROR") else None)
        if kind is not None:
            selected.append(Event(at_s, int(line["node"] or 0), kind, line["text"].strip()))
    return selected


def between(cluster_log: str, began_s: float, ended_s: float) -> str:
    """Return the lines of the cluster log in a time span, in seconds since the epoch."""
    return "".join(f"{line[0]}\n" for _, line in _lines(cluster_log, began_s, ended_s))


def _lines(text: str, began_s: float, ended_s: float) -> Iterator[tuple[float, re.Match]]:
    for line in _LINE.finditer(text):
        when = datetime.fromisoformat(f"{line['date']}T{line['time'][:15]}")
        at_s = (when.replace(tzinfo=UTC) if line["utc"] else when.astimezone()).timestamp()
        if began_s <= at_s <= ended_s:
            yield at_s, line


def _is_full(site: Site) -> bool:
    """Return whether the disk of a cluster's folder on a host has next to no space left."""
    try:
        return files.free_bytes(site.machine, site.folder) < FULL_BYTES
    except LabError:
        return False


def kept(cluster: Cluster, path: Path, host: str) -> Path:
    """Return where to read a log; those of other hosts are copied here before they are removed."""
    site = cluster.site(host)
    if site.machine is cluster.machine:
        return path
    return cluster.folder / "logs" / host / path.relative_to(site.folder)
