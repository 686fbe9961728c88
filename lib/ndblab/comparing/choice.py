"""Which design compares two sides, whether a host has memory for it, and how long it would take.

Pure. The setting that is costliest to change decides the design, if the host has room for it. A
user's settings may need more memory than the lab plans: data nodes allocate and touch theirs when
they start, and too much of it would stop the host.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ndblab.comparing import knobs
from ndblab.comparing.knobs import Knob
from ndblab.comparing.sides import Sides
from ndblab.design.contrast import ALTERNATION, RESTARTS, STARTS, SWITCHED, TWINS
from ndblab.error import LabError
from ndblab.formatting import duration, listed
from ndblab.planning import twins
from ndblab.planning.data_node import GIB
from ndblab.statistics import sequential

if TYPE_CHECKING:
    from ndblab.comparing.sides import Setting
    from ndblab.machine.host import Host
    from ndblab.planning.deployment import Plan

DEVIATION = {SWITCHED: 0.03, ALTERNATION: 0.05, RESTARTS: 0.07, TWINS: 0.02, STARTS: 0.12}
"""Standard deviation of a block's log ratio on 2 virtual CPUs, in the middle of what was recorded.
Slices under one load: 0.029 (100 blocks); slices in turn: 0.03 to 0.10. Pairs of cluster starts:
0.05 to 0.23; twins started at once and loaded in turn: 0.019. Restarts: 0.078 (6 blocks) and 0.060
(4), in two comparisons of one with eight connections of a MySQL server to the data nodes."""
TURNS_DEVIATION = {ALTERNATION: 0.02, RESTARTS: 0.025, TWINS: 0.03}
"""The same for blocks whose clients take turns. In one cluster: 0.022 (6 blocks); restarts: 0.019
and 0.029 (4 each); twins: 0.021 for lookups (20 starts), 0.017 to 0.038 for writes (6 to 13). With
lookups and planted quotas, the three were 0.018, 0.012 and 0.017 (data/planted, 5 comparisons
each)."""
PARTS = {SWITCHED: 2, ALTERNATION: 2, RESTARTS: 1, TWINS: 1, STARTS: 1}
"""Number of values per block (`statistics.contrasts`)."""
EFFECTS = (0.02, 0.05, 0.10)
_LOGGING = ("log_bin", "ndb_log_", "binlog_", "sync_binlog")
"""Prefixes of variables that affect the binary log. A MySQL server with a binary log writes the
changes of all servers of its cluster, so it is never idle beside another."""
_SETTLING = (
    "table_open_cache", "table_definition_cache", "thread_cache_size", "stored_program_cache",
    "innodb_buffer_pool_size", "temptable_max_ram", "binlog_cache_size", "ndb_log_cache_size",
    "ndb_index_stat_option", "ndb_metadata_check", "ndb_metadata_check_interval",
)  # fmt: skip
"""Variables that are set live, but act on new sessions or only after a while."""
_DEFERRED = (
    "log_bin", "ndb_log_", "binlog", "nologging", "checkpoint", "epoch", "redo", "lcp", "disk",
    "odirect", "fragmentlog", "recoverywork", "encryptedfilesystem", "flush_log", "purge",
)  # fmt: skip
"""Parts of the names of settings that affect work done after a query has ended, for logs and
checkpoints. With turns of a second, some of this work would fall into the other side's turns."""
PAUSE_S = 1
"""Idle seconds between the turns of such sides: ten NDB epochs, in which a binary log catches up.
A checkpoint lasts longer. In one cluster, both sides pay for it; of twins, each for its own."""
_SESSION = (knobs.SESSION, knobs.NEW_TABLES)
SERVERS = "servers"
_OF_CLIENTS = (SERVERS, "clients")
_WORDS = {
    SWITCHED: "slices of a second under one load, A B B A, switched while it runs",
    ALTERNATION: "slices of both sides in turn, A B B A, in one cluster",
    RESTARTS: "two MySQL servers of one cluster, one for each side, loaded in turn, A B B A, "
    "and restarted with exchanged places for each block",
    TWINS: "two clusters started at the same moment and loaded in turn, places swapped with each "
    "start",
    STARTS: "pairs of cluster starts",
}
_IN_TURNS = {
    ALTERNATION: "the connected clients of both sides, which work in turn in one cluster, a second "
    "each, A B B A",
    RESTARTS: "two MySQL servers of one cluster, one for each side, whose clients work in turn, a "
    "second each, A B B A, and restarted with exchanged places for each block",
    TWINS: "two clusters started at the same moment, whose clients work in turn, a second each, "
    "A B B A, places swapped with each start",
}
_WHEN = {
    knobs.LIVE: "while servers run",
    knobs.SESSION: "with new sessions",
    knobs.NEW_TABLES: "with the tables",
    knobs.MYSQLD: "with a restart of the MySQL servers",
}
RESTARTS_FOR = {
    knobs.LIVE: "nothing is restarted",
    knobs.SESSION: "nothing is restarted; new sessions have it",
    knobs.NEW_TABLES: "the tables are made anew",
    knobs.MYSQLD: "the MySQL servers are restarted",
    knobs.ROLLING: "the data nodes are restarted one after the other (a rolling restart)",
    knobs.ROLLING_NEW_TABLES: "the data nodes are restarted one after the other, and the tables "
    "made anew",
    knobs.SYSTEM: "all nodes are stopped and started",
    knobs.INITIAL: "all data nodes are started with --initial, which deletes the data: back it up "
    "first",
}
_PLANNED = {
    "DataMemory": "data_bytes",
    "SharedGlobalMemory": "shared_global_bytes",
    "DiskPageBufferMemory": "disk_page_buffer_bytes",
    "LongMessageBuffer": "long_message_buffer_bytes",
    "RedoBuffer": "redo_buffer_bytes",
}
_NOT_PLANNED = ("TransactionMemory", "TransactionBufferMemory", "ExtraSendBufferMemory")


@dataclass(frozen=True)
class Choice:
    """The design, the costliest way of change, and the settings that need it.

    If `unlisted`, they may need it: the lab does not know. With `turns`, connected clients work in
    turn, in slices of a second; where the side changes, nobody works for `pause_s`.
    """

    design: str
    change: str
    because: tuple[str, ...]
    instead: str = ""
    unlisted: bool = False
    turns: bool = False
    pause_s: int = 0

    @property
    def described(self) -> str:
        """Say what will be done, and why."""
        words = _IN_TURNS if self.turns else _WORDS
        pause = ", with a pause of a second where the side changes" if self.pause_s else ""
        names, one = listed(self.because), len(self.because) == 1
        if self.because == (SERVERS,) and self.design != ALTERNATION:
            why = "idle MySQL servers would use CPU of the side with fewer"
        elif self.unlisted:
            why = f"the lab does not know how {names} {'is' if one else 'are'} changed"
        else:
            when = _WHEN.get(self.change, "with a restart of data nodes")
            why = f"{names} {'changes' if one else 'change'} {when}"
        text = f"{words[self.design]}{pause}, since {why}"
        return f"{text}; not twins: {self.instead}" if self.instead else text


def choose(
    sides: Sides,
    no_twins: str = "",
    servers: int = 1,
    one_load: bool = False,
    turns: bool = False,
    startable: bool = True,
) -> Choice:
    """Choose the design that the costliest difference of the sides allows.

    A table option is compared in one cluster, with tables of both kinds; a variable of mysqld
    that acts on new tables needs a cluster for each side. A setting that needs a restart of mysqld
    is compared on two servers of one cluster, if each side loads only one. Sides with different
    numbers of servers have clusters of their own: in one, the servers that the side with fewer does
    not use would use CPU.

    Parameters
    ----------
    no_twins : why two clusters cannot run on this host, if they cannot.
    servers : number of MySQL servers of a side that does not set it.
    one_load : whether the load reports each second, so that sides can be switched under it.
    turns : whether the clients of the load can take turns.
    startable : whether clusters can be started for the comparison.
    """
    pause = pause_s(sides.differing) if turns else 0
    dearest = max((knob.change for knob in sides.differing), key=knobs.CHANGES.index)
    because = tuple(knob.name for knob in sides.differing if knob.change == dearest)
    numbers = [int(sides.value(side, SERVERS) or servers) for side in ("a", "b")]
    apart = startable and len(set(numbers)) > 1
    while_running = all(
        knob.change in knobs.WHILE_RUNNING or knob.file == knobs.TABLE for knob in sides.differing
    )
    if one_load and all(_at_once(knob) for knob in sides.differing):
        return Choice(SWITCHED, dearest, because)
    if while_running and not apart:
        turns = turns and all(with_clients(knob) for knob in sides.differing)
        return Choice(ALTERNATION, dearest, because, turns=turns, pause_s=pause * turns)
    if numbers == [1, 1] and not logs(sides) and by_servers(sides.differing):
        return Choice(RESTARTS, dearest, because, turns=turns, pause_s=pause)
    because = (SERVERS,) if while_running else because
    unlisted = any(k.source == knobs.UNLISTED for k in sides.differing if k.change == dearest)
    if no_twins:
        return Choice(STARTS, dearest, because, no_twins, unlisted)
    return Choice(TWINS, dearest, because, "", unlisted, turns, pause)


def logs(sides: Sides) -> bool:
    """Return whether a side has a binary log: its MySQL servers write the changes of all."""
    return any(sides.value(s, "log_bin") == sides.value(s, "ndb_log_bin") == "ON" for s in "ab")


def with_clients(knob: Knob) -> bool:
    """Return whether clients of both sides, connected at once, each keep their side's value."""
    return knob.name in _OF_CLIENTS if knob.file == knobs.LAB else knob.change in _SESSION


def pause_s(differing: Iterable[Knob]) -> int:
    """Return the pause between turns of sides that differ in these knobs, for deferred work."""
    names = [knob.name.lower() for knob in differing]
    return PAUSE_S if any(part in name for part in _DEFERRED for name in names) else 0


def _at_once(knob: Knob) -> bool:
    """Return whether a change acts within a fraction of a second, even on open sessions."""
    if knob.file == knobs.LAB:
        return knob.name in knobs.QUOTAS
    live = knob.file == knobs.MY_CNF and knob.change == knobs.LIVE
    return live and knob.name not in _SETTLING


def by_servers(differing: Iterable[Knob]) -> bool:
    """Return whether sides that differ in these knobs can be two MySQL servers of one cluster."""
    return all(
        knob.name == "clients"
        or (
            knob.file == knobs.MY_CNF
            and knob.change in (*knobs.WHILE_RUNNING, knobs.MYSQLD)
            and not knob.name.startswith(_LOGGING)
        )
        for knob in differing
    )


def restarts(sides: Sides) -> str:
    """Say what must be restarted to turn A into B, or what at most where that is unknown."""

    def change(knob: Knob) -> str:
        # A mysqld variable needs at most a restart of mysqld, and tables that are made with it.
        of_mysqld = knob.source == knobs.UNLISTED and knob.file == knobs.MY_CNF
        return knobs.MYSQLD if of_mysqld else knob.change

    dearest = max(sides.differing, key=lambda knob: knobs.CHANGES.index(change(knob)))
    unlisted = [knob.name for knob in sides.differing if knob.source == knobs.UNLISTED]
    text = RESTARTS_FOR[change(dearest)]
    text = f"at most {text}" if dearest.name in unlisted else text
    return f"{text}; not in the lab's table: {listed(unlisted)}" if unlisted else text


def blocks_needed(design: str, effect: float, turns: bool = False) -> float:
    """Return the blocks that give an effect of this size about an even chance to be decided.

    >>> blocks_needed(TWINS, 0.05)
    6
    """
    deviation = TURNS_DEVIATION if turns else DEVIATION
    widths = (
        (look, sequential.half_width(deviation[design], look, PARTS[design]))
        for look in sequential.LOOKS
    )
    return next((look for look, half in widths if half < math.log1p(effect)), math.inf)


def times(needed: Mapping[float, float]) -> str:
    """Say how long it takes to decide effects of each size, from the seconds that each needs."""
    parts = []
    for effect, needed_s in needed.items():
        time = duration(needed_s) if math.isfinite(needed_s) else "more than a day"
        parts.append(f"{effect:.0%}".replace("%", " %") + f" in {time}")
    return f"half of such comparisons tell a difference of {listed(parts)}"


def needed_bytes(plan: Plan, settings: Iterable[Setting]) -> int:
    """Return the host memory that a side's cluster takes."""
    more = 0
    for setting in settings:
        name, value = setting.knob.name, setting.value
        if isinstance(value, int) and name in _PLANNED:
            parts = plan.memory.fragment_log_parts if name == "RedoBuffer" else 1
            more += parts * max(0, value - getattr(plan.memory, _PLANNED[name]))
        elif isinstance(value, int) and name in _NOT_PLANNED:
            more += value
    return plan.memory_bytes + len(plan.data_nodes) * more


def check_memory(host: Host, plan: Plan, settings: Iterable[Setting], side: str) -> None:
    """Refuse a side whose cluster does not fit the memory of the host; LabError if it does not."""
    needed, there = needed_bytes(plan, settings), host.memory_available_bytes
    if needed > there:
        raise LabError(
            f"This host has too little memory for side {side.upper()}",
            found=f"{there / GIB:.1f} GiB available",
            expected=f"{needed / GIB:.1f} GiB",
            next_step="Choose smaller values, fewer servers or a smaller --table-size.",
        )


def no_twins(
    host: Host,
    plans: Sequence[Plan],
    settings: Sequence[Iterable[Setting]],
    disk_free_bytes: float,
) -> str:
    """Return in one line why the clusters of all sides cannot run at once; empty if they can."""
    needed = sum(map(needed_bytes, plans, settings))
    there = host.memory_available_bytes
    if needed > there:
        return f"two clusters need {needed / GIB:.1f} GiB, and {there / GIB:.1f} GiB are available"
    return twins.lack(plans, host, disk_free_bytes)
