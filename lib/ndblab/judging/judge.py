"""The verdict on each claim: measured compared with published.

A check that crashes never passes. A claim is judged only where its conditions hold: what quotas
impose is never a finding, whichever way it goes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import pandas as pd

from ndblab.error import LabError, MissingData
from ndblab.formatting import listed, significant
from ndblab.judging import allowance, conditions, publication, recordings, releases
from ndblab.judging.checks import find
from ndblab.judging.contrasted import NO_CONTRAST, named
from ndblab.judging.evidence import Evidence, usable_cpus
from ndblab.judging.publication import ANY, BUDGETS, HOSTS, MACHINE, Claim, is_brief_host
from ndblab.judging.verdict import (
    BY_CONSTRUCTION,
    CONDITION_UNKNOWN,
    CONTRADICTED,
    DIFFERS,
    INCONCLUSIVE,
    NOT_COMPARABLE,
    NOT_TESTABLE,
    REPRODUCED,
    RULED_OUT,
    UNKNOWN,
    Finding,
)
from ndblab.planning.cpu_budget import ATTACHED, BRIEF_CPUS
from ndblab.statistics.sequential import LOOKS

if TYPE_CHECKING:
    from ndblab.dataset import Dataset

# Units that scale with a host's CPUs; latency and the CPU of one thread do not.
_GROWS_WITH_CPUS = ("queries/s", "percent of one CPU")
_OF_THE_BRIEF = ("brief-2021", "blog-2021")

COLUMNS = ["id", "verdict", "reason", "published", "measured", "low", "high", "unit", "dataset"]


def judge(
    dataset: Dataset, ids: Sequence[str] | None, brief_claims: Sequence[Claim]
) -> pd.DataFrame:
    """Judge claims by an experiment's dataset, and return `findings` as a table.

    Returns
    -------
    One row per claim with the columns `COLUMNS`. `verdict` is one of `verdict.WORDS`; `published`
    is what was compared with; `low` and `high` bound `measured`, the decisive comparison, at 95 %
    confidence.
    """
    judged = findings(dataset, ids, brief_claims)
    known = {claim.id: claim for claim in brief_claims}
    return _table([known[name] for name in judged], list(judged.values()), dataset.id)


def findings(
    dataset: Dataset, ids: Sequence[str] | None, brief_claims: Sequence[Claim]
) -> dict[str, Finding]:
    """Judge claims by a dataset, which may still be being measured.

    Its earlier recordings count as well (`recordings`). LabError if an id or the dataset's budget
    is not known.

    Parameters
    ----------
    ids : claims to judge, in this order; None for all of `brief_claims`.
    """
    known = {claim.id: claim for claim in brief_claims}
    chosen = list(known) if ids is None else list(ids)
    publication.check_known(chosen, brief_claims)
    if dataset.budget not in (*BUDGETS, ATTACHED):
        raise LabError(
            f"The dataset {dataset.id} has a CPU budget that the lab does not know",
            found=repr(dataset.budget),
            expected=", ".join((*BUDGETS, ATTACHED)),
            next_step="Check plan.budget.kind in its manifest.json.",
        )
    recorded = (*dataset.earlier, dataset)
    alone = [_alone(data, [known[name] for name in chosen]) for data in recorded]
    together = {
        name: recordings.together(known[name], [by_id[name] for by_id in alone]) for name in chosen
    }
    own, apart = all(map(_on_brief_host, recorded)), all(map(_on_own_hosts, recorded))
    return {name: _in_scope(known[name], finding, own, apart) for name, finding in together.items()}


def _alone(dataset: Dataset, chosen: Sequence[Claim]) -> dict[str, recordings.Recording]:
    """Judge claims by one recording, whatever their scope."""
    evidence = cache(lambda: Evidence(dataset))
    judged = {claim.id: _judge_one(claim, dataset, evidence) for claim in chosen}
    return {claim.id: recordings.of(claim, dataset, judged[claim.id]) for claim in chosen}


def _on_brief_host(dataset: Dataset) -> bool:
    return is_brief_host(usable_cpus(dataset.host), str(dataset.host.get("cpu_model", "")))


def _on_own_hosts(dataset: Dataset) -> bool:
    """Return whether nodes ran on several machines.

    The network namespaces of one machine do not count: they can only be cut off.
    """
    manifest = dataset.manifest
    return bool(manifest.get("hosts")) and not manifest.get("namespaces")


def unmeasured(brief_claims: Sequence[Claim]) -> pd.DataFrame:
    """Return the rows of claims for which there is no dataset."""
    judged = [_in_scope(claim, _without_data(claim)) for claim in brief_claims]
    return _table(brief_claims, judged, "")


def _in_scope(
    claim: Claim, finding: Finding, on_brief_host: bool = False, on_own_hosts: bool = False
) -> Finding:
    """Limit a finding to the claim's scope: beyond it, say so and contradict nothing.

    A claim that is ruled out waits for nothing.
    """
    inside = {ANY, MACHINE} if on_brief_host and claim.source in _OF_THE_BRIEF else {ANY}
    inside |= {HOSTS} if on_own_hosts else set()
    limits = [limit for limit in claim.scope.split(", ") if limit not in inside]
    if limits:
        # Recordings alone were judged without the scope.
        numbers = finding.numbers.replace(f"({CONTRADICTED}", f"({DIFFERS}")
        why = finding.why.replace(f"alone is {CONTRADICTED}", f"alone {DIFFERS}")
        finding = replace(finding, numbers=numbers, why=why)
    if finding.verdict in (REPRODUCED, CONTRADICTED) and limits:
        own = [limit for limit in limits if limit != HOSTS]
        of = [f"its own {listed(own)}"] * bool(own) + ["a host for each node"] * (HOSTS in limits)
        why = f"{finding.why}; the source speaks of {listed(of)}"
        word = DIFFERS if finding.verdict == CONTRADICTED else finding.verdict
        return replace(finding, verdict=word, why=why)
    if finding.verdict == NOT_TESTABLE and claim.kind == "absolute":
        finding = replace(finding, verdict=NOT_COMPARABLE)
    return replace(finding, waits={}) if finding.verdict in RULED_OUT else finding


def _table(claims: Sequence[Claim], findings: Sequence[Finding], dataset: str) -> pd.DataFrame:
    rows = [
        (c.id, f.verdict, f.reason, p.published, *map(float, f.measured), c.unit, dataset)
        for c, f in zip(claims, findings, strict=True)
        for p in [f.claim or c]
    ]
    numbers = {"measured": float, "low": float, "high": float}
    return pd.DataFrame(rows, columns=COLUMNS).astype(numbers)


def _judge_one(claim: Claim, dataset: Dataset, evidence: Callable[[], Evidence]) -> Finding:
    check = find(claim.id)
    if check is None:
        return _without_data(claim)
    cpus = usable_cpus(dataset.host)
    why_not = claim.why_not(dataset.budget, cpus, str(dataset.host.get("cpu_model", "")))
    finding, lacking = None, ""
    try:
        state = conditions.of(claim, evidence)
        finding = check(claim, evidence())
    except MissingData as missing:
        lacking = str(missing)
    # Whatever the error, the verdict is "unknown": a crash is never a pass.
    except Exception as error:
        return Finding(UNKNOWN, f"its check crashed: {type(error).__name__}: {error}")
    fails = state.holds is False
    if why_not is not None or fails:
        ruled_out = _ruled_out(why_not) if why_not else _failed(claim, state, finding, evidence)
        also = state.words if why_not and fails else ""
        measured = finding is not None and pd.notna(finding.measured.value)
        if ruled_out.verdict == BY_CONSTRUCTION and not measured:
            # Nothing was measured that could show the value that quotas or sizes force.
            ruled_out = replace(ruled_out, verdict=NOT_TESTABLE)
        parts = [ruled_out.numbers, also]
        if measured:
            parts += [_per_cpu(claim, finding.measured.value, cpus), f"measured: {finding.numbers}"]
            ruled_out = replace(ruled_out, measured=finding.measured, claim=finding.claim)
        return replace(ruled_out, numbers="; ".join(filter(None, parts)))
    if finding is None:
        if waits := _waits(claim, dataset, 1):
            return Finding(INCONCLUSIVE, "", f"not measured yet: {lacking}", waits=waits)
        # The design left the contrast out, because of the sweep or the budget.
        if dataset.manifest.get("contrasts") and lacking.startswith(NO_CONTRAST):
            return Finding(NOT_TESTABLE, lacking.replace("it has", "this dataset has", 1))
        return Finding(UNKNOWN, f"this dataset lacks the data: {lacking}")
    if state.holds is None:
        waits = _waits(claim, dataset, LOOKS[0])
        why = f"{CONDITION_UNKNOWN}{' yet' * bool(waits)}: {state.words}"
        return replace(
            finding, verdict=INCONCLUSIVE if waits else NOT_TESTABLE, why=why, waits=waits
        )
    return replace(finding, condition=state.words)


def _failed(
    claim: Claim, state: conditions.State, finding: Finding | None, evidence: Callable[[], Evidence]
) -> Finding:
    """Return the verdict on a claim whose condition fails: what forces a value, or what is missing.

    Where the measured interval of a throughput ratio excludes the value that quotas give, they are
    not the only cause, and the finding names the other. For p95 they give no exact value.
    """
    exact = not claim.metric.startswith("p95")
    outside = [
        one.contrast
        for one in (finding.compared if finding and exact else ())
        if one.judged and one.against.bounded and one.contrast in state.ratios
        and not one.against.low <= state.ratios[one.contrast] <= one.against.high
    ]  # fmt: skip
    words = [state.words, state.forced]
    if outside:
        more = [allowance.beyond(evidence(), contrast, state.part) for contrast in outside]
        values = dict.fromkeys(significant(state.ratios[contrast]) for contrast in outside)
        words.append(f"the measured interval excludes {listed(values)}: {listed(more)}")
    word = BY_CONSTRUCTION if state.forced and not outside else NOT_TESTABLE
    return Finding(word, "; ".join(filter(None, words)))


def _ruled_out(why_not: str) -> Finding:
    """Return the verdict on a claim that its budget cannot decide, whatever was measured."""
    word, _, reason = why_not.partition(": ")
    if word == BY_CONSTRUCTION:
        return Finding(BY_CONSTRUCTION, reason)
    return Finding(NOT_TESTABLE, why_not)


def _waits(claim: Claim, dataset: Dataset, least: int) -> dict[str, None]:
    """Return the contrasts of a claim that still have fewer than `least` blocks."""
    wanted = named(dataset.manifest, claim.id)
    slices = dataset.slices
    blocks = slices["block"].groupby(slices["contrast"].astype(str)).nunique()
    return {name: None for name in wanted if blocks.get(name, 0) < least}


def _without_data(claim: Claim) -> Finding:
    """Return whether any host could test a claim, and whether anything measures it."""
    never = set(claim.budgets.values())
    if len(never) == 1 and not next(iter(never)).startswith("yes"):
        return _ruled_out(next(iter(never)))
    if claim.source in releases.NEEDED:
        how = "--experiment engines --engines A,B"
        if find(claim.id) is None:
            how = "no experiment of the lab runs this load on two engines"
        return Finding(NOT_TESTABLE, f"needs {releases.in_words(claim.source)}: {how}")
    if find(claim.id) is not None:
        return Finding(UNKNOWN, "no recorded dataset measures it yet")
    return Finding(UNKNOWN, "no experiment measures it yet")


def _per_cpu(claim: Claim, measured: float, cpus: float) -> str:
    """Write the published and the measured value, both also per logical CPU of their host."""
    if claim.kind != "absolute" or claim.unit not in _GROWS_WITH_CPUS or measured != measured:
        return ""
    if claim.source not in _OF_THE_BRIEF:
        return ""
    bounds = dict.fromkeys(bound for bound in (claim.low, claim.high) if bound is not None)
    theirs = " to ".join(significant(bound / BRIEF_CPUS) for bound in bounds)
    return (
        f"published {claim.published} {claim.unit}, {theirs} per logical CPU ({BRIEF_CPUS} of "
        f"them); here {significant(measured)}, or {significant(measured / cpus)} per logical CPU "
        f"({cpus:g})"
    )
