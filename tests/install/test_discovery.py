from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
import stand_ins

from ndblab.error import LabError
from ndblab.install import discovery


@pytest.fixture
def put_home(bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Put a cluster of stand-ins where NDB_HOME names it."""

    def put(**changes: str) -> Path:
        home = stand_ins.put_cluster(bare_machine / "ndb", **changes)
        monkeypatch.setenv("NDB_HOME", str(home))
        return home

    return put


@pytest.mark.parametrize("server_folder", ["bin", "sbin", "libexec"])
def test_ndb_home_is_found_in_its_usual_layouts(put_home, server_folder: str) -> None:
    home = put_home(server_folder=server_folder)
    ndb = discovery.find_ndb()
    assert ndb is not None
    assert (ndb.origin, ndb.ndb_version, ndb.basedir) == ("NDB_HOME", "9.7.4", home)
    assert ndb.mysqld == home / server_folder / "mysqld"


def test_an_incomplete_ndb_home_names_what_it_lacks(put_home) -> None:
    """An NDB_HOME with a plain MySQL Server is refused; the error names the missing programs."""
    (put_home() / "bin/ndbmtd").unlink()
    with pytest.raises(LabError, match="not a complete installation") as caught:
        discovery.find_ndb()
    assert caught.value.found == "no ndbmtd"


def test_ndb_home_goes_before_path(bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = stand_ins.put_cluster(bare_machine / "asked", version="8.4.1")
    other = stand_ins.put_cluster(bare_machine / "other")
    monkeypatch.setenv("PATH", f"{other}/bin:{os.environ['PATH']}")
    on_path = discovery.find_ndb()
    monkeypatch.setenv("NDB_HOME", str(home))
    asked = discovery.find_ndb()
    assert on_path is not None
    assert asked is not None
    assert (on_path.origin, on_path.mysqld_version) == ("PATH", "9.7.4")
    assert (asked.origin, asked.mysqld_version) == ("NDB_HOME", "8.4.1")


def test_a_mysqld_alone_on_path_is_no_cluster(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database server of the distribution is ignored, and the search continues."""
    home = stand_ins.put_cluster(bare_machine / "mysql")
    for name in ("ndbmtd", "ndb_mgmd", "ndb_mgm"):
        (home / "bin" / name).unlink()
    monkeypatch.setenv("PATH", f"{home}/bin:{os.environ['PATH']}")
    assert discovery.find_ndb() is None


def test_mixed_versions_are_refused(put_home) -> None:
    put_home(version="9.7.4", mysqld_version="9.7.3")
    with pytest.raises(LabError, match="different versions") as caught:
        discovery.find_ndb()
    assert "mysqld 9.7.3, ndbmtd 9.7.4" in str(caught.value)


def test_a_mysqld_without_the_engine_is_refused(put_home) -> None:
    """A mysqld that cannot join a cluster is refused before any start."""
    put_home(engine=stand_ins.WITHOUT_ENGINE)
    with pytest.raises(LabError, match="no ndbcluster storage engine") as caught:
        discovery.find_ndb()
    assert "unknown option" in str(caught.value)


def test_a_program_that_may_not_be_executed_is_named(put_home) -> None:
    """A program without its x bit is an error with its path, not a traceback."""
    (put_home() / "bin/ndb_mgmd").chmod(0o644)
    with pytest.raises(LabError, match="does not run") as caught:
        discovery.find_ndb()
    assert "ndb_mgmd: Permission denied" in str(caught.value)


def test_a_missing_library_is_reported_in_the_programs_words(put_home) -> None:
    message = "error while loading shared libraries: libaio.so.1: cannot open shared object file"
    text = f"#!/bin/sh\necho '{message}' >&2\nexit 127\n"
    stand_ins.put_program(put_home() / "bin/ndbmtd", text)
    with pytest.raises(LabError) as caught:
        discovery.find_ndb()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("version", "driver", "message"),
    [
        ("1.0.19", "mysql - MySQL driver", "too old"),
        ("1.0.20", "pgsql - PostgreSQL driver", "has no MySQL driver"),
    ],
)
def test_an_unusable_sysbench_is_refused(
    bare_machine: Path,
    monkeypatch: pytest.MonkeyPatch,
    version: str,
    driver: str,
    message: str,
) -> None:
    stand_ins.put_sysbench(bare_machine / "bin", version=version, driver=driver)
    monkeypatch.setenv("PATH", f"{bare_machine}/bin:{os.environ['PATH']}")
    with pytest.raises(LabError, match=message):
        discovery.find_sysbench()
