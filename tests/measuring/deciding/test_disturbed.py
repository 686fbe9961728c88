"""What is measured again when a measurement goes on."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest

from measuring.deciding.simulated import contrast
from ndblab.machine import interference as company
from ndblab.measuring.deciding import disturbed


@pytest.fixture(autouse=True)
def limits(monkeypatch):
    monkeypatch.setattr(company, "STEAL_LIMIT_PCT", 3.0)
    monkeypatch.setattr(company, "LIMIT_PCT", 5.0)


def table(**columns: list) -> pd.DataFrame:
    """Return rows beside nobody but where a column says so."""
    alone = {"company_pct": 0.0, "company": "", "host_steal_pct": 0.0}
    return pd.DataFrame({**columns}).assign(
        **{name: value for name, value in alone.items() if name not in columns}
    )


def test_steal_and_company_disturb_runs():
    """Nothing is known to disturb those of old datasets, in which neither was measured."""
    nan = float("nan")
    runs = table(
        run_id=list("abcde"), host_steal_pct=[0.0, 3.1, 0.0, 2.9, nan],
        company_pct=[0.0, 0.0, 31.0, 4.9, nan],
    )  # fmt: skip
    manifest = {"variants": {"default": {}, "kill": {"fault": {}}}}
    assert disturbed.runs(runs.assign(variant="default"), manifest) == ["b", "c"]
    assert disturbed.runs(runs.assign(variant="kill"), manifest) == []


def test_steal_disturbs_no_duet_and_company_does():
    """Both sides of a duet lose what the hypervisor takes, but not what another process does."""
    slices = table(
        contrast=["x"] * 2, block=[1, 2], host_steal_pct=[9.0, 9.0], company_pct=[0.0, 31.0]
    )
    assert disturbed.blocks(slices, contrast("x", design="duet")) == [2]
    assert disturbed.blocks(slices, contrast("x")) == [1, 2]


def test_a_block_is_disturbed_by_any_of_its_slices():
    """And only blocks of that contrast."""
    slices = table(
        contrast=["x"] * 4 + ["y"] * 2, block=[1, 1, 2, 2, 1, 1],
        host_steal_pct=[0.0, 0.0, 0.0, 9.0, 9.0, 9.0],
    )  # fmt: skip
    assert disturbed.blocks(slices, contrast("x")) == [2]
    runs = table(run_id=["a"], host_steal_pct=[4.0])
    both = [contrast("x"), contrast("y")]
    runs, manifest = runs.assign(variant="default"), {"variants": {"default": {}}}
    data = SimpleNamespace(runs=runs, slices=slices, manifest=manifest)
    assert disturbed.described(data, both) == "1 run and 2 blocks"
    data = SimpleNamespace(runs=runs[:0], slices=slices[:0], manifest=manifest)
    assert not disturbed.described(data, both)
