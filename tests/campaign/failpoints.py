"""The steps of a measurement, at the beginning or end of which a campaign strikes.

In: the name of a step, which call of it, and a blow. Out: the lab of this process, changed so that
the blow falls there. Nothing of the lab itself knows of it: only processes that exist to be struck
are changed.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """A function of the lab: its phase, where it is ("module:name") and how often it is called.

    `calls` are those of a measurement of one run without warm-up, on one server, with the data
    folder of mysqld made before; `scaled` steps are done for control groups only.
    """

    phase: str
    where: str
    calls: int = 1
    scaled: bool = False


STEPS: tuple[Step, ...] = (
    Step("install", "ndblab.install:ensure"),
    Step("install", "ndblab.install.discovery:find_ndb", 2),
    Step("install", "ndblab.install.discovery:find_sysbench", 2),
    Step("open", "ndblab.dataset.writer:Writer.open"),
    Step("open", "ndblab.dataset.writer:_unfinished"),
    Step("open", "ndblab.dataset.writer:Writer._recover"),
    Step("start", "ndblab.cluster.lease:_lock"),
    Step("start", "ndblab.cluster.lease:write", 2),
    Step("start", "ndblab.cluster.watchdog:start"),
    Step("start", "ndblab.cluster.datadir:lay_out"),
    Step("start", "ndblab.machine.local:Local.spawn", 5),
    Step("start", "ndblab.cluster.readiness:wait_management"),
    Step("start", "ndblab.cluster.datadir:copy"),
    Step("start", "ndblab.cluster.readiness:wait_data_nodes"),
    Step("start", "ndblab.cluster.readiness:wait_servers"),
    Step("start", "ndblab.cluster.readiness:check_transporters"),
    Step("prepare", "ndblab.workloads.sysbench_run:prepare"),
    Step("prepare", "ndblab.workloads.sysbench_run:_short_tables"),
    Step("limit", "ndblab.cluster.lifecycle:Cluster.limit"),
    Step("limit", "ndblab.machine.cgroups:Groups.create", 5, scaled=True),
    Step("limit", "ndblab.machine.cgroups:Groups.place", 3, scaled=True),
    Step("run", "ndblab.workloads.sysbench:run", 2),
    Step("run", "ndblab.workloads.sysbench_run:measure"),
    Step("run", "ndblab.workloads.monitor:_thread_kinds"),
    Step("run", "ndblab.workloads.monitor:Samples.add_threads"),
    Step("write", "ndblab.dataset.writer:Writer.add_config", 2),
    Step("write", "ndblab.dataset.writer:Writer.note"),
    Step("write", "ndblab.dataset.writer:Writer.append"),
    Step("write", "ndblab.dataset.writer:fill", 2),
    Step("write", "ndblab.dataset.writer:replace_folder"),
    Step("write", "ndblab.dataset.writer:write_new", 10),
    Step("write", "os:fsync", 31),
    Step("write", "os:replace", 10),
    Step("write", "os:rename", 4),
    Step("stop", "ndblab.cluster.lifecycle:stop"),
    Step("stop", "ndblab.machine.cgroups:Groups.lift", scaled=True),
    Step("stop", "ndblab.machine.local:Local.end", 5),
    Step("stop", "ndblab.machine.cgroups:Groups.remove", 2, scaled=True),
    Step("stop", "ndblab.cluster.lifecycle:clean", 3),
    Step("finish", "ndblab.dataset.writer:Writer.finish"),
    Step("finish", "ndblab.dataset.writer:read_parts"),
    Step("finish", "ndblab.dataset.writer:Writer._gather_logs"),
    Step("finish", "ndblab.dataset.writer:read"),
)


def strike_at(where: str, call: int, after: bool, blow: Callable[[], None]) -> None:
    """Have `blow` called before or after the `call`-th call of a step, in this process."""

    def struck(number: int, ended: bool) -> None:
        if number == call and ended is after:
            blow()

    _wrap(where, struck)


def count_calls() -> dict[str, int]:
    """Give a count that grows with each call of each step, in this process."""
    calls = dict.fromkeys((step.where for step in STEPS), 0)

    def counted(where: str, number: int, ended: bool) -> None:
        calls[where] = number

    for where in calls:
        _wrap(where, functools.partial(counted, where))
    return calls


def _wrap(where: str, told: Callable[[int, bool], None]) -> None:
    """Tell the number of each call of a step, before it and, unless it fails, after it."""
    owner, name = _owner(where)
    kept = inspect.getattr_static(owner, name)
    body = kept.__func__ if isinstance(kept, classmethod) else kept
    number = 0

    @functools.wraps(body)
    def watched(*arguments, **options):
        nonlocal number
        number += 1
        own = number
        told(own, False)
        result = body(*arguments, **options)
        told(own, True)
        return result

    setattr(owner, name, classmethod(watched) if isinstance(kept, classmethod) else watched)


def _owner(where: str) -> tuple[object, str]:
    """Give the module or class that has a step, and the step's name in it."""
    module, _, path = where.partition(":")
    owner: object = importlib.import_module(module)
    *outer, name = path.split(".")
    for part in outer:
        owner = getattr(owner, part)
    getattr(owner, name)
    return owner, name
