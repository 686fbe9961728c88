"""Which recordings of an experiment count together: by their design, never by their values."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from ndblab.design import catalogue
from ndblab.experiments.capacity import forecast
from ndblab.experiments.tuned import searched
from ndblab.measuring import recorded
from ndblab.tuning import wanted

MANIFESTS = sorted(recorded.RECORDED.glob("*/*/manifest.json"))
NEWEST = json.loads((recorded.folder(catalogue.find("tpc-h")) / "manifest.json").read_text())


@pytest.mark.parametrize("file", MANIFESTS, ids=lambda file: file.parent.name)
def test_every_recording_of_the_repository_counts(file) -> None:
    """One whose design was given up would only be looked for in vain.

    The sweep that the capacity model is tested with may be of a recording with older contrasts.
    """
    manifest = json.loads(file.read_text())
    if manifest["experiment"] == wanted.NAME:
        assert searched.why_not(manifest) == ""
        return
    counting = recorded.folders_of(catalogue.find(manifest["experiment"]))
    assert file.parent in [*counting, forecast.obtain().fitted.path]


def test_recordings_of_an_experiment_come_together() -> None:
    """The newest has those before it, oldest first; a folder that is given has none."""
    data = recorded.obtain("tpc-h")
    assert [recording.id for recording in data.earlier] == ["tpc_h-2cpu-shared-quick-57698b28-1"]
    assert data.earlier[0].manifest["started_utc"] < data.manifest["started_utc"]
    assert recorded.obtain("tpc-h", str(data.path)).earlier == ()


def _set(*keys: str, to: Any) -> Callable[[dict], None]:
    def change(manifest: dict) -> None:
        for key in keys[:-1]:
            manifest = manifest[key]
        manifest[keys[-1]] = to

    return change


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_set("status", to="unfinished"), "not complete"),
        (_set("git_commit", to="0123456789ab-dirty"), "never committed"),
        (_set("resumed", to=[{"git_commit": "0123456789ab-dirty"}]), "never committed"),
        (_set("schema_version", to=3), "layout 3"),
        (_set("identity", "versions", "ndb", to="9.6.0"), "versions"),
        (_set("identity", "plan", "budget", to="scaled"), "plan"),
        (_set("identity", "profile", "duration_s", to=9), "profile"),
        (_set("identity", "config", "default", to="0"), "config"),
        (_set("contrasts", to=[]), ""),
        (_set("identity", "host", to="another"), ""),
        (_set("identity", "builds", "ndbmtd", to="another"), ""),
        (_set("identity", "profile", "repeats", to=9), ""),
        (_set("identity", "sweep", "repeats", to=9), ""),
    ],
)
def test_another_design_does_not_count(change: Callable[[dict], None], why: str) -> None:
    """The reason is said; hosts, builds and repeats are what recordings add up over."""
    other = copy.deepcopy(NEWEST)
    change(other)
    said = recorded.why_not(other, NEWEST)
    assert why in said
    assert bool(said) == bool(why)


def test_each_of_several_hosts_may_differ_but_not_what_connects_them() -> None:
    """Network namespaces of one machine have no cable; more hosts are another design."""
    one = copy.deepcopy(NEWEST)
    one["identity"]["hosts"], one["namespaces"] = {"a": "this", "b": "this"}, True
    other = copy.deepcopy(one)
    other["identity"]["hosts"] = {"a": "another", "b": "another"}
    assert recorded.why_not(other, one) == ""
    for change in (_set("namespaces", to=False), _set("identity", "hosts", to={"a": "this"})):
        other = copy.deepcopy(one)
        change(other)
        assert "hosts" in recorded.why_not(other, one)
