"""Names of faults that are compared or counted together, and what each is called in a sentence."""

from __future__ import annotations

from collections.abc import Iterable

FROZEN, SHORT_HEARTBEATS = "freeze-data-node", "freeze-with-short-heartbeats"
LOST_ARBITRATOR, OTHERS_ARBITRATE = "lose-arbitrator", "lose-one-of-three-arbitrators"
CUT_OFF_SERVER, LOST_HOST = "partition-server", "lose-host"
PARTITIONS = ("partition", "partition-from-arbitrator", "one-way-loss")
"""After these the data nodes cannot all hear each other, though each runs on."""
SILENT = (*PARTITIONS, LOST_HOST)
"""After these a data node is silent, but its connections still look open to the others."""

_WORDS = {
    "kill-data-node": "a killed data node",
    FROZEN: "a frozen data node",
    SHORT_HEARTBEATS: "a data node frozen with short heartbeats",
    "kill-server": "a killed MySQL server",
    LOST_ARBITRATOR: "killing the management node, then one of two data nodes,",
    OTHERS_ARBITRATE: "a data node killed after one of three arbitrators",
    "restart-data-node": "a restarted data node",
    "rolling-restart": "a rolling restart",
    "partition": "a cut between the data nodes",
    "partition-from-arbitrator": "a data node cut off from the other and the arbitrator",
    "one-way-loss": "a link between data nodes that loses one direction",
    CUT_OFF_SERVER: "a MySQL server cut off from one data node",
    LOST_HOST: "a data node's host without power",
}


def silences(faults: Iterable[str]) -> set[str]:
    """Return the faults that silence a data node if there are several kinds of them, else none.

    Which kind has the longest gap is chance: it depends on when the last heartbeat came.
    """
    silent = set(faults) & set(SILENT)
    return silent if len(silent) > 1 else set()


def worded(fault: str) -> str:
    """Return what a fault is called in a sentence; its name if it has no words.

    >>> worded("lose-host"), worded("flood")
    ("a data node's host without power", 'flood')
    """
    return _WORDS.get(fault, fault)
