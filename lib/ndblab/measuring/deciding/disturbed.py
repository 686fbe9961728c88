"""Runs and blocks that others on the host disturbed; a continued measurement repeats them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ndblab.design.contrast import DUET
from ndblab.formatting import count
from ndblab.machine.interference import Company, disturbance

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.dataset import Dataset
    from ndblab.design.contrast import Contrast


def runs(table: pd.DataFrame, manifest: Mapping[str, Any]) -> list[str]:
    """Return the ids of the disturbed runs; those with a fault are never repeated."""
    faults = [name for name, variant in manifest["variants"].items() if "fault" in variant]
    table = table[~table["variant"].astype(str).isin(faults)]
    return list(table.loc[_is_disturbed(table), "run_id"])


def blocks(slices: pd.DataFrame, contrast: Contrast) -> list[int]:
    """Return the numbers of the blocks of a contrast that have a disturbed slice."""
    mine = slices[slices["contrast"] == contrast.name]
    if contrast.design == DUET:
        # Both sides lose what the hypervisor takes.
        mine = mine.assign(host_steal_pct=0.0)
    return sorted(map(int, mine.loc[_is_disturbed(mine), "block"].unique()))


def described(data: Dataset, contrasts: Iterable[Contrast]) -> str:
    """Say how many runs and blocks are disturbed; empty if none is."""
    numbers = {
        "run": len(runs(data.runs, data.manifest)),
        "block": sum(len(blocks(data.slices, contrast)) for contrast in contrasts),
    }
    return " and ".join(count(number, word) for word, number in numbers.items() if number)


def _is_disturbed(table: pd.DataFrame) -> list[bool]:
    columns = (table["company_pct"], table["company"], table["host_steal_pct"])
    return [
        bool(disturbance(Company(pct, name), steal_pct))
        for pct, name, steal_pct in zip(*columns, strict=True)
    ]
