"""The notebook of a comparison: executed, beside its dataset."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.error import LabError, writing
from ndblab.publishing import notebook, processes

if TYPE_CHECKING:
    from ndblab.dataset import Dataset

TEMPLATE = Path(__file__).with_name("comparison.ipynb")


def write(data: Dataset, within: float) -> Path:
    """Write the notebook of a complete comparison, which takes seconds, and return its file.

    LabError if a cell fails, or the folder cannot be written.

    Parameters
    ----------
    within : how far from equal still counts as equivalent.
    """
    import nbformat

    content = notebook.read(TEMPLATE)
    for cell in content.cells:
        if notebook.PARAMETERS_TAG in cell.metadata.get("tags", []):
            # Beside the notebook, so that both can be moved together.
            cell.source = f"dataset = {data.id!r}\nwithin = {within!r}"
    file = data.path.with_name(f"{data.id}.ipynb")
    with writing(file):
        nbformat.write(content, file)
    # A process of its own, as cells leave their state in it.
    list(processes.run(notebook.render, [(file,)]))
    return file


def write_if_possible(data: Dataset, within: float) -> Path | None:
    """Write it as `write` does; if that fails, only say so: the answer does not depend on it."""
    try:
        return write(data, within)
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return None
