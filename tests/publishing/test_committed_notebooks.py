"""The notebooks: short, rendered with their outputs, and giving the same outputs again."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MAX_LINES, MAX_OUTPUT_BYTES = 10, 1_000_000
HIDDEN_PROGRAMS = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.For, ast.AsyncFor,
    ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
)  # fmt: skip

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def code_cells(path: Path) -> list[nbformat.NotebookNode]:
    cells = nbformat.read(path, as_version=4).cells
    return [cell for cell in cells if cell.cell_type == "code"]


def python(cell: nbformat.NotebookNode) -> str:
    return "\n".join(line for line in cell.source.splitlines() if not line.startswith("%"))


def test_there_are_notebooks() -> None:
    """The tests below look at something."""
    assert NOTEBOOKS


@every_notebook
def test_what_a_notebook_links_is_there(path: Path) -> None:
    """From the folder that it is read in, in its text and in its outputs."""
    places = re.findall(r"\]\((?!https?:|#)([^)#\s\\]+)", path.read_text(encoding="utf-8"))
    assert [place for place in places if not (path.parent / unquote(place)).exists()] == []


@every_notebook
def test_parameters_are_literals_with_comments(path: Path) -> None:
    """One cell holds the parameters: nothing but literals, each with a comment that explains it."""
    [cell] = [c for c in code_cells(path) if "parameters" in c.metadata.get("tags", [])]
    assert cell.id == code_cells(path)[0].id
    for statement in ast.parse(cell.source).body:
        assert isinstance(statement, ast.Assign)
        ast.literal_eval(statement.value)
    assert all(" # " in line or line.startswith("# ") for line in cell.source.splitlines() if line)


@every_notebook
def test_cells_are_short_and_hide_no_program(path: Path) -> None:
    """What a notebook computes is in the library: its cells are short, without function or loop."""
    for cell in code_cells(path):
        assert len(cell.source.splitlines()) <= MAX_LINES, cell.source
        hidden = [n for n in ast.walk(ast.parse(python(cell))) if isinstance(n, HIDDEN_PROGRAMS)]
        assert not hidden, cell.source


@every_notebook
def test_outputs_are_committed(path: Path) -> None:
    """A reader who starts nothing sees every output, as of one execution from top to bottom."""
    cells = code_cells(path)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert not [output for output in outputs if output.output_type in ("error", "stream")]
    assert any("image/png" in output.data for output in outputs)


@every_notebook
def test_outputs_are_small_and_name_no_place(path: Path) -> None:
    """Committed outputs stay below a megabyte, and hold no path of the machine that made them."""
    outputs = json.dumps([cell.outputs for cell in code_cells(path)])
    assert len(outputs) < MAX_OUTPUT_BYTES
    assert str(ROOT) not in outputs
    assert str(Path.home()) + "/" not in outputs


@pytest.mark.slow
@every_notebook
def test_it_gives_the_same_again(path: Path) -> None:
    """Executed again, a notebook gives the words and tables that it was committed with.

    nbval leaves images out, whose bytes depend on versions of matplotlib and its fonts; what they
    show is compared through the description below each.
    """
    options = ("-q", "--color=no", "-p", "no:cacheprovider", "--nbval", "--nbval-current-env")
    argv = [sys.executable, "-m", "pytest", *options, str(path)]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
