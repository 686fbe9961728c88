"""Where the data of an experiment come from."""

from __future__ import annotations

import gc
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
