"""What the capacity model costs, and how well it predicts: fit, simulation, notebook, errors.

In: the recorded datasets. Out: rows of the table.
"""

from __future__ import annotations

from ndblab.benchmarks.commands import redrawing_s
from ndblab.benchmarks.row import Row, seconds, shown
from ndblab.experiments.capacity import forecast, simulation
from ndblab.measuring import recorded

TIMES = 3
SERVERS = 16
NAME = "capacity-model"


def capacity() -> list[Row]:
    """Predict the recorded sweep and count the errors, simulate its most servers, run the notebook.

    The errors have no goal here, as the data decide them; the notebook judges them.
    """
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
    errors = own.throughput_verdicts
    return [
        *(
            Row(f"error of throughput, median: {name}", (median,), "%")
            for name, median in zip(errors["name"], errors["median_pct"], strict=True)
        ),
        *(
            Row(f"runs within the 95 % interval: {name}", (covered,), "%")
            for name, covered in own.coverage[["name", "covered_pct"]].itertuples(index=False)
        ),
        Row("fit and predict the sweep, with intervals", tuple(fitting), "s", at_most=2),
        Row(f"p95 of {SERVERS} servers, simulated", tuple(simulating), "s", at_most=20),
        Row(f"reproduce --experiment {NAME} --recorded", (notebook_s,), "s", at_most=60),
    ]
