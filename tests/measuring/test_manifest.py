"""What a dataset says of its measurement, and when two measurements are the same."""

from __future__ import annotations

import dataclasses
import json
from types import SimpleNamespace

import pandas as pd
import pytest

from ndblab.dataset import identity_hash
from ndblab.design import catalogue
from ndblab.design.contrast import Contrast, Side
from ndblab.design.experiment import Experiment, Variant
from ndblab.hosts import spread
from ndblab.hosts.roles import PlacedHost
from ndblab.machine import host
from ndblab.measuring import manifest
from ndblab.planning.point import Point
from ndblab.planning.profile import Profile

RECORDED = manifest.ROOT / "data/recorded"


def recorded(name: str) -> dict:
    """The manifest of the newest dataset of an experiment that comes with the lab."""
    every = (json.loads(file.read_text()) for file in (RECORDED / name).glob("*/manifest.json"))
    return max(every, key=lambda manifest: manifest["started_utc"])


def programs(known: dict) -> SimpleNamespace:
    """The programs of a manifest."""
    versions = {f"{name}_version": version for name, version in known["versions"].items()}
    return SimpleNamespace(**versions, fingerprint=lambda: known["builds"])


def same_again(recorded: dict, experiment: Experiment) -> dict:
    """The identity of the measurement of a manifest, if it were made today."""
    machine = host.from_dict(recorded["host"])
    size = Profile(
        **{k: tuple(v) if isinstance(v, list) else v for k, v in recorded["profile"].items()}
    )
    return manifest.describe(experiment, size, "auto", machine, programs(recorded))[1]


@pytest.mark.parametrize("name", ["stability", "tls", "connection-pool", "thread-balance"])
def test_recorded_datasets_keep_their_identity(name):
    """The same measurement, made today by this code, would have the id of the recorded one."""
    known = recorded(name)
    again = same_again(known, catalogue.find(name))
    assert identity_hash(again) == identity_hash(known["identity"])
    name_and_hash, _, _number = known["dataset_id"].rpartition("-")
    assert name_and_hash.endswith(f"-{identity_hash(known['identity'])[:8]}")


def test_hosts_that_are_elsewhere_in_the_network_are_the_same_measurement():
    """Namespaces have other addresses and folders each time, and a measurement is resumed."""
    known, experiment = recorded("availability"), catalogue.find("network-faults")
    machine = host.from_dict(known["host"])

    def identity(base: str, named: str = "abcde") -> str:
        placed = tuple(
            PlacedHost(name, name, f"{base}.{number}", f"/tmp/{base}/{name}", roles)
            for number, (name, roles) in enumerate(zip(named, experiment.hosts, strict=True))
        )
        hosts = spread.Hosts(placed, dict.fromkeys(named, machine))
        facts = experiment, experiment.size("smoke"), "auto", machine, programs(known)
        return identity_hash(manifest.describe(*facts, hosts=hosts)[1])

    assert identity("10.214.1") == identity("10.230.7")
    assert identity("10.214.1") != identity("10.214.1", "abcdf")


def test_an_overlaid_parameter_is_another_measurement():
    """Of the cluster, of the tables or of the load alone; each stands in the manifest."""
    known, plain = recorded("thread-balance"), catalogue.find("thread-balance")
    ids = {identity_hash(same_again(known, plain))}
    for overlay in (
        {"config_ini": {"ndbd default": {"RedoBuffer": "64M"}}},
        {"my_cnf": {"sort_buffer_size": "1M"}},
        {"options": {"rand-type": "pareto"}},
        {"table_options": "COMMENT='NDB_TABLE=READ_BACKUP=0'"},
    ):
        balanced = dataclasses.replace(plain.variants[1], **overlay)
        changed = dataclasses.replace(plain, variants=(Variant(), balanced))
        identity = same_again(known, changed)
        [key] = overlay
        assert identity["variants"]["balanced-threads"][key] == overlay[key]
        ids.add(identity_hash(identity))
    assert len(ids) == 5


def few(experiment: Experiment, size: Profile, points: pd.DataFrame) -> tuple[Contrast, ...]:
    """Contrasts of a made-up experiment."""
    side = Side(Point(2, 16, variant="x"), {"rate": 100}, "no-monitor")
    return (
        Contrast("overload", "alternation", side, Side(Point(1, 8)), ("F6-overload", "P-tc")),
        Contrast("half-load", "level", side, None, ("F8-steady",)),
    )


def test_other_contrasts_are_another_measurement():
    """They are part of an identity by the function that makes them, and so is their length."""
    known, plain = recorded("thread-balance"), catalogue.find("thread-balance")
    identity = same_again(known, dataclasses.replace(plain, contrasts=few))
    assert identity["contrasts"] == {"of": "few", "warmup_s": 1, "duration_s": 3}
    assert "contrasts" not in same_again(known, dataclasses.replace(plain, contrasts=None))


def test_contrasts_are_read_back_from_a_manifest():
    """A dataset never changes its contrasts, however often measuring goes on."""
    contrasts = few(catalogue.find(figure=6), None, None)
    text = json.dumps([contrast.to_dict() for contrast in contrasts])
    assert tuple(map(Contrast.from_dict, json.loads(text))) == contrasts
