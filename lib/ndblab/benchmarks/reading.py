"""What it takes to read a dataset of one hour, to draw the figures of one, and to keep results.

The hour that is read is a recorded one made longer; it is deleted afterwards and never shown.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.benchmarks.row import Row, seconds, shown
from ndblab.design import catalogue
from ndblab.error import LabError
from ndblab.measuring import recorded
from ndblab.publishing import drawing, rendering

if TYPE_CHECKING:
    import pandas as pd

SAMPLED = ("intervals", "processes", "ndb_threads")
"""The tables of a dataset that grow with its duration."""
READS, DRAWINGS = 5, 3
HOUR_ROWS = 3600 * (1 + 19 + 60)
"""Rows of an hour in these tables: an interval, 19 processes and 60 NDB threads a second."""


def read() -> list[Row]:
    """Read and summarise a dataset of as many rows as one hour has."""
    from ndblab import dataset
    from ndblab.statistics import cpu_use, summary

    with tempfile.TemporaryDirectory(prefix="ndblab-bench-") as scratch:
        path = tiled(Path(scratch), HOUR_ROWS)

        def read_and_summarise() -> None:
            data = dataset.read(path)
            summary.points(data.runs)
            used = cpu_use.Usage(data.processes, data.ndb_threads)
            used.of_roles(data.runs["run_id"])
            used.of_threads(data.runs["run_id"])

        read_and_summarise()
        taken = [seconds(read_and_summarise) for _ in shown(range(READS), "read")]
    note = f"Figure 6's recorded dataset tiled in time to {HOUR_ROWS:,} rows; imports not counted"
    return [Row("read and summarise one hour", tuple(taken), "s", at_most=2, note=note)]


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
    folder = into / data.path.name
    folder.mkdir(parents=True)
    sums = sealed.write(folder, known, data.configs(), {})
    profile = data.manifest["profile"]
    longer = {**profile, "duration_s": profile["duration_s"] * copies}
    described = {**data.manifest, "files": sums, "profile": longer}
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


def draw() -> list[Row]:
    """Draw every figure for which the recorded hour has data, and write it as PNG."""
    import matplotlib

    matplotlib.use("Agg")
    from ndblab import figures

    hour = recorded.obtain("stability")
    taken: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="ndblab-bench-") as scratch:

        def draw_one(key: str) -> None:
            drawing.draw(key, hour)[1].savefig(Path(scratch) / "figure.png")

        for key in shown([*figures.entries()] * DRAWINGS, "draw"):
            with contextlib.suppress(LabError):
                taken.setdefault(key, []).append(seconds(draw_one, key))
    note = f"{len(hour.intervals)} s, {hour.processes['node_id'].nunique()} processes; imports and "
    note += "the first drawing of each figure, which finds fonts, not counted"
    return [
        Row(f"figure {key} of the recorded hour", tuple(values[1:]), "s", at_most=3, note=note)
        for key, values in taken.items()
        if values
    ]


def sizes() -> list[Row]:
    """Add up the files of the report and of the committed data."""
    with tempfile.TemporaryDirectory(prefix="ndblab-bench-") as scratch:
        rendering.write_report(Path(scratch) / "report")
        site = _megabytes(Path(scratch))
    data = _megabytes(recorded.ROOT / "data/brief") + _megabytes(recorded.RECORDED)
    return [
        Row("the report", (site,), "MB", at_most=15),
        Row("committed data", (data,), "MB", at_most=25),
    ]


def _megabytes(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
