"""Benchmarks of the lab: how long it takes, what it costs, and whether that meets its goals.

It never judges a claim, and leaves no dataset, no cluster and no installation behind.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Mapping

from ndblab.benchmarks import plain_optuna, planted_on_cluster
from ndblab.benchmarks.commands import installation, large, memory, redrawing, start
from ndblab.benchmarks.coverage import of_intervals
from ndblab.benchmarks.days import between_days
from ndblab.benchmarks.reading import sizes
from ndblab.benchmarks.resampled import compare
from ndblab.benchmarks.row import COLUMNS, Row, line
from ndblab.benchmarks.tuning import tuned
from ndblab.error import LabError
from ndblab.machine import host
from ndblab.planning import number

__all__ = ["BENCHMARKS", "Row", "run"]

BENCHMARKS: dict[str, Callable[[], list[Row]]] = {
    "sizes": sizes,
    "recorded": functools.partial(redrawing, "--figure", "6", goal_s=7),
    "all": functools.partial(redrawing, "--all", goal_s=15),
    "large": large,
    "coverage": of_intervals,
    "compare": compare,
    "days": between_days,
    "memory": memory,
    "start": start,
    "tune": tuned,
    "install": installation,
}


def run(only: str | None = None, real: object = None) -> None:
    """Run one benchmark, or all of them, and print each row as soon as it is measured.

    LabError if the benchmark is unknown, or one could not be run; a missed goal is not an error.

    Parameters
    ----------
    real : on a real cluster, how many comparisons `compare` makes, or for how many minutes plain
        Optuna searches (`tune`); None for what is simulated.
    """
    if only is not None and only not in BENCHMARKS:
        raise LabError(
            "Unknown benchmark",
            found=only,
            expected=", ".join(BENCHMARKS),
            next_step="Choose one, or drop the name to run all.",
        )
    chosen = BENCHMARKS if only is None else {only: BENCHMARKS[only]}
    if real is not None:
        chosen = _on_a_cluster(chosen, real)
    print(f"# {host.read().describe()}; load {os.getloadavg()[0]:.2f} at the start")
    print(line(COLUMNS), flush=True)
    failed: list[str] = []
    for name, benchmark in chosen.items():
        try:
            rows = benchmark()
        except LabError as error:
            if only is not None:
                raise
            failed.append(name)
            print(line((name, "", "could not be measured", "no")), flush=True)
            print(f"lab: {error}", file=sys.stderr)
            continue
        for row in rows:
            print(line(row.cells()))
            if row.note:
                print(f"    {row.note}", flush=True)
    if failed:
        raise LabError(
            "Some benchmarks could not be run",
            found=", ".join(failed),
            expected="values from each benchmark",
            next_step="The reasons are above; `./lab bench NAME` repeats one.",
        )


def _on_a_cluster(
    chosen: Mapping[str, Callable[[], list[Row]]], real: object
) -> dict[str, Callable[[], list[Row]]]:
    """Return the benchmark on a real cluster in place of the simulated one."""
    on_a_cluster = {"compare": planted_on_cluster.real, "tune": plain_optuna.on_this_host}
    if len(chosen) > 1 or not set(chosen) <= set(on_a_cluster):
        raise LabError(
            "Only the benchmarks compare and tune have --real",
            found=", ".join(chosen),
            next_step="Type: ./lab bench compare --real 40, or ./lab bench tune --real 60",
        )
    wanted = number.whole("--real", real)
    return {name: functools.partial(on_a_cluster[name], wanted) for name in chosen}
