"""What is written of the recorded datasets: notebooks, pictures, the README's verdicts, the report.

In: what is committed. Out: the same, made anew; or the report's site.
Every number in the README comes from a dataset, through here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ndblab.claims import publication
from ndblab.experiments import catalogue
from ndblab.publishing import notebook, picture, report, reproduction, results

_MARKS = ("<!-- verdicts -->", "<!-- /verdicts -->")


def render(only: str | None = None) -> list[Path]:
    """Write anew what is committed of the recorded datasets, of one experiment or of all."""
    written = []
    chosen = [catalogue.find(only)] if only else catalogue.EXPERIMENTS.values()
    for experiment in chosen:
        source = results.NOTEBOOKS / experiment.notebook
        notebook.render(source)
        notebook.write_pictures(notebook.read(source), pictures(experiment))
        written.append(source)
    readme = results.ROOT / "README.md"
    readme.write_text(with_verdicts(readme.read_text()))
    return [*written, readme]


def pictures(experiment: catalogue.Experiment) -> Path:
    """Folder of the committed pictures of an experiment."""
    return results.RECORDED / experiment.name


def with_verdicts(readme: str) -> str:
    """Put the verdicts that the recorded datasets decide between the README's two marks.

    What this kind of host cannot test is counted; `./lab claims` and the notebooks have all of it.
    """
    before, _, rest = readme.partition(f"{_MARKS[0]}\n")
    _, _, after = rest.partition(_MARKS[1])
    table = reproduction.claims(None)
    statements = {claim.id: claim.statement for claim in publication.claims()}
    decided = ("reproduced", "contradicted", "inconclusive")
    lines = ["| claim | verdict here | why |", "|---|---|---|"]
    for row in table[table["verdict"].isin(decided)].itertuples():
        cells = (f"{statements[row.id]} (`{row.id}`)", f"**{row.verdict}**", row.reason)
        lines.append(f"| {' | '.join(cells)} |")
    counted = table["verdict"].value_counts()
    others = ", ".join(f"{n} {verdict}" for verdict, n in counted.items() if verdict not in decided)
    lines += ["", f"The other claims of all sources: {others}."]
    return f"{before}{_MARKS[0]}\n" + "\n".join(lines) + f"\n{_MARKS[1]}{after}"


def write_report(out: Path) -> Path:
    """Write the report of all recorded datasets; give its first page."""
    import pandas as pd

    statements = pd.Series({claim.id: claim.statement for claim in publication.claims()})
    every = reproduction.claims(None)
    every["statement"] = every["id"].map(statements)
    sections = list(_sections(every))
    judged = {name for s in sections if s.verdicts is not None for name in s.verdicts["id"]}
    return report.write(out, sections, every[~every["id"].isin(judged)])


def _sections(every) -> Iterator[report.Section]:
    for experiment in catalogue.EXPERIMENTS.values():
        data = results.recorded_data(experiment)
        folder = pictures(experiment)
        source = results.NOTEBOOKS / experiment.notebook
        drawn = tuple(
            report.Picture(p.key, p.question, p.alt, folder / f"{p.file}.png")
            for p, _ in picture.on_page(notebook.read(source))
        )
        yield report.Section(
            experiment.name,
            experiment.question,
            None if data is None else every[every["dataset"] == data.id],
            drawn,
            source,
            data,
        )
