"""A data node: its memory and redo log, from the number of rows, and its threads by kind."""

from __future__ import annotations

from dataclasses import dataclass

from ndblab.planning.cpu_budget import BRIEF_DATA_NODE_CPUS

BRIEF_ROWS = 80_000_000
GIB, MIB = 2**30, 2**20
LOG_PARTS = (4, 6, 8, 10, 12, 16, 20, 24, 32)
"""The valid values of NoOfFragmentLogParts (manual, "NDB Cluster Data Node Configuration")."""
ROW_REDO_BYTES, LEAST_LOG_FILES = 800, 3
"""About what loading a sysbench row writes to each data node's redo log (750 observed), and the
minimum of NoOfFragmentLogFiles (same page)."""
_KINDS = ("ldm", "query", "recover", "tc", "send", "recv")
_SPINNING = ("ldm", "tc")
AUTOMATIC_FROM_CPUS = 8
"""From this many CPUs, NDB chooses the threads itself (AutomaticThreadConfig), as in the brief."""


@dataclass(frozen=True)
class Memory:
    """Memory and redo log of one data node, memory of a MySQL server and of a client, in bytes."""

    data_bytes: int
    shared_global_bytes: int
    redo_buffer_bytes: int
    disk_page_buffer_bytes: int
    long_message_buffer_bytes: int
    fragment_log_parts: int
    fragment_log_files: int
    fragment_log_file_bytes: int
    server_bytes: int
    client_bytes: int
    lock_pages: bool

    @property
    def data_node_bytes(self) -> int:
        """Memory of a data node: its configured pools plus about 900 MiB (observed)."""
        pools = self.data_bytes + self.shared_global_bytes + self.disk_page_buffer_bytes
        buffers = self.long_message_buffer_bytes + self.redo_buffer_bytes * self.fragment_log_parts
        return pools + buffers + 900 * MIB

    @property
    def redo_bytes(self) -> int:
        """Redo log of one data node on disk (sparse until written)."""
        return self.fragment_log_parts * self.fragment_log_files * self.fragment_log_file_bytes


def memory_of(
    rows: int,
    ldm_threads: int,
    memlock_bytes: int | None,
    small_redo: bool = False,
    row_bytes: int = 0,
) -> Memory:
    """Decide memory and redo log for the rows: the published values for the brief's own number.

    Source: the brief's config.ini, with 128 GiB of DataMemory for 80 million rows and one redo log
    part per ldm thread.

    Parameters
    ----------
    memlock_bytes : limit of locked memory; None without one.
    small_redo : take an eighth of the redo buffer, a quarter of a log file's size, and log files
        for twice what loading the rows writes; NDB's minimum does not suffice to load them.
    row_bytes : data memory of a row; 0 for that of a row of the brief.
    """
    needed = rows * row_bytes if row_bytes else rows * 128 * GIB // BRIEF_ROWS
    data = max(256 * MIB, needed)
    published = rows >= BRIEF_ROWS
    parts = 8 if published else max(n for n in LOG_PARTS if n <= max(LOG_PARTS[0], ldm_threads))
    file_bytes = GIB if published else 16 * MIB
    files = 256 if published else max(4, -(-4 * data // (parts * file_bytes)))
    buffer_bytes = (256 if published else 32) * MIB
    if small_redo:
        buffer_bytes, file_bytes = buffer_bytes // 8, file_bytes // 4
        files = max(LEAST_LOG_FILES, -(-2 * rows * ROW_REDO_BYTES // (parts * file_bytes)))
    return Memory(
        data_bytes=data,
        shared_global_bytes=(128 if published else 64) * MIB,
        redo_buffer_bytes=buffer_bytes,
        disk_page_buffer_bytes=(64 if published else 4) * MIB,
        long_message_buffer_bytes=(64 if published else 16) * MIB,
        fragment_log_parts=parts,
        fragment_log_files=files,
        fragment_log_file_bytes=file_bytes,
        server_bytes=256 * MIB,
        client_bytes=MIB,
        lock_pages=memlock_bytes is None or memlock_bytes >= data + GIB,
    )


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
        """Memory of automatic threads beyond that of the default threads: 71 MiB for each CPU.

        Observed for 32 CPUs, half of it job buffers.
        """
        return (self.automatic_cpus or 0) * 71 * 2**20


def threads_for(cpus: float, balanced: bool = False, spin_us: int = 0) -> Threads:
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
