"""An experiment that compares two installations."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from ndblab.dataset import identity_hash
from ndblab.design import catalogue
from ndblab.design.contrast import STARTS
from ndblab.error import LabError
from ndblab.machine import host
from ndblab.measuring import manifest
from ndblab.measuring.clusters import Clusters

CAPTURED = Path(__file__).parents[2] / "captured/hosts/vm-2cpu-cgroup1"
ENGINES = catalogue.find("engines")


def programs(version: str, build: str = "a") -> SimpleNamespace:
    return SimpleNamespace(
        ndb_version=version, mysqld_version="8.0.23", sysbench_version="1.0.20",
        fingerprint=lambda: {"ndbmtd": build},
    )  # fmt: skip


def described(first: SimpleNamespace, second: SimpleNamespace) -> tuple[dict, dict]:
    size = ENGINES.size("quick")
    return manifest.describe(ENGINES, size, "auto", host.read(CAPTURED), first, {}, second)


def test_each_engine_has_a_cluster_of_its_own() -> None:
    """Starts of both alternate; only the second variant runs the second engine."""
    size = ENGINES.size("quick")
    assert ENGINES.clusters() == (("default",), ("second-engine",))
    [contrast] = ENGINES.contrasts(ENGINES, size, pd.DataFrame())
    assert contrast.design == STARTS
    one, two = programs("21.4.1"), programs("21.10.1")
    writer = SimpleNamespace(manifest={})
    clusters = Clusters(ENGINES, size, {}, one, writer, False, two)
    assert clusters.binaries_of(contrast.a.point.variant) is two
    assert clusters.binaries_of(contrast.b.point.variant) is one


def test_a_dataset_names_both_engines() -> None:
    """Another second engine, or another build of it, is another measurement."""
    facts, identity = described(programs("21.4.1"), programs("21.10.1"))
    assert facts["versions"]["ndb"] == "21.4.1"
    assert facts["versions"]["second_ndb"] == "21.10.1"
    others = [
        described(programs("21.4.1"), programs("22.10.4"))[1],
        described(programs("21.4.1"), programs("21.10.1", "b"))[1],
        described(programs("21.10.1"), programs("21.4.1"))[1],
    ]
    assert len({identity_hash(another) for another in (identity, *others)}) == 4


def test_engines_are_named_where_they_are_compared_and_nowhere_else() -> None:
    """Before anything is installed or started."""
    ENGINES.check_engines("a,b")
    with pytest.raises(LabError, match="compares two installations") as caught:
        ENGINES.check_engines(None)
    assert "--engines A,B" in str(caught.value)


def test_a_second_engine_changes_nothing_for_the_others() -> None:
    """Variants of other experiments have no engine in their manifests."""
    plain = dataclasses.asdict(catalogue.find("thread-balance").variants[1])
    assert plain["second_engine"] is False
    assert "second_engine" not in catalogue.find("thread-balance").variants[1].to_dict()
    assert ENGINES.variants[1].to_dict()["second_engine"] is True
