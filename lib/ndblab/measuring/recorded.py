"""Datasets of experiments: those in this repository, and any other."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from weakref import WeakValueDictionary

from ndblab import dataset as datasets
from ndblab.dataset.sealed import MANIFEST
from ndblab.design import catalogue
from ndblab.design.catalogue import ROOT, find
from ndblab.design.experiment import Experiment
from ndblab.error import LabError
from ndblab.measuring import measurement

RECORDED = ROOT / "data/recorded"
_HELD: WeakValueDictionary[tuple[Path, int], datasets.Dataset] = WeakValueDictionary()


def obtain(
    name: str, dataset: str = "recorded", size: str = "quick", budget: str = "auto", **overrides
) -> datasets.Dataset:
    """Return the data of an experiment.

    Parameters
    ----------
    dataset : "recorded" for the one that comes with the lab, "measure" for a new one from this
        host, or the folder of any other.
    size, budget, overrides : for a new measurement: name of the profile, CPU budget, and values
        by field of the profile.

    Raises
    ------
    LabError
        If the dataset cannot be read, is of another experiment, or cannot be measured here.
    """
    experiment = find(name)
    if dataset == "measure":
        return measurement.measure(experiment, size, budget, overrides)
    data = _recorded(name) if dataset == "recorded" else _read(Path(dataset))
    if data.experiment != experiment.name:
        raise LabError(
            "This dataset belongs to another experiment",
            found=data.experiment,
            expected=experiment.name,
            next_step=f"Use --experiment {data.experiment}, or give another --dataset.",
        )
    return data


def _read(folder: Path) -> datasets.Dataset:
    """Read a dataset unless somebody has it: two of a large one would fill the memory."""
    file = folder.resolve() / MANIFEST
    key = file, file.stat().st_mtime_ns if file.exists() else 0
    data = _HELD.get(key) or datasets.read(folder)
    if data.complete:
        _HELD[key] = data
    return data


@functools.cache
def _recorded(name: str) -> datasets.Dataset:
    return datasets.read(folder(find(name)))


def folder(experiment: Experiment) -> Path:
    """Return the folder of an experiment's newest recorded dataset.

    Raises
    ------
    LabError
        If there is none.
    """
    manifests = (RECORDED / experiment.name).glob("*/manifest.json")
    folders = sorted(manifests, key=lambda file: json.loads(file.read_text())["started_utc"])
    if not folders:
        raise LabError(
            f"This repository has no dataset of {experiment.name}",
            found=f"nothing in {RECORDED / experiment.name}",
            expected="a recorded dataset",
            next_step="Measure one: leave --recorded out.",
        )
    return folders[-1].parent


def every() -> list[datasets.Dataset]:
    """Return the recorded datasets, one of each experiment that has any."""
    return [obtain(name) for name, experiment in catalogue.every().items() if has(experiment)]


def has(experiment: Experiment) -> bool:
    """Return whether this repository has a dataset of an experiment."""
    return any((RECORDED / experiment.name).glob("*/manifest.json"))
