"""Checks on connection pools: servers of one cluster with more connections against fewer."""

from __future__ import annotations

import contextlib
from dataclasses import replace

from ndblab.error import MissingData
from ndblab.formatting import count, significant
from ndblab.judging.checks import check
from ndblab.judging.contrasted import A, B, place, ratio, side
from ndblab.judging.evidence import Evidence
from ndblab.judging.publication import Claim
from ndblab.judging.verdict import Finding, decide
from ndblab.statistics import cpu_use

_POOLS = {"P-pool-8": (8, 1), "P-pool-16": (16, 8)}


@check(*_POOLS)
def larger_pool(claim: Claim, evidence: Evidence) -> Finding:
    """Compare a larger pool with a smaller one, each server with all CPUs to itself.

    The source's servers had a host each, and used all of it. What the pools do when two servers
    work at once, each under its CPU share if there are shares, is only shown.
    """
    larger, smaller = _POOLS[claim.id]
    name = f"pools-{smaller}-{larger}"
    clients = side(evidence, name, A)["clients"]
    tests = [ratio(evidence, name, f"times that with {smaller}, one server at a time")]
    at_once = f"{name}-share"
    if at_once in evidence.contrasts:
        words = "both at once" + (" under quotas" if evidence.budget == "scaled" else "")
        shown = ratio(evidence, at_once, f"times that with {smaller}, {words}")
        tests.append(replace(shown, judged=False))
    notes = [f"with {count(clients, 'client')} each"]
    with contextlib.suppress(MissingData):
        notes.append(_idle(evidence, name))
    subject = f"throughput of a server with {larger} connections is"
    return decide(claim, subject, tests, "; ".join(notes))


def _idle(evidence: Evidence, contrast: str) -> str:
    """Say what the idle servers, whose connections differ, take from the server at work."""
    sides = (place(evidence, contrast, name).runs for name in (A, B))
    pct = [cpu_use.idle_pct(runs, evidence.dataset.processes).mean() for runs in sides]
    larger, smaller = (significant(used / evidence.cpus) for used in pct)
    beside = f"{larger} % of the CPUs beside the larger pool, {smaller} % beside the smaller"
    return f"idle servers used {beside}"
