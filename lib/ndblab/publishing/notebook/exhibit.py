"""Figures, named tables and the answer: shown on a notebook's page, and taken out of it.

Files come from the page only, so the two always agree.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.formatting import sentence

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from ndblab.judging.answers import Answer

PNG, SVG, HTML, MARKDOWN = "image/png", "image/svg+xml", "text/html", "text/markdown"
_POINT = re.compile(r"""<a xlink:href=(["'])(\[.*?\])\1 target="_blank">""")
_FONTS = "'DejaVu Sans', Verdana, sans-serif"
"""Verdana has nearly the widths of DejaVu Sans."""
_ONLY_FOR_EDITORS = re.compile(
    r"<!--.*?-->\n?|\s*<metadata>.*?</metadata>|(?<=<g) id=\"[A-Za-z.0-9]+_\d+\"", re.DOTALL
)
_WITHOUT_EFFECT = re.compile(r' transform="rotate\(-0 [^"]*\)"|(?<=\n) +')
"""A transformation without effect, and indentation."""
_STYLE = "*{stroke-linejoin: round; stroke-linecap: butt}"
_COORDINATES = re.compile(r'(?<= )(?:d|x|y)="[^"]*"')
_BEYOND_HUNDREDTHS = re.compile(r"(?<=\.\d\d)\d+")
_TABLE, _CSV, _ANSWER, _WHERE = "table", "csv", "answer", "where"
_FINDING = re.compile("(<!-- finding -->\n).*?(<!-- /finding -->)", re.DOTALL)
_FIRST = 3
"""Findings that stand at the head of a notebook."""


@dataclass(frozen=True)
class Picture:
    """A figure's name, question, file name (without suffix) and description (`alt`).

    `key` identifies it: the number of a figure of the brief, or a word.
    """

    key: str
    name: str
    question: str
    file: str
    alt: str


def picture(key: str, question: str, alt: str) -> Picture:
    """Name the figure of a dataset or a model."""
    number = key.isdecimal()
    name = f"Figure {key}" if number else key.replace("-", " ").capitalize()
    return Picture(key, name, question, f"figure{'' if number else '-'}{key}", alt)


def of_figure(shown: Picture) -> dict[str, dict[str, str]]:
    """Return the metadata of an output that shows a figure."""
    return {PNG: asdict(shown)}


def of_table(name: str, csv: str) -> dict[str, dict[str, str]]:
    """Return the metadata of an output that shows a table."""
    return {HTML: {_TABLE: name, _CSV: csv}}


def of_answer(answer: Answer, where: str = "") -> dict[str, dict[str, object]]:
    """Return the metadata of an output that shows an answer, and where it was found."""
    return {MARKDOWN: {_ANSWER: asdict(answer), _WHERE: where}}


def answer(content: NotebookNode) -> Answer | None:
    """Return the answer that an executed notebook shows; None if it shows none."""
    from ndblab.judging.answers import Answer

    for output in _outputs(content):
        if said := output.get("metadata", {}).get(MARKDOWN, {}).get(_ANSWER):
            return Answer(**{name: tuple(clauses) for name, clauses in said.items()})
    return None


def is_answer(output: NotebookNode) -> bool:
    """Return whether an output of a cell shows an experiment's answer."""
    return bool(output.get("metadata", {}).get(MARKDOWN, {}).get(_ANSWER))


def picture_of(output: NotebookNode) -> Picture | None:
    """Return the figure that an output of a cell shows; None for anything else."""
    names = {field.name for field in fields(Picture)}
    shown = output.get("metadata", {}).get(PNG, {})
    return Picture(**{name: shown[name] for name in names}) if names <= shown.keys() else None


def below_head(shown: Answer) -> str:
    """Return what the head of a notebook leaves out of an answer; empty if that is nothing."""
    rest = shown.split(_FIRST)[1]
    return f"**Also.** {rest}" if rest else ""


def lead(content: NotebookNode) -> None:
    """Write what was found, what to do about it and where it applies at the head of a notebook.

    These stand between the notebook's marks, before any code, and the cell of the answer then shows
    only what they leave out. A notebook without marks stays as it is.
    """
    shown = answer(content)
    marked = [cell for cell in content.cells if _FINDING.search(cell.source)]
    if shown is None or not marked:
        return
    first, _ = shown.split(_FIRST)
    advice, where = (" ".join(map(sentence, said)) for said in (shown.advice, _where(content)))
    parts = {"Finding": first, "Advice": advice, "Measured on": where}
    block = "\n".join(f"**{name}.** {text}\n" for name, text in parts.items() if text)
    for cell in marked:
        cell.source = _FINDING.sub(lambda marks: f"{marks[1]}{block}{marks[2]}", cell.source)
    for output in filter(is_answer, _outputs(content)):
        output.data[MARKDOWN] = below_head(shown)


def _where(content: NotebookNode) -> list[str]:
    shown = (output.get("metadata", {}).get(MARKDOWN, {}) for output in _outputs(content))
    return [metadata[_WHERE] for metadata in shown if metadata.get(_WHERE)]


def pictures(content: NotebookNode) -> Iterator[tuple[Picture, dict[str, str]]]:
    """Return the figures of an executed notebook, each with its data by type (PNG in base 64)."""
    for output in _outputs(content):
        if shown := picture_of(output):
            yield shown, output.data


def write(content: NotebookNode, folder: Path) -> list[tuple[str, Path]]:
    """Write figures and named tables of an executed notebook to files; return names and places."""
    made = [(name, folder / file, data) for name, file, data in take_out(content)]
    for _, place, data in made:
        place.write_bytes(data)
    return [(name, place) for name, place, _ in made]


def explorable(svg: str, link: Callable[[str], str] = lambda place: "") -> str:
    """Return a drawn SVG for a page: its points have tooltips, and links to their rows.

    The prologue, the comments, and names and digits that only an editor needs are left out. An
    empty drawing stays empty.

    Parameters
    ----------
    link : gives the address of a place (`points.Point`); empty if there is none.
    """
    from ndblab.figures import points

    def explained(point: re.Match) -> str:
        words, place = points.read(html.unescape(point[2]))
        address, words = link(place), html.escape(words)
        href = f' href="{html.escape(address)}"' if address else ""
        return f'<a{href} tabindex="0" pointer-events="all"><title>{words}</title>'

    if not svg:
        return ""
    svg = _ONLY_FOR_EDITORS.sub("", svg[svg.index("<svg") :]).strip()
    # A hundredth of a point is less than a screen shows.
    svg = _COORDINATES.sub(lambda match: _BEYOND_HUNDREDTHS.sub("", match[0]), svg)
    svg = _WITHOUT_EFFECT.sub("", svg)
    # One font family for all texts, named once.
    svg = svg.replace(" font-family: 'DejaVu Sans';", "")
    svg = svg.replace(_STYLE, f"{_STYLE} text{{font-family: {_FONTS}}}")
    return _POINT.sub(explained, svg)


def take_out(content: NotebookNode) -> list[tuple[str, str, bytes]]:
    """Return names, file names and contents of a notebook's figures and named tables.

    SVG and CSV are taken out of the notebook: it shows PNG, which has a description, and HTML.
    """
    files = []
    for shown, data in pictures(content):
        files.append((shown.name.lower(), f"{shown.file}.png", base64.b64decode(data[PNG])))
        if svg := data.pop(SVG, None):
            files.append((shown.name.lower(), f"{shown.file}.svg", explorable(svg).encode()))
    for output in _outputs(content):
        if PNG in output.get("data", {}):
            output.data.pop(SVG, None)
        if table := output.get("metadata", {}).pop(HTML, None):
            name = table[_TABLE].lower()
            files.append((name, f"{name.replace(' ', '')}.csv", table[_CSV].encode()))
    return files


def _outputs(content: NotebookNode) -> Iterator[NotebookNode]:
    for cell in content.cells:
        yield from cell.get("outputs", [])
