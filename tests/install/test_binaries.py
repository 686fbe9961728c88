from __future__ import annotations

from pathlib import Path

import pytest

from ndblab.install import binaries
from ndblab.install.binaries import Ndb, Sysbench

CAPTURED = Path(__file__).parents[1] / "captured/programs"


def an_ndb(basedir: Path) -> Ndb:
    programs = {name: basedir / "bin" / name for name in binaries.NDB_PROGRAMS}
    return Ndb(**programs, ndb_version="9.7.4", mysqld_version="9.7.4", origin="X", basedir=basedir)


def test_versions_are_read_from_what_the_real_programs_print() -> None:
    assert binaries.mysqld_version((CAPTURED / "mysqld.txt").read_text()) == "9.7.4"
    assert binaries.ndb_versions((CAPTURED / "ndbmtd.txt").read_text()) == ("9.7.4", "9.7.4")
    assert binaries.sysbench_version((CAPTURED / "sysbench.txt").read_text()) == "1.0.20"


def test_ndb_may_have_another_version_than_the_server() -> None:
    """A data node reports both."""
    text = "MySQL distrib mysql-5.7.44 ndb-7.6.30, for Linux (x86_64)"
    assert binaries.ndb_versions(text) == ("5.7.44", "7.6.30")


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("mysqld  Ver 8.0.35-cluster for Linux on x86_64 (MySQL Cluster ...)", "8.0.35"),
        ("mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))", "9.7.4"),
        ("mysqld  Ver 21.04.9-cluster for Linux on x86_64 (Source distribution)", "21.4.9"),
        ("mysqld  Ver 22.10.12LTS-cluster for Linux on x86_64", "22.10.12"),
    ],
)
def test_a_servers_version_consists_of_numbers_only(text: str, version: str) -> None:
    """Suffixes of packagers and editions are dropped."""
    assert binaries.mysqld_version(text) == version


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("RonDB distrib RonDB-22.10.2, for Linux (x86_64)", "22.10.2"),
        ("RonDB distrib RonDB-21.04.9, for Linux (x86_64)", "21.4.9"),
        ("iRoNDB distrib iRoNDB-21.04.0 iRoNDB-21.04.0, for Linux (x86_64)", "21.4.0"),
    ],
)
def test_rondb_has_one_number_for_everything(text: str, version: str) -> None:
    assert binaries.ndb_versions(text) == (version, version)


@pytest.mark.parametrize(
    ("own_version", "mysql"),
    [
        ("8.0.26", "8.0.26"),
        ("9.7.4", "9.7.4"),
        ("21.4.9", "8.0.23"),
        ("22.10.12", "8.0.31"),
        ("24.10.1", "8.4.3"),
        ("26.2.7", "8.4.3"),
    ],
)
def test_a_rondb_is_configured_as_the_mysql_it_is_based_on(own_version: str, mysql: str) -> None:
    """RonDB 22.10 does not get options of MySQL 22; an unknown series counts as the last known."""
    assert binaries.mysql_version(own_version) == mysql


@pytest.mark.parametrize(
    ("version", "series"),
    [("9.7.4", ()), ("8.0.26", ()), ("", ()), ("21.4.17", (21, 4)), ("26.2.11", (26, 2))],
)
def test_a_rondb_is_told_by_its_version(version: str, series: tuple[int, ...]) -> None:
    """RonDB counts years, from 21.04 on."""
    assert binaries.rondb_series(version) == series


def test_text_of_another_program_has_no_version() -> None:
    assert binaries.mysqld_version("bash 5.2") is None
    assert binaries.ndb_versions("mysqld  Ver 9.7.4-2 for Linux") is None


@pytest.mark.parametrize(
    ("version", "expected"), [("1.0.20", True), ("1.1.0", True), ("1.0.9", False)]
)
def test_versions_are_compared_as_numbers(version: str, expected: bool) -> None:
    assert binaries.is_at_least(version, "1.0.20") is expected


def test_a_relocated_mysqld_gets_the_paths_of_its_files(tmp_path: Path) -> None:
    """Messages, character sets and plugins are found in both usual layouts."""
    (tmp_path / "share/mysql/english").mkdir(parents=True)
    (tmp_path / "share/mysql/english/errmsg.sys").touch()
    (tmp_path / "share/mysql/charsets").mkdir()
    (tmp_path / "lib/plugin").mkdir(parents=True)
    assert binaries.mysqld_arguments(tmp_path) == (
        f"--basedir={tmp_path}",
        "--secure-file-priv=NULL",
        f"--lc-messages-dir={tmp_path}/share/mysql",
        f"--character-sets-dir={tmp_path}/share/mysql/charsets",
        f"--plugin-dir={tmp_path}/lib/plugin",
    )


def test_a_mysqld_in_the_systems_place_gets_no_paths() -> None:
    """A mysqld of the distribution knows its own folders."""
    assert binaries.mysqld_arguments(Path("/usr")) == ("--secure-file-priv=NULL",)


def test_two_builds_of_one_version_have_different_fingerprints(tmp_path: Path) -> None:
    """A dataset identifies the build that was measured, not only its version."""
    (tmp_path / "bin").mkdir()
    whole = binaries.join(an_ndb(tmp_path), Sysbench(tmp_path / "bin/sysbench", "1.0.20"))
    for program in (whole.ndbmtd, whole.mysqld, whole.sysbench):
        program.write_bytes(b"abc")
    first = whole.fingerprint()
    assert first == dict.fromkeys(("ndbmtd", "mysqld", "sysbench"), "ba7816bf8f01")
    whole.ndbmtd.write_bytes(b"abd")
    second = whole.fingerprint()
    assert second["ndbmtd"] != first["ndbmtd"]
    assert second["mysqld"] == first["mysqld"]


def test_a_relocated_sysbench_gets_paths_and_an_installed_one_names(tmp_path: Path) -> None:
    here = binaries.join(an_ndb(tmp_path), Sysbench(tmp_path / "s", "1.0.20"))
    away = binaries.join(an_ndb(tmp_path), Sysbench(tmp_path / "s", "1.0.20", scripts=tmp_path))
    assert here.sysbench_script("oltp_point_select") == "oltp_point_select"
    assert here.sysbench_env == {}
    assert away.sysbench_script("oltp_point_select") == f"{tmp_path}/oltp_point_select.lua"
    assert away.sysbench_env["LUA_PATH"].startswith(f"{tmp_path}/?.lua")
