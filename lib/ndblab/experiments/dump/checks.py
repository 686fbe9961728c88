"""Checks on dumps."""

from __future__ import annotations

from dataclasses import replace

from ndblab.error import MissingData
from ndblab.experiments.dump import ZSTD
from ndblab.experiments.dump import analysis as dumps
from ndblab.formatting import significant
from ndblab.judging.checks import check
from ndblab.judging.evidence import Evidence, mean_of_runs
from ndblab.judging.publication import Claim
from ndblab.judging.verdict import Finding, decide


@check("M-zstd")
def dump_time(claim: Claim, evidence: Evidence) -> Finding:
    """Judge the time of a dump through zstd; time and ratio of the others are only shown."""
    table = dumps.of(evidence.good, evidence.dataset.dumps)
    if ZSTD not in set(table["compression"].astype(str)):
        raise MissingData("no good dump through zstd")
    tests = []
    for (tool, compression), own in table.groupby(["tool", "compression"], observed=True):
        ratio = significant(own["ratio"].mean())
        label = f"s with {tool} and compression {compression} (ratio {ratio})"
        test = mean_of_runs(own["duration_s"], label)
        tests.append(replace(test, judged=compression == ZSTD))
    return decide(claim, f"dumping {significant(table['content_mb'].mean())} MB takes", tests)
