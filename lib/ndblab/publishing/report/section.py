"""What one question brings to the report."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.dataset import Dataset
from ndblab.publishing import notebook
from ndblab.publishing.notebook import exhibit

if TYPE_CHECKING:
    import pandas as pd
    from nbformat import NotebookNode

    from ndblab.judging.answers import Answer
    from ndblab.publishing.drawing import Drawn


@dataclass(frozen=True, eq=False)
class Section:
    """A question with its page: of an experiment, of a run of the user's own, or of comparisons.

    `notebook` is executed, with its outputs and figures in it; a section without one has its page
    in `body`, as HTML. `svgs` are figures as drawn, by the names of their files. `verdicts` has the
    columns of `judging.judge` and each claim's `statement`; None where there is nothing to judge.
    `own` marks sections of the user's own data.
    """

    name: str
    question: str
    notebook: Path | None
    verdicts: pd.DataFrame | None = None
    dataset: Dataset | None = None
    svgs: Mapping[str, Drawn] = field(default_factory=dict)
    own: bool = False
    body: str = ""

    @functools.cached_property
    def content(self) -> NotebookNode | None:
        """The notebook, read."""
        return notebook.read(self.notebook) if self.notebook else None

    @property
    def answer(self) -> Answer | None:
        """What was found, if a notebook says it."""
        return exhibit.answer(self.content) if self.content else None

    @property
    def page(self) -> str:
        """Where its page is in the site."""
        own = self.dataset.id if self.own and self.dataset else self.name
        return f"questions/{self.notebook.stem if self.notebook and not self.own else own}.html"

    @property
    def dataset_page(self) -> str | None:
        """Where the dataset's page is in the site."""
        return f"datasets/{self.dataset.id}/index.html" if self.dataset else None

    def place(self, of_rows: str) -> str:
        """Return the address of rows of its data (`figures.points`), relative to its page."""
        if of_rows.startswith("claim-"):
            return f"../claims.html#{of_rows.removeprefix('claim-')}"
        return f"../{self.dataset_page}#{of_rows}" if self.dataset_page and of_rows else ""
