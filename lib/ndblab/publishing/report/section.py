"""What one experiment brings to the report.

In: its name, question, verdicts, pictures, notebook and dataset. Out: the names of its pages.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from ndblab.dataset import Dataset

if TYPE_CHECKING:
    from collections.abc import Iterator

VERDICT_COLUMNS = (
    "id",
    "statement",
    "verdict",
    "reason",
    "published",
    "measured",
    "low",
    "high",
    "unit",
)


@dataclass(frozen=True)
class Picture:
    """One figure, drawn.

    `title` is its question, `alt` says in words what it shows. `png` is shown; `svg`, where there
    is one, is for those who print it.
    """

    key: str
    title: str
    alt: str
    png: Path
    svg: Path | None = None

    @property
    def number(self) -> str:
        """Its name in the brief; empty for a figure that the brief does not have."""
        return f"Figure {self.key}" if self.key.isdecimal() else ""

    @property
    def name(self) -> str:
        """The figure as a reader calls it."""
        return self.number or self.title

    @property
    def anchor(self) -> str:
        return f"figure-{self.key}"

    def files(self) -> Iterator[Path]:
        """Give the files of this picture that the site has."""
        yield from (file for file in (self.png, self.svg) if file is not None)


@dataclass(frozen=True, eq=False)
class Section:
    """One experiment, as the report shows it.

    `verdicts` has the columns of `claims.judge` and each claim's `statement`; None or no row where
    there is nothing to judge. `notebook` is executed, its outputs in it.
    """

    name: str
    question: str
    verdicts: pd.DataFrame | None = None
    pictures: tuple[Picture, ...] = ()
    notebook: Path | None = None
    dataset: Dataset | None = None

    @property
    def notebook_page(self) -> str | None:
        """Where the notebook's page is in the site."""
        return f"notebooks/{self.notebook.stem}.html" if self.notebook else None

    @property
    def dataset_page(self) -> str | None:
        """Where the dataset's page is in the site."""
        return f"datasets/{self.dataset.id}/index.html" if self.dataset else None
