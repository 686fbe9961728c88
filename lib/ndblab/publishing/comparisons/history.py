"""The user's own comparisons so far: those of the same two sides belong together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ndblab import dataset as datasets
from ndblab.comparing import answer, judged, made
from ndblab.comparing.judged import WITHIN
from ndblab.dataset.manifest import COMPLETE
from ndblab.error import LabError
from ndblab.formatting import count
from ndblab.measuring import measurement
from ndblab.publishing import notebook
from ndblab.statistics.estimate import Estimate

DEFAULT = "the default"
Question = tuple[str, str, str]
"""A, B, and the load that both had."""


@dataclass(frozen=True)
class Entry:
    """One comparison: when it was measured, on what, and what it found; ratios are B over A."""

    measured_utc: str
    engine: str
    host: str
    outcome: str
    ratio: float
    low: float
    high: float
    headline: str
    sentence: str
    status: int
    dataset: str

    @property
    def day(self) -> str:
        """Return when it was measured, to the minute."""
        return self.measured_utc[:16].replace("T", " ")

    @property
    def estimate(self) -> Estimate:
        """Return the throughput of B over A."""
        return Estimate(self.ratio, self.low, self.high)


@dataclass(frozen=True)
class History:
    """Comparisons of the same two sides under the same load, the first one first.

    `within` is how far from equal counted as equivalent in the newest.
    """

    a: str
    b: str
    load: str
    entries: tuple[Entry, ...]
    within: float = WITHIN


def read(folder: Path | None = None) -> list[History]:
    """Return all complete comparisons, the most recently measured first.

    Parameters
    ----------
    folder : folder of the datasets; None for this lab's. Unreadable datasets are left out.
    """
    folder = folder or measurement.RUNS / made.NAME
    comparisons, bands = [], dict[str, float]()
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        with suppress(LabError):
            data = datasets.read(path)
            if data.manifest["status"] == COMPLETE:
                bands[data.id] = within = band(data)
                comparisons.append((question(data.manifest), entry(data, within)))
    return [replace(one, within=bands[one.entries[-1].dataset]) for one in together(comparisons)]


def band(data: datasets.Dataset) -> float:
    """Return how far from equal counted as equivalent, as the notebook beside a dataset has it."""
    try:
        known = notebook.parameters(data.path.with_name(f"{data.id}.ipynb"))
        return float(str(known["within"]))
    except (LabError, KeyError, ValueError, SyntaxError):
        return WITHIN


def together(comparisons: Iterable[tuple[Question, Entry]]) -> list[History]:
    """Put comparisons of the same question together, in the order of time."""
    groups: dict[Question, list[Entry]] = {}
    for asked, comparison in sorted(comparisons, key=lambda pair: pair[1].measured_utc):
        groups.setdefault(asked, []).append(comparison)
    histories = [History(*asked, tuple(entries)) for asked, entries in groups.items()]
    return sorted(histories, key=lambda history: history.entries[-1].measured_utc, reverse=True)


def question(manifest: Mapping[str, Any]) -> Question:
    """Return the question that a comparison asked."""
    asked, size = manifest["asked"], manifest["profile"]
    both = [word for word in asked["a"] if word in asked["b"]]
    a, b = (", ".join(word for word in asked[side] if word not in both) or DEFAULT for side in "ab")
    point = asked["contrast"]["a"]["point"]
    load = [
        point["workload"], count(point["servers"], "MySQL server"),
        count(point["clients"], "client"), f"{size['tables']} tables of {size['table_size']} rows",
    ]  # fmt: skip
    return a, b, ", ".join([*load, *both])


def entry(data: datasets.Dataset, within: float = WITHIN) -> Entry:
    """Judge a comparison, and say on what it was measured."""
    manifest, result = data.manifest, judged.judge(data, within)
    return Entry(
        str(manifest.get("finished_utc") or manifest["started_utc"]),
        engine(manifest["versions"]),
        data.describe_host(),
        result.outcome,
        *result.throughput,
        answer.headline(result, within),
        answer.sentence(result, within),
        result.status,
        data.id,
    )


def engine(versions: Mapping[str, str]) -> str:
    """Name the release of NDB Cluster, or those of A and B where they differ."""
    first = versions["ndb"]
    second = versions.get("second_ndb", first)
    return first if first == second else f"A {first}, B {second}"
