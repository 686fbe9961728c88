"""Conditions of the claims on long runs: how long, how warm, how quiet and how steady a host."""

from __future__ import annotations

import math

import pandas as pd

from ndblab.error import MissingData
from ndblab.experiments.stability import analysis as stability
from ndblab.experiments.stability import control
from ndblab.formatting import significant
from ndblab.judging.conditions import State, condition, demanded
from ndblab.judging.evidence import Evidence
from ndblab.judging.publication import Claim
from ndblab.judging.verdict import allowed
from ndblab.planning.workload import READ_WRITE
from ndblab.statistics import series, summary

# The warm-up after which, by the brief, a measurement as short as a window is enough, and how long
# a run must be to show it.
WARMUP_S, RUN_S = 120, 600
# Windows as short as the brief's measurements, the first of which decides; and the distance from
# the mean that counts as near.
WINDOWS_S, NEAR = (120, 60), 0.03

# Above this share of the host's CPUs, unrelated processes may explain what varies. The kernel and
# system services take some 3 % beside a saturated cluster.
QUIET_PCT = 6
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
    others = evidence.usage.of_others(runs, evidence.cpus)
    if others.isna().any() or runs["host_steal_pct"].isna().any():
        raise MissingData("what unrelated processes or the hypervisor took was not recorded")
    others_pct = float(others.max())
    stolen_pct = float(runs["host_steal_pct"].mean())
    words = f"unrelated processes used {significant(others_pct)} % of the host's CPUs"
    if others_pct > QUIET_PCT:
        return State(False, f"{words} (at most {QUIET_PCT} % wanted)")
    stolen = f"the hypervisor took {significant(stolen_pct)} % of the host's CPUs"
    if stolen_pct > STOLEN_PCT:
        return State(False, f"{stolen} (at most {STOLEN_PCT} % wanted)")
    return State(True, words)


@condition("steady-host")
def steady_host(claim: Claim, evidence: Evidence) -> State:
    """The speed of a control beside the run does itself what the claim says of throughput.

    Without a control, what varies may be the host or NDB. The load generator's own CPU per query
    does not tell: per second it hardly changes, so it is one over throughput.
    """
    beside = evidence.dataset.tables["control"]
    if beside.empty:
        return State(False, "no control was recorded beside the run: what varies may be the host")
    least = WINDOWS_S[0] if claim.id == "W-warmup" else series.SECTIONS
    states = []
    for _, run in at_best(evidence).iterrows():
        speed = control.of_run(beside, run)
        if len(speed) <= least or speed.index.max() < 0.9 * run["duration_s"]:
            raise MissingData("the control beside the run has too few seconds")
        states.append(_alike(claim, speed))
    return next((state for state in states if not state.holds), states[0])


def _alike(claim: Claim, speed: pd.Series) -> State:
    """Return whether the seconds of a control meet a claim on those of throughput.

    Of the range of p95, and of the highest and lowest second, the control's central 95 % must be as
    close to its middle as the claim allows.
    """
    subject = "the control beside the run, which NDB has no part in,"
    least, most = allowed(claim)
    if claim.id == "F1-drift":
        pct = series.trend(speed).value
        words = f"{subject} changed its speed by {significant(pct)} % an hour"
        return demanded(least <= pct <= most, words, claim.published)
    if claim.id == "W-warmup":
        seconds = WINDOWS_S[0]
        share = series.windows_share(speed, seconds, NEAR).value
        words = f"{subject} had its mean speed within {100 * NEAR:g} % in a share "
        words += f"{significant(share)} of windows of {seconds} s"
        return demanded(share >= least, words, f"{least} or more")
    ends = [abs(end - 1) for end in (least, most) if math.isfinite(end)]
    widest = most if claim.id == "F1-stable" else max(ends)
    width = float(series.band(speed, stability.CENTRAL_SHARE, 1.0).value)
    words = f"{subject} stayed within +-{significant(100 * width)} % for 95 % of seconds"
    return demanded(width <= widest, words, f"at most {significant(100 * widest)} %")


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
