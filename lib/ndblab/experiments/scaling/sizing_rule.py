"""How many MySQL servers a host can run: the brief's rule, with its arithmetic.

The rule (brief-2021, "Scaling up a Single MySQL Server"): the CPUs left for MySQL servers on a half
of the host, divided by what one server uses at its best throughput.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from ndblab.judging.evidence import COMMON_SHARE, Evidence
from ndblab.judging.publication import Claim
from ndblab.planning.cpu_budget import BRIEF_CPUS, BRIEF_SQL_SIDE_CPUS
from ndblab.statistics import estimate

HALVES = 2
"""The brief has a socket for each of its two data nodes."""
_RULE, _BEST_CLIENTS, _BEST_CPU = "S-rule", "F4-peak-clients", "F4-cpu-32"


def rule(evidence: Evidence, claims: Sequence[Claim]) -> pd.DataFrame:
    """Apply the rule step by step; MissingData without a good run of one server, or its CPU.

    Returns
    -------
    Index `step`, with units in the names; columns `brief`, `here`, and `low` and `high` of measured
    values (NaN for constants, and for one run).
    """
    best = evidence.best(1)
    used = evidence.serving_cpu_pct(1, best) / 100
    left = COMMON_SHARE * evidence.cpus / HALVES
    published = {claim.id: claim.low for claim in claims}
    left_there, used_there = BRIEF_SQL_SIDE_CPUS / HALVES, (published[_BEST_CPU] or 0) / 100
    rows = {
        "logical CPUs": (BRIEF_CPUS, evidence.cpus),
        "logical CPUs left for MySQL servers and sysbench, per half": (left_there, left),
        "clients at the best throughput of one server": (published[_BEST_CLIENTS], best),
        "logical CPUs used at that throughput": (used_there, *estimate.positive(used)),
        "servers per half, by division": (left_there / used_there, *estimate.positive(left / used)),
        "servers per half, as published": (published[_RULE],),
    }
    return pd.DataFrame.from_dict(
        {step: [*values, *[float("nan")] * (4 - len(values))] for step, values in rows.items()},
        orient="index",
        columns=["brief", "here", "low", "high"],
    ).rename_axis("step")
