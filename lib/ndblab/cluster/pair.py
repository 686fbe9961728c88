"""Clusters of one host, started at the same moment: either all of them run, or none.

Clusters that are started one after the other are not equal: in 8 of 8 pairs of starts, the data
nodes of the first one needed more CPU for a query. Those started together did not. Nor is a
cluster that has served equal to a new one: its MySQL server needed 5 to 9 % more CPU time for a
query, even after a restart. Why is not known, so both twins are always new.

An idle cluster uses CPUs, too, more so with many MySQL servers. So that its twin does not pay for
it, it can be frozen. As all its nodes stop at once, they forgive each other late heartbeats: after
a minute, none had left the cluster, and the first query took 0.04 s.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed, wait
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ndblab.cluster import start_stop
from ndblab.error import naming
from ndblab.machine import commands
from ndblab.machine.local import LOCAL

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.install import Binaries
    from ndblab.planning.deployment import Plan

T = TypeVar("T")
LOOK_AGAIN_S = 0.2


class Twin(NamedTuple):
    """One cluster of a pair: its plan, its programs, and what messages call it."""

    plan: Plan
    binaries: Binaries
    called: str


def called(side: str, variant: str) -> str:
    """Return what messages call a side; its variant is named unless that is the same word.

    >>> called("a", "default"), called("b", "b")
    ('Side A (default)', 'Side B')
    """
    return f"Side {side.upper()}" + (f" ({variant})" if variant != side else "")


def freeze(cluster: Cluster) -> None:
    """Stop all processes of a cluster where they are, the last one started first.

    They use no CPU meanwhile.
    Whoever does this must `thaw` the cluster, whatever happens.
    """
    for process in reversed(cluster.processes.values()):
        process.send_signal(signal.SIGSTOP)


def thaw(cluster: Cluster) -> dict[str, float]:
    """Let all processes of a cluster go on, in the order of their start.

    Return when each did, by its name (`time.monotonic`): where CPUs are busy, the last of 20 nodes
    may be 60 ms behind the first.
    """
    at_s = {}
    for name, process in cluster.processes.items():
        at_s[name] = time.monotonic()
        process.send_signal(signal.SIGCONT)
    return at_s


@contextlib.contextmanager
def frozen(*clusters: Cluster) -> Iterator[None]:
    """Keep clusters frozen for the length of a `with` block."""
    try:
        for cluster in clusters:
            freeze(cluster)
        yield
    finally:
        for cluster in clusters:
            thaw(cluster)


@contextlib.contextmanager
def running(
    twins: Mapping[str, Twin], prepare: Callable[[str, Cluster], T]
) -> Iterator[dict[str, tuple[Cluster, T]]]:
    """Start clusters at the same moment, then prepare them at the same moment; yield them by name.

    LabError if one of them does not come up; it names that one. Nothing is left running then, nor
    after Ctrl-C or SIGTERM.

    Parameters
    ----------
    twins : by name, in places of their own (`planning.twins`).
    prepare : what to do with each once all of them serve, such as filling its tables.
    """
    folders = [Path(twin.plan.places.cluster_dir) for twin in twins.values()]
    # One folder is below the other, which must exist first. If it cannot be made, a lease says why.
    for folder in sorted(folders):
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with contextlib.ExitStack() as stack:
        own = {name: stack.enter_context(contextlib.ExitStack()) for name in twins}

        def start(name: str) -> Cluster:
            plan, binaries, _ = twins[name]
            cluster = start_stop.running(plan, binaries, progress=False, weighed=True)
            return own[name].enter_context(cluster)

        def in_each(action: Callable[[str], T]) -> dict[str, T]:
            return _at_once(action, {name: twin.called for name, twin in twins.items()}, folders)

        clusters = in_each(start)
        prepared = in_each(lambda name: prepare(name, clusters[name]))
        yield {name: (clusters[name], prepared[name]) for name in twins}
        in_each(lambda name: own[name].close())


def _at_once(
    action: Callable[[str], T], called: Mapping[str, str], folders: list[Path]
) -> dict[str, T]:
    """Run an action for all names at once; if one fails, end the processes that all wait for."""

    def in_name_of(name: str) -> T:
        with naming(called[name]):
            return action(name)

    with ThreadPoolExecutor(len(called)) as pool:
        futures = {pool.submit(in_name_of, name): name for name in called}
        try:
            for done in as_completed(futures):
                done.result()
        except BaseException:
            with commands.handling(signal.SIG_IGN, signal.SIGINT, signal.SIGTERM):
                while wait(futures, LOOK_AGAIN_S).not_done:
                    for folder in folders:
                        LOCAL.end(folder)
            raise
    return {name: future.result() for future, name in futures.items()}
