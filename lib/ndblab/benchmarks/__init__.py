"""The lab, measured: what it costs, how long it takes, and whether that is within its goals.

In: nothing, or the name of one benchmark. Out: a table on the terminal, each figure beside its
goal. It never judges a claim, and leaves no dataset, no cluster and no installation behind. What is
called `faults` is a campaign rather than a benchmark, and runs only when it is asked for.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from ndblab.benchmarks.capacity_model import capacity
from ndblab.benchmarks.clusters import overhead, start
from ndblab.benchmarks.commands import everything, installation, memory, one_figure
from ndblab.benchmarks.datasets import read
from ndblab.benchmarks.outputs import draw, sizes
from ndblab.benchmarks.row import COLUMNS, Row, line
from ndblab.error import LabError
from ndblab.machine import host

__all__ = ["BENCHMARKS", "Row", "chosen", "run"]

BENCHMARKS: dict[str, Callable[[], list[Row]]] = {
    "read": read,
    "draw": draw,
    "sizes": sizes,
    "recorded": one_figure,
    "all": everything,
    "capacity": capacity,
    "memory": memory,
    "start": start,
    "overhead": overhead,
    "install": installation,
}


def run(only: str | None = None) -> None:
    """Run one benchmark, or all of them, and print each row as soon as it is there.

    Raises
    ------
    LabError
        If there is no such benchmark, or one could not be run; a goal that is missed is no error.
    """
    names = chosen(only)
    print(f"# {host.read().describe()}; load {os.getloadavg()[0]:.2f} as this began")
    print(line(COLUMNS), flush=True)
    failures: dict[str, LabError] = {}
    for name in names:
        try:
            rows = BENCHMARKS[name]()
        except LabError as error:
            if only is not None:
                raise
            failures[name] = error
            print(line((name, "", "could not be measured", "no")), flush=True)
            print(f"lab: {error}", file=sys.stderr)
            continue
        for row in rows:
            print(line(row.cells()))
            if row.note:
                print(f"    {row.note}", flush=True)
    if failures:
        raise LabError(
            "Some figures could not be measured",
            found=", ".join(failures),
            expected="a figure from each benchmark",
            next_step="The reasons are above; `./lab bench NAME` repeats one.",
        )


def chosen(only: str | None) -> list[str]:
    """Give the names of the benchmarks to run.

    Raises
    ------
    LabError
        If there is no benchmark of that name.
    """
    if only is None:
        return list(BENCHMARKS)
    if only not in BENCHMARKS:
        raise LabError(
            "There is no such benchmark",
            found=only,
            expected=", ".join([*BENCHMARKS, "faults"]),
            next_step="Choose one, or leave it out for all but the faults.",
        )
    return [only]
