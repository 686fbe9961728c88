"""Notebooks, executed with parameters and turned into HTML.

In: a notebook of the lab, its parameters and a folder. Out: the executed notebook and its HTML in
that folder. It refuses parameters that the notebook does not have, of which papermill only warns.
"""

from __future__ import annotations

import ast
import base64
import html
import io
import os
import re
import sys
from pathlib import Path

from ndblab.error import LabError
from ndblab.publishing import picture

PARAMETERS_TAG = "parameters"
KERNEL = "python3"
KERNEL_OPTIONS = [
    # A kernel on loopback warns at every start that it does not encrypt; errors are still shown.
    "--log-level=40",
    # Figures have the margins that they are made with; Jupyter would draw each twice to crop them.
    '--InlineBackend.print_figure_kwargs={"bbox_inches": None}',
]
ALSO_SVG = '--InlineBackend.figure_formats={"png", "svg"}'
_NO_WORDS = "No description has been provided for this image"


def read(source: Path):
    """Read a notebook.

    Raises
    ------
    LabError
        If the file is none.
    """
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
    """Give the parameters of a notebook with their defaults.

    Raises
    ------
    LabError
        If the file is not a notebook with one cell tagged "parameters".
    """
    tagged = [c for c in read(source).cells if PARAMETERS_TAG in c.metadata.get("tags", [])]
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


def execute(source: Path, values: dict[str, object], folder: Path) -> list[tuple[str, Path]]:
    """Execute a notebook with some of its parameters replaced.

    Returns
    -------
    Name and place of what it made: the pictures, PNG and SVG, the notebook, and its page in HTML.

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
    import nbformat
    import papermill
    from nbclient.exceptions import DeadKernelError
    from papermill.exceptions import PapermillExecutionError

    folder.mkdir(parents=True, exist_ok=True)
    executed = folder / source.name
    try:
        content = papermill.execute_notebook(
            source,
            executed,
            values,
            kernel_name=KERNEL,
            progress_bar=False,
            cwd=source.parent,
            extra_arguments=[*KERNEL_OPTIONS, ALSO_SVG],
        )
    except PapermillExecutionError as error:
        raise LabError(
            f"A cell of {source.name} failed",
            found=f"{error.ename}: {error.evalue}",
            expected="a notebook that runs to its end",
            next_step=f"The cell and its traceback are in {executed}.",
        ) from error
    except DeadKernelError as error:
        raise LabError(
            f"The kernel of {source.name} died",
            found=str(error),
            expected="a kernel that runs to the end of the notebook",
            next_step="Look for a lack of memory (dmesg), and type the same command again.",
        ) from error
    made = write_pictures(content, folder)
    nbformat.write(content, executed)
    return [*made, ("notebook", executed), ("page", to_html(executed))]


def prepare() -> None:
    """Import what executes notebooks; it takes a second."""
    import nbconvert  # noqa: F401
    import papermill  # noqa: F401


def write_pictures(content, folder: Path) -> list[tuple[str, Path]]:
    """Write the pictures of an executed notebook to files, and take the SVG out of it.

    A page with both would show the one that has no words for those who do not see it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for told, data in picture.on_page(content):
        kinds = {"png": base64.b64decode(data[picture.PNG])}
        if svg := data.pop(picture.SVG, None):
            kinds["svg"] = svg.encode()
        for kind, drawn in kinds.items():
            made.append((told.name.lower(), folder / f"{told.file}.{kind}"))
            made[-1][1].write_bytes(drawn)
    return made


def render(source: Path) -> None:
    """Execute a notebook with its own parameters and keep the outputs in it, without timings."""
    import nbformat
    from nbclient import NotebookClient

    content = nbformat.read(source, as_version=4)
    client = NotebookClient(
        content, kernel_name=KERNEL, record_timing=False, extra_arguments=KERNEL_OPTIONS
    )
    client.execute(cwd=str(source.parent))
    _pack_pictures(content)
    nbformat.write(content, source)


def to_html(executed: Path) -> Path:
    """Write the HTML of an executed notebook beside it: pictures with words, nothing to load."""
    import nbformat
    from nbconvert import HTMLExporter

    content = nbformat.read(executed, as_version=4)
    page, _ = HTMLExporter(embed_images=True).from_notebook_node(content)
    pictures = iter(_alt_texts(content))
    page = re.sub(
        f'alt="{_NO_WORDS}[^"]*"',
        lambda match: f'alt="{html.escape(next(pictures, ""))}"',
        page,
    )
    # What nbconvert would load from the network serves formulas and widgets, of which there are
    # none, and would leave a page that is opened without a network waiting.
    page = re.sub(
        "<script.*?</script>",
        lambda match: "" if "https://" in match[0] else match[0],
        page,
        flags=re.DOTALL,
    )
    place = executed.with_suffix(".html")
    place.write_text(page)
    return place


def packed(png: bytes) -> bytes:
    """Keep of a picture the 256 colours that it has most of: a third of its bytes, all its lines.

    Doing so again changes nothing.
    """
    from PIL import Image

    with Image.open(io.BytesIO(png)) as drawn:
        if drawn.mode == "P":
            return png
        fewer = drawn.convert("RGB").quantize(256)
    out = io.BytesIO()
    fewer.save(out, format="png", optimize=True)
    return out.getvalue()


def _pack_pictures(content) -> None:
    for cell in content.cells:
        for output in cell.get("outputs", []):
            if png := output.get("data", {}).get("image/png"):
                output.data["image/png"] = base64.b64encode(packed(base64.b64decode(png))).decode()


def _alt_texts(content) -> list[str]:
    """What the notebook says of each of its pictures; nbconvert's page has no place for it."""
    return [
        output.metadata.get("image/png", {}).get("alt", "")
        for cell in content.cells
        for output in cell.get("outputs", [])
        if "image/png" in output.get("data", {})
    ]


def open_lab(folder: Path) -> list[str]:
    """Give the command that opens JupyterLab in a folder, on loopback only."""
    root = ["--allow-root"] if os.getuid() == 0 else []
    return [sys.executable, "-m", "jupyterlab", "--ip=127.0.0.1", *root, str(folder)]
