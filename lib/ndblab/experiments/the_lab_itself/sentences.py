"""The findings of the lab on itself, in words.

What the data leave open is said to be open.
"""

from __future__ import annotations

import math

import pandas as pd

from ndblab.experiments import the_lab_itself as trust
from ndblab.experiments.the_lab_itself.precision import WANTED
from ndblab.formatting import count, exact
from ndblab.statistics.estimate import Estimate
from ndblab.statistics.sequential import LOOKS


def on_goals(goals: pd.DataFrame) -> str:
    """Say how many goals are met."""
    numbers = goals["met"].value_counts()
    counts = ", ".join(f"{word} {numbers.get(word, 0)}" for word in ("yes", "no", "open"))
    return f"{count(len(goals), 'goal')}: {counts}."


def on_false_decisions(counted: pd.DataFrame, neighbours: Estimate) -> str:
    """Say how often identical sides are told apart, and how neighbouring blocks correlate."""
    rows = {row["analyses"]: row for row in counted.to_dict("records")}
    drawn, whole, single = (rows[n] for n in ("resampled", "as recorded", "each start"))
    if drawn["blocks"] < LOOKS[0]:
        return f"Before {LOOKS[0]} blocks there is no interval, and nothing is decided."
    finds = "finds a difference" if whole["false"] else "finds none"
    words = (
        f"Of {exact(drawn['number'])} resampled analyses of {count(drawn['blocks'], 'block')}, "
        f"{drawn['false_pct']:.1f} % find a difference that is not there. The analysis of the "
        f"blocks as recorded {finds}; of those of single cluster starts, {single['false']} of "
        f"{single['number']} find one."
    )
    if not neighbours.bounded:
        return words
    value, low, high = neighbours
    return f"{words} Neighbouring blocks correlate at {value:.2f} ({low:.2f} to {high:.2f})."


def on_distance(apart: pd.DataFrame) -> str:
    """Say what measuring side by side gains."""
    near, block, start = apart.to_dict("records")
    words = f"Two slices of one block differ by {near['sd_pct']:.1f} %"
    words += " (standard deviation of their ratio)."
    for row, where in ((block, "different blocks"), (start, "different cluster starts")):
        if not math.isnan(row["sd_pct"]):
            words += (
                f" Those of {where} differ by {row['sd_pct']:.1f} %, {row['times']:.2f} times as "
                f"much ({row['times_low']:.2f} to {row['times_high']:.2f})."
            )
    return words


def on_designs(designs: pd.DataFrame) -> str:
    """Say how long each design takes to reach a precise ratio."""
    phrases = "; ".join(_takes(row) for row in designs.itertuples())
    within = f"within {100 * WANTED:g} % on either side"
    return f"How long until a ratio is known to {within}: {phrases}."


def _takes(row: object) -> str:
    if math.isnan(row.sd_pct):
        return f"for {row.contrast} it cannot be told"
    if math.isnan(row.minutes):
        return f"{row.contrast} takes more than {LOOKS[-1]} blocks"
    return f"{row.contrast} takes {row.minutes:.1f} minutes"


def on_effect(effects: pd.DataFrame, contrast: str) -> str:
    """Say what side A of a contrast does to throughput, and to CPU time per query."""
    rows = effects[effects["contrast"] == contrast]
    if rows.empty:
        return "It was not measured."
    row = rows.iloc[0]
    a, b = row["a"], row["b"]
    # Sides are "with something" and "without", or each the name of a configuration.
    a, b = (a[0].upper() + a[1:], b) if b == "without" else (f"With {a}", f"with {b}")
    words = f"{a}, throughput is {_times(row, 'qps')} that {b}"
    if not math.isnan(row["query_us"]):
        words += f", and CPU time per query {_times(row, 'query_us')}"
    return f"{words}."


def on_idle_cpus(effects: pd.DataFrame) -> str:
    """Say whether idle CPUs explain that two servers give more than twice the throughput of one."""
    rows = effects.set_index("contrast")
    if not {trust.SERVERS, trust.SERVERS_AWAKE} <= set(rows.index):
        return "It was not measured."
    asleep, awake = rows.loc[trust.SERVERS], rows.loc[trust.SERVERS_AWAKE]
    words = (
        f"Two servers give {_times(asleep, 'qps')} the throughput of one where idle CPUs may "
        f"sleep, and {_times(awake, 'qps')} where they are kept awake. "
    )
    if math.isnan(awake["qps_low"]) or math.isnan(asleep["qps_low"]):
        return words + "Open: there is no interval yet."
    if awake["qps_high"] < asleep["qps_low"]:
        return words + "So idle CPUs are a part of the gain: a CPU that sleeps is slow to wake."
    if awake["qps_low"] > asleep["qps_high"]:
        return words + "So idle CPUs do not explain the gain: it is larger without them."
    return words + "Open: the intervals overlap, so idle CPUs may explain it or not."


def _times(row: pd.Series, name: str) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    if math.isnan(low):
        return f"{row[name]:.2f} times (no interval yet)"
    return f"{row[name]:.2f} times ({low:.2f} to {high:.2f})"
