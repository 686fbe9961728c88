"""Every figure of the lab, drawn from a dataset, a forecast or a host.

In: a figure's key and what it shows. Out: the figure, with its name, question and description.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ndblab import figures
from ndblab.claims import evidence, publication
from ndblab.dataset import Dataset
from ndblab.figures import Caption
from ndblab.figures.brief import cluster_box, cpu_allocation
from ndblab.machine import host
from ndblab.publishing import hosts
from ndblab.publishing.exhibit import Picture, picture

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from ndblab.capacity.forecast import Forecast
    from ndblab.claims.publication import Anchor

_OF_A_HOST = {
    "2": ("what runs where?", cluster_box.describe_box, cluster_box.draw_box),
    "3": (
        "who gets which CPUs?",
        cpu_allocation.describe_allocation,
        cpu_allocation.draw_allocation,
    ),
}
_OF_A_FORECAST = {
    "capacity": ("points", "predicted", "simulated"),
    "bounds": ("bounds", "balance", "alone"),
    "bottlenecks": ("use", "measured_use"),
    "errors": ("errors", "verdicts"),
    "brief-predicted": ("brief_predicted", "brief_simulated"),
}
"""The tables of a forecast that each figure shows."""


def draw(key: str, source: Dataset | Forecast | str) -> tuple[Picture, Figure]:
    """Draw a figure.

    Parameters
    ----------
    source : a forecast for the capacity model's figures; a host, as for `hosts.with_plan`, for
        Figures 2 and 3; a dataset for the others.

    Raises
    ------
    LabError
        If there is no such figure, or the source holds nothing that it could show.
    """
    if isinstance(source, str):
        return _draw_host(key, source)
    known = _of_dataset if isinstance(source, Dataset) else _of_forecast
    tables, anchors, caption = known(key, source)
    figure = figures.draw(key, tables, anchors, caption)
    description = figures.describe(key, tables, anchors)
    return picture(key, figures.FIGURES[key].question, description), figure


def _of_dataset(
    key: str, data: Dataset
) -> tuple[Mapping[str, pd.DataFrame], list[Anchor], Caption]:
    machine, cpus = host.from_dict(dict(data.host)), evidence.usable_cpus(data.host)
    caption = Caption(machine.describe(), data.id, data.budget, cpus)
    tables = data.tables
    if key == "faults":
        from ndblab.analysis import outage

        tables = ChainMap({"outages": outage.of_dataset(data)}, tables)
    return tables, publication.anchors(key), caption


def _of_forecast(
    key: str, forecast: Forecast
) -> tuple[Mapping[str, pd.DataFrame], list[Anchor], Caption]:
    tables = {name: getattr(forecast, name) for name in _OF_A_FORECAST.get(key, ())}
    if key == "brief-predicted":
        from ndblab.capacity.forecast import brief_server

        no_dataset = "none, nothing here was measured by the lab"
        caption = Caption(hosts.brief().describe(), no_dataset, "pinned")
        return tables, brief_server.anchors(), caption
    fitted, tested = forecast.fitted, forecast.tested
    machine = host.from_dict(dict(fitted.host)).describe()
    name = fitted.id
    if tested is not fitted and key != "bounds":
        name = f"{name} (fitted), {tested.id} (compared)"
    return tables, [], Caption(machine, name, fitted.budget, forecast.shares.host_cpus)


def _draw_host(key: str, which: str) -> tuple[Picture, Figure]:
    question, describe, draw_figure = _OF_A_HOST[key]
    machine, plan = hosts.with_plan(which)
    name, theirs = hosts.NAMES.get(which, which), which == hosts.BRIEF
    shown = Picture(
        key if theirs else f"{key}-host",
        f"Figure {key}, {name}",
        f"On {name}, {question}" if theirs else f"Figure {key} on {name}: {question}",
        f"figure{key}{'_brief' if theirs else ''}",
        describe(plan, machine),
    )
    return shown, draw_figure(plan, machine)
