"""A reproduction, from the question to the page: data, figures, notebook, answer, verdicts."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tqdm import tqdm

from ndblab import dataset as datasets
from ndblab.attach import attachable
from ndblab.attach import measurement as attaching
from ndblab.design import catalogue, contract
from ndblab.design.experiment import Experiment
from ndblab.error import LabError, writing
from ndblab.hosts import connected, roles
from ndblab.measuring import dry_run, measurement, recorded
from ndblab.measuring.request import Request
from ndblab.publishing import notebook, processes, terminal, trial
from ndblab.publishing.hosts import THIS

RECORDED = "recorded"


def reproduce(
    chosen: Sequence[Experiment],
    source: str | None,
    request: Request,
    out: Path,
    rest_recorded: bool = False,
) -> None:
    """Reproduce experiments, and print their verdicts and what was made.

    Parameters
    ----------
    source : "recorded", the folder of a dataset, or None to measure as the `request` says; of
        several experiments, only those that compare engines get its engines.
    rest_recorded : use recorded data for all experiments but that of the dataset in `source`.

    Of several experiments, those that cannot be measured with these options, or were never
    recorded, are left out with a line that says so; a single such experiment is a LabError. No
    verdict is an error.
    """
    several = len(chosen) > 1
    chosen, sources = _sources(chosen, source, rest_recorded)
    for experiment in chosen:
        _check(experiment, sources[experiment.name])
    left_out = _left_out(chosen, sources, request) if several else {}
    chosen = [experiment for experiment in chosen if experiment.name not in left_out]
    for name, why in left_out.items():
        print(f"{name} is left out: {why}", file=sys.stderr)

    def measured(experiment: Experiment) -> str | None:
        if sources[experiment.name] or not experiment.grid:
            return sources[experiment.name]
        measure = attaching.measure if request.attach else measurement.measure
        data = measure(experiment, _own(request, experiment, several))
        return str(data.path.resolve())

    for experiment in chosen:
        if experiment.grid and not sources[experiment.name]:
            _check_whole(experiment, request, not (request.hosts or request.attach))
    _print_all(chosen, [measured(experiment) for experiment in chosen], out)
    for name, why in left_out.items():
        print(f"{name}: not {'recorded' if source else 'measured'}, {why}")
    if len(chosen) > 1:
        print(f"pages: {_relative(out)}/*/*.html, with their figures beside them")


def dry_runs(
    chosen: Sequence[Experiment], request: Request, described: str | None = None
) -> Iterator[str]:
    """Yield what `reproduce` would do to measure each experiment, with the same options.

    Parameters
    ----------
    described : as for `dry_run.dry_run`.
    """
    several = len(chosen) > 1
    for experiment in chosen:
        if several and not experiment.grid:
            continue
        if several and (why := _why_not(experiment, None, request, planned=True)):
            yield f"# {experiment.name} is left out: {why}"
            continue
        here = not (described or request.hosts or request.attach)
        _check_whole(experiment, request, here)
        if request.attach:
            yield attaching.describe_only(experiment, request)
        else:
            yield dry_run.dry_run(experiment, _own(request, experiment, several), described)


def _own(request: Request, experiment: Experiment, several: bool) -> Request:
    """Return the request for one of several experiments: only some of them compare engines."""
    alone = not several or experiment.compares_engines
    return request if alone else replace(request, engines=None)


def _check_whole(experiment: Experiment, request: Request, here: bool) -> None:
    """Refuse an experiment whose measurement or notebook would fail, before anything starts.

    Parameters
    ----------
    here : whether the cluster is on this host alone, whose programs say which settings they take.
    """
    size = experiment.size(request.size, request.overrides)
    contract.check(experiment, size)
    notebook.check(catalogue.notebook(experiment), ["dataset"])
    # Tests cover the settings of the lab's own experiments.
    if here and catalogue.is_own(experiment):
        trial.check(experiment, size)


def _sources(
    chosen: Sequence[Experiment], source: str | None, rest_recorded: bool
) -> tuple[Sequence[Experiment], dict[str, str | None]]:
    """Return the experiments to reproduce, and the source of each by name: None to measure it."""
    sources = dict.fromkeys((experiment.name for experiment in chosen), source)
    if len(chosen) == 1 or source in (None, RECORDED):
        return chosen, sources
    owner = datasets.read(recorded.folder_named(source)).experiment
    if not rest_recorded:
        return [catalogue.find(owner)], {owner: source}
    return chosen, {name: source if name == owner else RECORDED for name in sources}


def _left_out(
    chosen: Sequence[Experiment], sources: Mapping[str, str | None], request: Request
) -> dict[str, str]:
    """Return the experiments of several that are left out, with the reason, by name."""
    reasons = {
        experiment.name: _why_not(experiment, sources[experiment.name], request)
        for experiment in chosen
    }
    return {name: why for name, why in reasons.items() if why}


def _print_all(chosen: Sequence[Experiment], where: Sequence[str | None], out: Path) -> None:
    """Make the results of experiments, several at once, and print each as soon as it is ready."""
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
    texts = processes.run(_publish, calls, processes.AT_ONCE)
    for text in tqdm(texts, "notebooks", len(calls), leave=False, disable=None, unit="notebook"):
        with tqdm.external_write_mode():
            print(text)


def _why_not(
    experiment: Experiment, source: str | None, request: Request, planned: bool = False
) -> str:
    """Say in one line why an experiment is left out of several; empty if it is not.

    Parameters
    ----------
    planned : whether it is only planned, not measured, so that nothing need be installed.
    """
    if not experiment.grid:
        return ""
    if source:
        known = source != RECORDED or recorded.has(experiment)
        return "" if known else "no dataset of it comes with the lab"
    hosts, engines = request.hosts, request.engines
    named = engines if experiment.compares_engines else experiment.hosts and hosts
    if not (planned or named) and experiment.lacks and (why := experiment.lacks()):
        return why
    try:
        # Some experiments take only some sizes: two servers, say.
        experiment.sweep(experiment.size(request.size, request.overrides))
        if request.attach:
            attachable.check(experiment)
        elif hosts:
            connected.refuse_unsuitable(experiment, hosts)
            if hosts != roles.NAMESPACES:
                roles.suitable(hosts, experiment.hosts)
        elif experiment.compares_engines and not planned:
            experiment.check_engines(engines)
    except LabError as error:
        return f"{error.what} ({error.found})" if error.found else error.what
    return ""


def _check(experiment: Experiment, source: str | None) -> None:
    if experiment.grid is None and source not in (None, RECORDED):
        raise LabError(
            f"{experiment.name} has no dataset of its own",
            found=f"--dataset {source}",
            expected="--recorded, or neither",
            next_step="Drop --dataset"
            + ("; ./lab predict --from DIR reads any." if experiment.reads else "."),
        )


def _publish(experiment: Experiment, source: str | None, out: Path, room: int | None) -> str:
    """Make the results of an experiment; return the report on them for the terminal.

    Parameters
    ----------
    room : lines for the answer if it is one of many experiments; None if it is the only one.
    """
    data = recorded.obtain(experiment.name, source) if experiment.grid and source else None
    measured, folder = (data.path, out / data.id) if data else (None, out / experiment.name)
    # The dataset is held until the end, so that the notebook obtains the same one.
    values: dict[str, object] = {}
    if source != RECORDED and not experiment.reads:
        values = {"dataset": str(measured.resolve())} if measured else {"host": THIS}
    from ndblab.publishing import verdict_tables
    from ndblab.publishing.notebook import exhibit
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
