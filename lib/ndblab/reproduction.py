"""A reproduction, from the question to the page: data, figures, notebook, verdicts.

In: an experiment and where its data come from. Out: a folder with the figures (PNG and SVG), the
executed notebook, its HTML and the verdicts as CSV; and the same in words on the terminal.
"""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import shlex
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab import brief, config, experiments, host, measurement, notebook, plan, profile

if TYPE_CHECKING:
    import pandas as pd

    from ndblab import dataset as datasets

BRIEF_HOST = "brief"
_MARKS = ("<!-- verdicts -->", "<!-- /verdicts -->")
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
        data = measurement.measure(experiment, size, budget, overrides, port)
    else:
        data = experiments.obtain(experiment.name, source)
    folder = out / data.id
    values = {"dataset": str(data.path.resolve())}
    # Side by side, and in two processes, since neither's imports stand a second thread.
    fork = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=fork) as aside:
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
    experiment: experiments.Experiment,
    data: datasets.Dataset,
    folder: Path,
    kinds: tuple[str, ...] = ("png", "svg"),
) -> list[tuple[str, Path]]:
    """Draw an experiment's figures; give their names and places."""
    import matplotlib

    matplotlib.use("Agg")
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for number in experiment.figures:
        figure = experiments.figure(number, data)
        for kind in kinds:
            path = folder / f"figure{number}.{kind}"
            figure.savefig(path)
            drawn.append((f"figure {number}", path))
    return drawn


def render() -> list[Path]:
    """Write anew what is committed of the recorded datasets: notebooks, pictures, the README.

    Every number in the README comes from a dataset, through here.
    """
    written = []
    for experiment in experiments.recorded_ones():
        source = experiments.NOTEBOOKS / experiment.notebook
        data = experiments.obtain(experiment.name)
        notebook.render(source)
        draw(experiment, data, experiments.RECORDED / experiment.name, kinds=("png",))
        written.append(source)
    readme = experiments.ROOT / "README.md"
    readme.write_text(with_verdicts(readme.read_text()))
    return [*written, readme]


def with_verdicts(readme: str) -> str:
    """Put the verdicts of the recorded datasets between the README's two marks."""
    before, _, rest = readme.partition(f"{_MARKS[0]}\n")
    _, _, after = rest.partition(_MARKS[1])
    tables = [experiments.verdicts(experiments.obtain(e.name)) for e in experiments.recorded_ones()]
    statements = {claim.id: claim.statement for claim in brief.claims()}
    lines = ["| claim of the brief | verdict here | why |", "|---|---|---|"]
    for row in (row for table in tables for row in table.itertuples()):
        cells = (f"{statements[row.id]} (`{row.id}`)", f"**{row.verdict}**", row.reason)
        lines.append(f"| {' | '.join(cells)} |")
    return f"{before}{_MARKS[0]}\n" + "\n".join(lines) + f"\n{_MARKS[1]}{after}"


def as_text(table: pd.DataFrame) -> str:
    """Write verdicts as a table for a terminal, each with its reason below."""
    shown = table.assign(measured=[_interval(row) for row in table.itertuples()])
    columns = {name: [name, *shown[name].astype(str)] for name in _SHOWN}
    widths = {name: max(map(len, cells)) for name, cells in columns.items()}
    lines = []
    for row, reason in zip(
        zip(*columns.values(), strict=True), ["", *shown["reason"]], strict=True
    ):
        cells = (cell.ljust(widths[name]) for name, cell in zip(_SHOWN, row, strict=True))
        lines.append("  ".join(cells).rstrip())
        lines += textwrap.wrap(reason, 100, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def dry_run(
    experiment: experiments.Experiment,
    size: str,
    budget: str,
    overrides: dict[str, object],
    port: int | None,
) -> str:
    """Say what a measurement would do here: the plan, the time, and every command."""
    from ndblab import install, workload

    wanted = experiment.size(size, overrides)
    todo = experiment.sweep(wanted)
    machine, decided = measurement.plan_for(experiment, wanted, budget, port)
    estimate = measurement.minutes(measurement.estimate_s(experiment, wanted))
    lines = [
        f"# {machine.describe()}",
        f"# budget {decided.budget.kind}: {decided.budget.reason}",
        f"# {len(todo)} runs, about {estimate} once installed",
    ]
    binaries = install.find()
    if binaries is None:
        return "\n".join([*lines, "# NDB Cluster is not installed yet: ./lab install"])
    folder = decided.places.cluster_dir
    commands = [config.management_argv(decided, binaries, folder)]
    commands += [config.data_node_argv(decided, node, binaries) for node in decided.data_nodes]
    commands += [config.server_argv(node, binaries, folder) for node in decided.servers]
    commands += workload.commands(
        binaries,
        wanted,
        todo.order(),
        servers=lambda point: decided.servers_by(point.transporter)[: point.servers],
        tcp_clients=lambda point: experiment.variant(point.variant).tcp_clients,
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

    published = brief.claims()
    if source is not None:
        return experiments.verdicts(dataset.read(source))
    tables = []
    for experiment in experiments.recorded_ones():
        tables.append(experiments.verdicts(experiments.obtain(experiment.name)))
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
