"""Everything committed or published about the recorded datasets, made from them.

That is the notebooks, the README with its picture and findings, the page of results, and the
report's site.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ndblab.design import catalogue
from ndblab.design.experiment import Experiment
from ndblab.judging import publication, verdict
from ndblab.measuring import measurement, recorded
from ndblab.publishing import (
    drawing,
    effects,
    notebook,
    processes,
    report,
    terminal,
    verdict_tables,
)
from ndblab.publishing.comparisons import history
from ndblab.publishing.notebook import exhibit
from ndblab.publishing.processes import AT_ONCE
from ndblab.publishing.report import own

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.dataset import Dataset
    from ndblab.publishing.drawing import Drawn

_LINES = 3
README, RESULTS = recorded.ROOT / "README.md", recorded.ROOT / "docs/results.md"
_FINDING = re.compile(r"^- .*\((notebooks/\S+\.ipynb)\)\)?\.?$", re.MULTILINE)
"""A line of the README that states what a notebook found."""
_ALONE = re.compile(r"each of \d+ recordings alone (?:is|differs)[^,;]*")
"""What the reason of a verdict says of recordings that agree and are too few together."""
_FEW = re.compile("fewer than|no interval before")
"""What the reason of a verdict says of a contrast with too few blocks."""
_BARE = ("s", "ratio", "percentage points")
"""Units that do not tell what was measured."""
_LOAD = re.compile(r"\bwith ((?:\d+ servers? and )?\d+ clients?(?: against \d+)?)\b", re.IGNORECASE)
"""Under how many servers and clients a claim was judged, in the reason of its verdict: "against"
others if the sides have their own.
"""


def render(only: str | None = None) -> list[Path]:
    """Render the committed notebook of one experiment or all, the README and the results."""
    chosen = [catalogue.find(only)] if only else _published()
    written = [catalogue.notebook(experiment) for experiment in chosen]
    notebook.prepare()
    list(processes.run(notebook.render, [(path,) for path in written], AT_ONCE))
    every, claims = verdict_tables.every(), publication.claims()
    effects.write(every, claims)
    every = verdict_tables.with_statements(every)
    README.write_text(with_findings(README.read_text(encoding="utf-8"), every), encoding="utf-8")
    RESULTS.write_text(results(every), encoding="utf-8")
    return [*written, effects.PICTURE, README, RESULTS]


def _published() -> list[Experiment]:
    """Return the experiments that have something to show: all but those never recorded."""
    every = catalogue.every().values()
    return [known for known in every if known.grid is None or recorded.has(known)]


def with_findings(readme: str, every: pd.DataFrame) -> str:
    """Rewrite what the README counts, and its findings, each from the notebook of its line.

    Parameters
    ----------
    every : verdicts with their statements (`verdict_tables`).
    """

    def finding(line: re.Match) -> str:
        answer = exhibit.answer(notebook.read(recorded.ROOT / line[1]))
        number = Path(line[1]).name.partition("_")[0]
        return f"- {answer.headline} ([{number}]({line[1]}))"

    text = _FINDING.sub(finding, readme)
    text = _between("decided", verdict_tables.decided(every), text)
    return _between("tally", f"\n{verdict_tables.counted(every)}\n", text)


def _between(mark: str, words: str, text: str) -> str:
    """Replace what stands between two comments, such as <!-- tally --> and <!-- /tally -->."""
    begin, end = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    return re.sub(f"{begin}.*?{end}", lambda _: f"{begin}{words}{end}", text, flags=re.DOTALL)


def results(every: pd.DataFrame) -> str:
    """Write the page of all answers, of the claims tested here, and of those that could not be.

    Parameters
    ----------
    every : as for `with_findings`.
    """
    tested = every["verdict"].isin(verdict.TESTED)
    ruled_out = every["verdict"].isin([verdict.BY_CONSTRUCTION, verdict.NOT_TESTABLE])
    lines = ["# What was found", "", "Written by `./lab render` from the recorded datasets.", ""]
    lines += [_answer(experiment) for experiment in _published()]
    claims = {claim.id: claim for claim in publication.claims()}
    head = ("claim", "scope", "verdict here", "measured")
    lines += ["", "## Claims that were tested", "", verdict_tables.counted(every), ""]
    lines += [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for row in every[tested].itertuples():
        claim, scope = f"{row.statement} (`{row.id}`)", claims[row.id].scope
        own = scope if scope == publication.ANY else f"its own {scope}"
        own = "a host for each node" if scope == publication.HOSTS else own
        one = f", {verdict.ONE_START}" if verdict.ONE_START in row.reason else ""
        if _FEW.search(row.reason) and math.isnan(row.low):
            one = ", too few blocks for an interval"
        if alone := _ALONE.search(row.reason):
            one = f", though {alone[0]}"
        word = "; ".join(filter(None, (f"**{row.verdict}**{one}", verdict.basis(row.reason))))
        lines.append(f"| {claim} | {own} | {word} | {_measured(row, claims[row.id])} |")
    lines += ["", "## Claims without a verdict on the source", ""]
    lines += ["Absolute numbers of other machines and the readings of `ndb_top` are left out.", ""]
    lines += ["| claim | verdict here | why |", "|---|---|---|"]
    for row in every[ruled_out].itertuples():
        why = row.reason.partition("; measured:")[0]
        if row.verdict == verdict.BY_CONSTRUCTION:
            why += f"; measured: {terminal.measured(row)}"
        lines.append(f"| {row.statement} (`{row.id}`) | {row.verdict} | {why} |")
    return "\n".join([*lines, ""])


def _measured(row: Any, claim: publication.Claim) -> str:
    """Write what was measured, and what was wanted where the lab decided that.

    The load is told if it was the same in all recordings.
    """
    loads = {load.lower() for load in _LOAD.findall(row.reason)}
    load = f", with {loads.pop()}" if len(loads) == 1 else ""
    of = f"{claim.metric}: " if claim.unit in _BARE else ""
    unit = "" if claim.unit == "ratio" else f" {claim.unit}"
    ours = claim.is_threshold_ours
    wanted = f"; {claim.published}{unit} wanted (the lab's threshold)" if ours else ""
    low, high = verdict.allowed(claim)
    if claim.comparison == "equal" and low < high:
        wanted = f"; published: {verdict.with_tolerance(claim)}"
    return f"{of}{terminal.measured(row)}{load}{wanted}"


def _answer(experiment: Experiment) -> str:
    path = catalogue.notebook(experiment)
    answer = exhibit.answer(notebook.read(path))
    question = f"[{experiment.question}](../{path.relative_to(recorded.ROOT)})"
    return f"- {question} {answer.brief(_LINES)}" if answer else f"- {question}"


def write_report(out: Path) -> Path:
    """Write the report of all recorded datasets and the user's own; return its first page."""
    every, claims = verdict_tables.every(), publication.claims()
    forest = effects.on_site(every, claims)
    every, chosen = verdict_tables.with_statements(every), _published()
    notebook.prepare()
    svgs = processes.run(drawn, [(experiment,) for experiment in chosen], AT_ONCE)
    sections = [
        _section(experiment, redrawn, every)
        for experiment, redrawn in zip(chosen, svgs, strict=True)
    ]
    judged = {name for s in sections if s.verdicts is not None for name in s.verdicts["id"]}
    sections += own.sections(measurement.RUNS, recorded.ROOT / "out")
    rest, tally = every[~every["id"].isin(judged)], verdict_tables.counted(every)
    plain = tally.replace("`", "")
    return report.write(out, sections, rest, findings(), forest, plain, history.read())


def findings() -> list[Path]:
    """Return the notebooks whose findings the README states, in its order."""
    readme = README.read_text(encoding="utf-8")
    return [recorded.ROOT / line[1] for line in _FINDING.finditer(readme)]


def drawn(experiment: Experiment) -> dict[str, Drawn]:
    """Redraw the figures of an experiment's notebook; return them by the names of their files."""
    shown = [one for one, _ in exhibit.pictures(notebook.read(catalogue.notebook(experiment)))]
    return drawing.again(shown, _data(experiment))


def _data(experiment: Experiment) -> Dataset | None:
    return recorded.obtain(experiment.name) if experiment.grid else None


def _section(experiment: Experiment, svgs: dict[str, Drawn], every: pd.DataFrame) -> report.Section:
    data = _data(experiment)
    return report.Section(
        experiment.name,
        experiment.question,
        catalogue.notebook(experiment),
        None if data is None else every[every["dataset"] == data.id],
        data,
        svgs,
    )
