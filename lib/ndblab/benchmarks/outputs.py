"""What results cost: to draw a figure of an hour, and the size of what is kept and shown.

In: the recorded datasets. Out: rows of the table.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from ndblab.benchmarks.row import Row, shown
from ndblab.error import LabError
from ndblab.experiments import recorded
from ndblab.publishing import drawing, rendering

DRAWINGS = 3


def draw() -> list[Row]:
    """Draw every figure that the recorded hour has data for, and write it as PNG."""
    import matplotlib

    matplotlib.use("Agg")
    from ndblab import figures

    hour = recorded.obtain("stability")
    seconds: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="ndblab-bench-") as scratch:
        for key in shown([*figures.FIGURES] * DRAWINGS, "draw"):
            began = time.perf_counter()
            try:
                figure = drawing.draw(key, hour)[1]
            except LabError:
                continue
            figure.savefig(Path(scratch) / "figure.png")
            seconds.setdefault(key, []).append(time.perf_counter() - began)
    note = f"{len(hour.intervals)} s, {hour.processes['node_id'].nunique()} processes; imports and "
    note += "the first drawing of each, which finds fonts, not counted"
    return [
        Row(f"figure {key} of the recorded hour", tuple(taken[1:]), "s", at_most=3, note=note)
        for key, taken in seconds.items()
    ]


def sizes() -> list[Row]:
    """Add up the report's site, and the data that are committed."""
    with tempfile.TemporaryDirectory(prefix="ndblab-bench-") as scratch:
        rendering.write_report(Path(scratch) / "report")
        site = _megabytes(Path(scratch))
    data = _megabytes(recorded.ROOT / "data/brief") + _megabytes(recorded.RECORDED)
    return [
        Row("the report's site", (site,), "MB", at_most=15),
        Row("committed data", (data,), "MB", at_most=25),
    ]


def _megabytes(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
