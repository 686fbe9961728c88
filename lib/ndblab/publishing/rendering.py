"""Everything committed or published about the recorded datasets, made from them.

That is the notebooks, the README with its pictures, answers and verdicts, and the report's site.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.design import catalogue
from ndblab.design.experiment import Experiment
from ndblab.judging import verdict
from ndblab.judging.publication import READING
from ndblab.measuring import recorded
from ndblab.publishing import exhibit, notebook, processes, report, terminal, verdict_tables
from ndblab.publishing.processes import AT_ONCE

if TYPE_CHECKING:
    import pandas as pd

_README_LINES = 3
_MARKS = ("<!-- verdicts -->", "<!-- /verdicts -->")


def render(only: str | None = None) -> list[Path]:
    """Render the committed notebook of one experiment or all, and the README with its pictures."""
    chosen = [catalogue.find(only)] if only else _published()
    written = [catalogue.notebook(experiment) for experiment in chosen]
    folders = [recorded.RECORDED / experiment.name for experiment in chosen]
    readme = recorded.ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    shown = [pictures(text, folder) for folder in folders]
    notebook.prepare()
    list(processes.each(notebook.render, list(zip(written, folders, shown, strict=True)), AT_ONCE))
    readme.write_text(with_verdicts(text), encoding="utf-8")
    return [*written, readme]


def pictures(readme: str, folder: Path) -> tuple[str, ...]:
    """Return the names of the pictures in a folder that the README shows."""
    place = re.escape(folder.relative_to(recorded.ROOT).as_posix())
    return tuple(re.findall(rf"\({place}/(\S+\.png)\)", readme))


def _published() -> list[Experiment]:
    """Return the experiments that have something to show: all but those never recorded."""
    every = catalogue.every().values()
    return [each for each in every if each.grid is None or recorded.has(each)]


def with_verdicts(readme: str) -> str:
    """Put what was found between the README's two marks: answers, and the verdicts tested here.

    The answers are those that the committed notebooks show. Other claims are only counted.
    """
    before, _, rest = readme.partition(f"{_MARKS[0]}\n")
    _, _, after = rest.partition(_MARKS[1])
    table = verdict_tables.with_statements(verdict_tables.every())
    readings = table["statement"].str.startswith(READING)
    tested = table["verdict"].isin(verdict.TESTED) & ~readings
    lines = [_answer(experiment) for experiment in _published()]
    lines += ["", "| claim | verdict here | measured |", "|---|---|---|"]
    for row in table[tested].itertuples():
        claim = f"{row.statement} (`{row.id}`)"
        lines.append(f"| {claim} | **{row.verdict}** | {terminal.measured(row)} |")
    screens = verdict_tables.tally(table[readings])
    others = verdict_tables.tally(table[~tested & ~readings])
    lines += ["", f"The readings of two published screens of `ndb_top`, as shares of a data node's "
              f"CPU: {screens}. The other claims of all sources: {others}."]  # fmt: skip
    return f"{before}{_MARKS[0]}\n" + "\n".join(lines) + f"\n{_MARKS[1]}{after}"


def _answer(experiment: Experiment) -> str:
    path = catalogue.notebook(experiment)
    found = exhibit.answer(notebook.read(path))
    question = f"[{experiment.question}]({path.relative_to(recorded.ROOT)})"
    return f"- {question} {found.brief(_README_LINES)}" if found else f"- {question}"


def write_report(out: Path) -> Path:
    """Write the report of all recorded datasets; give its first page."""
    every = verdict_tables.with_statements(verdict_tables.every())
    sections = [_section(experiment, every) for experiment in _published()]
    judged = {name for s in sections if s.verdicts is not None for name in s.verdicts["id"]}
    return report.write(out, sections, every[~every["id"].isin(judged)])


def _section(experiment: Experiment, every: pd.DataFrame) -> report.Section:
    data = recorded.obtain(experiment.name) if experiment.grid else None
    return report.Section(
        experiment.name,
        experiment.question,
        catalogue.notebook(experiment),
        None if data is None else every[every["dataset"] == data.id],
        data,
    )
