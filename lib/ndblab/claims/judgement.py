"""Published against measured: the verdict on each claim.

In: a dataset, claim ids, the published claims. Out: one row per claim.
It never passes a check that crashed, and never credits the division of CPUs with its own input.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import pandas as pd

from ndblab.analysis.formatting import significant
from ndblab.claims.checks import find
from ndblab.claims.evidence import Evidence, Tables, usable_cpus
from ndblab.claims.publication import BUDGETS, Claim
from ndblab.claims.verdict import NOT_TESTABLE, UNKNOWN, Finding
from ndblab.error import LabError, MissingData
from ndblab.planning.cpu_budget import BRIEF_CPUS

# What a host of more CPUs has more of; latency and the share of one thread's CPU are not.
_GROWS_WITH_CPUS = ("queries/s", "percent of one CPU")
_OF_THE_BRIEF = ("brief-2021", "blog-2021")
_ABOUT = {
    "rondb": "about RonDB, which the lab does not install; ",
    "dbt2": "about DBT2; ",
    "shell": "about MySQL Shell; ",
    "locking": "about locks of InnoDB; ",
}

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
    rows = [
        [claim.id, verdict, reason, claim.published, None, None, None, claim.unit, ""]
        for claim, (verdict, reason) in ((c, _without_data(c)) for c in brief_claims)
    ]
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.astype({"measured": float, "low": float, "high": float})


def _judge_one(claim: Claim, dataset: Tables, evidence: Callable[[], Evidence]) -> Finding:
    check = find(claim.id)
    if check is None:
        return Finding(*_without_data(claim))
    cpus = usable_cpus(dataset.host)
    why_not = claim.why_not(dataset.budget, cpus, str(dataset.host.get("cpu_model", "")))
    try:
        finding = check(claim, evidence())
    except MissingData as missing:
        if why_not is not None:
            return Finding(NOT_TESTABLE, why_not)
        return Finding(UNKNOWN, f"the data for it are not in this dataset: {missing}")
    # Whatever a check dies of, the verdict is "unknown": a crash is never a pass.
    except Exception as error:
        return Finding(UNKNOWN, f"its check crashed: {type(error).__name__}: {error}")
    if why_not is None:
        return finding
    beside = _per_cpu(claim, finding.measured, cpus)
    reason = "; ".join(part for part in (why_not, beside, f"measured: {finding.told}") if part)
    return replace(finding, verdict=NOT_TESTABLE, told=reason, why="")


def _without_data(claim: Claim) -> tuple[str, str]:
    """Say of a claim without data whether any host could tell, and what measures it."""
    never = set(claim.budgets.values())
    if len(never) == 1 and not next(iter(never)).startswith("yes"):
        return NOT_TESTABLE, next(iter(never))
    if find(claim.id) is not None:
        return UNKNOWN, "no recorded dataset measures it yet"
    about = _ABOUT.get(claim.source.partition("-")[0], "")
    return UNKNOWN, f"{about}no experiment measures it yet"


def _per_cpu(claim: Claim, measured: float, cpus: float) -> str:
    """Put an absolute value beside the measured one, both also per logical CPU of the host."""
    if claim.kind != "absolute" or claim.unit not in _GROWS_WITH_CPUS or math.isnan(measured):
        return ""
    if claim.source not in _OF_THE_BRIEF:
        return ""
    bounds = dict.fromkeys(bound for bound in (claim.low, claim.high) if bound is not None)
    theirs = " to ".join(significant(bound / BRIEF_CPUS) for bound in bounds)
    return (
        f"published {claim.published} {claim.unit}, {theirs} per logical CPU of {BRIEF_CPUS}; "
        f"here {significant(measured)}, {significant(measured / cpus)} per logical CPU of {cpus:g}"
    )
