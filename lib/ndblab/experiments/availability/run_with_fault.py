"""One run with a fault: load, fault, recovery, and what the cluster holds afterwards.

A cluster that does not recover is a result, not a crash. It judges nothing.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ndblab.cluster import readiness
from ndblab.error import LabError
from ndblab.experiments.availability import injection
from ndblab.measuring import measured_run
from ndblab.workloads.load_generator import OK, Job, LoadGenerator

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.cluster.cluster import Cluster
    from ndblab.experiments.availability.fault import Fault

AFTER = 0.5
"""Time under load after the last action, as a share of the time before the fault."""


def measure(cluster: Cluster, job: Job, repeat: int, fault: Fault) -> measured_run.Run:
    """Load a cluster, do a fault to it, and read what it holds afterwards.

    The load runs for the profile's seconds before the fault, then until the last action is done,
    then for half of those seconds.

    Raises
    ------
    LabError
        If the load fails, or the cluster before any fault.
    """
    before_s = job.profile.warmup_s + job.profile.duration_s
    status, marks, tables = OK, [], {}
    with measured_run.under_load(cluster, job) as measured:
        time.sleep(before_s)
        try:
            for mark in injection.perform(cluster, fault):
                marks.append(mark)
                for role, node_id, pid, host in cluster.pids():  # those started again are new
                    measured.samples.watch(role, node_id, pid, host)
            time.sleep(AFTER * before_s)
        except LabError as failure:
            status = _words(failure)
        finally:
            injection.heal(cluster)
        measured.finish()
    if status == OK:
        status, tables = _recover(cluster, measured.generator)
    run = measured.result(repeat, status, marks, tables)
    return dataclasses.replace(run, recovered=status == OK)


def _recover(cluster: Cluster, generator: LoadGenerator) -> tuple[str, Mapping[str, pd.DataFrame]]:
    """Wait until every node serves and read back what the load left: "ok", or what failed."""
    try:
        for node in cluster.plan.nodes:
            readiness.wait_node(cluster, node)
        return OK, generator.read_back(cluster)
    except LabError as failure:
        return _words(failure), {}


def _words(failure: LabError) -> str:
    return f"{failure.what}: {failure.found}"
