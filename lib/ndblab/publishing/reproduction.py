"""A reproduction, from the question to the page: data, figures, notebook, verdicts.

In: experiments and where their data come from. Out: for each a folder with the figures (PNG and
SVG), the executed notebook, its HTML and the verdicts as CSV; and in words on the terminal.
"""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from ndblab.claims import publication
from ndblab.error import LabError
from ndblab.experiments import catalogue, measurement
from ndblab.publishing import notebook, results

if TYPE_CHECKING:
    import pandas as pd

    from ndblab import dataset as datasets

_SHOWN = ["id", "verdict", "published", "measured", "unit"]
NOTEBOOKS_AT_ONCE = 2


def reproduce(
    chosen: Sequence[catalogue.Experiment],
    source: str | None,
    size: str,
    budget: str,
    overrides: dict[str, object],
    port: int | None,
    out: Path,
    again: bool = True,
) -> list[Path]:
    """Reproduce experiments and give the folders of their results.

    Parameters
    ----------
    source : "recorded", the folder of a dataset, or None to measure on this host.
    again : measure also what this host has measured before, in the same way, to the end.

    Raises
    ------
    LabError
        If it could not be done; verdicts of any kind are no error.
    """
    # In processes of their own, since neither a notebook's nor a figure's imports stand a second
    # thread.
    fork = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(NOTEBOOKS_AT_ONCE, mp_context=fork) as aside:
        if source is not None:
            # Nothing is measured, so that nobody is disturbed while the data are read.
            for _ in range(NOTEBOOKS_AT_ONCE):
                aside.submit(notebook.prepare)
        sources = [_data(e, source, size, budget, overrides, port, again) for e in chosen]
        names = [data.id if data else e.name for e, data in zip(chosen, sources, strict=True)]
        folders = [out / name for name in names]
        pages = [
            aside.submit(
                notebook.execute,
                results.NOTEBOOKS / experiment.notebook,
                _parameters(experiment, data, source),
                folder,
            )
            for experiment, data, folder in zip(chosen, sources, folders, strict=True)
        ]
        every = list(zip(chosen, sources, folders, pages, strict=True))
        for experiment, data, folder, page in tqdm(
            every, desc="notebooks", unit="notebook", leave=False, disable=None
        ):
            # Judged while its page is still being made.
            with tqdm.external_write_mode():
                told = _write(experiment, data, folder, _host(source))
            told = page.result() + told
            told += [("dataset", data.path)] if data else []
            width = max(len(what) for what, _ in told)
            with tqdm.external_write_mode():
                lines = (f"{what:<{width}}  {_relative(where)}" for what, where in told)
                print("\n".join(lines), end="\n\n")
    return folders


def _data(experiment, source, size, budget, overrides, port, again) -> datasets.Dataset | None:
    if experiment.grid is None:
        if source not in (None, "recorded"):
            raise LabError(
                f"{experiment.name} has no dataset of its own",
                found=f"--dataset {source}",
                expected="--recorded, or neither",
                next_step="Leave --dataset out"
                + ("; ./lab predict --from DIR reads any." if experiment.reads else "."),
            )
        return None
    if source is not None:
        return results.obtain(experiment.name, source)
    return measurement.measure(experiment, size, budget, overrides, port, again=again)


def _host(source: str | None) -> str:
    """Which host the figures without a dataset are of: this one, unless nothing is measured."""
    return results.THIS_HOST if source is None else results.RECORDED_HOST


def _parameters(
    experiment: catalogue.Experiment, data: datasets.Dataset | None, source: str | None
) -> dict[str, object]:
    if experiment.reads:
        return {}
    return {"host": _host(source)} if data is None else {"dataset": str(data.path.resolve())}


def _write(experiment, data, folder: Path, which: str) -> list[tuple[str, Path]]:
    """Judge and tabulate into a folder; give the names and places of what was made."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for name, table in results.tables(experiment, which).items():
        print(f"{name}\n{table.drop(columns='note').to_string()}\n")
        notes = table["note"][table["note"] != ""]
        print("\n".join(f"{item}: {note}" for item, note in notes.items()), end="\n\n")
        table.to_csv(folder / f"{name.lower().replace(' ', '')}.csv")
        made.append((name.lower(), folder / f"{name.lower().replace(' ', '')}.csv"))
    if data is not None:
        verdicts = results.verdicts(data)
        verdicts.to_csv(folder / "verdicts.csv", index=False)
        print(as_text(verdicts), end="\n\n")
    return made


def claims(source: str | None) -> pd.DataFrame:
    """Judge all claims by the recorded datasets, or by one dataset."""
    import pandas as pd

    from ndblab import dataset
    from ndblab.claims import judgement

    published = publication.claims()
    if source is not None:
        return results.verdicts(dataset.read(source))
    recorded = [results.obtain(e.name) for e in results.recorded_ones()]
    tables = [results.verdicts(data) for data in recorded]
    judged = {name for table in tables for name in table["id"]}
    tables.append(judgement.unmeasured([c for c in published if c.id not in judged]))
    order = {claim.id: i for i, claim in enumerate(published)}
    together = pd.concat([t for t in tables if len(t)], ignore_index=True)
    return together.sort_values("id", key=lambda ids: ids.map(order), ignore_index=True)


def by_dataset(table: pd.DataFrame, source: str | None) -> str:
    """Write verdicts dataset by dataset, each below where and when it was measured."""
    from ndblab import dataset
    from ndblab.machine import host

    if source is None:
        datasets = [results.obtain(e.name) for e in results.recorded_ones()]
    else:
        datasets = [dataset.read(source)]
    parts = []
    for data in datasets:
        machine = host.from_dict(dict(data.host)).describe()
        head = f"{data.id}, {data.manifest['started_utc']}, budget {data.budget}\n{machine}"
        parts.append(f"{head}\n\n{as_text(table[table['dataset'] == data.id])}")
    rest = table[table["dataset"] == ""]
    parts += [f"Without a dataset\n\n{as_text(rest)}"] if len(rest) else []
    return "\n\n\n".join(parts)


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


def _interval(row) -> str:
    if row.measured != row.measured:
        return "-"
    if row.low != row.low:
        return f"{row.measured:.4g}"
    return f"{row.measured:.4g} ({row.low:.4g} to {row.high:.4g})"


def _relative(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
