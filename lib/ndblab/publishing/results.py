"""What a notebook asks for: the data of an experiment, where they come from, figures, verdicts.

In: an experiment's name and where its data come from. Out: a dataset, measured or read, and what
its notebook shows of it. This is where the layers meet; it computes nothing.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections import ChainMap
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.claims import publication
from ndblab.error import LabError
from ndblab.experiments import measurement
from ndblab.experiments.catalogue import EXPERIMENTS, Experiment, find
from ndblab.machine import host
from ndblab.planning import deployment

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from ndblab import dataset as datasets
    from ndblab.capacity import forecast as forecasts

__all__ = ["EXPERIMENTS", "Experiment", "find"]

ROOT = measurement.ROOT
RECORDED, NOTEBOOKS = ROOT / "data/recorded", ROOT / "notebooks"
BRIEF_HOST, THIS_HOST, RECORDED_HOST = "brief", "this", "recorded"
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
    data = _recorded(name) if dataset == "recorded" else datasets.read(dataset)
    if data.experiment != experiment.name:
        raise LabError(
            "The dataset is of another experiment",
            found=data.experiment,
            expected=experiment.name,
            next_step=f"Use --experiment {data.experiment}, or give another --dataset.",
        )
    return data


@functools.cache
def forecast(fitted: str = "recorded", tested: str = "recorded") -> forecasts.Forecast:
    """Fit the capacity model to one dataset, to be held against another.

    Parameters
    ----------
    fitted, tested : "recorded" for the recorded sweeps of one MySQL server and of several; or the
        folder of any dataset, which may be the same.

    Raises
    ------
    LabError
        If a dataset cannot be read, or no model can be fitted to it.
    """
    from ndblab import dataset as datasets
    from ndblab.capacity import forecast as forecasts

    one, many = find("capacity-model").reads
    data = obtain(one) if fitted == "recorded" else datasets.read(fitted)
    if tested == "recorded":
        return forecasts.of(data, obtain(many))
    return forecasts.of(data, None if tested == fitted else datasets.read(tested))


@functools.cache
def _recorded(name: str) -> datasets.Dataset:
    """Read what comes with the lab, once: nothing writes to it while a lab runs."""
    from ndblab import dataset as datasets

    return datasets.read(recorded(find(name)))


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


def recorded_data(experiment: Experiment) -> datasets.Dataset | None:
    """Give the recorded dataset of an experiment; None where it needs none."""
    return None if experiment.grid is None else obtain(experiment.name)


def recorded_ones() -> list[Experiment]:
    """Give the experiments of which a dataset comes with the lab."""
    return [e for e in EXPERIMENTS.values() if any((RECORDED / e.name).glob("*/manifest.json"))]


def host_and_plan(which: str = RECORDED_HOST) -> tuple[host.Host, deployment.Plan]:
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
        machine, places = host.load(publication.FOLDER / "host.json"), deployment.Places(brief=True)
    else:
        size, places = find(TYPICAL).size("quick"), deployment.Places()
        machine = host.read() if which == THIS_HOST else None
    if which == RECORDED_HOST:
        data = obtain(TYPICAL)
        size = find(TYPICAL).size("quick", {"clients": tuple(data.manifest["profile"]["clients"])})
        machine = host.from_dict(dict(data.host))
        shape = find(TYPICAL).cluster_shape(size, "default", data.budget, places)
        decided = deployment.make(machine, shape)
        reason = data.manifest["plan"]["budget"]["reason"]
        return machine, dataclasses.replace(decided, budget=deployment.Budget(data.budget, reason))
    machine = machine or host.load(Path(which))
    return machine, deployment.make(
        machine, find(TYPICAL).cluster_shape(size, "default", "auto", places)
    )


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
        "runs": f"{len(runs)}{_lengths(data)}, {data.failed} failed",
        "host steal": f"{runs['host_steal_pct'].mean():.2f} % on average, "
        f"{runs['host_steal_pct'].max():.2f} % at most",
        "git commit": manifest.get("git_commit") or "unknown",
    }
    return pd.DataFrame({"": facts.values()}, index=list(facts))


def _lengths(data: datasets.Dataset) -> str:
    """Say how long runs lasted; one with a fault lasts until the cluster is whole again."""
    size = data.manifest["profile"]
    if any(variant.fault for variant in find(data.experiment).variants):
        return f", {size['duration_s']} s before each fault"
    return f" of {size['duration_s']} s after {size['warmup_s']} s of warm-up"


def verdicts(data: datasets.Dataset) -> pd.DataFrame:
    """Judge the claims of a dataset's experiment by it."""
    from ndblab.claims import judgement

    published = publication.claims()
    prefixes = find(data.experiment).claims
    ids = [claim.id for claim in published if claim.id.startswith(prefixes)]
    return judgement.judge(data, ids, published)


def show(key: str | int, data: datasets.Dataset) -> None:
    """Show a figure of a dataset in a notebook, with its words."""
    from ndblab import figures
    from ndblab.publishing import picture

    question = figures.FIGURES[str(key)].question
    told = picture.of(str(key), question, describe(key, data))
    picture.show(told, figure(key, data))


def show_host(number: str | int, which: str = RECORDED_HOST) -> None:
    """Show Figure 2 or 3 of a host in a notebook, with its words.

    Parameters
    ----------
    which : as for `host_and_plan`.
    """
    from ndblab import figures
    from ndblab.publishing import picture

    question = figures.FIGURES[str(number)].question
    machine, decided = host_and_plan(which)
    named = {
        BRIEF_HOST: "the brief's server",
        THIS_HOST: "this host",
        RECORDED_HOST: "the recorded host",
    }
    of, theirs = named.get(which, which), which == BRIEF_HOST
    told = picture.Picture(
        f"{number}" if theirs else f"{number}-host",
        f"Figure {number}, {of}",
        f"Figure {number} on {of}: {question}",
        f"figure{number}{'_brief' if theirs else ''}",
        figures.describe_plan(number, decided, machine),
    )
    picture.show(told, figures.draw_plan(number, decided, machine))


def tables(experiment: Experiment, which: str = RECORDED_HOST) -> dict[str, pd.DataFrame]:
    """Give the tables of an experiment by name, published entries beside those of a host."""
    if not experiment.tables:
        return {}
    from ndblab.claims import brief_tables

    machine, _ = host_and_plan(which)
    return {
        "Table 1": brief_tables.table1(machine),
        "Table 2": brief_tables.table2(machine, versions(which)),
    }


def versions(which: str = RECORDED_HOST) -> dict[str, str]:
    """Give the versions of NDB, mysqld and sysbench of the recorded datasets, or of this host.

    Empty where they are not known: nothing installed, or a host that is only described.
    """
    if which == RECORDED_HOST:
        return dict(obtain(TYPICAL).manifest["versions"])
    if which != THIS_HOST:
        return {}
    from ndblab import install

    found = install.find()
    return {} if found is None else {
        "ndb": found.ndb_version,
        "mysqld": found.mysqld_version,
        "sysbench": found.sysbench_version,
    }  # fmt: skip


def figure(key: str | int, data: datasets.Dataset) -> Figure:
    """Draw a figure from a dataset, beside what was published."""
    from ndblab import figures
    from ndblab.claims import evidence

    machine = host.from_dict(dict(data.host))
    cpus = evidence.usable_cpus(data.host)
    caption = figures.Caption(machine.describe(), data.id, data.budget, cpus)
    return figures.draw(str(key), _tables(key, data), published(key), caption)


def describe(key: str | int, data: datasets.Dataset) -> str:
    """Say in a few sentences what a figure shows, from the data that it is drawn of."""
    from ndblab import figures

    return figures.describe(str(key), _tables(key, data), published(key))


def _tables(key: str | int, data: datasets.Dataset) -> Mapping[str, pd.DataFrame]:
    """What a figure is drawn of: the dataset's tables, with what is made of them."""
    if key != "faults":
        return data.tables
    from ndblab.analysis import outage

    return ChainMap({"outages": outage.of_dataset(data)}, data.tables)


def published(figure: str | int) -> list[publication.Anchor]:
    """The published numbers of a figure."""
    return publication.anchors(figure)
