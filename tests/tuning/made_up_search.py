"""Datasets of searches made up for tests, with known truths; never a measurement."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

import made_up_slices
from made_up_comparison import HOST
from ndblab import dataset
from ndblab.dataset import SCHEMAS
from ndblab.design.contrast import TWINS, A, B, Contrast, Side
from ndblab.planning import profile
from ndblab.tuning.executing import gains_of
from ndblab.tuning.history import CONFIRM, History, Record, Trial
from ndblab.tuning.space import BASELINE, Configuration
from ndblab.tuning.wanted import NAME, Wanted

MORE = {
    "queries": 4000, "reconnects": 0, "latency_avg_ms": 1.0, "client_cpu_pct": 5.0,
    "host_steal_pct": 0.0, "company_pct": 0.0, "company": "",
}  # fmt: skip

DESCRIBED = {
    "host": HOST.to_dict(), "versions": {"ndb": "9.7.4", "mysqld": "9.7.4"},
    "plan": {"budget": {"kind": "shared", "reason": "asked for"}},
    "profile": {"name": "quick"}, "overrides": {}, "git_commit": "0" * 40,
}  # fmt: skip
"""What the manifest of a search has, in short."""


class Truth(NamedTuple):
    """The quantities of a configuration as multiples of the baseline's."""

    qps: float
    p95: float
    cpu: float
    memory: float


def write(
    folder: Path, wanted: Wanted, truths: Mapping[Configuration, Truth], blocks: int = 6
) -> tuple[dataset.Dataset, History]:
    """Write a search whose finalists were confirmed, and return what its journal has."""
    size = profile.get("quick", {"servers": [1], "clients": [16]})
    described = DESCRIBED | {"profile": vars(size)}
    trials = []
    with dataset.Writer.open(folder, NAME, {"seed": 1}, described) as writer:
        for seed, (own, truth) in enumerate(truths.items(), 1):
            trial = Trial(CONFIRM, own, blocks, TWINS)
            sides = (Side(wanted.point(c, n)) for c, n in ((BASELINE, "default"), (own, "tried")))
            contrast = Contrast(trial.contrast, TWINS, *sides, (NAME,), one_start=True)
            _append(writer, contrast, blocks, truth, seed)
            trials.append(trial)
        data = writer.finish(starts=2 * blocks * len(truths))
    gains = [(trial, gains_of(data, trial.contrast, wanted.request.goal)) for trial in trials]
    return data, History(Record(trial, tuple(map(float, g)), 400.0) for trial, g in gains)


def _append(
    writer: dataset.Writer, contrast: Contrast, blocks: int, truth: Truth, seed: int
) -> None:
    rng = np.random.default_rng([seed, 9])
    slices = made_up_slices.of(contrast, blocks, ratio=1 / truth.qps, sd=(0.02, 0, 0.01), seed=seed)
    is_b = slices["side"] == B
    noise = np.exp(rng.normal(0, 0.03, len(slices)))
    slices = slices.assign(
        **MORE, latency_p95_ms=np.where(is_b, truth.p95, 1.0) * noise
    )[list(SCHEMAS["slices"].columns)]  # fmt: skip
    processes = made_up_slices.processes(slices, {A: 60.0, B: 60.0 * truth.cpu})
    b = set(slices.loc[is_b, "run_id"])
    held = 1e9 * np.where(processes["run_id"].isin(b), truth.memory, 1.0)
    held *= np.exp(rng.normal(0, 0.01, len(held)))
    cpu = processes["cpu_pct"] * np.exp(rng.normal(0, 0.03, len(held)))
    processes = processes.assign(rss_bytes=held.astype(int), cpu_pct=cpu)
    for run_id, row in slices.groupby("run_id", sort=False):
        mine = processes[processes["run_id"] == run_id]
        writer.append(str(run_id), {"slices": row, "processes": mine})
