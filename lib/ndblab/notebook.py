"""Notebooks, executed with parameters and turned into HTML.

In: a notebook of the lab, its parameters and a folder. Out: the executed notebook and its HTML in
that folder. It refuses parameters that the notebook does not have, of which papermill only warns.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from ndblab.error import LabError

PARAMETERS_TAG = "parameters"


def parameters(source: Path) -> dict[str, object]:
    """Give the parameters of a notebook with their defaults.

    Raises
    ------
    LabError
        If the file is not a notebook with one cell tagged "parameters".
    """
    import nbformat

    try:
        cells = nbformat.read(source, as_version=4).cells
    except (OSError, ValueError, nbformat.reader.NotJSONError) as error:
        raise LabError(
            f"{source} is not a notebook",
            found=str(error),
            expected="a Jupyter notebook of format 4",
            next_step="Check the path, or restore the file with git.",
        ) from error
    tagged = [c for c in cells if PARAMETERS_TAG in c.metadata.get("tags", [])]
    if len(tagged) != 1:
        raise LabError(
            f"{source} does not say what its parameters are",
            found=f'{len(tagged)} cells tagged "{PARAMETERS_TAG}"',
            expected="one",
            next_step="Tag the cell that holds the parameters.",
        )
    return {
        target.id: ast.literal_eval(statement.value)
        for statement in ast.parse(tagged[0].source).body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }


def execute(source: Path, values: dict[str, object], folder: Path) -> tuple[Path, Path]:
    """Execute a notebook with some of its parameters replaced; give the notebook and its HTML.

    Raises
    ------
    LabError
        If it has no such parameter, or a cell fails.
    """
    known = parameters(source)
    if unknown := sorted(values.keys() - known.keys()):
        raise LabError(
            f"{source.name} has no such parameter",
            found=", ".join(unknown),
            expected=", ".join(known),
            next_step="Check the spelling; the first code cell of the notebook lists them.",
        )
    import papermill
    from papermill.exceptions import PapermillExecutionError

    folder.mkdir(parents=True, exist_ok=True)
    executed = folder / source.name
    try:
        papermill.execute_notebook(
            source, executed, values, kernel_name="python3", progress_bar=False, cwd=source.parent
        )
    except PapermillExecutionError as error:
        raise LabError(
            f"A cell of {source.name} failed",
            found=f"{error.ename}: {error.evalue}",
            expected="a notebook that runs to its end",
            next_step=f"The cell and its traceback are in {executed}.",
        ) from error
    return executed, to_html(executed)


def to_html(executed: Path) -> Path:
    """Write the HTML of an executed notebook beside it."""
    from nbconvert import HTMLExporter

    page, _ = HTMLExporter(embed_images=True).from_filename(str(executed))
    html = executed.with_suffix(".html")
    html.write_text(page)
    return html


def open_lab(folder: Path) -> list[str]:
    """Give the command that opens JupyterLab in a folder, on loopback only."""
    return [sys.executable, "-m", "jupyterlab", "--ip=127.0.0.1", str(folder)]
