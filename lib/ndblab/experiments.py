"""The experiments: each a question with its sweep, its notebook, its figures and its claims.

In: an experiment's name and where its data come from. Out: a dataset, measured or read, and the
tables and verdicts that its notebook shows. This is where the layers meet; it computes nothing.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab import brief, host, plan, profile, sweep
from ndblab.error import LabError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from ndblab import dataset as datasets
    from ndblab.install import Binaries

ROOT = Path(__file__).resolve().parents[2]
RECORDED, RUNS, NOTEBOOKS = ROOT / "data/recorded", ROOT / "data/runs", ROOT / "notebooks"

INSTALL_S = 300
RUN_OVERHEAD_S = 0.9
START_S, START_PER_SERVER_S, PREPARE_ROWS_PER_S = 9, 0.8, 20_000
"""What a sweep costs beside its own seconds, seen on 2 CPUs."""


@dataclass(frozen=True)
class Experiment:
    """One question of the lab."""

    name: str
    question: str
    notebook: str
    figures: tuple[str, ...]
    claims: tuple[str, ...]

    def points(self, size: profile.Profile) -> tuple[sweep.Point, ...]:
        """The points of the sweep.

        sysbench deals its clients round-robin, so that fewer clients than servers leave some idle
        and repeat a point of fewer servers: only the brief's own program has those points.
        """
        grid = sweep.grid(size.servers, size.clients)
        return tuple(p for p in grid if size.name == "brief" or p.clients >= p.servers)


EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "multi-server-scaling",
            "How far do more MySQL servers carry one cluster?",
            "02_multi_server_scaling.ipynb",
            figures=("6", "7"),
            claims=("F4-peak-clients", "F6-", "F7-"),
        ),
    )
}


def find(name: str | None = None, figure: str | int | None = None) -> Experiment:
    """Find an experiment by its name or by a figure of the brief.

    Raises
    ------
    LabError
        If there is none.
    """
    if name is not None and name in EXPERIMENTS:
        if figure is not None and str(figure) not in EXPERIMENTS[name].figures:
            raise LabError(
                "The experiment has no such figure",
                found=f"--figure {figure} with --experiment {name}",
                expected=", ".join(EXPERIMENTS[name].figures),
                next_step="Give one of the two options.",
            )
        return EXPERIMENTS[name]
    if name is None and figure is None:
        raise LabError(
            "Say what to reproduce",
            found="neither a figure nor an experiment",
            expected="--figure 6, or --experiment with one of " + ", ".join(EXPERIMENTS),
            next_step="Try: ./lab reproduce --figure 6",
        )
    by_figure = {f: e for e in EXPERIMENTS.values() for f in e.figures}
    if figure is not None and str(figure) in by_figure:
        return by_figure[str(figure)]
    what, found = ("figure", figure) if figure is not None else ("experiment", name)
    known = by_figure if figure is not None else EXPERIMENTS
    raise LabError(
        f"The lab has no such {what}",
        found=found,
        expected=", ".join(known),
        next_step=f"Choose one with --{what}.",
    )


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
        return measure(experiment, size, budget, overrides)
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


def plan_for(
    experiment: Experiment, size: profile.Profile, budget: str, port: int | None = None
) -> tuple[host.Host, plan.Plan]:
    """Decide how this host runs an experiment, and refuse what it cannot hold.

    Raises
    ------
    LabError
        If the host lacks what the plan needs.
    """
    from ndblab import cluster

    machine = host.read()
    folder = cluster.home()
    decided = plan.make(
        machine,
        plan.Shape(
            servers=max(size.servers),
            rows=size.rows,
            max_clients=max(size.clients),
            budget=budget,
            places=cluster.places(folder, port),
        ),
    )
    if decided.budget.kind == "pinned" and not shutil.which("numactl"):
        raise LabError(
            "To pin processes the lab needs numactl",
            found="none on PATH",
            expected="numactl, which binds CPUs and memory as the brief did",
            next_step="Install it (sudo apt-get install -y numactl), or use --budget scaled.",
        )
    decided.check(machine, shutil.disk_usage(_existing(folder)).free)
    return machine, decided


def estimate_s(experiment: Experiment, size: profile.Profile) -> float:
    """Say how long a measurement takes once everything is installed, in seconds."""
    return (
        START_S
        + START_PER_SERVER_S * max(size.servers)
        + size.rows / PREPARE_ROWS_PER_S
        + sweep.estimate_s(sweep_of(experiment, size), RUN_OVERHEAD_S)
    )


def sweep_of(experiment: Experiment, size: profile.Profile) -> sweep.Sweep:
    """The sweep of an experiment at a profile's size."""
    return sweep.Sweep(
        experiment.points(size), size.repeats, size.warmup_s, size.duration_s, size.seed
    )


def measure(
    experiment: Experiment,
    size: str = "quick",
    budget: str = "auto",
    overrides: dict[str, object] | None = None,
    port: int | None = None,
    progress: bool = True,
) -> datasets.Dataset:
    """Measure an experiment on this host, going on where an interrupted measurement stopped.

    Raises
    ------
    LabError
        If it cannot be done here, or the cluster fails on the way; whole runs are kept.
    """
    from ndblab import cluster, config, install, workload
    from ndblab import dataset as datasets

    wanted = profile.get(size, overrides)
    machine, decided = plan_for(experiment, wanted, budget, port)
    todo = sweep_of(experiment, wanted)
    _say(progress, f"{machine.describe()}")
    _say(progress, f"{len(todo)} runs, about {_minutes(estimate_s(experiment, wanted))} in all")
    if install.find() is None:
        _say(progress, f"first NDB Cluster and sysbench, once: about {_minutes(INSTALL_S)} more")
    binaries = install.ensure(progress=progress)
    _say(progress, f"budget {decided.budget.kind}: {decided.budget.reason}")
    if wanted.repeats == 1:
        _say(progress, "one run a point gives no spread, and so no verdict: --repeats 2 gives one")
    base = _manifest(machine, decided, binaries, wanted, overrides)
    identity = {
        "host": machine.fingerprint,
        "versions": base["versions"],
        "builds": base["builds"],
        "plan": decided.identity(),
        "config": _config_digest(decided, binaries),
        "profile": wanted.to_dict(),
        "sweep": todo.to_dict(),
    }
    with (
        datasets.Writer.open(RUNS, experiment.name, identity, base) as writer,
        cluster.running(decided, binaries, progress) as running,
    ):
        for name in (config.CONFIG_INI, config.MY_CNF):
            writer.add_config(name, (running.folder / name).read_text())
        prepare_s = workload.prepare(running, wanted)
        running.limit()
        run = functools.partial(
            workload.measure,
            running,
            wanted,
            warmup_s=wanted.warmup_s,
            duration_s=wanted.duration_s,
        )
        sweep.perform(todo, writer, run, progress)
        return writer.finish(timings={**running.timings, "prepare_s": prepare_s})


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


def figure(number: str | int, data: datasets.Dataset) -> Figure:
    """Draw one of the brief's figures from a dataset, beside what was published."""
    from ndblab import figures, summary

    machine = host.from_dict(dict(data.host))
    draw = {"6": figures.figure6, "7": figures.figure7}[str(number)]
    return draw(
        summary.points(data.runs), published(number), machine.describe(), data.id, data.budget
    )


def published(figure: str | int) -> list[brief.Anchor]:
    """The published numbers of a figure."""
    return brief.anchors(figure)


def _manifest(
    machine: host.Host,
    decided: plan.Plan,
    binaries: Binaries,
    size: profile.Profile,
    overrides: dict[str, object] | None,
) -> dict[str, object]:
    return {
        "host": machine.to_dict(),
        "versions": {
            "ndb": binaries.ndb_version,
            "mysqld": binaries.mysqld_version,
            "sysbench": binaries.sysbench_version,
        },
        "builds": binaries.fingerprint(),
        "plan": decided.identity(),
        "profile": size.to_dict(),
        "overrides": {k: v for k, v in (overrides or {}).items() if v is not None},
        "git_commit": _git_commit(),
    }


def _config_digest(decided: plan.Plan, binaries: Binaries) -> str:
    """Hash of the configuration, folders and ports aside: another one is another measurement."""
    from ndblab import config

    anywhere = dataclasses.replace(decided, places=plan.Places())
    text = config.config_ini(anywhere) + config.my_cnf(anywhere, binaries.mysqld_version)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _git_commit() -> str | None:
    """Commit of the lab that measures, with a mark if it was changed since."""
    argv = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() or None


def _existing(folder: Path) -> Path:
    return next(p for p in (folder, *folder.parents) if p.exists())


def _say(progress: bool, text: str) -> None:
    if progress:
        print(text, file=sys.stderr)


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
