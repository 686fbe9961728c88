"""What readers read is in short sentences: pages, notebooks and what they show, claims, help."""

from __future__ import annotations

import html
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
import tasks

from ndblab.formatting import sentences as as_sentences
from ndblab.judging import publication
from ndblab.publishing import manual
from ndblab.publishing.notebook import exhibit
from prose import too_long

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "lib/README.md", *sorted((ROOT / "docs").glob("*.md"))]
NOTEBOOKS = sorted((ROOT / "notebooks").rglob("*.ipynb"))
NOT_READ = re.compile(r"<(style|svg)\b.*?</\1>", re.DOTALL)
TAG = re.compile(r"<[^>]+>")
LISTS = re.compile(r'<td id="T_(?:verdicts_row\d+_col3|provenance_row\d+_col0)".*?</td>', re.DOTALL)
"""Cells with all values behind a verdict, or with the hosts: a reader looks one up in them."""


def test_a_long_sentence_is_found() -> None:
    """And only prose counts: neither code nor a table, and a list by its items."""
    words = " ".join(["word"] * 20)
    for joint in (" and", ":", ";"):
        assert too_long(f"{words}{joint} {words}.") == [f"{words}{joint} {words}."]
    assert not too_long(f"{words}. {words}.")
    twice = f"{words} {words}"
    assert not too_long(f"```\n{twice}\n```\n| {twice} |\n# {twice}\n")
    assert not too_long(f"- {words}\n- {words}\n")
    assert too_long(f"# Title\n\n{twice}.\n") == [f"{twice}."], "what follows a heading counts"


def shown(output: nbformat.NotebookNode) -> Iterator[str]:
    """Give the texts that an output shows: each cell of a table, and the words of a picture."""
    yield output.get("text", "")
    data = output.get("data", {})
    yield data.get(exhibit.MARKDOWN, "")
    cells = TAG.split(LISTS.sub("", NOT_READ.sub("", data.get(exhibit.HTML, ""))))
    yield html.unescape("\n\n".join(cells))
    words = output.get("metadata", {}).get(exhibit.PNG, {})
    yield from (words.get(name, "") for name in ("question", "alt"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_sentence_of_a_page_is_long(page: Path) -> None:
    assert too_long(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_sentence_of_a_notebook_is_long(path: Path) -> None:
    """Neither of its text nor of its answer, which is that of the terminal; neither below a figure,
    nor for those who cannot see it, nor in a table."""
    content = nbformat.read(path, as_version=4)
    texts = [cell.source for cell in content.cells if cell.cell_type == "markdown"]
    answer = exhibit.answer(content)
    texts += [str(answer)] if answer else []
    outputs = [output for cell in content.cells for output in cell.get("outputs", [])]
    texts += [text for output in outputs for text in shown(output)]
    assert [sentence for text in texts for sentence in too_long(text)] == []


@pytest.mark.parametrize("claim", publication.claims(), ids=lambda claim: claim.id)
def test_no_sentence_of_a_claim_is_long(claim: publication.Claim) -> None:
    """Its notes are short as they stand; reasons are read as sentences."""
    texts = [claim.statement, claim.conditions, claim.scope, claim.cause]
    texts += map(as_sentences, filter(None, claim.budgets.values()))
    whys = (claim.why_not(budget, 2) for budget in publication.BUDGETS)
    texts += map(as_sentences, filter(None, whys))
    assert [sentence for text in texts for sentence in too_long(text)] == []


@pytest.mark.parametrize("name", sorted(tasks.namespace.task_names))
def test_no_sentence_of_a_command_s_help_is_long(name: str) -> None:
    """Examples are no sentences."""
    lines = inspect.getdoc(tasks.namespace[name].body).splitlines()
    prose = "\n".join(line for line in lines if not line.startswith(("./lab", "Example")))
    assert too_long(prose) == []


@pytest.mark.parametrize("name", sorted(manual.OPTIONS))
def test_no_help_of_an_option_is_long(name: str) -> None:
    """Each fits two lines of a terminal, too."""
    assert [text for text in manual.OPTIONS[name].values() if too_long(text)] == []
