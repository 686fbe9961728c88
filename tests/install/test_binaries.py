from __future__ import annotations

from pathlib import Path

import pytest

from ndblab.error import LabError
from ndblab.install import binaries
from ndblab.install.binaries import Binaries, Ndb, Sysbench

CAPTURED = Path(__file__).parents[1] / "captured/programs"


def an_ndb(basedir: Path) -> Ndb:
    programs = {name: basedir / "bin" / name for name in binaries.NDB_PROGRAMS}
    return Ndb(**programs, ndb_version="9.7.4", mysqld_version="9.7.4", origin="X", basedir=basedir)


def test_versions_are_read_from_what_the_real_programs_print() -> None:
    """The version lines of mysqld, ndbmtd and sysbench are understood."""
    assert binaries.mysqld_version((CAPTURED / "mysqld.txt").read_text()) == "9.7.4"
    assert binaries.ndb_versions((CAPTURED / "ndbmtd.txt").read_text()) == ("9.7.4", "9.7.4")
    assert binaries.sysbench_version((CAPTURED / "sysbench.txt").read_text()) == "1.0.20"


def test_ndb_has_a_version_of_its_own_where_it_differs_from_the_server() -> None:
    """A data node that says both versions is known by both."""
    text = "MySQL distrib mysql-5.7.44 ndb-7.6.30, for Linux (x86_64)"
    assert binaries.ndb_versions(text) == ("5.7.44", "7.6.30")


def test_text_of_another_program_has_no_version() -> None:
    """What is not the expected program is not taken for one."""
    assert binaries.mysqld_version("bash 5.2") is None
    assert binaries.ndb_versions("mysqld  Ver 9.7.4-2 for Linux") is None


def test_a_mixture_of_versions_names_every_program() -> None:
    """A mysqld and an ndbmtd that differ are refused, and the message names both."""
    with pytest.raises(LabError) as caught:
        binaries.match_versions({"mysqld": "9.7.4", "ndbmtd": "9.7.3"}, "/opt/ndb")
    assert "mysqld 9.7.4, ndbmtd 9.7.3" in str(caught.value)


@pytest.mark.parametrize(
    ("version", "expected"), [("1.0.20", True), ("1.1.0", True), ("1.0.9", False)]
)
def test_versions_are_compared_as_numbers(version: str, expected: bool) -> None:
    """Version 1.0.9 is older than 1.0.20."""
    assert binaries.is_at_least(version, "1.0.20") is expected


def test_a_relocated_mysqld_is_told_where_its_files_are(tmp_path: Path) -> None:
    """Messages, character sets and plugins are looked for in both usual layouts."""
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


def test_a_mysqld_in_the_systems_place_is_left_alone() -> None:
    """A mysqld of the distribution knows its own folders."""
    assert binaries.mysqld_arguments(Path("/usr")) == ("--secure-file-priv=NULL",)


def test_binaries_survive_the_way_through_plain_values(tmp_path: Path) -> None:
    """What a dataset records of the binaries gives the same binaries back."""
    sysbench = Sysbench(tmp_path / "sysbench", "1.0.20", scripts=tmp_path / "lua")
    whole = binaries.join(an_ndb(tmp_path), sysbench)
    assert Binaries.from_dict(whole.to_dict()) == whole


def test_a_relocated_sysbench_gets_paths_and_an_installed_one_names(tmp_path: Path) -> None:
    """A workload is a file for a relocated sysbench and a bare name for any other."""
    here = binaries.join(an_ndb(tmp_path), Sysbench(tmp_path / "s", "1.0.20"))
    away = binaries.join(an_ndb(tmp_path), Sysbench(tmp_path / "s", "1.0.20", scripts=tmp_path))
    assert here.sysbench_script("oltp_point_select") == "oltp_point_select"
    assert here.sysbench_env == {}
    assert away.sysbench_script("oltp_point_select") == f"{tmp_path}/oltp_point_select.lua"
    assert away.sysbench_env["LUA_PATH"].startswith(f"{tmp_path}/?.lua")
