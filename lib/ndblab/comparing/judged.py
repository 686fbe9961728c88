"""What a dataset says about its two sides: B over A, with intervals valid at every look.

Throughput decides. The 95th latency percentile, CPU per query and errors guard it: any of them may
show that B is worse, so the 95 % hold for all of them together (Bonferroni). An open comparison may
be continued, as the intervals are those of `statistics.sequential`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ndblab.comparing.made import CONTRAST, THROUGHPUT
from ndblab.dataset import Dataset
from ndblab.dataset.manifest import FAILED_LOADS
from ndblab.dataset.schema import OK
from ndblab.error import MissingData
from ndblab.formatting import significant
from ndblab.judging.publication import Claim
from ndblab.judging.verdict import INCONCLUSIVE, Finding
from ndblab.measuring.deciding import board
from ndblab.measuring.deciding.choice import Standing
from ndblab.planning.workload import AGAIN, ERRED, WAITED
from ndblab.statistics import contrasts, cpu_use, sequential
from ndblab.statistics.estimate import CONFIDENCE, Estimate

FASTER, SLOWER, EQUIVALENT, UNDECIDED = "faster", "slower", "equivalent", "undecided"
WITHIN = 0.02
"""How far from equal still counts as equivalent, unless the user says otherwise."""
P95, CPU, ERRORS = "p95", "CPU per query", "errors"
GUARDS = (P95, CPU, ERRORS)
GUARD_CONFIDENCE = 1 - (1 - CONFIDENCE) / len(GUARDS)
_GAP_S = 120
"""Slices further apart belong to two measurements, or a cluster start lies between them."""


@dataclass(frozen=True)
class Judged:
    """Ratios of B over A, their outcome, and what the measurement took.

    `worse` names the guards that B violates. `errors` counts the loads that ended with errors, by
    side, `disturbed` the slices left out because others used the host. If there is no whole block,
    `void` says why slices are void.
    """

    outcome: str
    throughput: Estimate
    p95: Estimate
    cpu: Estimate
    errors: Mapping[str, int]
    worse: tuple[str, ...]
    blocks: int
    minutes: float
    starts: int
    qps: Mapping[str, float]
    disturbed: int = 0
    void: str = ""

    @property
    def status(self) -> int:
        """Return the exit status of the command: 0 not slower, 1 slower or worse, 3 undecided."""
        if self.outcome == SLOWER or self.worse:
            return 1
        return 3 if self.outcome == UNDECIDED else 0


def outcome(ratio: Estimate, within: float = WITHIN) -> str:
    """Decide by the whole interval of B over A.

    >>> outcome(Estimate(1.04, 1.02, 1.06)), outcome(Estimate(1.0, 0.99, 1.01))
    ('faster', 'equivalent')
    """
    if not ratio.bounded:
        return UNDECIDED
    if 1 - within <= ratio.low and ratio.high <= 1 + within:
        return EQUIVALENT
    return FASTER if ratio.low > 1 else SLOWER if ratio.high < 1 else UNDECIDED


def judge(data: Dataset, within: float = WITHIN) -> Judged:
    """Judge a comparison as far as it has been measured."""
    slices = data.slices
    mine = slices[slices["contrast"] == CONTRAST]
    logs = block_logs(mine, "qps")
    ratio = contrasts.ratio(logs)
    p95 = contrasts.ratio(block_logs(mine, "latency_p95_ms"), GUARD_CONFIDENCE)
    cpu_us = _cpu_us(mine, data.tables["processes"])
    cpu = contrasts.ratio(block_logs(mine, cpu_us), GUARD_CONFIDENCE)
    status = mine["status"].astype(str)
    errors = _errors(data, mine)
    worse = [name for name, guard in ((P95, p95), (CPU, cpu)) if guard.low > 1 + within]
    worse += [ERRORS] if _more_errors(errors) else []
    good = mine[status == OK]
    means = good.groupby("side", observed=True)["qps"].mean()
    return Judged(
        outcome(ratio, within), ratio, p95, cpu, errors, tuple(worse), len(logs),
        _minutes(mine), 0 if "attached" in data.manifest else int(data.manifest.get("starts", 0)),
        {str(side): float(value) for side, value in means.items()},
        int(status.str.startswith("company:").sum()), "" if len(logs) else _void(status),
    )  # fmt: skip


def blocks(data: Dataset, contrast: str = CONTRAST) -> tuple[np.ndarray, ...]:
    """Return log ratios of B over A, by whole block, of throughput, p95 and CPU per query."""
    logs = (block_logs(data.slices, own, contrast) for own in quantities(data, contrast))
    return tuple(map(contrasts.of_blocks, logs))


def quantities(data: Dataset, contrast: str = CONTRAST) -> tuple[str, str, pd.Series]:
    """Return throughput, p95 and CPU per query of a contrast: columns of slices, or by run id."""
    mine = data.slices[data.slices["contrast"] == contrast]
    return "qps", "latency_p95_ms", _cpu_us(mine, data.tables["processes"])


def findings(data: Dataset, within: float = WITHIN) -> dict[str, Finding]:
    """Return the one finding that measuring goes on for."""
    logs = block_logs(data.slices, "qps")
    ratio = contrasts.ratio(logs)
    decided = outcome(ratio, within)
    if decided != UNDECIDED:
        return {THROUGHPUT: Finding(decided, _numbers(ratio), "", ratio)}
    waits = {CONTRAST: _chances(logs, within)}
    return {THROUGHPUT: Finding(INCONCLUSIVE, _numbers(ratio), "", ratio, waits)}


def more_minutes(data: Dataset, within: float, block_s: float) -> int:
    """Return whole minutes, 5 to 60, in which an open comparison would probably be decided.

    Parameters
    ----------
    block_s : expected seconds of a block, used until one has been measured.
    """
    result = judge(data, within)
    block_s = 60 * result.minutes / result.blocks if result.blocks else block_s
    open_ = findings(data, within)
    standing = Standing(open_, {CONTRAST: result.blocks}, {CONTRAST: block_s})
    return board.minutes(standing, open_)


def claims(within: float = WITHIN) -> dict[str, Claim]:
    """Return what the board draws an interval against: the range that counts as equivalent."""
    blank = dict.fromkeys(Claim.__dataclass_fields__, "")
    own = {"id": THROUGHPUT, "comparison": "between", "budgets": {}}
    return {THROUGHPUT: Claim(**blank | own | {"low": 1 - within, "high": 1 + within})}


def _chances(logs: np.ndarray, within: float) -> Mapping[int, float] | None:
    """Return the chance of each later look to decide, at least: that of the likelier outcome."""
    if not logs.size:
        return None
    apart = sequential.chances(logs, 0.0, 0.0)
    alike = sequential.chances(logs, math.log1p(-within), math.log1p(within))
    if apart is None or alike is None:
        return None
    return {look: max(apart[look], alike[look]) for look in apart}


def block_logs(
    slices: pd.DataFrame, quantity: str | pd.Series, contrast: str = CONTRAST
) -> np.ndarray:
    """Return logarithms of B over A, block by block; none before there is a whole block."""
    try:
        return -contrasts.log_ratios(slices, contrast, quantity)
    except MissingData:
        return np.empty((0, 1))


def _cpu_us(slices: pd.DataFrame, processes: pd.DataFrame) -> pd.Series:
    """Return the CPU time of a query by run id; nothing where it was not recorded."""
    good = slices[(slices["status"] == OK) & (slices["qps"] > 0)]
    try:
        cpu_us = cpu_use.serving_query_us(good, processes)
    except (MissingData, ValueError):
        return pd.Series(dtype=float)
    return pd.Series(cpu_us.to_numpy(float), index=good["run_id"].astype(str))


def _void(status: pd.Series) -> str:
    """Return the most frequent reason why slices are void, other than errors and company."""
    own = status[~status.isin([OK, WAITED, AGAIN])]
    others = own[~own.str.match("errors:|reconnects:|company:")]
    return "" if others.empty else str(others.value_counts().index[0])


def _errors(data: Dataset, slices: pd.DataFrame) -> dict[str, int]:
    """Return how many loads of each side ended with errors, those of repeated blocks included.

    Datasets of older labs have only the last try of each block.
    """
    if noted := data.manifest.get(FAILED_LOADS):
        return {side: int(noted.get(f"{CONTRAST} {side}", 0)) for side in ("a", "b")}
    erred = slices[slices["status"].astype(str).str.startswith(ERRED)]
    loads = erred.drop_duplicates(["block", "side"])["side"].astype(str)
    return {side: int((loads == side).sum()) for side in ("a", "b")}


def _more_errors(errors: Mapping[str, int]) -> bool:
    """Return whether B has more loads with errors than chance would give equal sides."""
    from scipy.stats import binomtest

    both = errors["a"] + errors["b"]
    if not both:
        return False
    chance = binomtest(errors["b"], both, 0.5, alternative="greater").pvalue
    return bool(chance < 1 - GUARD_CONFIDENCE)


def _minutes(slices: pd.DataFrame) -> float:
    """Return how long measuring took, without the time between two measurements."""
    if slices.empty:
        return 0.0
    times = pd.to_datetime(slices["started_utc"]).drop_duplicates().sort_values()
    gaps_s = times.diff().dt.total_seconds().dropna().clip(upper=_GAP_S)
    return float(gaps_s.sum() + (gaps_s.median() if len(gaps_s) else 0.0)) / 60


def _numbers(ratio: Estimate) -> str:
    if math.isnan(ratio.value):
        return ""
    interval = f" ({significant(ratio.low)} to {significant(ratio.high)})" if ratio.bounded else ""
    return f"B over A {significant(ratio.value)}{interval}"
