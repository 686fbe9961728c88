"""The user's own runs and comparisons in the report."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from comparing.test_figure import measured
from ndblab.design import catalogue
from ndblab.measuring import recorded
from ndblab.publishing import report
from ndblab.publishing.report import own

NAME = "locking-reads"


def test_an_own_run_has_a_page_with_its_figures(tmp_path: Path) -> None:
    """And a line on the first page; what is not finished has none. A notebook that `reproduce` has
    executed is not executed again."""
    source, notebook = recorded.folder(catalogue.find(NAME)), "18_locking_reads.ipynb"
    mine = shutil.copytree(source, tmp_path / "runs" / NAME / source.name)
    half = shutil.copytree(source, tmp_path / "runs" / NAME / "unfinished")
    manifest = json.loads((half / "manifest.json").read_text())
    (half / "manifest.json").write_text(json.dumps(manifest | {"status": "unfinished"}))
    executed = tmp_path / "out" / mine.name / notebook
    executed.parent.mkdir(parents=True)
    shutil.copyfile(catalogue.notebook(catalogue.find(NAME)), executed)
    [section] = own.sections(tmp_path / "runs", tmp_path / "out")
    assert section.notebook == executed
    first = report.write(tmp_path / "site", [section])
    assert f'<a href="questions/{mine.name}.html">{section.question}</a>' in first.read_text()
    page = (tmp_path / "site/questions" / f"{mine.name}.html").read_text()
    assert "<svg" in page
    assert f"../datasets/{mine.name}/index.html" in page


def test_a_comparison_has_a_page_with_its_answer(tmp_path: Path) -> None:
    """The question names both sides; answer and forest follow."""
    data = measured(20)
    data.path = tmp_path / data.id  # without a notebook beside it
    data.manifest["asked"] = {"a": [], "b": ["ndb_batch_size=64K"]}
    section = own.comparison(data)
    assert section.question == "How does ndb_batch_size=64K compare with the default?"
    assert "% faster" in section.body
    assert "queries/s\nB over A: +" in section.body
    assert section.page == "questions/made-up.html"
