"""A recorded dataset made longer, and how much space results take."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.benchmarks.row import Row, shown
from ndblab.design import catalogue
from ndblab.measuring import recorded
from ndblab.publishing import rendering

if TYPE_CHECKING:
    import pandas as pd

SAMPLED = ("intervals", "processes", "ndb_threads")
"""The tables of a dataset that grow with its duration."""


def tiled(into: Path, rows: int) -> Path:
    """Write a dataset of at least so many rows: Figure 6's, with each run repeated in time.

    Returns
    -------
    Its folder in `into`. A run of k tiles lasts k times as long, with k times the queries.
    """
    from ndblab import dataset
    from ndblab.dataset import manifest, schema, sealed

    data = dataset.read(recorded.folder(catalogue.find(figure=6)))
    copies = -(-rows // sum(len(data.tables[name]) for name in SAMPLED))
    known = {name: data.tables[name].copy() for name in data.tables}
    for name in schema.ROW_PER_RUN:
        for column in ("duration_s", "queries", "errors", "reconnects"):
            known[name][column] *= copies
    spans_s = {
        run_id: span_s / copies
        for name in schema.ROW_PER_RUN
        for run_id, span_s in zip(known[name]["run_id"], known[name]["duration_s"], strict=True)
    }
    for name in shown(SAMPLED, "tiling"):
        known[name] = _repeated(known[name], spans_s, copies)
    folder = into / f"{data.id}-tiled"
    folder.mkdir(parents=True)
    sums = sealed.write(folder, known, data.configs(), {})
    profile = data.manifest["profile"]
    longer = {**profile, "duration_s": profile["duration_s"] * copies}
    described = {**data.manifest, "dataset_id": folder.name, "files": sums, "profile": longer}
    (folder / sealed.MANIFEST).write_bytes(manifest.to_json(described))
    return folder


def _repeated(table: pd.DataFrame, spans_s: Mapping[str, float], copies: int) -> pd.DataFrame:
    """Repeat the samples of each run, one copy after the other.

    A failed run has no time that it lasted; its copies follow each other after the longest samples.
    """
    import numpy as np

    rows = np.repeat(np.arange(len(table)), copies)
    tile = np.tile(np.arange(copies), len(table))
    longer = table.iloc[rows].reset_index(drop=True)
    longer["t_s"] += tile * longer["run_id"].map(spans_s).astype(float).fillna(
        table["t_s"].max() + 1
    )
    return longer.sort_values(["run_id", "t_s"], kind="stable", ignore_index=True)


def sizes() -> list[Row]:
    """Add up the files of the report and of the committed data."""
    with tempfile.TemporaryDirectory(prefix="ndblab-bench-") as scratch:
        rendering.write_report(Path(scratch) / "report")
        site = _megabytes(Path(scratch))
    data = _megabytes(recorded.ROOT / "data/brief") + _megabytes(recorded.RECORDED)
    return [
        Row("the report, your own runs included", (site,), "MB", at_most=15),
        Row("committed data", (data,), "MB", at_most=25),
    ]


def _megabytes(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
