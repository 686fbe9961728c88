"""A reproduction, from the question to the page: data, figures, notebook, answer, verdicts."""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from ndblab.attach import measurement as attaching
from ndblab.design import catalogue
from ndblab.design.experiment import Experiment
from ndblab.error import LabError, writing
from ndblab.measuring import measurement, recorded
from ndblab.publishing import hosts, notebook, processes, terminal


def reproduce(
    chosen: Sequence[Experiment],
    source: str | None,
    size: str,
    budget: str,
    overrides: dict[str, object],
    port: int | None,
    out: Path,
    again: bool = True,
    minutes: int | None = None,
    engines: str | None = None,
    hosts: str | None = None,
    insecure_network: bool = False,
    attach: tuple[str, str | None] | None = None,
) -> None:
    """Reproduce experiments, and print their verdicts and what was made.

    Parameters
    ----------
    source : "recorded", the folder of a dataset, or None to measure on this host.
    again, minutes, engines, hosts, insecure_network : as for `measurement.measure`.
    attach : connect string and endpoints of a cluster that runs already, to measure that.

    Of several experiments, those that cannot be measured for lack of a program, or were never
    recorded, are left out with a line that says so; alone, such a one is an error.

    Raises
    ------
    LabError
        If it could not be done; no verdict is an error.
    """
    for experiment in chosen:
        _check(experiment, source)
    left_out = _left_out(chosen, source) if len(chosen) > 1 else {}
    chosen = [experiment for experiment in chosen if experiment.name not in left_out]
    for name, why in left_out.items():
        print(f"{name} is left out: {why}", file=sys.stderr)
    where = [source] * len(chosen)
    if source is None:
        measure = functools.partial(
            measurement.measure, size=size, budget=budget, overrides=overrides, port=port,
            again=again, minutes=minutes, engines=engines, hosts=hosts,
            **({"insecure_network": True} if insecure_network else {}),
        )  # fmt: skip
        if attach:
            measure = functools.partial(
                attaching.measure, connectstring=attach[0], endpoints=attach[1], size=size,
                overrides=overrides, again=again, minutes=minutes,
            )  # fmt: skip
        where = [str(measure(e).path.resolve()) if e.grid else None for e in chosen]
    notebook.prepare()
    # A process with tqdm's monitor, which is a thread, must not be forked.
    tqdm.monitor_interval = 0
    if tqdm.monitor:
        tqdm.monitor.exit()
    rooms = terminal.rooms(len(chosen))
    calls = [
        (experiment, place, out, room)
        for experiment, place, room in zip(chosen, where, rooms, strict=True)
    ]
    texts = processes.each(_publish, calls, processes.AT_ONCE)
    for text in tqdm(texts, "notebooks", len(calls), leave=False, disable=None, unit="notebook"):
        with tqdm.external_write_mode():
            print(text)
    for name, why in left_out.items():
        print(f"{name}: not {'recorded' if source else 'measured'}, {why}")
    if len(chosen) > 1:
        print(f"pages: {_relative(out)}/*/*.html, with their figures beside them")


def _left_out(chosen: Sequence[Experiment], source: str | None) -> dict[str, str]:
    """Return, by name, what is lacking to measure experiments, or to have recorded them."""
    asked = [each for each in chosen if each.grid and not (source and recorded.has(each))]
    never = "no dataset of it comes with the lab" if source else ""
    lacking = {each.name: (each.lacks() if each.lacks else "") or never for each in asked}
    return {name: why for name, why in lacking.items() if why}


def _check(experiment: Experiment, source: str | None) -> None:
    if experiment.grid is None and source not in (None, "recorded"):
        raise LabError(
            f"{experiment.name} has no dataset of its own",
            found=f"--dataset {source}",
            expected="--recorded, or neither",
            next_step="Drop --dataset"
            + ("; ./lab predict --from DIR reads any." if experiment.reads else "."),
        )


def _publish(experiment: Experiment, source: str | None, out: Path, room: int | None) -> str:
    """Make the results of an experiment; give the report on them for the terminal.

    Parameters
    ----------
    room : lines for the answer if it is one of many experiments; None if it is the only one.
    """
    data = recorded.obtain(experiment.name, source) if experiment.grid and source else None
    measured, folder = (data.path, out / data.id) if data else (None, out / experiment.name)
    # The notebook reads it again; two of a large one would fill the memory.
    del data
    values = _parameters(experiment, measured, source)
    from ndblab.publishing import exhibit, verdict_tables
    from ndblab.publishing.report import notebook_page

    with writing(folder):
        made = notebook.execute(catalogue.notebook(experiment), values, folder)
        [executed] = [place for name, place in made if name == "notebook"]
        page = f"page     {_relative(notebook_page.write_alone(executed, experiment.question))}"
    answer = exhibit.answer(notebook.read(executed))
    tables = {name: place for name, place in made if place.suffix == ".csv"}
    verdicts = tables.pop("verdicts", None)
    judged = None if verdicts is None else verdict_tables.from_csv(verdicts.read_text())
    if room is not None:
        return terminal.few_lines(experiment, answer, judged, room)
    pictures = ", ".join(place.stem for _, place in made if place.suffix == ".png")
    drawn = [f"figures  {pictures} (PNG and SVG) in {_relative(folder)}"] if pictures else []
    where = [*drawn, page]
    where += [f"dataset  {_relative(measured)}"] if measured else []
    where += [f"{name}  {_relative(place)}" for name, place in tables.items()]
    shown = [_as_text(name, place) for name, place in tables.items()]
    return "\n\n".join([*shown, terminal.screen(experiment, answer, judged, where)])


def _parameters(
    experiment: Experiment, measured: Path | None, source: str | None
) -> dict[str, object]:
    if source == "recorded" or experiment.reads:
        return {}
    return {"dataset": str(measured.resolve())} if measured else {"host": hosts.THIS}


def _as_text(name: str, file: Path) -> str:
    """Write a named table with its notes, as a terminal shows it."""
    import pandas as pd

    table = pd.read_csv(file, index_col=0, dtype=str, keep_default_na=False)
    notes = table["note"][table["note"] != ""]
    lines = [name.capitalize(), table.drop(columns="note").to_string(), ""]
    return "\n".join([*lines, *(f"{item}: {note}" for item, note in notes.items())])


def _relative(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
