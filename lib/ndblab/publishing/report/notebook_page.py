"""A notebook as a page of the report: its prose, outputs and pictures, and nothing to load.

In: an executed notebook. Out: its page, whose links lead to pages of the site.
It executes nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from ndblab.error import LabError
from ndblab.publishing import notebook as notebooks
from ndblab.publishing.report import page
from ndblab.publishing.report.section import Section

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

_LOADING = {"img": "src", "script": "src", "iframe": "src", "link": "href", "source": "src"}
# A cell of more characters would become a tower of words on a narrow screen.
_LONG_TEXT = 60
_IN_STYLE = re.compile(r"@import|url\(\s*['\"]?(?!data:)")


@dataclass(frozen=True)
class Places:
    """Where in the site a file or folder of the repository is found, by its absolute path."""

    by_path: Mapping[Path, str]
    published: frozenset[str]

    @classmethod
    def of(cls, sections: Sequence[Section], published: Sequence[str]) -> Places:
        """Collect what the sections bring and the names of what was published."""
        by_path: dict[Path, str] = {}
        for section in sections:
            if section.notebook is not None and section.notebook_page:
                by_path[section.notebook.resolve()] = section.notebook_page
            if section.dataset is not None and section.dataset_page:
                folder = section.dataset.path.resolve()
                by_path[folder] = by_path[folder.parent] = section.dataset_page
        return cls(by_path, frozenset(published))

    def find(self, target: Path) -> str | None:
        """Give the place in the site of a path, or None."""
        known = self.by_path.get(target)
        if known is None and target.parent.name == "brief" and target.name in self.published:
            return f"published/{target.name}"
        return known


def write(site: Path, section: Section, places: Places) -> None:
    """Write the page of a section's notebook."""
    import markupsafe

    assert section.notebook is not None
    assert section.notebook_page is not None
    page.write(
        site,
        section.notebook_page,
        "notebook.html.j2",
        section=section,
        body=markupsafe.Markup(body(section.notebook, section.notebook_page, places)),
    )


def body(notebook: Path, place: str, places: Places) -> str:
    """Give a notebook as HTML that loads nothing and whose links stay in the site."""
    from bs4 import BeautifulSoup
    from nbconvert import HTMLExporter

    exporter = HTMLExporter(
        extra_template_basedirs=[str(page.TEMPLATES)],
        template_name="notebook",
        exclude_anchor_links=True,
    )
    text, _ = exporter.from_notebook_node(notebooks.read(notebook))
    soup = BeautifulSoup(text, "html.parser")
    _refuse_loading(soup, notebook)
    for table in soup.find_all("table"):
        _make_readable(soup, table)
    for link in soup.find_all("a", href=True):
        _lead_into_site(link, notebook, place, places)
    return str(soup)


def _refuse_loading(soup: BeautifulSoup, notebook: Path) -> None:
    loaded = [
        str(found.get(attribute))
        for tag, attribute in _LOADING.items()
        for found in soup.find_all(tag)
        if found.get(attribute) and not str(found[attribute]).startswith("data:")
    ]
    loaded += [text for s in soup.find_all("style") if _IN_STYLE.search(text := s.get_text())]
    loaded += ["a script" for script in soup.find_all("script") if not script.get("src")]
    if loaded:
        raise LabError(
            f"{notebook} shows something that its page would have to load or run",
            found=", ".join(text[:120] for text in loaded[:3]),
            expected="pictures and tables that are in its outputs",
            next_step="Show a picture as an output, and leave scripts out.",
        )


def _make_readable(soup: BeautifulSoup, table: Tag) -> None:
    """Say what heads rows and columns, and let a wide table scroll in a box of its own."""
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


def _lead_into_site(link: Tag, notebook: Path, place: str, places: Places) -> None:
    target = urlsplit(str(link["href"]))
    if target.scheme or not target.path:
        return
    found = places.find((notebook.parent / unquote(target.path)).resolve())
    if found is None:
        # The repository has it, the site has not: the words stay, without a link to nowhere.
        link.unwrap()
        return
    fragment = f"#{target.fragment}" if target.fragment else ""
    link["href"] = os.path.relpath(found, Path(place).parent) + fragment
