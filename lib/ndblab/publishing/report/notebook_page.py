"""A notebook as an HTML page: its prose, outputs and figures, and nothing to load.

It executes nothing.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from ndblab.error import LabError
from ndblab.publishing import exhibit, notebook
from ndblab.publishing.report import page
from ndblab.publishing.report.section import Section

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag
    from nbformat import NotebookNode

_LOADING = {"img": "src", "script": "src", "iframe": "src", "link": "href", "source": "src"}
# Where the site has figures, seen from the page of a notebook.
FIGURES = "../figures/"
# A cell of more characters would become a tower of words on a narrow screen.
_LONG_TEXT = 60
_IN_STYLE = re.compile(r"@import|url\(\s*['\"]?(?!data:)")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def places(sections: Sequence[Section], published: Sequence[Path]) -> dict[Path, str]:
    """Describe where in the site a link to a file or folder of the repository leads."""
    found = {file.resolve(): f"published/{file.name}" for file in published}
    for section in sections:
        found[section.notebook.resolve()] = section.notebook_page
        if section.dataset is not None and section.dataset_page:
            folder = section.dataset.path.resolve()
            found[folder] = found[folder.parent] = section.dataset_page
    return found


def write(site: Path, section: Section, places: Mapping[Path, str]) -> None:
    """Write the page of a section's notebook."""
    body = _body(section.notebook, section.notebook_page, places, FIGURES)
    place = section.notebook_page
    page.write(site, place, "notebook.html.j2", section=section, title=section.question, body=body)


def write_alone(executed: Path, title: str) -> Path:
    """Write the page of an executed notebook beside it, with its style inside; give its place."""
    body = _body(executed, executed.name, {})
    place = executed.with_suffix(".html")
    template = "notebook.html.j2"
    page.write(executed.parent, place.name, template, alone=True, title=title, body=body)
    return place


def _body(file: Path, place: str, places: Mapping[Path, str], figures: str = "") -> str:
    """Return a notebook as HTML whose links stay in the site.

    Named figures are loaded from the folder `figures`; without one they are part of the page.
    """
    from bs4 import BeautifulSoup

    text = "\n".join(_cell(cell, figures) for cell in notebook.read(file).cells)
    soup = BeautifulSoup(text, "html.parser")
    _refuse_loading(soup, file)
    for table in soup.find_all("table"):
        _make_readable(soup, table)
    for link in soup.find_all("a", href=True):
        _lead_into_site(link, file, place, places)
    return str(soup)


def _cell(cell: NotebookNode, figures: str) -> str:
    if cell.cell_type == "markdown":
        return f'<div class="prose">\n{_markdown()(cell.source)}</div>'
    if cell.cell_type != "code":
        return ""
    code = f'<details class="code">\n<summary>Code</summary>\n{_code(cell.source)}</details>'
    shown = "\n".join(_output(output, figures) for output in cell.outputs)
    return f'{code}\n<div class="output">\n{shown}\n</div>' if shown else code


def _output(output: NotebookNode, figures: str) -> str:
    if output.output_type == "stream":
        return _plain(output.text)
    if output.output_type == "error":
        return _plain("\n".join(output.traceback))
    data = output.data
    if png := data.get(exhibit.PNG):
        shown = output.metadata.get(exhibit.PNG, {})
        source = "data:image/png;base64," + png.replace("\n", "")
        if figures and "file" in shown:
            source = f"{figures}{shown['file']}.png"
        return f'<img src="{source}" alt="{page.escape(shown.get("alt", ""))}">'
    if exhibit.HTML in data:
        return data[exhibit.HTML]
    if "text/markdown" in data:
        return _markdown()(data["text/markdown"])
    return _plain(data.get("text/plain", ""))


def _plain(text: str) -> str:
    return f"<pre>{page.escape(_COLOURS.sub('', text))}</pre>"


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
    loaded = [
        str(found.get(attribute))
        for tag, attribute in _LOADING.items()
        for found in soup.find_all(tag)
        if found.get(attribute) and not str(found[attribute]).startswith(("data:", FIGURES))
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
    found = places.get((file.parent / unquote(target.path)).resolve())
    if found is None:
        # The repository has it, the site does not: keep the words, without a dead link.
        link.unwrap()
        return
    fragment = f"#{target.fragment}" if target.fragment else ""
    link["href"] = os.path.relpath(found, Path(place).parent) + fragment
