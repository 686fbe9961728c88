"""Figures, tables with a name, and the answer, on the page of a notebook and taken from it.

Files come from the page only, so the two always agree.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from ndblab.judging.answers import Answer

PNG, SVG, HTML, MARKDOWN = "image/png", "image/svg+xml", "text/html", "text/markdown"
_TABLE, _CSV, _ANSWER = "table", "csv", "answer"


@dataclass(frozen=True)
class Picture:
    """A figure's name, question, file name (without suffix) and description (`alt`).

    `key` identifies it: the number of a figure of the brief, or a word.
    """

    key: str
    name: str
    question: str
    file: str
    alt: str

    @property
    def number(self) -> str:
        """Its name in the brief; empty for a figure that the brief does not have."""
        return f"Figure {self.key}" if self.key.isdecimal() else ""


def picture(key: str, question: str, alt: str) -> Picture:
    """Name the figure of a dataset or a model."""
    number = key.isdecimal()
    name = f"Figure {key}" if number else key.replace("-", " ").capitalize()
    return Picture(key, name, question, f"figure{'' if number else '-'}{key}", alt)


def of_figure(shown: Picture) -> dict[str, dict[str, str]]:
    """Return the metadata of an output that shows a figure."""
    return {PNG: asdict(shown)}


def of_table(name: str, csv: str) -> dict[str, dict[str, str]]:
    """Return the metadata of an output that shows a table."""
    return {HTML: {_TABLE: name, _CSV: csv}}


def of_answer(answer: Answer) -> dict[str, dict[str, dict]]:
    """Return the metadata of an output that shows an experiment's answer."""
    return {MARKDOWN: {_ANSWER: asdict(answer)}}


def answer(content: NotebookNode) -> Answer | None:
    """Return the answer that an executed notebook shows; None if it shows none."""
    from ndblab.judging.answers import Answer

    for output in _outputs(content):
        if found := output.get("metadata", {}).get(MARKDOWN, {}).get(_ANSWER):
            return Answer(**{name: tuple(clauses) for name, clauses in found.items()})
    return None


def pictures(content: NotebookNode) -> Iterator[tuple[Picture, dict[str, str]]]:
    """Return the figures of an executed notebook, each with its data by type (PNG in base 64)."""
    names = {field.name for field in fields(Picture)}
    for output in _outputs(content):
        found = output.get("metadata", {}).get(PNG, {})
        if names <= found.keys():
            yield Picture(**{name: found[name] for name in names}), output.data


def write(content: NotebookNode, folder: Path) -> list[tuple[str, Path]]:
    """Write figures and named tables of an executed notebook as files; give names and places."""
    made = [(name, folder / file, data) for name, file, data in take_out(content)]
    for _, place, data in made:
        place.write_bytes(data)
    return [(name, place) for name, place, _ in made]


def take_out(content: NotebookNode) -> list[tuple[str, str, bytes]]:
    """Return names, file names and contents of a notebook's figures and named tables.

    SVG and CSV are taken out of the notebook: it shows PNG, which has a description, and HTML.
    """
    files = []
    for shown, data in pictures(content):
        files.append((shown.name.lower(), f"{shown.file}.png", base64.b64decode(data[PNG])))
        if svg := data.pop(SVG, None):
            files.append((shown.name.lower(), f"{shown.file}.svg", svg.encode()))
    for output in _outputs(content):
        if found := output.get("metadata", {}).pop(HTML, None):
            name = found[_TABLE].lower()
            files.append((name, f"{name.replace(' ', '')}.csv", found[_CSV].encode()))
    return files


def _outputs(content: NotebookNode) -> Iterator[NotebookNode]:
    for cell in content.cells:
        yield from cell.get("outputs", [])
