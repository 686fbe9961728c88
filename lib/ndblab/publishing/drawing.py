"""Every figure of the lab, drawn from a dataset, a forecast or a host."""

from __future__ import annotations

import io
import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ndblab import figures
from ndblab.dataset import Dataset
from ndblab.figures import Caption, sheet
from ndblab.figures.entry import DATASET, PLAN
from ndblab.figures.selection import TRANSPORTER
from ndblab.judging import evidence, publication
from ndblab.machine import host
from ndblab.publishing import hosts, placement
from ndblab.publishing.notebook.exhibit import Picture, picture

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from ndblab.judging.publication import Anchor

    Inputs = tuple[Mapping[str, pd.DataFrame], list[Anchor], Caption]

_NAMED = re.compile(r'(\bid="|url\(#|xlink:href="#)')
"""Where an SVG names one of its parts, or refers to one."""


class Forecast(Protocol):
    """A model of one dataset, applied to another; it has the tables of its figures by name."""

    @property
    def fitted(self) -> Dataset: ...

    @property
    def tested(self) -> Dataset: ...


def draw(key: str, source: Dataset | Forecast | str) -> tuple[Picture, Figure]:
    """Draw a figure.

    LabError if the figure is unknown, or the source holds nothing that it could show.

    Parameters
    ----------
    source : a forecast for the capacity model's figures; a host, as for `hosts.with_plan`, for
        Figures 2 and 3; a dataset for the others.
    """
    if isinstance(source, str):
        return _draw_host(key, source)
    inputs = _of_dataset if isinstance(source, Dataset) else _of_forecast
    tables, anchors, caption = inputs(key, source)
    figure = figures.draw(key, tables, anchors, caption)
    description = figures.describe(key, tables, anchors, caption)
    return picture(key, figures.entries()[key].question, description), figure


def _of_dataset(key: str, data: Dataset) -> Inputs:
    cpus = evidence.usable_cpus(data.host)
    caption = Caption(data.describe_host(in_short=True), data.id, data.budget, cpus)
    tables: Mapping[str, pd.DataFrame] = data.tables
    servers = data.manifest["plan"].get("servers", ())
    if {node.get("transporter") for node in servers} == {"tcp"}:
        runs = data.runs.copy()
        runs.attrs[TRANSPORTER] = "tcp"
        tables = ChainMap({"runs": runs}, tables)
    entry = figures.entries().get(key)
    if entry and entry.computed:
        tables = ChainMap(dict(entry.computed(data)), tables)
    published = entry and entry.published
    return tables, list(published()) if published else publication.anchors(key), caption


def _of_forecast(key: str, forecast: Forecast) -> Inputs:
    entry = figures.entries()[key]
    tables = {name: getattr(forecast, name) for name in entry.tables}
    if entry.of_the_brief:
        no_dataset = "none: nothing here was measured by the lab"
        caption = Caption(hosts.brief().in_short(), no_dataset, "pinned")
        return tables, list(entry.published()), caption
    fitted, tested = forecast.fitted, forecast.tested
    machine = host.from_dict(dict(fitted.host)).in_short()
    name = fitted.id
    if tested is not fitted and key != "bounds":
        name = f"{name} (fitted), {tested.id} (compared)"
    return tables, [], Caption(machine, name, fitted.budget)


def _draw_host(key: str, which: str) -> tuple[Picture, Figure]:
    machine, plan = hosts.with_plan(which)
    figure = figures.draw_plan(key, plan, machine)
    name, theirs = hosts.NAMES.get(which, which), which == hosts.BRIEF
    shown = Picture(
        key if theirs else f"{key}-host",
        f"Figure {key}, {name}",
        f"Figure {key} on {name}: {figures.entries()[key].question}",
        f"figure{key}{'_brief' if theirs else ''}",
        figures.describe_plan(key, plan, machine),
    )
    return shown, figure


def placed(data: Dataset) -> tuple[Picture, Figure]:
    """Draw who runs where: hosts, processes and the CPUs that each may use."""
    tables = [data.tables[name] for name in ("runs", "slices") if name in data.tables]
    most = max((int(table["clients"].max()) for table in tables if len(table)), default=1)
    shown = data.manifest["plan"], evidence.usable_cpus(data.host), most
    described = picture(placement.KEY, "Who runs where?", placement.describe(*shown))
    return described, placement.draw(*shown)


def svg(figure: Figure) -> str:
    """Return a figure as SVG."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()


class Drawn(NamedTuple):
    """A figure as SVG: for wide screens, and for narrow ones, unless it has one form only."""

    wide: str
    tall: str = ""


def drawn(paint: Callable[[], Figure]) -> Drawn:
    """Draw a figure wide, and tall if it can be."""
    wide = svg(paint())
    with sheet.tall():
        figure = paint()
    # Parts of two drawings in one page must not have the same name.
    tall = _NAMED.sub(r"\1tall-", svg(figure)) if sheet.is_tall(figure) else ""
    return Drawn(wide, tall)


def again(shown: Iterable[Picture], data: Dataset | None) -> dict[str, Drawn]:
    """Redraw the figures of a notebook; return them by the names of their files.

    Figures of data other than the recorded data are left out.
    """
    redrawn = {}
    for one in shown:
        if one.key == placement.KEY and data is not None:
            redrawn[one.file] = drawn(lambda: placed(data)[1])
        key, of_host, _ = one.key.partition("-host")
        entry = figures.entries().get(key)
        if entry is None:
            continue
        host_name = hosts.RECORDED if of_host else hosts.BRIEF
        source = {PLAN: host_name, DATASET: data}.get(entry.source)
        if entry.recorded:
            source = entry.recorded()
        if source is not None and draw(key, source)[0].alt == one.alt:
            redrawn[one.file] = drawn(lambda: draw(key, source)[1])  # noqa: B023
    return redrawn
