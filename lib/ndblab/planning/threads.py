"""The threads of a data node, by kind."""

from __future__ import annotations

from dataclasses import dataclass

from ndblab.planning.cpu_budget import BRIEF_DATA_NODE_CPUS

_KINDS = ("ldm", "query", "recover", "tc", "send", "recv")
_SPINNING = ("ldm", "tc")
AUTOMATIC_FROM_CPUS = 8
"""From here on NDB chooses the threads itself (AutomaticThreadConfig), as in the brief."""


@dataclass(frozen=True)
class Threads:
    """Threads of a data node by kind; `automatic_cpus` leaves the choice to NDB instead.

    The defaults are a quarter of what NDB chooses for the brief's 32 CPUs (8 ldm, 8 query, 4 tc, 3
    send, 3 recv): the smallest numbers that keep the proportions. `spin_us` is how long ldm and tc
    threads spin before they sleep, in microseconds.
    """

    automatic_cpus: int | None = None
    ldm: int = 2
    query: int = 2
    recover: int = 2
    tc: int = 1
    send: int = 1
    recv: int = 1
    spin_us: int = 0

    def config(self, query: bool = True) -> str:
        """Return the value of ThreadConfig; without `query`, ldm threads do that work too."""
        spin = {kind: f",spintime={self.spin_us}" for kind in _SPINNING if self.spin_us}
        kinds = (kind for kind in _KINDS if query or kind != "query")
        counts = (f"{k}={{count={getattr(self, k)}{spin.get(k, '')}}}" for k in kinds)
        return ",".join(["main", "rep", *counts])

    @property
    def ldm_threads(self) -> int:
        """Number of ldm threads; NDB itself chooses a quarter of its CPUs (observed for 32)."""
        return self.ldm if self.automatic_cpus is None else self.automatic_cpus // 4

    @property
    def more_bytes(self) -> int:
        """Memory of automatic threads beyond that of the usual few: 71 MiB for each CPU.

        Observed for 32 CPUs, half of it job buffers.
        """
        return (self.automatic_cpus or 0) * 71 * 2**20


def choose(cpus: float, balanced: bool = False, spin_us: int = 0) -> Threads:
    """Choose the threads of a data node with this many CPUs.

    `balanced` takes fewer ldm and query and more tc and recv threads, the same number in all
    (brief, "Going Above 1.7M QPS"). For the 26 threads that 32 CPUs leave for queries, the capacity
    model gives 6 ldm, 6 query, 7 tc, 3 send and 4 recv.
    """
    automatic = cpus >= AUTOMATIC_FROM_CPUS
    if not balanced:
        return Threads(automatic_cpus=int(cpus) if automatic else None, spin_us=spin_us)
    if not automatic:
        return Threads(ldm=1, query=1, recover=1, tc=2, send=1, recv=2, spin_us=spin_us)
    ldm, tc, send, recv = (max(1, round(n * cpus / BRIEF_DATA_NODE_CPUS)) for n in (6, 7, 3, 4))
    return Threads(None, ldm, ldm, ldm, tc, send, recv, spin_us)
