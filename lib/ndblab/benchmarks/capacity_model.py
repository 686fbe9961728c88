"""What the capacity model costs: to fit, to simulate, and to execute its notebook.

In: the recorded datasets. Out: rows of the table.
"""

from __future__ import annotations

from ndblab.benchmarks.commands import redrawing_s
from ndblab.benchmarks.row import Row, seconds, shown
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
        made: list[forecast.Forecast] = []

        def fit_and_predict(made=made) -> None:
            made.append(forecast.of(own.fitted, own.tested))
            made[0].predicted  # noqa: B018 - computed when it is first used

        fitting.append(seconds(fit_and_predict))
        [again] = made
        points = again.predicted
        curve = points.loc[points["servers"] == SERVERS, ["servers", "clients"]]
        window_s = again.window_s(again.model)
        simulating.append(seconds(simulation.simulate, again.model, curve, window_s))
    notebook_s = redrawing_s("--experiment", NAME)
    return [
        Row("fit and predict the sweep, with intervals", tuple(fitting), "s", at_most=2),
        Row(f"p95 of {SERVERS} servers, simulated", tuple(simulating), "s", at_most=20),
        Row(f"reproduce --experiment {NAME} --recorded", (notebook_s,), "s", at_most=60),
    ]
