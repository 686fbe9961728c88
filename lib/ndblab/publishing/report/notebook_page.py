"""The page of a question: its answer, its figure, then the rest of its notebook.

The page loads nothing else, and making it executes nothing.
"""

from __future__ import annotations

import base64
import functools
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from ndblab.error import LabError
from ndblab.publishing import notebook
from ndblab.publishing.notebook import exhibit
from ndblab.publishing.report import page
from ndblab.publishing.report.section import Section

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag
    from nbformat import NotebookNode

    from ndblab.publishing.report.dataset_page import Table

    Draw = Callable[[exhibit.Picture, str], str]
    """Gives the HTML of a figure with its PNG in base 64."""

_LOADING = {"img": "src", "script": "src", "iframe": "src", "link": "href", "source": "src"}
_FIGURES = "figures/"
# A table cell with more characters would become a tower of words on a narrow screen.
_LONG_TEXT = 60
_IN_STYLE = re.compile(r"@import|url\(\s*['\"]?(?!data:)")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_SHOWN_ABOVE = re.compile(r"\A# [^\n]*\n?|<!-- finding -->.*?<!-- /finding -->\n?", re.DOTALL)
"""Title and finding of a notebook, which stand at the head of the page anyway."""


def places(sections: Sequence[Section], published: Sequence[Path]) -> dict[Path, str]:
    """Return where in the site a link to a file or folder of the repository leads."""
    addresses = {file.resolve(): f"published/{file.name}" for file in published}
    for section in sections:
        if section.notebook:
            addresses[section.notebook.resolve()] = section.page
        if section.dataset is not None and section.dataset_page:
            folder = section.dataset.path.resolve()
            addresses[folder] = addresses[folder.parent] = section.dataset_page
            for name in section.dataset.manifest["files"]:
                addresses[folder / name] = section.dataset_page
    return addresses


def write(
    site: Path,
    section: Section,
    places: Mapping[Path, str],
    tables: Sequence[Table] = (),
    before: Section | None = None,
    after: Section | None = None,
) -> None:
    """Write the page of a section, and its figures as files.

    Parameters
    ----------
    tables : of its dataset, to download.
    before, after : its neighbours in the site.
    """
    prefix = f"{section.dataset.id}-" if section.own and section.dataset else ""
    (site / _FIGURES).mkdir(exist_ok=True)

    def draw(picture: exhibit.Picture, png: str) -> str:
        place = f"{_FIGURES}{prefix}{picture.file}.png"
        (site / place).write_bytes(base64.b64decode(png))
        drawn = section.svgs.get(picture.file, ())
        svgs = [exhibit.explorable(svg, section.place) for svg in drawn]
        return _drawn(picture, f"../{place}", svgs)

    figure, rest = "", section.body
    if section.notebook and section.content:
        figure, rest = _halves(section.content, section.notebook, section.page, places, draw)
    page.write(
        site, section.page, "question.html.j2", title=section.question, section=section,
        answer=section.answer, figure=figure, rest=rest, tables=tables, before=before, after=after,
    )  # fmt: skip


def write_alone(executed: Path, title: str) -> Path:
    """Write the page of an executed notebook, self-contained and beside it; return its path.

    Figures are the SVG files beside the notebook, if there are any.
    """

    def draw(picture: exhibit.Picture, png: str) -> str:
        svg = executed.with_name(f"{picture.file}.svg")
        source = "data:image/png;base64," + png.replace("\n", "")
        return _drawn(picture, source, [svg.read_text("utf-8")] if svg.is_file() else [])

    content = notebook.read(executed)
    figure, rest = _halves(content, executed, executed.name, {}, draw)
    place = executed.with_suffix(".html")
    page.write(
        executed.parent, place.name, "question.html.j2", alone=True, title=title, section=None,
        answer=exhibit.answer(content), figure=figure, rest=rest, tables=(), before=None,
        after=None,
    )  # fmt: skip
    return place


def _drawn(picture: exhibit.Picture, source: str, svgs: Sequence[str]) -> str:
    """Return a figure: as SVG to explore, or else its picture."""
    if not svgs:
        return f'<img src="{source}" alt="{escape(picture.alt)}">'
    link = "" if source.startswith("data:") else f'<a href="{source}">As a picture (PNG)</a>'
    return explored(svgs, picture.alt, link)


def explored(svgs: Iterable[str], alt: str, tools: str = "") -> str:
    """Return the HTML of a figure to explore, described by `alt`, with `tools` below it.

    Parameters
    ----------
    svgs : for wide screens, and for narrow ones if there is one (`drawing.Drawn`).
    """
    shown = [svg for svg in svgs if svg]
    kinds = (" for-wide", " for-narrow") if len(shown) > 1 else ("",)
    boxes = "\n".join(
        f'<div class="explore{kind}" role="group" tabindex="0" aria-label="{escape(alt)}">\n'
        f"{svg}\n</div>"
        for kind, svg in zip(kinds, shown, strict=True)
    )
    return f'<div class="drawn">\n{boxes}\n<p class="tools">{tools}</p>\n</div>'


def _halves(
    content: NotebookNode, file: Path, place: str, places: Mapping[Path, str], draw: Draw
) -> tuple[str, str]:
    """Return the first figure with its description, and the rest of a notebook, answer excluded.

    Links stay in the site.
    """
    drawings: list[str] = []

    def put_aside(picture: exhibit.Picture, png: str) -> str:
        drawings.append(draw(picture, png))
        return f"<!--drawing {len(drawings) - 1}-->"

    first = next(
        (cell for cell in content.cells if any(map(exhibit.picture_of, _outputs(cell)))), None
    )
    figure = "" if first is None else _shown(_outputs(first), put_aside)
    cells = [_cell(cell, put_aside, cell is first) for cell in content.cells]
    # A heading over the figure alone would head nothing: drop it, and move its text to the figure.
    if first is not None and (at := content.cells.index(first)) and _only_leads(content.cells, at):
        _, _, words = content.cells[at - 1].source.strip().partition("\n")
        cells[at - 1], figure = "", f"{figure}\n{_markdown()(words)}"
    rest = "\n".join(cells)
    return tuple(
        re.sub(r"<!--drawing (\d+)-->", lambda match: drawings[int(match[1])], text)
        for text in (_finished(half, file, place, places) for half in (figure, rest))
    )  # type: ignore[return-value]


def _only_leads(cells: Sequence[NotebookNode], at: int) -> bool:
    """Return whether the text before a cell heads this cell only, not what comes after it."""
    before, after = cells[at - 1], cells[at + 1 : at + 2]
    heads = [cell.cell_type == "markdown" and cell.source.startswith("## ") for cell in after]
    return before.cell_type == "markdown" and before.source.startswith("## ") and all(heads)


def _finished(text: str, file: Path, place: str, places: Mapping[Path, str]) -> str:
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(text, "html.parser")
    _refuse_loading(soup, file)
    for table in soup.find_all("table"):
        _make_readable(soup, table)
    for link in soup.find_all("a", href=True):
        _lead_into_site(link, file, place, places)
    return str(soup)


def _outputs(cell: NotebookNode) -> list[NotebookNode]:
    return cell.get("outputs", []) if cell.cell_type == "code" else []


def _cell(cell: NotebookNode, draw: Draw, without_outputs: bool) -> str:
    """Return a cell without title and answer, which head the page; empty if it shows nothing."""
    if cell.cell_type == "markdown":
        text = _SHOWN_ABOVE.sub("", cell.source)
        return f'<div class="prose">\n{_markdown()(text)}</div>' if text.strip() else ""
    if cell.cell_type != "code":
        return ""
    code = f'<details class="code">\n<summary>Code</summary>\n{_code(cell.source)}</details>'
    shown = [output for output in _outputs(cell) if not exhibit.is_answer(output)]
    html = _shown([] if without_outputs else shown, draw)
    return f"{code}\n{html}" if html else ""


def _shown(outputs: Sequence[NotebookNode], draw: Draw) -> str:
    shown = "\n".join(_output(output, draw) for output in outputs)
    return f'<div class="output">\n{shown}\n</div>' if shown else ""


def _output(output: NotebookNode, draw: Draw) -> str:
    if output.output_type == "stream":
        return _plain(output.text)
    if output.output_type == "error":
        return _plain("\n".join(output.traceback))
    data = output.data
    if png := data.get(exhibit.PNG):
        if picture := exhibit.picture_of(output):
            return draw(picture, png)
        alt = escape(output.metadata.get(exhibit.PNG, {}).get("alt", ""))
        return f'<img src="data:image/png;base64,{png.replace(chr(10), "")}" alt="{alt}">'
    if exhibit.HTML in data:
        return data[exhibit.HTML]
    if exhibit.MARKDOWN in data:
        return _markdown()(data[exhibit.MARKDOWN])
    return _plain(data.get("text/plain", ""))


def _plain(text: str) -> str:
    return f"<pre>{escape(_COLOURS.sub('', text))}</pre>"


@functools.cache
def _markdown():
    import mistune

    return mistune.create_markdown(escape=False, plugins=["table", "strikethrough", "url"])


def _code(source: str) -> str:
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers.python import PythonLexer

    return highlight(source, PythonLexer(), HtmlFormatter())


def _refuse_loading(soup: BeautifulSoup, file: Path) -> None:
    inside = ("data:", f"../{_FIGURES}")
    loaded = [
        str(element.get(attribute))
        for tag, attribute in _LOADING.items()
        for element in soup.find_all(tag)
        if element.get(attribute) and not str(element[attribute]).startswith(inside)
    ]
    loaded += [text for s in soup.find_all("style") if _IN_STYLE.search(text := s.get_text())]
    loaded += ["a script" for script in soup.find_all("script") if not script.get("src")]
    if loaded:
        raise LabError(
            f"{file} shows something that its page would have to load or run",
            found=", ".join(text[:120] for text in loaded[:3]),
            expected="figures and tables that are in its outputs",
            next_step="Show a picture as an output, and leave scripts out.",
        )


def _make_readable(soup: BeautifulSoup, table: Tag) -> None:
    """Mark the heads of rows and columns, and let a wide table scroll in a box of its own."""
    for head in table.find_all("thead"):
        if not head.find(["th", "td"]):
            head.decompose()
    for cell in table.find_all("th"):
        if not cell.get_text(strip=True):
            cell.name = "td"
        else:
            cell["scope"] = "col" if cell.find_parent("thead") else "row"
    for cell in table.find_all(["th", "td"]):
        if len(cell.get_text(strip=True)) > _LONG_TEXT:
            cell["class"] = [*cell.get_attribute_list("class", []), "words"]
    heading = table.find_previous(["h1", "h2", "h3", "h4"])
    label = f"Table: {heading.get_text(strip=True)}" if heading else "Table"
    box = soup.new_tag("div", attrs={"class": "scroll", "tabindex": "0", "role": "region"})
    box["aria-label"] = label
    table.wrap(box)


def _lead_into_site(link: Tag, file: Path, place: str, places: Mapping[Path, str]) -> None:
    target = urlsplit(str(link["href"]))
    if target.scheme or not target.path:
        return
    address = places.get((file.parent / unquote(target.path)).resolve())
    if address is None:
        # The repository has it, the site does not: keep the words, without a dead link.
        link.unwrap()
        return
    fragment = f"#{target.fragment}" if target.fragment else ""
    link["href"] = os.path.relpath(address, Path(place).parent) + fragment
