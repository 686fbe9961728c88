"""Executing a notebook with parameters: known ones work, unknown ones are refused."""

from __future__ import annotations

import base64
from pathlib import Path

import nbformat
import pytest
from matplotlib import image
from nbclient import NotebookClient

from ndblab.error import LabError
from ndblab.judging.answers import Answer
from ndblab.publishing import notebook, processes
from ndblab.publishing.notebook import exhibit
from ndblab.publishing.report import notebook_page


def execute(*arguments):
    """Execute a notebook in a process of its own."""
    [made] = processes.run(notebook.execute, [arguments])
    return made


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A notebook with one parameter that prints its double."""
    cells = [
        nbformat.v4.new_code_cell("number = 2  # any", metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell("print(number * 2)\nassert number < 100, 'too large'"),
    ]
    path = tmp_path / "small.ipynb"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    content = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(content, path)
    return path


def test_a_notebook_runs_with_the_parameters_given(small: Path, tmp_path: Path):
    """The copy and its page, which loads nothing, hold the result; the notebook stays as it was."""
    before = small.read_bytes()
    [(_, executed)] = execute(small, {"number": 21}, tmp_path / "out")
    page = notebook_page.write_alone(executed, "Twice?").read_text()
    assert "42" in str(nbformat.read(executed, as_version=4).cells[-1].outputs)
    assert "<pre>42\n</pre>" in page
    assert "Twice?" in page
    assert 'src="http' not in page
    assert '<link rel="stylesheet"' not in page
    assert small.read_bytes() == before


def test_a_process_gives_the_outputs_that_a_kernel_gives(small: Path, tmp_path: Path):
    """Prints, results, displayed objects and rich tables are the same, in the same cells."""
    content = nbformat.read(small, as_version=4)
    cells = (
        "import sys\nprint('out')\nprint('err', file=sys.stderr)",
        "import pandas as pd\npd.DataFrame({'a': [1.5]})",
        "from IPython.display import Markdown\ndisplay(Markdown('*a*'))\nnumber",
    )
    content.cells += [nbformat.v4.new_code_cell(cell) for cell in cells]
    nbformat.write(content, small)
    [(_, executed)] = execute(small, {}, tmp_path / "out")
    here = nbformat.read(executed, as_version=4).cells
    NotebookClient(content, kernel_name="python3", record_timing=False).execute()
    for cell, theirs in zip(here, content.cells, strict=True):
        assert cell.get("outputs") == theirs.get("outputs")
        assert cell.get("execution_count") == theirs.get("execution_count")


def test_a_figure_becomes_files_of_what_the_page_shows(small: Path, tmp_path: Path):
    """PNG and SVG under its name, its description with it; the notebook keeps one of the two."""
    content = nbformat.read(small, as_version=4)
    show = """%matplotlib inline
from matplotlib.figure import Figure
from ndblab.publishing.notebook import exhibit
figure = Figure(figsize=(2, 1), dpi=100)
figure.add_subplot().plot([1, 2])
shown = exhibit.picture("6", "How far?", "A line <rises>.")
display(figure, metadata=exhibit.of_figure(shown))"""
    content.cells.append(nbformat.v4.new_code_cell(show))
    nbformat.write(content, small)
    out = tmp_path / "out"
    made = execute(small, {}, out)
    assert made[:2] == [("figure 6", out / "figure6.png"), ("figure 6", out / "figure6.svg")]
    assert image.imread(out / "figure6.png").shape[:2] == (100, 200)
    assert "<svg" in (out / "figure6.svg").read_text()
    page = nbformat.read(out / small.name, as_version=4)
    [(shown, data)] = exhibit.pictures(page)
    assert (shown.question, shown.alt) == ("How far?", "A line <rises>.")
    assert exhibit.SVG not in data
    assert base64.b64decode(data[exhibit.PNG]) == (out / "figure6.png").read_bytes()
    html = notebook_page.write_alone(out / small.name, "How far?").read_text()
    assert 'aria-label="A line &lt;rises&gt;."' in html
    assert "<svg" in html


def test_a_named_table_becomes_a_file(small: Path, tmp_path: Path):
    """All its digits are in the CSV, which the executed notebook does not carry along."""
    content = nbformat.read(small, as_version=4)
    show = """import pandas as pd
from ndblab.publishing import show
table = pd.DataFrame({"a": [1 / 3], "b": ["<x>"]})
show.table(table, "Table 9", csv=table.to_csv(index=False))"""
    content.cells.append(nbformat.v4.new_code_cell(show))
    nbformat.write(content, small)
    made = dict(execute(small, {}, tmp_path / "out"))
    assert made["table 9"].read_text() == f"a,b\n{1 / 3!r},<x>\n"
    [output] = nbformat.read(made["notebook"], as_version=4).cells[-1].outputs
    assert "0.333" in output.data["text/html"]
    assert "&lt;x&gt;" in output.data["text/html"]
    assert output.metadata == {}


def test_a_parameter_that_the_notebook_lacks_is_refused(small: Path, tmp_path: Path):
    """papermill would only warn; the lab names it and the known ones, and runs nothing."""
    with pytest.raises(LabError, match="no such parameter") as caught:
        execute(small, {"nmuber": 1}, tmp_path / "out")
    assert "nmuber" in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_failing_cell_gives_its_error_and_where_to_look(small: Path, tmp_path: Path):
    """One message instead of a traceback through papermill."""
    with pytest.raises(LabError, match=r"A cell of small\.ipynb failed") as caught:
        execute(small, {"number": 200}, tmp_path / "out")
    assert "too large" in str(caught.value)


def test_a_file_that_is_no_notebook_is_refused(tmp_path: Path):
    """The message says what was expected."""
    path = tmp_path / "x.ipynb"
    path.write_text("not json")
    with pytest.raises(LabError, match="not a notebook"):
        notebook.parameters(path)


def test_finding_and_advice_stand_before_any_code() -> None:
    """They are those of the answer, written anew each time; other text stays."""
    answer = Answer(certain=("a is faster",), advice=("take a",))
    marked = "# Which?\n\n<!-- finding -->\nold\n<!-- /finding -->\n\nMore."
    cell = nbformat.v4.new_code_cell("show")
    given = {"data": {"text/markdown": "x"}, "metadata": exhibit.of_answer(answer, "a host")}
    cell.outputs = [nbformat.v4.new_output("display_data", **given)]
    content = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(marked), cell])
    exhibit.lead(content)
    head = content.cells[0].source
    assert "**Finding.** A is faster.\n\n**Advice.** Take a.\n\n**Measured on.** A host.\n" in head
    assert "old" not in head
    assert head.endswith("More.")
    assert cell.outputs[0].data["text/markdown"] == ""
    exhibit.lead(content)
    assert content.cells[0].source == head


def test_what_the_head_of_a_notebook_leaves_out_stands_below_it() -> None:
    """No sentence stands at both places; a notebook without a head keeps its whole answer."""
    answer = Answer(("a", "b", "c", "d"), ("whether e",), ("f",), advice=("take a",))
    assert answer.split(3) == ("A. B. C.", "D. Open: whether e. Not testable here: f.")
    undecided = Answer((), ("whether e",), ("f",), advice=("take a",))
    assert undecided.split(3) == (
        "Nothing is decided yet. Open: whether e. Not testable here: f.",
        "",
    )
    cell = nbformat.v4.new_code_cell("show")
    given = {"data": {"text/markdown": "In short. A."}, "metadata": exhibit.of_answer(answer)}
    cell.outputs = [nbformat.v4.new_output("display_data", **given)]
    content = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Which?"), cell])
    exhibit.lead(content)
    assert cell.outputs[0].data["text/markdown"] == "In short. A."
