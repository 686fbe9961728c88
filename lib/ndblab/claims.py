"""Published against measured: the verdict on each claim.

In: a dataset, claim ids, the published claims. Out: one row per claim.
It never passes a check that crashed, and never credits the division of CPUs with its own input.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import pandas as pd

from ndblab.brief import BUDGETS, Claim
from ndblab.checks import CHECKS
from ndblab.error import LabError
from ndblab.evidence import Evidence, Tables, usable_cpus
from ndblab.verdict import NOT_TESTABLE, UNKNOWN, Finding, Missing

COLUMNS = ["id", "verdict", "reason", "published", "measured", "low", "high", "unit", "dataset"]


def judge(
    dataset: Tables, ids: Sequence[str] | None, brief_claims: Sequence[Claim]
) -> pd.DataFrame:
    """Judge claims by one dataset.

    Parameters
    ----------
    ids : claims to judge, in this order; None for all of `brief_claims`.

    Returns
    -------
    One row per claim with the columns `COLUMNS`. `verdict` is "reproduced", "contradicted",
    "inconclusive", "not testable here" or "unknown"; `low` and `high` bound `measured`, at 95 % of
    confidence for all tests of the claim together.

    Raises
    ------
    LabError
        If an id or the dataset's budget is not known.
    """
    known = {claim.id: claim for claim in brief_claims}
    chosen = list(known) if ids is None else list(ids)
    strange = [name for name in chosen if name not in known]
    if strange:
        raise LabError(
            "There is no such claim",
            found=", ".join(strange),
            expected="ids of data/brief/claims.csv",
            next_step="Run `./lab claims` to see them all.",
        )
    if dataset.budget not in BUDGETS:
        raise LabError(
            f"The dataset {dataset.id} has a CPU budget that the lab does not know",
            found=repr(dataset.budget),
            expected=", ".join(BUDGETS),
            next_step="Check plan.budget.kind in its manifest.json.",
        )
    evidence = cache(lambda: Evidence(dataset))
    rows = []
    for claim in (known[name] for name in chosen):
        finding = _judge_one(claim, dataset, evidence)
        rows.append(
            [
                claim.id,
                finding.verdict,
                finding.reason,
                claim.published,
                finding.measured,
                finding.low,
                finding.high,
                claim.unit,
                dataset.id,
            ]
        )
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.astype({"measured": float, "low": float, "high": float})


def unmeasured(brief_claims: Sequence[Claim]) -> pd.DataFrame:
    """Give the rows of claims for which there is no dataset."""
    reason = "no recorded dataset measures it yet"
    rows = [
        [claim.id, UNKNOWN, reason, claim.published, None, None, None, claim.unit, ""]
        for claim in brief_claims
    ]
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.astype({"measured": float, "low": float, "high": float})


def _judge_one(claim: Claim, dataset: Tables, evidence: Callable[[], Evidence]) -> Finding:
    if claim.id not in CHECKS:
        return Finding(UNKNOWN, "no experiment measures it yet")
    model = str(dataset.host.get("cpu_model", ""))
    why_not = claim.why_not(dataset.budget, usable_cpus(dataset.host), model)
    try:
        finding = CHECKS[claim.id](claim, evidence())
    except Missing as missing:
        if why_not is not None:
            return Finding(NOT_TESTABLE, why_not)
        return Finding(UNKNOWN, f"the data for it are not in this dataset: {missing}")
    # Whatever a check dies of, the verdict is "unknown": a crash is never a pass.
    except Exception as error:
        return Finding(UNKNOWN, f"its check crashed: {type(error).__name__}: {error}")
    if why_not is None:
        return finding
    reason = f"{why_not}; measured: {finding.told}"
    return replace(finding, verdict=NOT_TESTABLE, told=reason, why="")
