"""Checks on read locality: tables that every replica serves, tables on every data node, domains."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from ndblab.error import MissingData
from ndblab.experiments.read_locality import analysis as shares
from ndblab.experiments.read_locality.analysis import FULLY_REPLICATED, LOCAL, NEAR, READ_BACKUP
from ndblab.formatting import count, significant
from ndblab.judging.checks import check
from ndblab.judging.conditions import State, condition, demanded
from ndblab.judging.contrasted import A, B, Place, place, ratio
from ndblab.judging.evidence import Evidence
from ndblab.judging.publication import Claim
from ndblab.judging.verdict import Comparison, Finding, decide
from ndblab.planning.node import REPLICAS

_DOMAINS = "domains"


@check("C-read-backup")
def read_backup(claim: Claim, evidence: Evidence) -> Finding:
    """Compare the share of local reads between tables that every replica serves and others."""
    local, (top, base) = _shares(evidence)[LOCAL], _sides(evidence, READ_BACKUP)
    label = f"times that of tables whose primary replica alone is read {top.words}"
    tests = [ratio(evidence, READ_BACKUP, label, local), _throughput(evidence, READ_BACKUP)]
    note = f"{_percent(local, top)} of the rows, and {_percent(local, base)} without"
    return decide(claim, "the share of local reads is", tests, note)


@check("C-fully-replicated")
def fully_replicated(claim: Claim, evidence: Evidence) -> Finding:
    """Judge the share of local reads of fully replicated tables."""
    local, (top, base) = _shares(evidence)[LOCAL], _sides(evidence, FULLY_REPLICATED)
    tests = [top.mean(local, f"of the rows {top.words}"), _throughput(evidence, FULLY_REPLICATED)]
    note = f"{_percent(local, base)} of the rows of partitioned tables"
    return decide(claim, "the share of local reads of fully replicated tables is", tests, note)


@check("C-location")
def location_domains(claim: Claim, evidence: Evidence) -> Finding:
    """Judge what share of the bytes comes from the data nodes of a server's own domain."""
    near, (top, base) = _shares(evidence)[NEAR], _sides(evidence, _DOMAINS)
    tests = [top.mean(near, f"of the bytes that servers receive {top.words}")]
    note = f"{_percent(near, base)} where the primary replica alone is read"
    return decide(claim, "from their own location domain come", tests, note)


@condition("node-groups")
def node_groups(claim: Claim, evidence: Evidence) -> State:
    """There are several node groups: with a single one every data node has every row anyway."""
    nodes = len(evidence.dataset.manifest.get("plan", {}).get("data_nodes", ()))
    if not nodes:
        raise MissingData("its manifest does not say how many data nodes there were")
    groups = nodes // REPLICAS
    words = f"{nodes} data nodes in {count(groups, 'node group')}"
    return demanded(groups > 1, words, "2 or more")


def _shares(evidence: Evidence) -> pd.DataFrame:
    return shares.of_runs(evidence.dataset.reads)


def _sides(evidence: Evidence, contrast: str) -> tuple[Place, Place]:
    """Return both sides of a contrast; MissingData if the dataset has no such contrast."""
    return place(evidence, contrast, A), place(evidence, contrast, B)


def _throughput(evidence: Evidence, contrast: str) -> Comparison:
    """Compare throughput of both sides, which is shown and not judged."""
    return replace(ratio(evidence, contrast, "times the throughput"), judged=False)


def _percent(share: pd.Series, where: Place) -> str:
    """Write the mean share of the slices of a side."""
    return f"{significant(100 * share.reindex(where.run_ids).mean())} %"
