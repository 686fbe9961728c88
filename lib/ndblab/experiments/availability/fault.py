"""Faults as data: what is done to which node, host or link, and when.

To add one, add an entry; `injection` performs the actions.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.measuring.measured_run import Run
    from ndblab.workloads.load_generator import Job

ACTIONS = {
    "kill": "SIGKILL",
    "freeze": "SIGSTOP",
    "thaw": "SIGCONT",
    "stop": "stop",
    "start": "start",
    "wait": "wait for",
}
"""What can be done to a node, and its name in descriptions. `stop` is graceful, `start` starts a
node with the data it has unless it is running, `wait` waits until it serves."""
NETWORK_ACTIONS = {
    "cut": "cut {0} from {1}",
    "drop": "drop from {0} to {1}",
    "cut-off": "cut the lab off from {0}",
    "heal": "heal the network",
    "power-off": "power off the host of {0}",
    "power-on": "power on the host of {0}",
}
"""What can be done to hosts and the links between them, in words that name the nodes there. Dropped
or cut-off packets are lost without a reply, in one direction or in both."""


@dataclass(frozen=True)
class Action:
    """One thing done to one node, at the earliest `at_s` seconds after the fault began.

    Actions are performed one after the other: each waits until the one before it is complete.

    >>> Action(5, "kill", "ndbmtd", 2).words
    'SIGKILL ndbmtd.2'
    """

    at_s: float
    what: str
    role: str
    number: int

    @property
    def node(self) -> str:
        """Name of the node in a plan."""
        return f"{self.role}.{self.number}"

    @property
    def words(self) -> str:
        """The action in two or three words."""
        return f"{ACTIONS[self.what]} {self.node}"


@dataclass(frozen=True)
class NetworkAction:
    """One thing done to the hosts of these nodes or to the link between them, timed as an `Action`.

    >>> NetworkAction(0, "cut", ("ndbmtd.1", "ndbmtd.2")).words
    'cut ndbmtd.1 from ndbmtd.2'
    """

    at_s: float
    what: str
    nodes: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The action in a few words."""
        return NETWORK_ACTIONS[self.what].format(*self.nodes)


@dataclass(frozen=True)
class Fault:
    """What is done to a cluster under load, and the question that this answers.

    `lasts_s` is about how long it takes until all nodes serve again, observed on 2 CPUs.
    """

    name: str
    question: str
    actions: tuple[Action | NetworkAction, ...]
    lasts_s: float

    def measure(self, cluster: Cluster, job: Job, repeat: int) -> Run:
        """Measure one run with this fault (`injection`)."""
        from ndblab.experiments.availability import injection

        return injection.measure(cluster, job, repeat, self)

    def describe(self, before_s: float) -> list[str]:
        """Describe each action in a line, with its time in seconds since the load began."""
        return [f"{before_s + action.at_s:g} s: {action.words}" for action in self.actions]

    def to_dict(self) -> dict[str, object]:
        """Return the fault as plain data for JSON; all of it is part of a dataset's identity."""
        return {
            "question": self.question,
            "actions": [dataclasses.astuple(a) for a in self.actions],
        }


def _again(role: str, number: int, at_s: float = 0) -> tuple[Action, Action]:
    """Start a node and wait for it."""
    return Action(at_s, "start", role, number), Action(at_s, "wait", role, number)


def _restart(role: str, number: int) -> tuple[Action, ...]:
    """Stop a node gracefully, start it and wait for it."""
    return Action(0, "stop", role, number), *_again(role, number)


ALONE_S = 5
"""How long the others run without the node that was killed."""
FROZEN_S, FROZEN_SHORT_S = 40, 15
"""Longer than five intervals of HeartbeatIntervalDbDb, 5 s or a short 1.5 s: a silent node is
declared dead by then (manual, "Defining NDB Cluster Data Nodes"), so that thawing ends no gap."""
AWAKE_S = 2
"""Time for a thawed node to notice that it was declared dead, and to end by itself."""


def _frozen(for_s: float) -> tuple[Action, ...]:
    """Freeze a data node, thaw it, and start it anew, since it was declared dead."""
    return (
        Action(0, "freeze", "ndbmtd", 2),
        Action(for_s, "thaw", "ndbmtd", 2),
        Action(for_s + AWAKE_S, "kill", "ndbmtd", 2),
        *_again("ndbmtd", 2, for_s + AWAKE_S),
    )


_WITHOUT_MANAGEMENT = (
    Action(0, "kill", "ndb_mgmd", 1),
    Action(3, "kill", "ndbmtd", 2),
    *_again("ndb_mgmd", 1, 3 + ALONE_S),
    Action(3 + ALONE_S, "start", "ndbmtd", 1),
    *_again("ndbmtd", 2, 3 + ALONE_S),
    Action(3 + ALONE_S, "wait", "ndbmtd", 1),
    *(Action(3 + ALONE_S, "wait", "mysqld", number) for number in (1, 2)),
)

FAULTS: dict[str, Fault] = {
    fault.name: fault
    for fault in (
        Fault(
            "kill-data-node",
            "A data node dies: what do clients see, and when does it have its data again?",
            (Action(0, "kill", "ndbmtd", 2), *_again("ndbmtd", 2, ALONE_S)),
            lasts_s=26,
        ),
        Fault(
            "freeze-data-node",
            "A data node answers no more but does not die: how long do the others wait for it?",
            _frozen(FROZEN_S),
            lasts_s=63,
        ),
        Fault(
            "freeze-with-short-heartbeats",
            "The same with a heartbeat each 1.5 s instead of 5 s: how much sooner do they go on?",
            _frozen(FROZEN_SHORT_S),
            lasts_s=38,
        ),
        Fault(
            "kill-server",
            "A MySQL server dies: is anything else disturbed?",
            (Action(0, "kill", "mysqld", 2), *_again("mysqld", 2, ALONE_S)),
            lasts_s=8,
        ),
        Fault(
            "lose-arbitrator",
            "Without a management node a data node dies: does the other one go on alone?",
            _WITHOUT_MANAGEMENT,
            lasts_s=20,
        ),
        Fault(
            "lose-one-of-three-arbitrators",
            "The same with two MySQL servers that may arbitrate, too: does it go on then?",
            _WITHOUT_MANAGEMENT,
            lasts_s=30,
        ),
        Fault(
            "restart-data-node",
            "A data node is restarted in order: do clients notice?",
            _restart("ndbmtd", 2),
            lasts_s=39,
        ),
        Fault(
            "rolling-restart",
            "Every node is restarted, one after the other: do clients notice?",
            (
                *_restart("ndb_mgmd", 1),
                *_restart("ndbmtd", 1),
                *_restart("ndbmtd", 2),
                *_restart("mysqld", 1),
                *_restart("mysqld", 2),
            ),
            lasts_s=102,
        ),
    )
}


CUT_S = 40
"""How long a link is cut: long enough for a node to be declared dead, at most five times
HeartbeatIntervalDbDb, and for a node that cannot reach the arbitrator to give up
(ArbitrationTimeout, 7.5 s)."""
BOTH_DATA_NODES = ("ndbmtd.1", "ndbmtd.2")


def _mended(what: str, *nodes: str) -> tuple[Action | NetworkAction, ...]:
    """Undo a fault, start the data nodes that have ended, and wait for all nodes."""
    return (
        NetworkAction(CUT_S, what, nodes),
        Action(CUT_S, "start", "ndbmtd", 1),
        Action(CUT_S, "start", "ndbmtd", 2),
        *(
            Action(CUT_S, "wait", role, number)
            for role in ("ndbmtd", "mysqld")
            for number in (1, 2)
        ),
    )


NETWORK_FAULTS: dict[str, Fault] = {
    fault.name: fault
    for fault in (
        Fault(
            "partition",
            "The link between the data nodes is cut: does one of them go on, and only one?",
            (NetworkAction(0, "cut", BOTH_DATA_NODES), *_mended("heal")),
            lasts_s=64,
        ),
        Fault(
            "partition-from-arbitrator",
            "The data nodes are cut off from each other, and one of them from the management node "
            "too: does the other go on?",
            (
                NetworkAction(0, "cut", ("ndb_mgmd.1", "ndbmtd.1")),
                NetworkAction(0, "cut", BOTH_DATA_NODES),
                *_mended("heal"),
            ),
            lasts_s=64,
        ),
        Fault(
            "one-way-loss",
            "What one data node sends does not reach the other: does either go on?",
            (NetworkAction(0, "drop", BOTH_DATA_NODES), *_mended("heal")),
            lasts_s=64,
        ),
        Fault(
            "partition-server",
            "A MySQL server is cut off from one data node: is anything else disturbed?",
            (NetworkAction(0, "cut", ("mysqld.1", "ndbmtd.1")), *_mended("heal")),
            lasts_s=45,
        ),
        Fault(
            "lose-host",
            "The host of a data node loses its power: how long do the others wait for it?",
            (NetworkAction(0, "power-off", ("ndbmtd.2",)), *_mended("power-on", "ndbmtd.2")),
            lasts_s=64,
        ),
    )
}
"""Each needs separate hosts for the data nodes, the MySQL servers and the management node."""
EVERY_FAULT = {**FAULTS, **NETWORK_FAULTS}
