"""Where keys for NDB's TLS come from, and what is said where they cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from ndblab.cluster import keys
from ndblab.error import LabError
from ndblab.install.binaries import Ndb
from ndblab.planning import config


def installed(folder: Path, version: str, *tools: str) -> Ndb:
    for name in ("ndbmtd", *tools):
        (folder / name).touch()
    return Ndb(
        folder / "mysqld", folder / "ndbmtd", folder / "ndb_mgmd", folder / "ndb_mgm", version,
        version, "a test", folder,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("version", "found", "next_step"),
    [
        ("8.0.26", "which has no TLS", "Install a newer release"),
        ("9.7.4", "no ndb_sign_keys", "./lab install --tools"),
    ],
)
def test_without_tls_one_message_says_what_to_do(tmp_path, version, found, next_step):
    """Either get it, or say that the network is one to trust."""
    with pytest.raises(LabError) as caught:
        keys.program(installed(tmp_path, version))
    assert found in str(caught.value)
    assert next_step in str(caught.value)
    assert "--insecure-network" in str(caught.value)


def test_ndbs_own_program_makes_the_keys(tmp_path):
    """It stands beside the data node."""
    there = installed(tmp_path, "9.7.4", "ndb_sign_keys")
    assert keys.program(there) == tmp_path / "ndb_sign_keys"


def test_keys_are_removed_with_what_made_them(tmp_path):
    """Nothing that opens a cluster outlives it."""
    for name in (config.TLS_KEYS, keys.AUTHORITY):
        (tmp_path / name).mkdir()
        (tmp_path / name / "key").touch()
    keys.remove(tmp_path)
    assert list(tmp_path.iterdir()) == []
