"""What claims allow of the throughput ratio that a contrast measures.

It judges nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from ndblab.judging import publication, verdict
from ndblab.judging.publication import Claim

if TYPE_CHECKING:
    from ndblab.dataset import Dataset

_OF_THROUGHPUT = re.compile(r"(peak )?qps\([^)]*\)/(peak )?qps\([^)]*\)")


def of_contrasts(contrasts: Iterable[Mapping[str, Any]], claims: Sequence[Claim]) -> pd.DataFrame:
    """Return the bounds of each contrast.

    Parameters
    ----------
    contrasts : as in a manifest, each with `name` and `claims`.

    Returns
    -------
    `contrast`, `of` (the claim), `low`, `high`; infinite where there is no bound. Claims
    on anything but a ratio of throughputs have no row.
    """
    by_id = {claim.id: claim for claim in claims}
    rows: list[tuple[str, str, float, float]] = []
    for contrast in contrasts:
        name = contrast["name"]
        named = [by_id[key] for key in contrast["claims"] if key in by_id]
        ratios = [claim for claim in named if _OF_THROUGHPUT.match(claim.metric)]
        rows += [(name, claim.id, *verdict.allowed(claim)) for claim in ratios]
    return pd.DataFrame(rows, columns=["contrast", "of", "low", "high"])


def of_dataset(data: Dataset) -> dict[str, pd.DataFrame]:
    """Return the table `bounds` of a dataset's contrasts, by its name."""
    known = data.manifest.get("contrasts", ())
    return {"bounds": of_contrasts(known, publication.claims())}
