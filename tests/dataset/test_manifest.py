"""Manifests of other kinds are refused, and identities compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import small_runs
from ndblab import dataset
from ndblab.error import LabError


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema_version": 99}, ("another schema version", "found:    99", "Update the lab")),
        ({"schema_version": 3}, ("another schema version", "found:    3", "Measure it again")),
        ({"schema_version": None}, ("another schema version", "none")),
        ({"plan": {}}, ("lacks", "plan.budget.kind")),
    ],
)
def test_manifest_of_another_kind_is_refused(
    tmp_path: Path, change: dict[str, Any], words: tuple[str, ...]
) -> None:
    """A dataset of another schema version, or without a budget, is refused by name."""
    folder = small_runs.written(tmp_path).path

    def changed(text: bytes) -> bytes:
        return json.dumps(json.loads(text) | change).encode()

    small_runs.damaged(folder, "manifest.json", changed)
    with pytest.raises(LabError) as caught:
        dataset.read(folder)
    assert all(word in str(caught.value) for word in words), caught.value


def test_a_folder_without_a_dataset_is_refused(tmp_path: Path) -> None:
    """A path that is no dataset, or a broken manifest, is one clear message."""
    with pytest.raises(LabError, match="not a dataset"):
        dataset.read(tmp_path / "nothing")
    with pytest.raises(LabError, match="not a dataset"):
        dataset.read(tmp_path)
    (tmp_path / "manifest.json").write_text('{"schema_ver')
    with pytest.raises(LabError, match="is damaged"):
        dataset.read(tmp_path)


def test_identity_does_not_depend_on_order() -> None:
    """The same identity has the same hash whatever the order of its keys."""
    reordered = dict(reversed(list(small_runs.IDENTITY.items())))
    assert dataset.identity_hash(reordered) == dataset.identity_hash(small_runs.IDENTITY)


def test_what_was_gone_on_with_is_resumed_before_an_older_one(tmp_path: Path) -> None:
    """The same command goes on with the dataset that it had reopened."""
    small_runs.written(tmp_path)
    second = small_runs.written(tmp_path).path
    assert dataset.complete(tmp_path, "scaling", small_runs.IDENTITY) == second
    dataset.Writer.reopen(second, small_runs.BASE).close()
    assert dataset.complete(tmp_path, "scaling", small_runs.IDENTITY) is None
    with small_runs.opened(tmp_path) as out:
        assert out.path == second
