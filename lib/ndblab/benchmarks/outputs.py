"""What results cost: time to draw a figure of an hour, size of the report and of the data."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

from ndblab.benchmarks.row import Row, seconds, shown
from ndblab.error import LabError
from ndblab.measuring import recorded
from ndblab.publishing import drawing, rendering

DRAWINGS = 3


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
