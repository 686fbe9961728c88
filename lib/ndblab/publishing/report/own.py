"""The user's own datasets in the report: runs of experiments, and comparisons.

Unfinished datasets, and those of experiments that the lab does not know, are left out.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab import dataset as datasets
from ndblab.comparing import answer, judged, made
from ndblab.comparing import figure as forest
from ndblab.dataset.manifest import MANIFEST, complete_in
from ndblab.design import catalogue
from ndblab.error import LabError, writing
from ndblab.formatting import listed
from ndblab.publishing import drawing, notebook, processes
from ndblab.publishing.comparisons import history
from ndblab.publishing.notebook import exhibit
from ndblab.publishing.report import notebook_page
from ndblab.publishing.report.section import Section

if TYPE_CHECKING:
    from ndblab.dataset import Dataset
    from ndblab.design.experiment import Experiment
    from ndblab.publishing.drawing import Drawn


def sections(runs: Path, out: Path) -> list[Section]:
    """Return a section for each complete dataset of the user's, the newest first.

    One whose notebook or figures cannot be made is left out, and named on standard error.

    Parameters
    ----------
    runs : the folder of the datasets.
    out : where `reproduce` keeps executed notebooks; one that is missing, or older than its
        dataset, is executed.
    """
    known = catalogue.every()
    mine = []
    for folder, manifest in complete_in(runs, "*/*"):
        if manifest["experiment"] in (made.NAME, *known):
            mine.append((manifest["started_utc"], folder, manifest["experiment"]))
    mine.sort(reverse=True)
    calls = [(known[name], folder, out) for _, folder, name in mine if name in known]
    notebook.prepare()
    shown = iter(list(processes.run(_shown, calls, processes.AT_ONCE)))
    found = []
    for _, folder, name in mine:
        if name == made.NAME:
            try:
                found.append(comparison(datasets.read(folder)))
            except LabError as error:
                print(f"{folder.name} is left out: {error.what}: {error.found}", file=sys.stderr)
        elif isinstance(page := next(shown), str):
            print(f"{folder.name} is left out: {page}", file=sys.stderr)
        else:
            found.append(_run(known[name], folder, *page))
    return found


def _shown(experiment: Experiment, folder: Path, out: Path) -> tuple[Path, dict[str, Drawn]] | str:
    """Return the notebook of a dataset, executed, and its figures by file; or why that fails."""
    try:
        source = catalogue.notebook(experiment)
        executed = out / folder.name / source.name
        measured_s = (folder / MANIFEST).stat().st_mtime
        is_new = executed.is_file() and executed.stat().st_mtime >= measured_s
        if not is_new or _broken(executed):
            with writing(executed.parent):
                notebook.execute(source, {"dataset": str(folder.resolve())}, executed.parent)
        pictures = [one for one, _ in exhibit.pictures(notebook.read(executed))]
        return executed, drawing.again(pictures, datasets.read(folder))
    except LabError as error:
        return f"{error.what}: {error.found}"


def _broken(executed: Path) -> bool:
    """Return whether a cell of an executed notebook has failed."""
    cells = notebook.read(executed).cells
    outputs = (output for cell in cells for output in cell.get("outputs", ()))
    return any(output.output_type == "error" for output in outputs)


def _run(experiment: Experiment, folder: Path, executed: Path, svgs: dict[str, Drawn]) -> Section:
    data = datasets.read(folder)
    return Section(experiment.name, experiment.question, executed, None, data, svgs, own=True)


def comparison(data: Dataset) -> Section:
    """Return the section of a comparison: its answer, and its forest."""
    within = history.band(data)
    result, asked = judged.judge(data, within), data.manifest.get("asked", {})
    a, b = (listed(asked.get(side) or ["the default"]) for side in "ab")
    question = f"How does {b} compare with {a}?"
    body = f'<p class="lead">{escape(answer.sentence(result, within))}</p>'
    if result.blocks:
        shown = drawing.drawn(lambda: forest.draw(data, result, (a, b), within))
        headline = answer.headline(result, within)
        body += notebook_page.explored(map(exhibit.explorable, shown), headline)
    return Section(made.NAME, question, None, None, data, own=True, body=body)
