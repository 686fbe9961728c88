"""The user of this process, who may have neither a name nor a home."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from ndblab.error import LabError
from ndblab.machine import user


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user id without an entry in /etc/passwd, and no environment that says more."""

    def unknown(uid: int) -> None:
        raise KeyError(f"getpwuid(): uid not found: {uid}")

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    for name in ("HOME", "LOGNAME", "USER", "LNAME", "USERNAME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)


def test_a_user_without_a_name_is_called_by_the_id(nobody: None) -> None:
    """As `id` and `ls` do."""
    assert user.name() == str(os.getuid())


def test_a_user_without_a_home_is_told_what_names_a_folder(nobody: None, monkeypatch) -> None:
    """And that folder is then used."""
    with pytest.raises(LabError, match="no home") as caught:
        user.cache()
    assert "XDG_CACHE_HOME" in caught.value.next_step
    monkeypatch.setenv("XDG_CACHE_HOME", "/elsewhere")
    assert user.cache() == Path("/elsewhere")


def test_settings_for_the_programs_of_other_projects_are_forgotten(monkeypatch) -> None:
    """Those that would keep tests from running, or change what is built; nothing else."""
    others = {
        "PYTEST_ADDOPTS": "--collect-only", "MAKEFLAGS": "-n", "CXXFLAGS": "-O0",
        "GOFLAGS": "-mod=vendor", "GIT_DIR": "/x", "MYSQL_TCP_PORT": "1", "LIBMYSQL_PLUGINS": "x",
        "MYSQL_GROUP_SUFFIX": ".x", "MYSQLX_TCP_PORT": "1", "MARIADB_HOME": "/x", "UMASK": "022",
        "UMASK_DIR": "022", "NDB_CONNECTSTRING": "production:1186",
        "VIRTUAL_ENV": "/x",
    }  # fmt: skip
    kept = {"GOPROXY": "x", "MYSQL_PWD": "x", "CXX": "clang++", "NDB_HOME": "/x", "PATH": "/x"}
    monkeypatch.setattr(os, "environ", others | kept)
    user.forget_settings()
    assert os.environ == kept


def test_no_file_of_the_lab_can_be_written_by_every_user(monkeypatch, tmp_path: Path) -> None:
    """With the umask 000 of some containers mysqld would skip its my.cnf; a stricter one holds."""
    monkeypatch.setattr(os, "environ", {})
    before = os.umask(0)
    try:
        user.forget_settings()
        assert os.umask(0o077) == 0o002
        user.forget_settings()
        assert os.umask(0) == 0o077
    finally:
        os.umask(before)
