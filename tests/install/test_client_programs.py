"""MySQL's client programs: where they are found, and what is said if they are not."""

from __future__ import annotations

import shutil
from types import SimpleNamespace

import pytest
from stand_ins import put_program

from ndblab.error import LabError
from ndblab.install import packages


def test_the_program_of_the_installation_goes_before_that_on_path(tmp_path):
    """Another version would dump in another way."""
    own = put_program(tmp_path / "bin/mysqldump", "")
    ndb = SimpleNamespace(basedir=tmp_path, origin="NDB_HOME")
    assert packages.client_argv(ndb, "mysqldump") == (str(own),)


def test_debians_program_runs_with_its_own_libraries(tmp_path):
    """It may need a newer C library than this machine has."""
    usr = tmp_path / "usr"
    own = put_program(usr / "bin/mysqldump", "")
    loader = put_program(usr / "lib64/ld-linux-x86-64.so.2", "")
    libc = put_program(usr / "lib/x86_64-linux-gnu/libc.so.6", "")
    ndb = SimpleNamespace(basedir=usr, origin="cache:debian")
    words = packages.client_argv(ndb, "mysqldump")
    assert words == (str(loader), "--library-path", str(libc.parent), str(own))


def test_a_program_that_is_nowhere_is_named_with_its_package(tmp_path, monkeypatch):
    """The message says what to install."""
    monkeypatch.setattr(shutil, "which", lambda name: None)
    ndb = SimpleNamespace(basedir=tmp_path, origin="PATH")
    with pytest.raises(LabError, match="mysqldump is not installed") as caught:
        packages.client_argv(ndb, "mysqldump")
    assert "mysql-client" in caught.value.next_step
