"""A point: one cell of a sweep, and how its runs are identified; conditions of slices by name."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from ndblab.planning import workload

DEFAULT_TRANSPORTER = "shm"
DEFAULT_WORKLOAD = workload.POINT_SELECT
DEFAULT_VARIANT = "default"
NONE, NO_MONITOR, BUSY_NEIGHBOUR, IDLE_SPINNER = "", "no-monitor", "busy-neighbour", "idle-spinner"
CONDITIONS = (NONE, NO_MONITOR, BUSY_NEIGHBOUR, IDLE_SPINNER)
"""What a host is like while a slice is measured; `cluster.conditions` keeps it that way. In order:
nothing special; without the lab's monitor; beside a process that uses CPU; with processes of idle
priority that keep every CPU awake."""


@dataclass(frozen=True)
class Point:
    """One cell of a sweep. `variant` names the settings that differ from the baseline."""

    servers: int
    clients: int
    transporter: str = DEFAULT_TRANSPORTER
    workload: str = DEFAULT_WORKLOAD
    variant: str = DEFAULT_VARIANT

    def run_id(self, repeat: int) -> str:
        """Identify one run at this point; values at their default are left out.

        >>> Point(8, 64).run_id(2)
        's08_c0064_r2'
        >>> Point(1, 8, transporter="tcp").run_id(1)
        's01_c0008_r1_tcp'
        """
        words = [f"s{self.servers:02d}", f"c{self.clients:04d}", f"r{repeat}"]
        for value, default in (
            (self.transporter, DEFAULT_TRANSPORTER),
            (self.workload, DEFAULT_WORKLOAD),
            (self.variant, DEFAULT_VARIANT),
        ):
            words += [value] if value != default else []
        return "_".join(words)

    def columns(self, repeat: int) -> dict[str, object]:
        """Return the columns of table `runs` that identify one run at this point."""
        return {"run_id": self.run_id(repeat), "repeat": repeat, **asdict(self)}
