"""No one-sided judge: what can be contradicted can be reproduced, and what blocks one blocks both.

For every claim that contrasts decide, its effect is planted inside and outside of what was
published, in worlds where something is missing or its condition fails. All are made up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from made_up import (
    BY_ID,
    INTERVALS,
    THREADS_OF_32,
    Double,
    contrasted,
    double,
    slices_use,
    threads_use,
    with_plan,
)
from ndblab.judging import checks, judge, publication, verdict
from ndblab.judging.publication import Claim

QPS, P95 = "qps", "latency_p95_ms"
Points = dict[str, tuple[tuple[int, int], tuple[int, int]]]
ONE, TWO = (1, 8), (2, 16)
RATIOS: dict[str, Points] = {
    "F4-degrade": {"fall": ((1, 128), (1, 32))},
    "F6-overload": {"overload": ((16, 512), (16, 256))},
    "F6-peak": {
        "servers-8-16": ((16, 256), (8, 128)), "servers-4-16": ((16, 256), (4, 64)),
        "servers-2-4": ((4, 32), TWO), "servers-1-2": (TWO, ONE),
    },
    "F6-double-servers": {"servers-1-2": (TWO, ONE), "servers-2-4": ((4, 32), TWO)},
    "F6-8-to-16": {"servers-8-16": ((16, 256), (8, 128))},
    "P-servers-1-2": {"servers-1-2": (TWO, ONE)},
    "P-servers-2-4": {"slower-servers": ((4, 32), TWO)},
    "F7-growth": {"growth": ((1, 16), ONE)},
    "F7-doubling": {"servers-1-2": (TWO, ONE), "servers-2-4": ((4, 32), TWO)},
    "F7-8-vs-16": {"early-8-16": ((16, 16), (8, 16))},
    "F7-8-vs-16-2048": {"late-8-16": ((16, 512), (8, 512))},
    "B-sockets": {"sockets": (ONE, ONE)},
    "B-redo": {"redo": (ONE, ONE)},
    "B-load-redo": {"redo": (ONE, ONE)},
    "N-clients": {"clients": (ONE, ONE)},
    "F9-next-step": {"balance": ((8, 64), (8, 64))},
    "T-shm-gain": {"reads-best": (ONE, ONE)},
    "T-top": {"writes-top": (ONE, ONE)},
    "T-high": {"writes-high": (ONE, ONE)},
    "T-low": {"writes-1": ((1, 1), (1, 1)), "writes-2": ((1, 2), (1, 2))},
    "T-spin-low": {"spin-1": ((1, 1), (1, 1)), "spin-2": ((1, 2), (1, 2))},
    "T-spin-top": {"spin-top": (ONE, ONE)},
    "T-allspin-low": {"all-spin-1": ((1, 1), (1, 1)), "all-spin-2": ((1, 2), (1, 2))},
    "P-pool-8": {"pools-1-8": (ONE, ONE)},
    "P-pool-16": {"pools-8-16": (ONE, ONE)},
    "R-rw-servers": {"data-nodes": ((4, 32), (4, 32))},
    "R-filter-gain": {"filter": ((4, 32), (4, 32))},
    "D-indexstat": {"indexstat": (ONE, ONE)},
    "B-split": {f"25-over-{pct}": ((4, 64), (4, 64)) for pct in (10, 17, 35, 50)},
}  # fmt: skip
"""Claims on a ratio of throughput or p95: their contrasts, and the points of both sides."""
LOADED = ("F9-tc-bottleneck", "P-tc")
LOADS = {"tc-load": ((16, 256), (16, 16))}
OTHERS: dict[str, Points] = {
    "F4-cpu-with-load": {"load-1-k": ((1, 32), (1, 1))},
    "F5-recv-busiest": {"recv": ((1, 128), (1, 128))},
    "F5-no-saturation": {"recv": ((1, 128), (1, 128))},
    "F9-tc-bottleneck": LOADS,
    "P-tc": LOADS,
    "B-less-cpu": {"undivided": ((16, 256), (16, 256))},
    "B-mgmd-idle": {"overload": ((16, 512), (16, 256))},
    "F8-steady": {"half-load": ((16, 256), (16, 256))},
}
"""Claims on something else that slices show."""
NEVER = {"B-load-redo", "F7-growth", "R-rw-servers", "R-filter-gain"}
"""Ruled out on any host, or by the quotas that alone can make the contrast."""
PLANTED = {**RATIOS, **OTHERS}
SITUATIONS = (
    "complete", "no contrast", "one contrast missing", "no blocks", "3 blocks", "one start",
    "no plan",
    "servers at their quota", "data nodes at their quota", "host full", "host idle",
)  # fmt: skip


def world(claim: Claim, effect: float, situation: str) -> Double:
    """Make a dataset in which the effect that a claim is about has this size."""
    metric = P95 if claim.metric.startswith("p95") else QPS
    planted = dict(PLANTED[claim.id])
    if situation == "one contrast missing":
        planted.popitem()
    blocks = {"3 blocks": 3, "no blocks": 1}.get(situation, 6)
    ratio = effect if claim.id in RATIOS else 1.0
    if claim.id in ("F4-cpu-with-load", *LOADED):
        ratio = 4.0
    sweep = {"servers": (1, 2, 4, 16), "clients": (4, 8, 16, 32, 64, 128, 256, 512), "repeats": 1}
    # More clients do no more: the claims on what loads something are not blocked by idle servers.
    data = double(lambda n, c: 5000.0, budget=_budget(claim, situation), cpus=64, **sweep)
    for name, (top, base) in planted.items() if situation != "no contrast" else ():
        sides = {"a": (*top, {metric: 1000 * ratio}), "b": (*base, {metric: 1000.0})}
        data = contrasted(data, name, sides, claims=(claim.id,), blocks=blocks, spread=0.002,
                          starts=1 if situation == "one start" else 2)  # fmt: skip
    busy = {"host full": 99.0, "host idle": 10.0}.get(situation, _busy(claim))
    slices = data.slices.assign(host_busy_pct=busy, duration_s=60.0, queries=60_000.0)
    data = replace(data, slices=slices.iloc[:0] if situation == "no blocks" else slices)
    data = _with_cpu(data, claim, effect, situation)
    if claim.id.startswith(("F5-", "F9-", "P-tc")):
        data = threads_use(data, _threads(claim, effect), THREADS_OF_32)
    if claim.id == "F8-steady":
        data = _varying(data, effect)
    held = _quotas(claim, situation)
    if situation != "no plan":
        data = with_plan(data, **held)
    releases = {"ndb": "21.4.17", "second_ndb": "21.10.1"}
    manifest: dict[str, Any] = {"hosts": {"a": {}, "b": {}}, "versions": releases}
    if "by-tcp" in claim.condition.split(", "):
        manifest["variants"] = {"tcp": {"tcp_clients": True}, "default": {"clients_beside": True}}
        manifest["contrasts"] = list(map(_by_tcp, data.manifest.get("contrasts", ())))
    if claim.id == "B-split":
        shares = {f"split-{pct}": {"quotas": {"ndbmtd": pct / 100}} for pct in (10, 25, 50)}
        manifest["variants"] = {**data.manifest.get("variants", {}), **shares}
    return replace(data, manifest={**data.manifest, **manifest})


def _by_tcp(contrast: Mapping[str, Any]) -> dict[str, Any]:
    """Let the clients of side A connect over TCP/IP."""
    point = {**contrast["a"]["point"], "variant": "tcp"}
    return {**contrast, "a": {**contrast["a"], "point": point}}


def _budget(claim: Claim, situation: str) -> str:
    by_quota = "quota" in situation or claim.id in ("P-servers-2-4", "R-rw-servers", "B-split")
    return "scaled" if by_quota else "shared"


def _busy(claim: Claim) -> float:
    return 99.0 if {"saturated", "cpus-end"} & set(claim.condition.split(", ")) else 50.0


def _quotas(claim: Claim, situation: str) -> dict[str, float | None]:
    if situation == "servers at their quota":
        return {"server": 0.25, "nodes": 8.0, "sql": 48.0}
    if situation == "data nodes at their quota":
        return {"server": 30.0, "nodes": 0.25, "sql": 48.0}
    return {"server": 8.0} if claim.id == "P-servers-2-4" else {}


def _with_cpu(data: Double, claim: Claim, effect: float, situation: str) -> Double:
    def used(row: pd.Series) -> Mapping[str, float]:
        top = row["side"] == "a"
        pct = {f"mysqld{n}": 24.9 for n in range(int(row["servers"]))}
        all_servers, nodes = 24.9 * len(pct), 49.9
        if claim.id == "F4-cpu-with-load":
            nodes = 10.0 * (2 * effect if top else 1)
            return {"mysqld1": 20.0 if top else 10.0, "ndbmtd": nodes}
        if claim.id == "B-less-cpu":
            nodes = effect * all_servers
        idle = effect / (1 - effect) * (all_servers + nodes) if claim.id == "B-mgmd-idle" else 0.1
        return {**pct, "ndbmtd": nodes, "ndb_mgmd": idle}

    return slices_use(data, used)


def _threads(claim: Claim, effect: float) -> Callable[[pd.Series, str], float]:
    def pct(row: pd.Series, kind: str) -> float:
        if claim.id == "F5-no-saturation":
            return effect if kind == "ldm" else 5.0
        if claim.id == "F9-next-step":
            return 90.0 if kind == "tc" else 20.0
        if claim.id in LOADED:
            return 85.0 + effect if kind == "tc" else 85.0
        return 50.0 + effect if kind == "recv" and claim.id == "F5-recv-busiest" else 50.0

    return pct


def _varying(data: Double, effect: float) -> Double:
    rows = [
        (run_id, second, 256, 1000 * (1 + effect * step), 5 * (1 + effect * step))
        for run_id in data.slices["run_id"]
        for second, step in enumerate((1.0, -1.0) * 30, 1)
    ]
    return replace(data, intervals=pd.DataFrame(rows, columns=INTERVALS))


def inside_and_outside(claim: Claim, far: float) -> tuple[float, float]:
    """Return an effect within what is allowed, and one as far outside on a side that there is."""
    low, high = verdict.allowed(claim)
    unit = far if claim.unit == "percentage points" else far * abs(high if high < 1e9 else low)
    if claim.comparison in ("equal", "between"):
        return (low + high) / 2, high + unit
    inside, outside = (low + unit, low - unit) if low > -1e9 else (high - unit, high + unit)
    return inside, outside


def word(claim: Claim, effect: float, situation: str) -> str:
    """Judge a claim, as if its source had meant every machine."""
    claim = replace(claim, scope=publication.ANY)
    data = world(claim, effect, situation)
    row = judge.judge(data, [claim.id], [claim]).iloc[0]
    assert "crashed" not in row.reason, row.reason
    return row.verdict


DECIDED = {verdict.REPRODUCED, verdict.CONTRADICTED}


@pytest.mark.parametrize("name", sorted(PLANTED))
def test_each_claim_is_decided_both_ways_where_nothing_is_missing(name: str) -> None:
    """An effect well inside reproduces, one well outside contradicts."""
    claim = BY_ID[name]
    far = 20.0 if claim.unit == "percentage points" else 0.6
    effects = inside_and_outside(claim, far)
    words = [word(claim, effect, "complete") for effect in effects]
    if name in NEVER:
        assert words[0] == words[1]
        assert words[0] not in DECIDED
    else:
        assert words == [verdict.REPRODUCED, verdict.CONTRADICTED]


# No deadline: how long an example takes depends on the machine. Shrinking would take minutes.
@settings(deadline=None, max_examples=40, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(
    name=st.sampled_from(sorted(PLANTED)),
    situation=st.sampled_from(SITUATIONS),
    far=st.floats(0.3, 0.9),
)
# Equal values, whose logarithms have equal means but for the last digit.
@example(name="F5-no-saturation", situation="one start", far=0.33242287443474944)
def test_what_blocks_one_word_blocks_the_other(name: str, situation: str, far: float) -> None:
    """Missing data, a condition that fails or is not known: the same word, whatever the effect.

    A value that quotas force may lie within the interval of one effect and outside that of the
    other: the words that rule a claim out count as one.
    """
    claim = BY_ID[name]
    words = [word(claim, effect, situation) for effect in inside_and_outside(claim, far)]
    if DECIDED & set(words):
        assert words == [verdict.REPRODUCED, verdict.CONTRADICTED]
    else:
        assert words[0] == words[1] or set(words) <= {verdict.BY_CONSTRUCTION, verdict.NOT_TESTABLE}


def test_every_claim_that_contrasts_decide_is_planted() -> None:
    """A new claim has to be moved from far below to far above as well."""
    elsewhere = {"R-nosql", "R-filter-servers", "C-read-backup", "C-fully-replicated", "C-location"}
    counted = {"F9-threads"}
    ids = set(_claims_of_contrasts()) | set(PLANTED)
    with_check = {name for name in ids if name in BY_ID and checks.find(name)}
    assert with_check <= set(PLANTED) | elsewhere | counted


def _claims_of_contrasts() -> set[str]:
    from ndblab.design import catalogue

    claims: set[str] = set()
    for experiment in catalogue.every().values():
        if experiment.contrasts is not None:
            size = experiment.size("quick")
            planned: Any = experiment.contrasts(experiment, size, pd.DataFrame())
            claims |= {claim for contrast in planned for claim in contrast.claims}
    return claims
