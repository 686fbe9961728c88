"""The check on what SQL costs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from ndblab.experiments.api_ceiling import AT_ONCE, NDB_API
from ndblab.experiments.api_ceiling import analysis as interfaces
from ndblab.formatting import count
from ndblab.judging.checks import check
from ndblab.judging.contrasted import planned, ratio, side
from ndblab.judging.evidence import Evidence
from ndblab.judging.publication import Claim
from ndblab.judging.verdict import Comparison, Finding, decide
from ndblab.planning.point import DEFAULT_VARIANT
from ndblab.planning.workload import POINT_SELECT
from ndblab.statistics import estimate


@check("R-nosql")
def work_per_cpu(claim: Claim, evidence: Evidence) -> Finding:
    """Compare lookups per CPU time through the NDB API with those through SQL.

    The source names no load, and the ratio grows with clients. So the claim must hold with the most
    clients, by the contrast, and with the fewest, by runs of the sweep. One lookup at a time is
    judged, as a client of SQL has; many at once are only shown. The CPU of all that take part
    counts: data nodes and flexAsynch, or data nodes, MySQL server and sysbench.
    """
    most = int(side(evidence, interfaces.SINGLE)["clients"])
    fewest = _with_fewest(evidence, most)
    per_cpu = pd.Series(dtype=float)
    if len(evidence.slices):
        cost = interfaces.lookup_us(evidence.slices, evidence.dataset.processes)
        per_cpu = 1 / cost["cpu_us"]
    label = f"times those through SQL, one at a time, with {count(most, 'client')}"
    tests = [ratio(evidence, interfaces.SINGLE, label, per_cpu, 1 + len(fewest)), *fewest]
    if planned(evidence, interfaces.BATCH):
        shown = ratio(evidence, interfaces.BATCH, "times, many at once", per_cpu)
        tests.append(replace(shown, judged=False))
    return decide(claim, "lookups per CPU time through the NDB API are", tests)


def _with_fewest(evidence: Evidence, most: int) -> list[Comparison]:
    """Compare the interfaces with the fewest clients of the sweep; nothing if those are `most`."""
    cost = interfaces.lookup_us(evidence.good, evidence.dataset.processes)
    runs = evidence.good.assign(per_cpu=1 / cost["cpu_us"].to_numpy())
    runs = runs[np.isfinite(runs["per_cpu"])]
    [single] = [name for name, number in AT_ONCE.items() if number == 1]
    kinds = runs["variant"].astype(str), runs["workload"].astype(str)
    api, sql = (
        runs[(kinds[0] == variant) & (kinds[1] == workload)]
        for variant, workload in ((single, NDB_API), (DEFAULT_VARIANT, POINT_SELECT))
    )
    clients = min({*api["clients"]} & {*sql["clients"]}, default=most)
    if clients >= most:
        return []
    both = [rows.loc[rows["clients"] == clients, "per_cpu"] for rows in (api, sql)]
    label = f"with {count(int(clients), 'client')}"
    return [Comparison.one_of(2, label, lambda confidence: estimate.ratio(*both, confidence))]
