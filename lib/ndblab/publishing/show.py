"""What a notebook shows, one call for each output: the answer, a table, a figure, verdicts.

It computes no result.
"""

from __future__ import annotations

import os
import re
from html import escape

import pandas as pd
from IPython.display import HTML, Markdown, display

from ndblab import formatting
from ndblab.dataset import Dataset
from ndblab.design import catalogue
from ndblab.design.catalogue import find
from ndblab.figures import sheet
from ndblab.judging import answers, publication
from ndblab.machine import host
from ndblab.measuring import recorded
from ndblab.publishing import drawing
from ndblab.publishing import verdict_tables as judged
from ndblab.publishing.notebook import exhibit, headings
from ndblab.workloads import registry

_WORDS = {"text-align": "left", "vertical-align": "top", "white-space": "normal"}
_IN_WORDS = "The figure in words"
_YES_NO = {True: "yes", False: "no"}


def answer(asked: Dataset | str, table_of_verdicts: pd.DataFrame) -> None:
    """Show what an experiment found, in words.

    For a recorded dataset, it leaves out what the head of the committed notebook says.

    Parameters
    ----------
    asked : the dataset that was judged, or the name of an experiment without one.
    table_of_verdicts : as for `judging.answers.answer`.
    """
    data = asked if isinstance(asked, Dataset) else None
    name = asked if isinstance(asked, str) else asked.experiment
    said = answers.answer(name, table_of_verdicts, data)
    where, is_told = "", True
    if data is not None:
        is_told = _is_told(data)
        where = f"{data.describe_host(in_short=True)}, CPU budget {data.budget}, {data.id}"
    text = exhibit.below_head(said) if is_told else f"**In short.** {said}"
    display(Markdown(text), metadata=exhibit.of_answer(said, where))


def _is_told(data: Dataset) -> bool:
    """Return whether the head of a committed notebook states what a dataset shows."""
    if data.path.parent.parent != recorded.RECORDED:
        return False
    if data.experiment not in catalogue.every():
        # A search belongs to no experiment; the notebook has chosen it.
        return True
    return data.path in recorded.folders_of(find(data.experiment))[-1:]


def figure(key: str | int, source: Dataset | drawing.Forecast | str) -> None:
    """Show a figure of a dataset, forecast or host, and say in words what its title leaves out."""
    shown, drawn = drawing.draw(str(key), source)
    display(drawn, metadata=exhibit.of_figure(shown))
    words = _listed(shown.alt.removeprefix(f"{sheet.title(drawn)}. "))
    display(Markdown(f"<details><summary>{_IN_WORDS}</summary>\n\n{words}\n\n</details>"))


def _listed(words: str) -> str:
    """Turn sentences that enumerate with semicolons into Markdown lists.

    >>> print(_listed("A line. Two lists: a 1.5; b 2. An end."))
    A line.
    <BLANKLINE>
    Two lists:
    <BLANKLINE>
    - a 1.5
    - b 2
    <BLANKLINE>
    An end.
    >>> print(_listed("A title: a 1. Also: b 2. 95th percentile: SELECT ... INTO 1; b 2."))
    A title:
    <BLANKLINE>
    - a 1
    - b 2
    <BLANKLINE>
    95th percentile:
    <BLANKLINE>
    - SELECT ... INTO 1
    - b 2
    """
    blocks: list[str] = []
    for sentence in re.split(r"(?<=[^.]\.) ", formatting.in_one(words)):
        lead, _, rest = sentence.partition(": ")
        if "; " in rest and ";" not in lead:
            parts = rest.rstrip(".").split("; ")
            blocks += [f"{lead}:", "\n".join(f"- {part}" for part in parts), ""]
        elif blocks and blocks[-1]:
            blocks[-1] += f" {sentence}"
        else:
            blocks.append(sentence)
    return "\n\n".join(filter(None, blocks))


def explore(key: str | int, source: Dataset | drawing.Forecast | str) -> None:
    """Show a figure that can be zoomed and whose points say what they are.

    It needs no network. Sites that host code do not show it: use `figure` there.
    """
    from ndblab.publishing.report import notebook_page, page

    shown, drawn = drawing.draw(str(key), source)
    box = notebook_page.explored([exhibit.explorable(drawing.svg(drawn))], shown.alt)
    text = escape(page.render("figure.html.j2", name=shown.name, drawing=box))
    width_in, height_in = drawn.get_size_inches()
    look = f"width: 100%; max-width: 60rem; aspect-ratio: {width_in} / {height_in + 0.6}; border: 0"
    frame = f'<iframe title="{escape(shown.name)}" srcdoc="{text}" style="{look}"></iframe>'
    display(HTML(f"<div>{frame}</div>"))


def table(
    frame: pd.DataFrame, name: str, index: bool = False, header: bool = True, csv: str = ""
) -> None:
    """Show a table, its headings in words; fractional numbers have three significant digits.

    Parameters
    ----------
    name : identifies the table on its page.
    index, header : whether the labels of rows and of columns are shown.
    csv : text of the file that the lab writes under `name` when it executes the notebook.
    """
    frame = frame if index else frame.reset_index(drop=True)
    frame = _in_words(frame)
    numbers = frame.select_dtypes("float").columns
    words = frame.select_dtypes(exclude="number").columns
    look = frame.style.format(escape="html", na_rep="")
    look = look.format(formatting.plain, subset=numbers, na_rep="")
    look = look.format(_YES_NO.get, subset=frame.select_dtypes("bool").columns)
    look = look.set_properties(subset=words, **_WORDS)
    look = look if index else look.hide(axis="index")
    look = look if header else look.hide(axis="columns")
    page = HTML(look.to_html(table_uuid=name.lower().replace(" ", "-")))
    display(page, metadata=exhibit.of_table(name, csv) if csv else {})


def _in_words(frame: pd.DataFrame) -> pd.DataFrame:
    """Name columns and levels in words; columns keep their names if two would become equal."""
    name, called = frame.columns.name, [headings.words(column) for column in frame.columns]
    frame = frame.set_axis(called if len({*called}) == len(called) else frame.columns, axis=1)
    frame.columns.name = headings.words(name)
    return frame.rename_axis([headings.words(name) for name in frame.index.names])


def who_runs_where(data: Dataset) -> None:
    """Show who runs where: hosts, processes and the CPUs that each may use."""
    shown, drawn = drawing.placed(data)
    display(drawn, metadata=exhibit.of_figure(shown))


def sizes(data: Dataset) -> Markdown:
    """Describe how often and how long a dataset measured each point, and on what."""
    size, reason = data.manifest["profile"], data.manifest["plan"]["budget"]["reason"]
    return Markdown(
        f"Each point has **{size['repeats']}** runs of **{size['duration_s']} s** after "
        f"{size['warmup_s']} s of warm-up, on {size['tables']} tables of {size['table_size']} "
        f"rows. The CPU budget is **{data.budget}**: {reason}."
    )


def provenance(*data: Dataset, labels: tuple[str, ...] = ("",)) -> None:
    """Show where datasets come from: host, versions, budget, profile, times; a column for each."""
    columns = pd.DataFrame(list(map(_facts, data)), index=labels).T
    table(columns, "provenance", index=True, header=len(data) > 1)
    display(Markdown(" ".join(map(_raw, data))))


def _raw(data: Dataset) -> str:
    """Link to the tables of a dataset, from the folder that the notebook runs in."""
    folder = os.path.relpath(data.path)
    tables = (file.name for file in sorted(data.path.glob("*.csv*")))
    links = formatting.listed(f"[{name}]({folder}/{name})" for name in tables)
    return f"Raw data of [{data.id}]({folder}): {links}."


def verdicts(table_of_verdicts: pd.DataFrame) -> None:
    """Show verdicts with the statements of their claims.

    Single readings of `ndb_top`, which no other host can test, are in the file only.
    """
    shown = _statements(table_of_verdicts.drop(columns="dataset"))
    shown = shown.assign(reason=shown["reason"].map(formatting.sentences))
    table(shown, "verdicts", csv=table_of_verdicts.to_csv(index=False))


def by_verdict(table_of_verdicts: pd.DataFrame) -> Markdown:
    """List the claims that `verdicts` shows, verdict by verdict."""
    together = _statements(table_of_verdicts).groupby("verdict")["id"].agg(", ".join)
    return Markdown("\n".join("- **" + together.index + "**: " + together))


def _statements(table_of_verdicts: pd.DataFrame) -> pd.DataFrame:
    shown = judged.with_statements(table_of_verdicts)
    return shown[~shown["statement"].str.startswith(publication.READING)]


def _facts(data: Dataset) -> dict[str, str]:
    manifest, machine, runs = data.manifest, host.from_dict(dict(data.host)), data.runs
    size, steal = manifest["profile"], runs["host_steal_pct"]
    length = f" of {size['duration_s']} s after {size['warmup_s']} s of warm-up"
    experiment = find(data.experiment)
    if registry.ends_by_itself(experiment.workload):
        length = ", each to its own end"
    if any(variant.fault for variant in experiment.variants):
        length = f", {size['duration_s']} s before each fault"
    return {
        "dataset": data.id,
        "measured": f"{manifest['started_utc']} to {manifest['finished_utc']}",
        "host": data.describe_host(),
        "distribution": machine.distribution,
        "software": ", ".join(f"{name} {value}" for name, value in manifest["versions"].items()),
        "CPU budget": f"{data.budget}: {manifest['plan']['budget']['reason']}",
        "rows": f"{size['tables']} tables of {size['table_size']} rows",
        "status": manifest["status"],
        "runs": f"{len(runs)}{length}, {data.describe_runs()}",
        "host steal": f"{steal.mean():.2f} % on average, {steal.max():.2f} % at most",
        "git commit": manifest.get("git_commit") or "unknown",
    }
