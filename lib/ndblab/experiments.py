"""What a notebook asks for: the data of an experiment, where they come from, figures, verdicts.

In: an experiment's name and where its data come from. Out: a dataset, measured or read, and what
its notebook shows of it. This is where the layers meet; it computes nothing.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab import brief, host, measurement, plan
from ndblab.catalogue import EXPERIMENTS, Experiment, find
from ndblab.error import LabError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from ndblab import dataset as datasets

__all__ = ["EXPERIMENTS", "Experiment", "find"]

ROOT = measurement.ROOT
RECORDED, NOTEBOOKS = ROOT / "data/recorded", ROOT / "notebooks"
BRIEF_HOST, THIS_HOST = "brief", "this"
TYPICAL = "multi-server-scaling"
"""The experiment whose recorded dataset says which host the recorded ones are of."""


def obtain(
    name: str, dataset: str = "recorded", size: str = "quick", budget: str = "auto", **overrides
) -> datasets.Dataset:
    """Give the data of an experiment.

    Parameters
    ----------
    dataset : "recorded" for the one that comes with the lab, "measure" for a new one from this
        host, or the folder of any other.
    size, budget, overrides : of a new measurement: a profile's name, a cpu budget, and values by
        field of the profile.

    Raises
    ------
    LabError
        If the dataset cannot be read, is of another experiment, or cannot be measured here.
    """
    from ndblab import dataset as datasets

    experiment = find(name)
    if dataset == "measure":
        return measurement.measure(experiment, size, budget, overrides)
    data = datasets.read(recorded(experiment) if dataset == "recorded" else dataset)
    if data.experiment != experiment.name:
        raise LabError(
            "The dataset is of another experiment",
            found=data.experiment,
            expected=experiment.name,
            next_step=f"Use --experiment {data.experiment}, or give another --dataset.",
        )
    return data


def recorded(experiment: Experiment) -> Path:
    """Folder of the newest dataset of an experiment that comes with the lab."""
    manifests = (RECORDED / experiment.name).glob("*/manifest.json")
    folders = sorted(manifests, key=lambda file: json.loads(file.read_text())["started_utc"])
    if not folders:
        raise LabError(
            f"No dataset of {experiment.name} comes with the lab",
            found=f"nothing in {RECORDED / experiment.name}",
            expected="a recorded dataset",
            next_step="Measure one: leave --recorded out.",
        )
    return folders[-1].parent


def recorded_ones() -> list[Experiment]:
    """Give the experiments of which a dataset comes with the lab."""
    return [e for e in EXPERIMENTS.values() if any((RECORDED / e.name).glob("*/manifest.json"))]


def host_and_plan(which: str = "recorded") -> tuple[host.Host, plan.Plan]:
    """Give a host and how the brief's cluster of 16 MySQL servers lives on it.

    Parameters
    ----------
    which : "brief" for the brief's own server, with the places it published; "recorded" for the
        host of the recorded datasets; "this" for the one that this runs on; or the file of a host
        description, as `./lab doctor --json` prints it.

    Raises
    ------
    LabError
        If there is no such description.
    """
    if which == BRIEF_HOST:
        size = find(TYPICAL).size("brief")
        machine, places = host.load(brief.FOLDER / "host.json"), plan.Places(brief=True)
    else:
        size, places = find(TYPICAL).size("quick"), plan.Places()
        machine = host.read() if which == THIS_HOST else None
    if which == "recorded":
        data = obtain(TYPICAL)
        machine = host.from_dict(dict(data.host))
        shape = find(TYPICAL).cluster_shape(size, "default", data.budget, places)
        decided = plan.make(machine, shape)
        reason = data.manifest["plan"]["budget"]["reason"]
        return machine, dataclasses.replace(decided, budget=plan.Budget(data.budget, reason))
    machine = machine or host.load(Path(which))
    return machine, plan.make(machine, find(TYPICAL).cluster_shape(size, "default", "auto", places))


def provenance(data: datasets.Dataset) -> pd.DataFrame:
    """Tell where a dataset comes from: host, versions, budget, profile, times."""
    import pandas as pd

    manifest, machine = data.manifest, host.from_dict(dict(data.host))
    versions = ", ".join(f"{key} {value}" for key, value in manifest["versions"].items())
    size = manifest["profile"]
    runs = data.runs
    facts = {
        "dataset": data.id,
        "measured": f"{manifest['started_utc']} to {manifest['finished_utc']}",
        "host": machine.describe(),
        "distribution": machine.distribution,
        "software": versions,
        "cpu budget": f"{data.budget}: {manifest['plan']['budget']['reason']}",
        "rows": f"{size['tables']} tables of {size['table_size']} rows",
        "status": manifest["status"],
        "runs": f"{len(runs)} of {size['duration_s']} s after {size['warmup_s']} s of warm-up, "
        f"{int((runs['status'] != 'ok').sum())} failed",
        "host steal": f"{runs['host_steal_pct'].mean():.2f} % on average, "
        f"{runs['host_steal_pct'].max():.2f} % at most",
        "git commit": manifest.get("git_commit") or "unknown",
    }
    return pd.DataFrame({"": facts.values()}, index=list(facts))


def verdicts(data: datasets.Dataset) -> pd.DataFrame:
    """Judge the claims of a dataset's experiment by it."""
    from ndblab import claims

    published = brief.claims()
    prefixes = find(data.experiment).claims
    ids = [claim.id for claim in published if claim.id.startswith(prefixes)]
    return claims.judge(data, ids, published)


def figure(key: str | int, data: datasets.Dataset) -> Figure:
    """Draw a figure from a dataset, beside what was published."""
    from ndblab import figures, summary

    machine = host.from_dict(dict(data.host))
    draw = {"6": figures.figure6, "7": figures.figure7}[str(key)]
    return draw(summary.points(data.runs), published(key), machine.describe(), data.id, data.budget)


def published(figure: str | int) -> list[brief.Anchor]:
    """The published numbers of a figure."""
    return brief.anchors(figure)
