"""A figure with what is told of it, on the page of a notebook.

In: a figure, its title and its words. Out: what a cell shows; and from an executed notebook its
pictures, by which alone figures become files: a file is what the page shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from nbformat import NotebookNode

PNG, SVG = "image/png", "image/svg+xml"


@dataclass(frozen=True)
class Picture:
    """What is told of a figure: its name, the question it answers, its words, its file's stem.

    `key` is unlike that of every other: the number of a figure of the brief, or a word.
    """

    key: str
    name: str
    question: str
    file: str
    alt: str


def of(key: str, question: str, alt: str) -> Picture:
    """Name the figure of a dataset or of a model."""
    number = key.isdecimal()
    name = f"Figure {key}" if number else key.replace("-", " ").capitalize()
    return Picture(key, name, question, f"figure{'' if number else '-'}{key}", alt)


def show(told: Picture, figure: Figure) -> None:
    """Show a figure in a notebook, and its words below it."""
    from IPython.display import Markdown, display

    display(figure, metadata={PNG: asdict(told)})
    display(Markdown(told.alt))


def on_page(content: NotebookNode) -> Iterator[tuple[Picture, Mapping[str, str]]]:
    """Give the pictures of an executed notebook, each with its data by type (PNG in base 64)."""
    names = {field.name for field in fields(Picture)}
    for cell in content.cells:
        for output in cell.get("outputs", []):
            told = output.get("metadata", {}).get(PNG, {})
            if names <= told.keys():
                yield Picture(**{name: told[name] for name in names}), output.data
