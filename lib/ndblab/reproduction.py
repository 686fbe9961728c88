"""A reproduction, from the question to the page: data, figures, notebook, verdicts.

In: an experiment and where its data come from. Out: a folder with the figures (PNG and SVG), the
executed notebook, its HTML and the verdicts as CSV; and the same in words on the terminal.
"""

from __future__ import annotations

import concurrent.futures
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab import brief, config, experiments, host, notebook, plan, profile

if TYPE_CHECKING:
    import pandas as pd

    from ndblab import dataset as datasets

BRIEF_HOST = "brief"
_SHOWN = ["id", "verdict", "published", "measured", "unit"]


def reproduce(
    experiment: experiments.Experiment,
    source: str | None,
    size: str,
    budget: str,
    overrides: dict[str, object],
    port: int | None,
    out: Path,
) -> Path:
    """Reproduce an experiment and give the folder of its results.

    Parameters
    ----------
    source : "recorded", the folder of a dataset, or None to measure on this host.

    Raises
    ------
    LabError
        If it could not be done; verdicts of any kind are no error.
    """
    if source is None:
        data = experiments.measure(experiment, size, budget, overrides, port)
    else:
        data = experiments.obtain(experiment.name, source)
    folder = out / data.id
    values = {"dataset": str(data.path.resolve())}
    # The notebook's kernel and the figures are two processes' work: side by side.
    with concurrent.futures.ThreadPoolExecutor(1) as aside:
        page = aside.submit(
            notebook.execute, experiments.NOTEBOOKS / experiment.notebook, values, folder
        )
        table = experiments.verdicts(data)
        drawn = draw(experiment, data, folder)
        executed, html = page.result()
    table.to_csv(folder / "verdicts.csv", index=False)
    print(as_text(table))
    print()
    for what, where in (*drawn, ("notebook", executed), ("page", html), ("dataset", data.path)):
        print(f"{what:<9} {_relative(where)}")
    return folder


def draw(
    experiment: experiments.Experiment, data: datasets.Dataset, folder: Path
) -> list[tuple[str, Path]]:
    """Draw an experiment's figures as PNG and SVG; give their names and places."""
    import matplotlib

    matplotlib.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for number in experiment.figures:
        figure = experiments.figure(number, data)
        for kind in ("png", "svg"):
            path = folder / f"figure{number}.{kind}"
            figure.savefig(path)
            drawn.append((f"figure {number}", path))
    return drawn


def as_text(table: pd.DataFrame) -> str:
    """Write verdicts as a table for a terminal, without their reasons."""
    shown = table.assign(measured=[_interval(row) for row in table.itertuples()])
    columns = {name: [name, *shown[name].astype(str)] for name in _SHOWN}
    widths = {name: max(map(len, cells)) for name, cells in columns.items()}
    rows = zip(*columns.values(), strict=True)
    return "\n".join(
        "  ".join(cell.ljust(widths[name]) for name, cell in zip(_SHOWN, row, strict=True)).rstrip()
        for row in rows
    )


def dry_run(
    experiment: experiments.Experiment,
    size: str,
    budget: str,
    overrides: dict[str, object],
    port: int | None,
) -> str:
    """Say what a measurement would do here: the plan, the time, and every command."""
    from ndblab import install, workload

    wanted = profile.get(size, overrides)
    machine, decided = experiments.plan_for(experiment, wanted, budget, port)
    lines = [
        f"# {machine.describe()}",
        f"# budget {decided.budget.kind}: {decided.budget.reason}",
        f"# about {experiments.estimate_s(experiment, wanted) / 60:.0f} min once installed",
    ]
    binaries = install.find()
    if binaries is None:
        return "\n".join([*lines, "# NDB Cluster is not installed yet: ./lab install"])
    folder = decided.places.cluster_dir
    commands = [config.management_argv(decided, binaries, folder)]
    commands += [config.data_node_argv(decided, node, binaries) for node in decided.data_nodes]
    commands += [config.server_argv(node, binaries, folder) for node in decided.servers]
    sockets = [node.socket for node in decided.servers]
    commands += workload.commands(
        binaries, wanted, sockets, experiments.sweep_of(experiment, wanted).order()
    )
    return "\n".join([*lines, *(shlex.join(argv) for argv in commands)])


def configuration(
    described: str | None, size: str, budget: str, overrides: dict[str, object]
) -> dict[str, str]:
    """Write config.ini and my.cnf for a host, by file name.

    Parameters
    ----------
    described : the file of a host description, "brief" for the brief's own server with the
        places it published, or None for this host.
    """
    from ndblab import cluster, install

    published = described == BRIEF_HOST
    wanted = profile.get("brief" if published else size, overrides)
    if published:
        machine, places = host.load(brief.FOLDER / "host.json"), plan.Places(brief=True)
    else:
        machine = host.read() if described is None else host.load(described)
        places = cluster.places(cluster.home())
    shape = plan.Shape(
        max(wanted.servers), wanted.rows, max(wanted.clients), budget=budget, places=places
    )
    decided = plan.make(machine, shape)
    binaries = None if published else install.find()
    version = binaries.ndb_version if binaries else "8.0.26"
    return {
        config.CONFIG_INI: config.config_ini(decided),
        config.MY_CNF: config.my_cnf(decided, version),
    }


def claims(source: str | None) -> pd.DataFrame:
    """Judge all claims by the recorded datasets, or by one dataset."""
    import pandas as pd

    from ndblab import claims, dataset
    from ndblab.error import LabError

    published = brief.claims()
    if source is not None:
        return experiments.verdicts(dataset.read(source))
    tables = []
    for experiment in experiments.EXPERIMENTS.values():
        try:
            tables.append(experiments.verdicts(experiments.obtain(experiment.name)))
        except LabError as error:
            print(f"lab: {error}", file=sys.stderr)
    judged = {name for table in tables for name in table["id"]}
    tables.append(claims.unmeasured([c for c in published if c.id not in judged]))
    order = {claim.id: i for i, claim in enumerate(published)}
    together = pd.concat([t for t in tables if len(t)], ignore_index=True)
    return together.sort_values("id", key=lambda ids: ids.map(order), ignore_index=True)


def _interval(row) -> str:
    if row.measured != row.measured:
        return "-"
    if row.low != row.low:
        return f"{row.measured:.4g}"
    return f"{row.measured:.4g} ({row.low:.4g} to {row.high:.4g})"


def _relative(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
