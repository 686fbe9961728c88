"""The cluster that each point of a sweep needs, one at a time.

In: an experiment, its plans, the binaries. Out: measured runs; the exact configuration files and
the cost of filling the tables go to the dataset's writer. It decides no order.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ndblab.cluster import start_stop
from ndblab.cluster.cluster import Cluster
from ndblab.faults import run_with_fault
from ndblab.planning import config
from ndblab.planning.point import DEFAULT_VARIANT, Point
from ndblab.workloads import measured_run, registry, sysbench

if TYPE_CHECKING:
    from ndblab import dataset as datasets
    from ndblab.experiments.experiment import Experiment
    from ndblab.install import Binaries
    from ndblab.planning.deployment import Plan
    from ndblab.planning.profile import Profile
    from ndblab.workloads.load_generator import Filled


@dataclass
class Clusters:
    """Clusters by variant; one runs on for as long as the points that follow need no other."""

    experiment: Experiment
    size: Profile
    plans: Mapping[str, Plan]
    binaries: Binaries
    writer: datasets.Writer
    progress: bool
    _cluster: Cluster | None = None
    _stack: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def measure(self, cluster: Cluster, point: Point, repeat: int) -> measured_run.Run:
        """Measure one run at a point, on its running cluster."""
        job = self.experiment.job(self.size, self.binaries, cluster.plan, point)
        fault = self.experiment.variant(point.variant).fault
        if fault is None:
            return measured_run.measure(cluster, job, repeat)
        measured = run_with_fault.measure(cluster, job, repeat, fault)
        if not measured.recovered:
            self.close()
        return measured

    def close(self) -> None:
        """Stop the cluster that is running."""
        self._cluster = None
        self._stack.close()

    def ready(self, point: Point) -> Cluster:
        """Return the cluster of a point with its tables filled; start it unless it is running."""
        plan = self.plans[point.variant]
        if self._cluster is not None and self._cluster.plan == plan:
            return self._cluster
        self.close()
        started = self._stack.enter_context(start_stop.running(plan, self.binaries, self.progress))
        job = self.experiment.job(self.size, self.binaries, plan, point)
        filled = registry.find(point.workload).prepare(started, job)
        usual = plan == self.plans[DEFAULT_VARIANT]
        half = sysbench.weigh(started, job) if usual and self.experiment.weighs_rows else None
        started.limit()
        for name in (config.CONFIG_INI, config.MY_CNF):
            text = (started.folder / name).read_text()
            self.writer.add_config(name if usual else f"{point.variant}.{name}", text)
        if usual:
            self.writer.note(
                timings={**started.timings, "prepare_s": filled.seconds},
                filled=_described(filled) | ({"half": _described(half)} if half else {}),
            )
            self.progress = False
        self._cluster = started
        return started


def _described(filled: Filled) -> dict[str, object]:
    taken = {str(node): used for node, used in filled.data_memory_bytes.items()}
    return {"rows": filled.rows, "data_memory_bytes": taken}
