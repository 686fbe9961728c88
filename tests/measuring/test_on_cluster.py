"""Whole measurements on real clusters: of several kinds, and killed in the middle."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import small_runs
import waiting
from campaign import checks
from ndblab import dataset
from ndblab.design import catalogue
from ndblab.planning.workload import is_good

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

PORT = 13160
PROGRAM = """
import dataclasses, pathlib, sys
from ndblab.design import catalogue
from ndblab.measuring import measurement
from ndblab.measuring.request import Request
measurement.RUNS = pathlib.Path(sys.argv[1])
swept = dataclasses.replace(catalogue.find(figure=6), contrasts=None)
measurement.measure(swept, Request("smoke", port=int(sys.argv[2]), progress=False))
"""


@pytest.mark.parametrize(
    ("name", "differing", "kinds", "changes"),
    [
        ("shm-vs-tcp", "transporter", {"shm", "tcp"}, {"contrasts": None}),
        ("thread-balance", "variant", {"default", "balanced-threads"}, {}),
    ],
)
def test_an_experiment_of_several_kinds_measures_each(measure, name, differing, kinds, changes):
    """Each kind has its runs, and each cluster its own configuration; nothing is measured twice."""
    experiment = replace(catalogue.find(name), **changes)
    size = {"clients": (8,), "duration_s": 1}
    clusters = experiment.sweep(experiment.size("smoke", size)).clusters
    data = measure(experiment, size=size)
    assert set(data.runs[differing]) == kinds
    assert data.runs["status"].map(is_good).all()
    assert sum(name.endswith("config.ini") for name in data.configs()) >= len(clusters)
    assert data.manifest["filled"]["data_memory_bytes"].keys() == {"2", "3"}
    again = measure(experiment, size=size, again=False)
    assert again.id == data.id


def test_a_sweep_killed_in_the_middle_is_resumed_where_it_stopped(cluster_folder, tmp_path: Path):
    """After SIGKILL nothing runs, complete runs are saved, and the resumed sweep repeats none."""
    folder, runs, before = cluster_folder, tmp_path / "runs", checks.orphaned_segments()
    argv = [sys.executable, "-c", PROGRAM, str(runs), str(PORT)]
    with subprocess.Popen(argv) as lab:
        waiting.until(
            lambda: small_runs.saved(runs) >= 2 or lab.poll() is not None,
            180, "two runs",
        )  # fmt: skip
        lab.send_signal(signal.SIGKILL)
    left = checks.leaks(folder, PORT, before, patience_s=30)
    assert not any(left.values())
    saved = checks.complete_runs(runs)
    assert len(saved) >= 2
    assert subprocess.run(argv, check=False).returncode == 0
    data = dataset.read(next(runs.glob("*/*")))
    assert data.complete
    began = data.runs.set_index("run_id")["started_utc"]
    experiment = catalogue.find(figure=6)
    assert len(began) == len(experiment.sweep(experiment.size("smoke")))
    assert {name: began[name] for name in saved} == saved
