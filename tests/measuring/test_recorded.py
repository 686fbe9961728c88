"""Where the data of an experiment come from."""

from __future__ import annotations

import gc
import json
import shutil
from pathlib import Path

import pytest

from ndblab.design import catalogue
from ndblab.error import LabError
from ndblab.measuring import recorded

NAME = "dump"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of a recorded dataset."""
    source = recorded.folder(catalogue.find(NAME))
    return Path(shutil.copytree(source, tmp_path / source.name))


def test_a_dataset_that_somebody_has_is_not_read_again(folder: Path) -> None:
    """A page and its notebook share one: a large one would fill the memory twice."""
    held = recorded.obtain(NAME, str(folder))
    assert recorded.obtain(NAME, str(folder)) is held
    del held
    gc.collect()
    (folder / "runs.csv").write_text("")
    with pytest.raises(LabError, match="lacks a column"):
        recorded.obtain(NAME, str(folder))


def test_latest_is_the_complete_dataset_that_was_measured_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was interrupted, or cannot be read, is passed over; without any is an error."""
    monkeypatch.setattr(recorded.measurement, "RUNS", tmp_path)
    with pytest.raises(LabError, match="no complete one"):
        recorded.folder_named("latest")
    source = recorded.folder(catalogue.find(NAME))
    manifest = json.loads((source / "manifest.json").read_text())
    for name, end, status in (
        ("first", "2026-01-01T00:00:00Z", "complete"),
        ("second", "2026-01-02T00:00:00Z", "complete"),
        ("third", "2026-01-03T00:00:00Z", "interrupted"),
    ):
        (tmp_path / name).mkdir()
        changed = manifest | {"finished_utc": end, "status": status}
        (tmp_path / name / "manifest.json").write_text(json.dumps(changed))
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "manifest.json").write_text("{")
    assert recorded.folder_named("latest") == tmp_path / "second"
    assert recorded.folder_named("data/runs/other") == Path("data/runs/other")
