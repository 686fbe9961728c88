"""What stands on a vertical axis: its column, name, unit, colour and scale.

In: nothing. Out: the quantities that several figures draw, the same in each.
It knows no data.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from matplotlib.axes import Axes

from ndblab.figures import style


@dataclass(frozen=True)
class Quantity:
    """A measured or published quantity; `metric` is its column in the tables."""

    metric: str
    name: str
    unit: str
    colour: str
    log: bool = False

    def against_clients(self, ax: Axes, clients: Iterable[int], most: float) -> None:
        """Scale and name both axes of a panel that has clients on the horizontal one.

        Parameters
        ----------
        most : the largest value on the vertical axis, in `unit`.
        """
        reach = (min(clients := [int(n) for n in clients]), max(clients))
        style.axes(ax, self.name, self.unit, self.colour, reach, most, self.log)


QPS = Quantity("qps", "Throughput", "queries/s", style.THROUGHPUT)
P95 = Quantity("latency_p95_ms", "95th percentile latency", "ms", style.LATENCY, log=True)
SERVER_CPU = Quantity("cpu_pct", "mysqld CPU", "percent of one logical CPU", style.SERVER)
DATA_NODES_CPU = Quantity("cpu_pct", "ndbmtd CPU", "percent of one logical CPU", style.DATA_NODE)
