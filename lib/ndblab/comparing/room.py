"""Whether a host has memory for the sides: settings of a user may need more than the lab plans.

Pure. Data nodes take and touch their memory when they start: too much of it would stop the host.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ndblab.error import LabError
from ndblab.planning import twins
from ndblab.planning.data_node import GIB

if TYPE_CHECKING:
    from ndblab.comparing.sides import Setting
    from ndblab.machine.host import Host
    from ndblab.planning.deployment import Plan

_PLANNED = {
    "DataMemory": "data_bytes",
    "SharedGlobalMemory": "shared_global_bytes",
    "DiskPageBufferMemory": "disk_page_buffer_bytes",
    "LongMessageBuffer": "long_message_buffer_bytes",
    "RedoBuffer": "redo_buffer_bytes",
}
_NOT_PLANNED = ("TransactionMemory", "TransactionBufferMemory", "ExtraSendBufferMemory")


def needed_bytes(plan: Plan, settings: Iterable[Setting]) -> int:
    """Return the memory of the host that a side's cluster takes."""
    more = 0
    for setting in settings:
        name, value = setting.knob.name, setting.value
        if isinstance(value, int) and name in _PLANNED:
            parts = plan.memory.fragment_log_parts if name == "RedoBuffer" else 1
            more += parts * max(0, value - getattr(plan.memory, _PLANNED[name]))
        elif isinstance(value, int) and name in _NOT_PLANNED:
            more += value
    return plan.memory_bytes + len(plan.data_nodes) * more


def check(host: Host, plan: Plan, settings: Iterable[Setting], side: str) -> None:
    """Refuse a side whose cluster does not fit the memory of the host.

    Raises
    ------
    LabError
        If it does not.
    """
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
    plans: tuple[Plan, Plan],
    settings: tuple[Iterable[Setting], Iterable[Setting]],
    disk_free_bytes: float,
) -> str:
    """Return in one line why the clusters of both sides cannot run at once; empty if they can."""
    needed = sum(map(needed_bytes, plans, settings))
    there = host.memory_available_bytes
    if needed > there:
        return f"two clusters need {needed / GIB:.1f} GiB, and {there / GIB:.1f} GiB are available"
    return twins.lack(*plans, host, disk_free_bytes)
