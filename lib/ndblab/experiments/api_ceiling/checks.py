"""The check on what SQL costs."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from ndblab.experiments.api_ceiling import analysis as interfaces
from ndblab.formatting import count
from ndblab.judging.checks import check
from ndblab.judging.contrasted import ratio, side
from ndblab.judging.evidence import Evidence
from ndblab.judging.publication import Claim
from ndblab.judging.verdict import Finding, decide


@check("R-nosql")
def work_per_cpu(claim: Claim, evidence: Evidence) -> Finding:
    """Compare lookups per CPU time through the NDB API with those through SQL.

    One lookup at a time is judged, as a client of SQL has; many at once are only shown. The CPU of
    all that take part counts: data nodes and flexAsynch, or data nodes, MySQL server and sysbench.
    """
    clients = side(evidence, interfaces.SINGLE)["clients"]
    per_cpu = pd.Series(dtype=float)
    if len(evidence.slices):
        cost = interfaces.lookup_us(evidence.slices, evidence.dataset.processes)
        per_cpu = 1 / cost["cpu_us"]
    label = f"times those through SQL, one at a time, with {count(clients, 'client')}"
    tests = [ratio(evidence, interfaces.SINGLE, label, per_cpu)]
    if interfaces.BATCH in evidence.contrasts:
        shown = ratio(evidence, interfaces.BATCH, "times, many at once", per_cpu)
        tests.append(replace(shown, judged=False))
    return decide(claim, "lookups per CPU time through the NDB API are", tests)
