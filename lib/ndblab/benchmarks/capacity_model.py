"""What the capacity model costs: to fit, to simulate, and to read its notebook.

In: the recorded datasets. Out: rows of the table.
"""

from __future__ import annotations

import time

from ndblab.benchmarks.commands import whole_process_s
from ndblab.benchmarks.row import Row, shown
from ndblab.capacity import forecast, simulation
from ndblab.experiments import recorded

TIMES = 3
SERVERS = 16
NAME = "capacity-model"


def capacity() -> list[Row]:
    """Fit and predict the recorded sweep, simulate its most servers, execute the notebook."""
    own = recorded.forecast()
    fitting, simulating = [], []
    for _ in shown(range(TIMES), "capacity"):
        began = time.perf_counter()
        again = forecast.of(own.fitted, own.tested)
        points = again.predicted
        fitting.append(time.perf_counter() - began)
        curve = points.loc[points["servers"] == SERVERS, ["servers", "clients"]]
        began = time.perf_counter()
        simulation.simulate(again.model, curve, again.window_s(again.model))
        simulating.append(time.perf_counter() - began)
    argv = [str(recorded.ROOT / "lab"), "reproduce", "--experiment", NAME, "--recorded"]
    notebook_s = whole_process_s(argv)
    return [
        Row("fit and predict the sweep, with intervals", tuple(fitting), "s", at_most=2),
        Row(f"p95 of {SERVERS} servers, simulated", tuple(simulating), "s", at_most=20),
        Row(f"reproduce --experiment {NAME} --recorded", (notebook_s,), "s", at_most=60),
    ]
