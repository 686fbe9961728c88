"""Everything committed or published about the recorded datasets, made from them.

In: the recorded datasets. Out: notebooks, pictures, the README's verdicts, the report's site.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.claims import verdict
from ndblab.experiments import catalogue, recorded
from ndblab.experiments.experiment import Experiment
from ndblab.publishing import notebook, processes, report, verdict_tables
from ndblab.publishing.processes import AT_ONCE

if TYPE_CHECKING:
    import pandas as pd

_MARKS = ("<!-- verdicts -->", "<!-- /verdicts -->")


def render(only: str | None = None) -> list[Path]:
    """Render the committed notebook and pictures of one experiment or all, and the README."""
    chosen = [catalogue.find(only)] if only else list(catalogue.EXPERIMENTS.values())
    written = [recorded.NOTEBOOKS / experiment.notebook for experiment in chosen]
    pictures = [recorded.RECORDED / experiment.name for experiment in chosen]
    notebook.prepare()
    list(processes.each(notebook.render, list(zip(written, pictures, strict=True)), AT_ONCE))
    readme = recorded.ROOT / "README.md"
    readme.write_text(with_verdicts(readme.read_text()))
    return [*written, readme]


def with_verdicts(readme: str) -> str:
    """Put the verdicts that the recorded datasets decide between the README's two marks.

    Claims that this kind of host cannot test are only counted.
    """
    before, _, rest = readme.partition(f"{_MARKS[0]}\n")
    _, _, after = rest.partition(_MARKS[1])
    table = verdict_tables.with_statements(verdict_tables.every())
    lines = ["| claim | verdict here | why |", "|---|---|---|"]
    for row in table[table["verdict"].isin(verdict.TESTED)].itertuples():
        lines.append(f"| {row.statement} (`{row.id}`) | **{row.verdict}** | {row.reason} |")
    counted = table["verdict"].value_counts()
    others = ", ".join(f"{n} {word}" for word, n in counted.items() if word not in verdict.TESTED)
    lines += ["", f"The other claims of all sources: {others}."]
    return f"{before}{_MARKS[0]}\n" + "\n".join(lines) + f"\n{_MARKS[1]}{after}"


def write_report(out: Path) -> Path:
    """Write the report of all recorded datasets; give its first page."""
    every = verdict_tables.with_statements(verdict_tables.every())
    sections = [_section(experiment, every) for experiment in catalogue.EXPERIMENTS.values()]
    judged = {name for s in sections if s.verdicts is not None for name in s.verdicts["id"]}
    return report.write(out, sections, every[~every["id"].isin(judged)])


def _section(experiment: Experiment, every: pd.DataFrame) -> report.Section:
    data = recorded.obtain(experiment.name) if experiment.grid else None
    return report.Section(
        experiment.name,
        experiment.question,
        recorded.NOTEBOOKS / experiment.notebook,
        None if data is None else every[every["dataset"] == data.id],
        data,
    )
