"""NDB's further programs: beside the cluster's own, of the same version, or a clear message."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from stand_ins import NDB_TOOL, put_program

from ndblab import install
from ndblab.design import catalogue
from ndblab.error import LabError
from ndblab.install import discovery, ndb_tools


def cluster(top: Path, *tools: str, version: str = "9.7.4", origin: str = "NDB_HOME"):
    """Make an installation of NDB 9.7.4 with some tools."""
    put_program(top / "sbin/ndbmtd", "")
    for name in tools:
        put_program(top / "sbin" / name, NDB_TOOL.format(version=version))
    return SimpleNamespace(
        ndbmtd=top / "sbin/ndbmtd", basedir=top, ndb_version="9.7.4", origin=origin
    )


def test_a_tool_beside_the_data_node_is_found_with_its_version(tmp_path):
    """It needs no search path."""
    ndb = cluster(tmp_path, *ndb_tools.BUILT)
    assert ndb_tools.find(ndb, "ndb_import") == tmp_path / "sbin/ndb_import"
    assert ndb_tools.version(ndb, "ndb_import") == ndb_tools.version(ndb, "flexAsynch") == "9.7.4"
    assert ndb_tools.missing(ndb) == []


def test_a_missing_tool_is_named_with_the_command_that_installs_it(tmp_path):
    """The installation is usable without it."""
    ndb = cluster(tmp_path, "flexAsynch", "ndb_sign_keys")
    assert ndb_tools.missing(ndb) == ["ndb_import"]
    with pytest.raises(LabError, match="ndb_import is not installed") as caught:
        ndb_tools.find(ndb, "ndb_import")
    assert caught.value.next_step == "Run: ./lab install --tools"


def test_a_tool_of_another_version_is_refused(tmp_path):
    """What it does is not what the cluster's own version does."""
    ndb = cluster(tmp_path, "ndb_import", version="8.0.36")
    with pytest.raises(LabError, match="different versions") as caught:
        ndb_tools.version(ndb, "ndb_import")
    assert "ndb_import 8.0.36" in caught.value.found


def test_tools_are_built_only_where_they_are_missing(tmp_path):
    """For another cluster than the lab's own it says what to do instead."""
    install.add_tools(cluster(tmp_path / "whole", *ndb_tools.BUILT))
    with pytest.raises(LabError, match="only for the NDB Cluster that it installs") as caught:
        install.add_tools(cluster(tmp_path / "other", "ndb_import"))
    assert "without flexAsynch" in caught.value.found


def test_an_experiment_lacks_only_the_tools_that_it_uses(tmp_path, monkeypatch):
    """An installation without the others is good enough for it."""
    monkeypatch.setattr(discovery, "find_ndb", lambda: cluster(tmp_path, "ndb_import"))
    assert catalogue.find("bulk-load").lacks() == ""
    assert catalogue.find("api-ceiling").lacks().startswith("flexAsynch not installed")


def test_a_tool_that_only_one_experiment_needs_is_named_with_it(tmp_path, monkeypatch):
    """Any of NDB's programs can be one; where it is, its version and place are known."""
    restore = ndb_tools.tool("ndb_restore", "backups")
    monkeypatch.setattr(discovery, "find_ndb", lambda: cluster(tmp_path, "ndb_import"))
    assert (restore.find(), restore.lacks()) == (
        "", "ndb_restore not installed (Run: ./lab install --tools)"
    )  # fmt: skip
    monkeypatch.setattr(discovery, "find_ndb", lambda: cluster(tmp_path, "ndb_restore"))
    assert restore.find() == f"9.7.4 ({tmp_path / 'sbin/ndb_restore'})"
    assert restore.lacks() == ""
    monkeypatch.setattr(discovery, "find_ndb", lambda: None)
    assert (restore.find(), restore.lacks()) == ("", "")
