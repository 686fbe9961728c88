"""Datasets of experiments: those in this repository, and any other."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from ndblab import dataset as datasets
from ndblab.dataset.manifest import COMPLETE, complete_in
from ndblab.dataset.sealed import MANIFEST
from ndblab.design import catalogue
from ndblab.design.catalogue import find
from ndblab.design.experiment import Experiment
from ndblab.error import LabError
from ndblab.measuring import measurement
from ndblab.measuring.request import Request
from ndblab.planning.workload import is_good

ROOT, RECORDED = measurement.ROOT, measurement.RECORDED
LATEST = "latest"
_HELD: WeakValueDictionary[tuple[Path, int], datasets.Dataset] = WeakValueDictionary()
_NOT_DESIGN = ("host", "hosts", "builds")
"""Parts of a dataset's identity that may differ between recordings of one design."""
_DIRTY = "-dirty"
RULE_SINCE_UTC = "2026-11-27"
"""From this day on a recording may have failed runs (docs/reading.md)."""
LEAST_GOOD = 2
"""Good runs that each point of a sweep must keep."""
_REPEAT = r"_r\d+(?=_|$)"
_PRECISION = ("profile", "sweep")
"""Parts whose number of repeats says how precise a recording is, not what it measures."""
_SWEPT = (*_PRECISION, "plan", "versions")


def obtain(
    name: str, dataset: str = "recorded", size: str = "quick", budget: str = "auto", **overrides
) -> datasets.Dataset:
    """Return the data of an experiment.

    LabError if the dataset cannot be read, is of another experiment, or cannot be measured here.

    Parameters
    ----------
    dataset : "recorded" for the one that comes with the lab, "measure" for a new one from this
        host, or the folder of any other, as for `folder_named`.
    size, budget, overrides : for a new measurement: name of the profile, CPU budget, and values
        by field of the profile.
    """
    experiment = find(name)
    if dataset == "measure":
        return measurement.measure(experiment, Request(size, budget, overrides))
    data = _recorded(name) if dataset == "recorded" else _read(folder_named(dataset))
    if data.experiment != experiment.name:
        raise LabError(
            "This dataset belongs to another experiment",
            found=data.experiment,
            expected=experiment.name,
            next_step=f"Use --experiment {data.experiment}, or give another --dataset.",
        )
    return data


def folder_named(dataset: str) -> Path:
    """Return the folder of a dataset: "latest" is the complete one that was measured here last.

    Comparisons and searches that a user asked for test no claim, and are passed over. LabError if
    nothing else was measured.
    """
    if dataset != LATEST:
        return Path(dataset)
    known = complete_in(measurement.RUNS, "*/*")
    ends = [(m["finished_utc"], path) for path, m in known if "asked" not in m]
    if not ends:
        raise LabError(
            "There is no latest dataset",
            found=f"no complete one in {measurement.RUNS}",
            expected="a measurement that ran to its end",
            next_step="Measure first: ./lab reproduce --figure 6.",
        )
    return max(ends)[1]


def _read(folder: Path) -> datasets.Dataset:
    """Read a dataset, or reuse a copy in use: two of a large one would fill the memory."""
    file = folder.resolve() / MANIFEST
    key = file, file.stat().st_mtime_ns if file.exists() else 0
    data = _HELD.get(key) or datasets.read(folder)
    if data.complete:
        _HELD[key] = data
    return data


@functools.cache
def _recorded(name: str) -> datasets.Dataset:
    """Read the newest recording, with those before it that count and whose runs are good enough."""
    newest = _read(folder(find(name)))
    others = map(_read, folders_of(find(name))[:-1])
    return replace(newest, earlier=tuple(filter(good_enough, others)))


def good_enough(data: datasets.Dataset) -> bool:
    """Return whether few enough runs of a recording's sweep failed.

    Every point must keep `LEAST_GOOD` good runs, or all it has; in a recording older than this
    rule, no run may have failed. Only the status counts, no value; a run that overran is good.
    """
    if not data.failed:
        return True
    if not _under_rule(data.manifest):
        return False
    points = data.runs["run_id"].astype(str).str.replace(_REPEAT, "", regex=True)
    good = data.runs["status"].map(is_good).astype(bool).groupby(points)
    return bool((good.sum() >= good.size().clip(upper=LEAST_GOOD)).all())


def _under_rule(manifest: Mapping[str, Any]) -> bool:
    return str(manifest["started_utc"]) >= RULE_SINCE_UTC


def folder(experiment: Experiment) -> Path:
    """Return the folder of an experiment's newest recorded dataset; LabError if there is none."""
    folders = folders_of(experiment)
    if not folders:
        raise LabError(
            f"This repository has no dataset of {experiment.name}",
            found=f"none that counts in {RECORDED / experiment.name}",
            expected="a recorded dataset",
            next_step="Measure one: leave --recorded out.",
        )
    return folders[-1]


def folders_of(experiment: Experiment) -> list[Path]:
    """Return the folders of an experiment's recorded datasets that count, the newest last.

    The newest that is good enough sets the design; recordings of another design do not count
    (`why_not`), whatever they measured.
    """
    known = {
        file.parent: json.loads(file.read_text())
        for file in (RECORDED / experiment.name).glob("*/manifest.json")
    }
    folders = sorted(known, key=lambda path: known[path]["started_utc"])
    # A recording from before this rule stays the newest even if it is not good enough.
    while folders and _under_rule(known[folders[-1]]) and not good_enough(_read(folders[-1])):
        folders.pop()
    return [path for path in folders if not why_not(known[path], known[folders[-1]])]


def of_sweep(name: str) -> list[datasets.Dataset]:
    """Return all recordings whose sweep is that of the newest, which is the last of them.

    Unlike those that count (`why_not`), they may differ from it in contrasts and other variants.
    """
    newest = obtain(name)
    mine = [_design(newest.manifest).get(part) for part in _SWEPT]
    others = [
        _read(folder)
        for folder, manifest in complete_in(RECORDED / name)
        if folder != newest.path and [_design(manifest).get(part) for part in _SWEPT] == mine
    ]
    return [*sorted(filter(good_enough, others), key=lambda d: d.manifest["started_utc"]), newest]


def why_not(manifest: Mapping[str, Any], newest: Mapping[str, Any]) -> str:
    """Return why a recording does not count beside the newest one; empty if it does.

    It counts if it is complete, measured by committed code, and of the same layout and design: the
    same releases, division of CPUs, configuration, sweep and length of slices. Contrasts may have
    other sides, which conditions of claims look at. The host, the build and the number of repeats
    may differ. Measured values play no part.
    """
    if manifest["status"] != COMPLETE:
        return "it is not complete"
    parts = (manifest, *manifest.get("resumed", ()))
    if any(str(part.get("git_commit")).endswith(_DIRTY) for part in parts):
        return "the code that measured it was never committed"
    if manifest["schema_version"] != newest["schema_version"]:
        return f"its tables have the layout {manifest['schema_version']}"
    mine, theirs = _design(manifest), _design(newest)
    other = [key for key in sorted({*mine, *theirs}) if mine.get(key) != theirs.get(key)]
    return f"its design differs: {', '.join(other)}" if other else ""


def _design(manifest: Mapping[str, Any]) -> dict[str, Any]:
    design = {k: v for k, v in manifest["identity"].items() if k not in _NOT_DESIGN}
    for key in _PRECISION:
        design[key] = {k: v for k, v in (design.get(key) or {}).items() if k != "repeats"}
    names = sorted(manifest["identity"].get("hosts") or ())
    return {**design, "hosts": [*names, bool(manifest.get("namespaces"))]}


def every() -> list[datasets.Dataset]:
    """Return the newest recorded dataset of each experiment that has any."""
    return [obtain(name) for name, experiment in catalogue.every().items() if has(experiment)]


def has(experiment: Experiment) -> bool:
    """Return whether this repository has a dataset of an experiment."""
    return any((RECORDED / experiment.name).glob("*/manifest.json"))
