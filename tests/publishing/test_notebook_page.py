"""The page of a notebook: its first figure leads, and nothing stays behind without it."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from ndblab.publishing.notebook import exhibit
from ndblab.publishing.report import notebook_page

PNG = "iVBORw0KGgo="


def page_of(tmp_path: Path, *after: nbformat.NotebookNode) -> str:
    shown = exhibit.picture("6", "How fast?", "Fast. In words.")
    figure = new_code_cell("show.figure(6)")
    figure.outputs = [
        new_output("display_data", {"image/png": PNG}, metadata=exhibit.of_figure(shown))
    ]
    cells = [
        new_markdown_cell("# Fast?"),
        new_markdown_cell("## Throughput\n\nWhat rises?"),
        figure,
    ]
    place = tmp_path / "own.ipynb"
    nbformat.write(new_notebook(cells=[*cells, *after]), place)
    return notebook_page.write_alone(place, "Fast?").read_text()


def test_a_heading_goes_where_its_figure_goes(tmp_path: Path) -> None:
    """Over the figure alone it would head nothing; what explains the figure stays with it."""
    text = page_of(tmp_path, new_markdown_cell("## Limits\n\nNone."))
    assert "Throughput</h2>" not in text
    assert text.index("<img") < text.index("What rises?") < text.index("Limits</h2>")


def test_a_heading_of_more_than_the_figure_stays(tmp_path: Path) -> None:
    """What comes after the figure is still below it."""
    text = page_of(tmp_path, new_markdown_cell("Rows are points."))
    assert text.index("<img") < text.index("Throughput</h2>") < text.index("Rows are points.")
