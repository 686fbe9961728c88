"""Conditions of the claims on long runs: how long, how warm, how quiet and how steady a host."""

from __future__ import annotations

import pandas as pd

from ndblab.error import MissingData
from ndblab.experiments.stability import analysis as stability
from ndblab.experiments.stability import control
from ndblab.formatting import significant
from ndblab.judging.conditions import State, condition, demanded
from ndblab.judging.evidence import Evidence
from ndblab.judging.publication import Claim
from ndblab.planning.workload import READ_WRITE
from ndblab.statistics import series, summary

# The warm-up after which, by the brief, a measurement as short as a window is enough, and how long
# a run must be to show it.
WARMUP_S, RUN_S = 120, 600
# Sources give the range of a curve, not of every second: the central 95 % of seconds stand for it.
RANGE = (0.025, 0.975)

# Above this share of the host's CPUs, unrelated processes may explain what varies. The kernel and
# system services take some 3 % beside a saturated cluster.
QUIET_PCT = 6
STEADY_PCT = 6
"""How much a host may vary for the published band of 3 % to either side."""
STOLEN_PCT = 1
"""Where the hypervisor takes more, it may be what varies: stolen time comes in bursts."""


@condition("hour")
def an_hour(claim: Claim, evidence: Evidence) -> State:
    """A run lasts an hour, as the source's does; sysbench ends milliseconds early or late."""
    runs = written(evidence) if claim.id == "R-long" else at_best(evidence)
    seconds = float(runs["duration_s"].max())
    words = f"the longest run lasted {seconds:.0f} s"
    return demanded(seconds > 0.99 * stability.HOUR_S, words, f"{stability.HOUR_S} s")


@condition("warm")
def warmed_up(claim: Claim, evidence: Evidence) -> State:
    """A warm-up as the claim has it, and a run long enough for its windows."""
    runs = at_best(evidence)
    warmup_s, duration_s = runs["warmup_s"].min(), runs["duration_s"].min()
    words = f"a run of {significant(duration_s)} s follows a warm-up of {significant(warmup_s)} s"
    holds = warmup_s >= WARMUP_S and duration_s >= RUN_S
    return demanded(holds, words, f"{RUN_S} s or more after {WARMUP_S} s")


@condition("quiet")
def quiet(claim: Claim, evidence: Evidence) -> State:
    """Unrelated processes and the hypervisor take too little to explain what varies."""
    runs = at_best(evidence)
    others_pct, stolen_pct = evidence.others_pct(runs), float(runs["host_steal_pct"].mean())
    words = f"unrelated processes used {significant(others_pct)} % of the host's CPUs"
    if others_pct > QUIET_PCT:
        return State(False, f"{words} (at most {QUIET_PCT} % wanted)")
    stolen = f"the hypervisor took {significant(stolen_pct)} % of the host's CPUs"
    if stolen_pct > STOLEN_PCT:
        return State(False, f"{stolen} (at most {STOLEN_PCT} % wanted)")
    return State(True, words)


@condition("steady-host")
def steady_host(claim: Claim, evidence: Evidence) -> State:
    """The host stays as fast as the claim allows throughput to vary, by a control beside the run.

    For a claim on seconds that is the central 95 % of the control's seconds; for one on the whole
    run, sixths of it. Without a control, what varies may be the host or NDB. The load generator's
    own CPU per query does not tell: per second it hardly changes, so it is one over throughput.
    """
    beside = evidence.dataset.tables["control"]
    if beside.empty:
        return State(False, "no control was recorded beside the run: what varies may be the host")
    allowed = _of_seconds(claim)
    states = []
    for _, run in at_best(evidence).iterrows():
        speed = control.of_run(beside, run)
        if len(speed) < series.SECTIONS:
            raise MissingData("the control beside the run has too few seconds")
        states.append(
            _by_sixths(control.costs(speed)) if allowed is None else _by_seconds(speed, allowed)
        )
    return next((state for state in states if not state.holds), states[0])


def _of_seconds(claim: Claim) -> float | None:
    """Return how far a claim lets seconds be from their middle, as a share; None for other claims.

    >>> from types import SimpleNamespace
    >>> _of_seconds(SimpleNamespace(id="F1-stable", high=0.0303))
    0.0303
    """
    if claim.id == "F1-stable":
        return claim.high
    if claim.id in ("F1-max", "F1-floor", "F1-p95-range"):
        return max(abs(bound - 1) for bound in (claim.low, claim.high) if bound is not None)
    return None


def _by_seconds(speed: pd.Series, allowed: float) -> State:
    """Return whether the central 95 % of a control's seconds is as narrow as a claim allows."""
    width = float(series.band(speed, RANGE[1] - RANGE[0], 1.0).value)
    words = "the control beside the run, which NDB has no part in, stayed within +-"
    words += f"{significant(100 * width)} % for 95 % of seconds"
    return demanded(width <= allowed, words, f"at most {significant(100 * allowed)} %")


def _by_sixths(costs: pd.Series) -> State:
    """Return whether the control's cost differs little between the sixths of a run."""
    pct = 100 * (costs.max() / costs.min() - 1)
    words = f"the control's CPU time for equal work was {significant(pct)} % higher in one "
    words += "sixth of the run than in another"
    return demanded(pct <= STEADY_PCT, words, f"at most {STEADY_PCT} %")


def written(evidence: Evidence) -> pd.DataFrame:
    """Return the good runs with writes; MissingData if there is none."""
    runs = summary.select(evidence.good, workload=READ_WRITE)
    if runs.empty:
        raise MissingData(f"no good run of {READ_WRITE}")
    return runs


def at_best(evidence: Evidence) -> pd.DataFrame:
    """Return the runs of the most servers at their best; MissingData if there is none."""
    if not evidence.servers:
        raise MissingData("no good run")
    servers = evidence.servers[-1]
    return evidence.runs_at(servers, evidence.best(servers))
