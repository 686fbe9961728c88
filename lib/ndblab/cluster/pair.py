"""Two clusters of one host, started at the same moment, or one beside another that stays.

Clusters that are started one after the other are not equal: in 8 of 8 pairs of starts, the data
nodes of the first one needed more CPU for a query. Those started together did not. If one stays
while others replace its twin, its MySQL server soon needs 5 to 9 % more CPU time for a query than
that of an equal new cluster, and still does after a restart. It switches contexts as often per
query; its user time is longer. Why is not known.

An idle cluster uses CPUs, too, more so with many MySQL servers. So that its twin does not pay for
it, it can be frozen. As all its nodes stop at once, they forgive each other late heartbeats: after
a minute, none had left the cluster, and the first query took 0.04 s.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed, wait
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ndblab.cluster import start_stop
from ndblab.error import naming
from ndblab.machine import commands
from ndblab.machine.local import LOCAL
from ndblab.planning import deployment, twins

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from ndblab.cluster.cluster import Cluster
    from ndblab.install import Binaries
    from ndblab.planning.deployment import Plan

    Run = Callable[
        [Mapping[str, "Twin"]], AbstractContextManager[dict[str, tuple[Cluster, object]]]
    ]

PER_STANDING = 12
"""Others that a standing cluster serves before it is started anew."""
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


def placed(
    needed: Mapping[str, tuple[Plan, Binaries]],
    called: Mapping[str, str],
    swapped: bool,
    turned: bool,
) -> dict[str, Twin]:
    """Place clusters beside each other, the first one where its plan says.

    Parameters
    ----------
    swapped : whether they take each other's places.
    turned : whether their servers get transporters and pools as in `deployment.turned`.
    """
    first = next(iter(needed.values()))[0].places
    places = [first, start_stop.places_of_twin(first)]
    if swapped:
        places.reverse()
    turn = deployment.turned if turned else lambda plan: plan
    return {
        name: Twin(twins.moved(turn(plan), place), binaries, called[name])
        for (name, (plan, binaries)), place in zip(needed.items(), places, strict=True)
    }


def freeze(cluster: Cluster) -> None:
    """Stop all processes of a cluster where they are, the last one started first.

    They use no CPU meanwhile.
    Whoever does this must `thaw` the cluster, whatever happens.
    """
    for process in reversed(cluster.processes.values()):
        process.send_signal(signal.SIGSTOP)


def thaw(cluster: Cluster) -> None:
    """Let all processes of a cluster go on, in the order of their start."""
    for process in cluster.processes.values():
        process.send_signal(signal.SIGCONT)


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


class Pair:
    """Two clusters that run, by name, or none. The first may stand while the second is replaced."""

    def __init__(self) -> None:
        self.running: dict[str, Cluster] = {}
        self._stacks: dict[str, contextlib.ExitStack] = {}
        self._stands: Twin | None = None
        self._served = 0

    def start(self, wanted: Mapping[str, Twin], run: Run, standing: bool) -> list[str]:
        """Start both clusters at the same moment; return the names of those that were started.

        If the first one stands, it is started before the second, or not at all: the one that runs
        will do if it is as wanted, and has served fewer than `PER_STANDING` others. LabError if a
        cluster does not come up.

        Parameters
        ----------
        run : starts clusters at the same moment, as `running` does.
        """
        first, second = wanted
        if not standing:
            self.close()
            self._enter(wanted, run)
            return [*wanted]
        if self._stands == wanted[first] and self._served < PER_STANDING:
            new = [second]
            if stack := self._stacks.pop(second, None):
                del self.running[second]
                stack.close()
        else:
            new = [first, second]
            self.close()
        for name in new:
            self._enter({name: wanted[name]}, run)
        self._stands, self._served = wanted[first], self._served + 1
        return new

    def _enter(self, wanted: Mapping[str, Twin], run: Run) -> None:
        stack = contextlib.ExitStack()
        # An idle cluster would use CPUs of the one that starts.
        with frozen(*self.running.values()):
            started = stack.enter_context(run(wanted))
        for name, (cluster, _) in started.items():
            self.running[name], self._stacks[name] = cluster, stack

    def close(self) -> None:
        """Stop what runs."""
        with contextlib.ExitStack() as every:
            for stack in self._stacks.values():
                every.callback(stack.close)
            self.running, self._stacks, self._stands, self._served = {}, {}, None, 0


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
