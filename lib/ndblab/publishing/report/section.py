"""What one experiment brings to the report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.dataset import Dataset

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Section:
    """One experiment, as the report shows it.

    `notebook` is executed, its outputs and figures in it. `verdicts` has the columns of
    `judging.judge` and each claim's `statement`; None where there is nothing to judge.
    """

    name: str
    question: str
    notebook: Path
    verdicts: pd.DataFrame | None = None
    dataset: Dataset | None = None

    @property
    def notebook_page(self) -> str:
        """Where the notebook's page is in the site."""
        return f"notebooks/{self.notebook.stem}.html"

    @property
    def dataset_page(self) -> str | None:
        """Where the dataset's page is in the site."""
        return f"datasets/{self.dataset.id}/index.html" if self.dataset else None
