"""What is measured next: contrasts whose claims are open, until they are decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ndblab.dataset import Dataset
    from ndblab.judging.publication import Claim
    from ndblab.judging.verdict import Finding


@dataclass(frozen=True)
class Judging:
    """What contrasts are measured for.

    `findings` judges a dataset, the board draws the `claims`, and `command` continues the
    measurement; it is empty if the answer names it.
    """

    findings: Callable[[Dataset], dict[str, Finding]]
    claims: Mapping[str, Claim]
    command: str
