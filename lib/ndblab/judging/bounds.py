"""What claims and goals allow of the throughput ratio that a contrast measures.

In: the contrasts of a dataset, the claims. Out: bounds by contrast, for figures. It judges nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from ndblab.experiments.the_lab_itself import goals
from ndblab.judging import verdict
from ndblab.judging.publication import Claim

_OF_THROUGHPUT = re.compile(r"(peak )?qps\([^)]*\)/(peak )?qps\([^)]*\)")


def of_contrasts(contrasts: Iterable[Mapping[str, Any]], claims: Sequence[Claim]) -> pd.DataFrame:
    """Return the bounds of each contrast.

    Parameters
    ----------
    contrasts : as in a manifest, each with `name` and `claims`.

    Returns
    -------
    `contrast`, `of` (the claim, or "goal"), `low`, `high`; infinite where there is no bound. Claims
    on anything but a ratio of throughputs have no row.
    """
    by_id = {claim.id: claim for claim in claims}
    rows: list[tuple[str, str, float, float]] = []
    for contrast in contrasts:
        name = contrast["name"]
        named = [by_id[key] for key in contrast["claims"] if key in by_id]
        ratios = [claim for claim in named if _OF_THROUGHPUT.match(claim.metric)]
        rows += [(name, claim.id, *verdict.allowed(claim)) for claim in ratios]
        if name in goals.RANGES and not named:
            rows.append((name, "goal", *goals.RANGES[name]))
    return pd.DataFrame(rows, columns=["contrast", "of", "low", "high"])
