"""What the capacity model costs, and how well it predicts: fit, notebook, errors."""

from __future__ import annotations

from ndblab.benchmarks.commands import redrawing_s
from ndblab.benchmarks.row import Row, seconds, shown
from ndblab.experiments.capacity import forecast

TIMES = 3
NAME = "capacity-model"


def capacity() -> list[Row]:
    """Predict the recorded sweep, count the errors, and run the notebook.

    The errors have no goal here, as the data decide them; the notebook judges them.
    """
    own = forecast.obtain()

    def fit_and_predict() -> None:
        forecast.of(own.fitted, own.tested).predicted  # noqa: B018 - computed when first used

    fitting = tuple(seconds(fit_and_predict) for _ in shown(range(TIMES), "capacity"))
    notebook_s = redrawing_s("--experiment", NAME)
    errors = own.verdicts[own.verdicts["metric"] == "qps"]
    [covered_pct] = own.coverage["covered_pct"]
    return [
        *(
            Row(f"error of throughput, median: {name}", (median,), "%")
            for name, median in zip(errors["name"], errors["median_pct"], strict=True)
        ),
        Row("runs within the 95 % interval", (covered_pct,), "%"),
        Row("fit and predict the sweep, with intervals", fitting, "s", at_most=2),
        Row(f"reproduce --experiment {NAME} --recorded", (notebook_s,), "s", at_most=60),
    ]
