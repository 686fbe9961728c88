"""The published claims: complete, checked, and clear about what a budget can test."""

from __future__ import annotations

import json
import re

import pytest

from ndblab import discovery
from ndblab.judging import conditions, contrasted, publication


def test_every_claim_says_for_every_budget_whether_it_can_be_tested() -> None:
    """Each claim has an answer for each budget, and ids are unique."""
    claims = publication.claims()
    assert len({claim.id for claim in claims}) == len(claims) >= 107
    assert all(set(claim.budgets) == set(publication.BUDGETS) for claim in claims)
    for answer in {answer for claim in claims for answer in claim.budgets.values()}:
        assert answer == "yes" or len(answer.removeprefix("by construction: ").split()) > 3


def test_every_claim_has_a_scope() -> None:
    """Any, or what the statement is limited to; a value of another machine is limited to that."""
    for claim in publication.claims():
        limits = set(claim.scope.split(", "))
        assert limits <= set(publication.SCOPES)
        assert claim.kind != "absolute" or publication.MACHINE in limits


def test_every_condition_is_computed() -> None:
    """Each name is that of a function, and each function is the condition of a claim."""
    named = {name for claim in publication.claims() for name in claim.condition.split(", ")}
    discovery.modules("checks")
    assert named - {""} == set(conditions.CONDITIONS)


def test_no_reason_cites_what_was_recorded() -> None:
    """A number that a recording gave is computed, and would be wrong with the next one."""
    for claim in publication.claims():
        assert not any("record" in answer for answer in claim.budgets.values())


def test_every_reference_leads_somewhere() -> None:
    """Corrections, anchors and table rows name sources, claims and corrections that exist."""
    sources = {source.key for source in publication.sources()}
    claims = {claim.id for claim in publication.claims()}
    corrections = {row.id for row in publication.corrections()}
    assert {row.source for row in publication.corrections()} <= sources
    assert {anchor.claim for anchor in publication.anchors()} <= claims
    assert {anchor.source for anchor in publication.anchors()} <= sources
    items = [item for table in publication.tables().values() for item in table]
    assert {item.correction for item in items} - {""} <= corrections


def test_a_bound_says_of_which_side() -> None:
    """An anchor that is a bound is an upper or a lower one."""
    bounds = [anchor for anchor in publication.anchors() if anchor.exactness == "bound"]
    assert bounds
    assert all(anchor.bound in ("upper", "lower") for anchor in bounds)


def test_anchors_of_one_figure() -> None:
    """Anchors can be had for one figure, by number or by text."""
    assert publication.anchors(7) == publication.anchors("7")
    assert {anchor.figure for anchor in publication.anchors(7)} == {"7"}


def test_absolute_values_are_judged_on_the_machine_of_the_brief_only() -> None:
    """An absolute claim is tested by a pinned dataset of two EPYC 7742, and nowhere else."""
    for claim in publication.claims():
        if claim.kind != "absolute":
            continue
        assert claim.why_not("scaled", 256, "AMD EPYC 7742 64-Core Processor")
        assert claim.why_not("shared", 256, "AMD EPYC 7742 64-Core Processor")
        assert claim.why_not("pinned", 256, "AMD EPYC 7763 64-Core Processor")
        assert claim.why_not("pinned", 64, "AMD EPYC 7742 64-Core Processor")
    peak = {claim.id: claim for claim in publication.claims()}["F4-peak-qps"]
    assert peak.why_not("pinned", 256, "AMD EPYC 7742 64-Core Processor") is None


def test_numbers_of_clients_need_as_many_cpus_as_the_brief_had() -> None:
    """A claim on a number of clients is tested by a pinned dataset of 256 CPUs or more."""
    claims = {claim.id: claim for claim in publication.claims()}
    for name in ("F4-peak-clients", "F6-peak-clients"):
        assert claims[name].why_not("pinned", 256) is None
        assert claims[name].why_not("pinned", 255)
        assert claims[name].why_not("scaled", 1024)


@pytest.mark.parametrize(
    ("name", "consequence"),
    [
        ("F1-max", "the highest second may overstate the best throughput"),
        ("F4-peak-clients", "find your own peak with a sweep"),
        ("F6-peak-clients", "find your own peak with a sweep"),
    ],
)
def test_a_reason_says_what_follows_for_the_reader(name: str, consequence: str) -> None:
    """With any CPU budget: what cannot be judged is a number that others may still rely on."""
    claim = {claim.id: claim for claim in publication.claims()}[name]
    for budget in publication.BUDGETS:
        assert str(claim.why_not(budget, 2)).endswith(consequence)


def test_too_few_cpus_are_told_with_how_many_it_takes() -> None:
    """Before the reason why."""
    claim = {claim.id: claim for claim in publication.claims()}["T-allspin-low"]
    assert str(claim.why_not("shared", 2)).startswith("its host has 2 CPUs, 24 are needed: ")
    assert claim.why_not("shared", 24) is None


def test_a_threshold_of_the_lab_is_told_from_a_published_bound() -> None:
    """However its notes put it."""
    ours = {claim.id for claim in publication.claims() if claim.is_threshold_ours}
    assert {"F6-double-servers", "F1-drift", "B-row-bytes", "B-split", "A-host-loss"} <= ours
    assert "F4-cpu-with-load" in ours
    assert not ours & {"T-shm-gain", "F6-peak", "P-pool-8", "R-nosql"}


def test_every_row_has_words_and_bounds_that_the_lab_knows() -> None:
    """A claim that breaks this would end in a wrong verdict, or in none."""
    sources = {source.key for source in publication.sources()}
    for claim in publication.claims():
        assert claim.id
        assert claim.source in sources
        assert claim.kind in ("absolute", "shape", "ratio", "method", "config")
        bounds = publication.COMPARISONS[claim.comparison]
        assert all(getattr(claim, bound) is not None for bound in bounds), claim.id
        limits = claim.scope.split(", ")
        assert publication.ANY not in limits or limits == [publication.ANY]
        for answer in claim.budgets.values():
            known = answer == "yes" or publication._HOST.fullmatch(answer)
            assert known or re.fullmatch("by construction: .+|(?!yes|by construction).+", answer)
    for anchor in publication.anchors():
        assert anchor.exactness in ("stated", "about", "bound")
        assert anchor.bound in ("", "upper", "lower")


def test_claims_of_the_same_contrasts_rest_on_one_measurement() -> None:
    """Two claims that a recording decides by a common contrast are counted once."""
    discovery.modules("checks")  # which may name the contrast of a claim
    ids, shared = {claim.id for claim in publication.claims()}, publication.measured_as()
    assert {*shared, *shared.values()} <= ids
    assert not set(shared) & set(shared.values())
    root = publication.FOLDER.parent / "recorded"
    for file in root.glob("*/*/manifest.json"):
        manifest = json.loads(file.read_text())
        claimed = {one for contrast in manifest.get("contrasts", ()) for one in contrast["claims"]}
        # B-split is measured by cpu-split since.
        by_claim = {claim: contrasted.named(manifest, claim) for claim in claimed - {"B-split"}}
        groups: dict[str, set[str]] = {}
        for claim, names in by_claim.items():
            for name in names:
                groups.setdefault(name, set()).add(shared.get(claim, claim))
        assert all(len(group) == 1 for group in groups.values()), (file.parent.name, groups)
