"""The capacity model's figures: what each is drawn of, and how a notebook shows it.

In: a `Forecast` and the key of a figure. Out: the figure, its words, or both on a page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ndblab import figures
from ndblab.capacity import brief_server
from ndblab.claims import publication
from ndblab.figures import Caption
from ndblab.machine import host
from ndblab.publishing import picture

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from ndblab.capacity.forecast import Forecast
    from ndblab.claims.publication import Anchor

BRIEF_PREDICTED = "brief-predicted"


def show(key: str, forecast: Forecast) -> None:
    """Show one of the model's figures in a notebook, with its words."""
    told = picture.of(key, figures.FIGURES[key].question, describe(key, forecast))
    picture.show(told, figure(key, forecast))


def figure(key: str, forecast: Forecast) -> Figure:
    """Draw one of the model's figures."""
    return figures.draw(key, _tables(key, forecast), _anchors(key), _caption(key, forecast))


def describe(key: str, forecast: Forecast) -> str:
    """Say in a few sentences what a figure shows."""
    return figures.describe(key, _tables(key, forecast), _anchors(key))


def _tables(key: str, forecast: Forecast) -> dict[str, pd.DataFrame]:
    return {name: getattr(forecast, name) for name in figures.FIGURES[key].tables}


def _anchors(key: str) -> list[Anchor]:
    return brief_server.anchors() if key == BRIEF_PREDICTED else []


def _caption(key: str, forecast: Forecast) -> Caption:
    if key == BRIEF_PREDICTED:
        machine = host.load(publication.FOLDER / "host.json").describe()
        return Caption(machine, "none, nothing here was measured by the lab", "pinned")
    fitted, tested = forecast.fitted, forecast.tested
    machine = host.from_dict(dict(fitted.host)).describe()
    name = fitted.id
    if tested is not fitted and key != "bounds":
        name = f"{name} (fitted), {tested.id} (compared)"
    return Caption(machine, name, fitted.budget, forecast.shares.host_cpus)
