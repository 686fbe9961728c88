"""How fast a real cluster starts; it leaves nothing running."""

from __future__ import annotations

import statistics
import time

from ndblab import install
from ndblab.benchmarks.commands import PORT
from ndblab.benchmarks.row import Row, shown
from ndblab.cluster import datadir, start_stop
from ndblab.design import catalogue
from ndblab.measuring import measurement
from ndblab.planning import profile

STARTED_SERVERS, STARTS = (1, 2, 4, 8, 16), 3


def start() -> list[Row]:
    """Time the start of clusters of 1 to 16 servers, until they are ready."""
    binaries = install.ensure()
    template = start_stop.home() / f"{datadir.TEMPLATE}-{binaries.ndb_version}"
    copied = "existed" if template.exists() else "was made by the first start"
    seconds: dict[int, list[float]] = {servers: [] for servers in STARTED_SERVERS}
    for servers in shown([*STARTED_SERVERS] * STARTS, "start"):
        size = profile.get("quick", {"servers": servers})
        plan = measurement.plan_for(catalogue.find(figure=6), size, "auto", PORT)[1]
        began = time.perf_counter()
        with start_stop.running(plan, binaries, progress=False):
            seconds[servers].append(time.perf_counter() - began)
    rows = [
        Row(
            f"start of 2 data nodes and {servers} mysqld",
            tuple(values),
            "s",
            at_most=25 if servers == STARTED_SERVERS[-1] else None,
        )
        for servers, values in seconds.items()
    ]
    pairs = [(servers, value) for servers, values in seconds.items() for value in values]
    growth, fixed = statistics.linear_regression(*zip(*pairs, strict=True))
    note = f"least squares over {len(pairs)} starts: {fixed:.1f} s and this for each server; the "
    note += f"data folder that is copied {copied}"
    return [*rows, Row("start, each further mysqld", (growth,), "s", note=note)]
