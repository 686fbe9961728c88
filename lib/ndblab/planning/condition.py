"""Names of the conditions of the host under which a slice is measured.

`cluster.conditions` holds them while it is.
"""

from __future__ import annotations

NONE, NO_MONITOR, BUSY_NEIGHBOUR, IDLE_SPINNER = "", "no-monitor", "busy-neighbour", "idle-spinner"
CONDITIONS = (NONE, NO_MONITOR, BUSY_NEIGHBOUR, IDLE_SPINNER)
"""Nothing special; without the lab's monitor; beside a process that uses CPU; with processes of
idle priority that keep every CPU awake."""
