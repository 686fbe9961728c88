"""Notebooks: read, executed with parameters, rendered with their outputs.

It refuses parameters that the notebook lacks, about which papermill would only warn.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import os
import sys
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.error import LabError
from ndblab.machine import files
from ndblab.publishing.notebook import exhibit

if TYPE_CHECKING:
    from nbformat import NotebookNode

PARAMETERS_TAG = "parameters"
KERNEL = "python3"


def read(source: Path):
    """Read a notebook; LabError if the file is not a notebook."""
    import nbformat

    try:
        return nbformat.read(source, as_version=4)
    except (OSError, ValueError, nbformat.reader.NotJSONError) as error:
        raise LabError(
            f"{source} is not a notebook",
            found=str(error),
            expected="a Jupyter notebook of format 4",
            next_step="Check the path, or restore the file with git.",
        ) from error


def parameters(source: Path) -> dict[str, object]:
    """Return the parameters of a notebook with their defaults.

    LabError if the file is not a notebook with one cell tagged "parameters".
    """
    tagged = [c for c in read(source).cells if PARAMETERS_TAG in c.metadata.get("tags", [])]
    if len(tagged) != 1:
        raise LabError(
            f"{source} needs one parameters cell",
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


def check(source: Path, names: Collection[str]) -> None:
    """Refuse a notebook that lacks a parameter of one of these names.

    LabError as `parameters`, or if a parameter is missing.
    """
    known = parameters(source)
    if unknown := sorted(set(names) - known.keys()):
        raise LabError(
            f"{source.name} has no such parameter",
            found=", ".join(unknown),
            expected=", ".join(known),
            next_step="Check the spelling; the first code cell of the notebook lists them.",
        )


def execute(source: Path, values: dict[str, object], folder: Path) -> list[tuple[str, Path]]:
    """Execute a notebook with some of its parameters replaced, at most once per process.

    LabError if it has no such parameter, or a cell fails.

    Returns
    -------
    Name and place of what it made: its figures (PNG and SVG), its named tables (CSV), itself.
    """
    check(source, values)
    prepare()
    import nbformat
    import papermill
    from papermill.exceptions import PapermillExecutionError

    from ndblab.publishing.notebook import engine

    folder.mkdir(parents=True, exist_ok=True)
    executed = folder / source.name
    try:
        content = papermill.execute_notebook(
            source,
            executed,
            values,
            engine_name=engine.NAME,
            kernel_name=KERNEL,
            progress_bar=False,
            # papermill saves at the end, and when a cell fails.
            request_save_on_cell_execute=False,
            cwd=source.parent,
            formats=("png", "svg"),
        )
    except PapermillExecutionError as error:
        raise LabError(
            f"A cell of {source.name} failed",
            found=f"{error.ename}: {error.evalue}",
            expected="a notebook that runs to its end",
            next_step=f"The cell and its traceback are in {executed}.",
        ) from error
    exhibit.lead(content)
    made = exhibit.write(content, folder)
    nbformat.write(content, executed)
    return [*made, ("notebook", executed)]


def prepare() -> None:
    """Import what executing a notebook needs; processes forked afterwards have it already."""
    # If it can, jsonschema spends a second on importing this, to check internationalised addresses;
    # the schema of a notebook has none.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    import ndblab.dataset
    import ndblab.figures
    import ndblab.judging.judge
    import ndblab.publishing.notebook.engine
    import ndblab.publishing.show  # noqa: F401


def render(source: Path) -> None:
    """Execute a notebook as it is, and keep the outputs in it.

    As with `execute`, at most once per process. If a cell fails, the notebook stays as it was.
    """
    prepare()
    import nbformat

    from ndblab.publishing.notebook import engine

    content = read(source)
    shell = engine.shell()
    with contextlib.chdir(source.parent):
        for cell in content.cells:
            if cell.cell_type == "code" and (error := shell.execute(cell)):
                raise LabError(
                    f"A cell of {source.name} failed",
                    found="\n".join(cell.outputs[-1].get("traceback", [repr(error)])),
                    expected="a notebook that runs to its end",
                    next_step="Fix the cell. The notebook was not changed.",
                ) from error
            _pack_pictures(cell)
    exhibit.lead(content)
    exhibit.take_out(content)
    files.write(source, f"{nbformat.writes(content)}\n".encode())


def packed(png: bytes) -> bytes:
    """Reduce a picture to its 256 most frequent colours, a third of its bytes; idempotent."""
    from PIL import Image

    with Image.open(io.BytesIO(png)) as drawn:
        if drawn.mode == "P":
            return png
        fewer = drawn.convert("RGB").quantize(256)
    out = io.BytesIO()
    fewer.save(out, format="png", optimize=True)
    return out.getvalue()


def _pack_pictures(cell: NotebookNode) -> None:
    for output in cell.get("outputs", []):
        if png := output.get("data", {}).get(exhibit.PNG):
            output.data[exhibit.PNG] = base64.b64encode(packed(base64.b64decode(png))).decode()


def open_lab(folder: Path) -> list[str]:
    """Return the command that opens JupyterLab in a folder, on loopback only."""
    root = ["--allow-root"] if os.getuid() == 0 else []
    return [sys.executable, "-m", "jupyterlab", "--ip=127.0.0.1", *root, str(folder)]
