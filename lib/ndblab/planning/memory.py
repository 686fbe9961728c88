"""Memory and redo log of a cluster, from the number of its rows."""

from __future__ import annotations

from dataclasses import dataclass

BRIEF_ROWS = 80_000_000
GIB, MIB = 2**30, 2**20
LOG_PARTS = (4, 6, 8, 10, 12, 16, 20, 24, 32)
"""The valid values of NoOfFragmentLogParts (manual, "NDB Cluster Data Node Configuration")."""
ROW_REDO_BYTES, LEAST_LOG_FILES = 800, 3
"""About what loading a sysbench row writes to each data node's redo log (750 observed), and the
minimum of NoOfFragmentLogFiles (same page)."""


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
        """Memory of a data node: its configured pools and about 900 MiB besides (observed)."""
        pools = self.data_bytes + self.shared_global_bytes + self.disk_page_buffer_bytes
        buffers = self.long_message_buffer_bytes + self.redo_buffer_bytes * self.fragment_log_parts
        return pools + buffers + 900 * MIB

    @property
    def redo_bytes(self) -> int:
        """Redo log of one data node on disk (sparse until written)."""
        return self.fragment_log_parts * self.fragment_log_files * self.fragment_log_file_bytes


def of_rows(
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
