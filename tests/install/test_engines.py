"""Two installations for one comparison."""

from __future__ import annotations

from pathlib import Path

import pytest
import stand_ins

from ndblab import install
from ndblab.error import LabError
from ndblab.install import engines


@pytest.fixture
def places(machine: Path) -> list[Path]:
    """The folder of an NDB Cluster and a tarball of RonDB, on a machine with sysbench."""
    folder = stand_ins.put_cluster(machine / "ndb")
    rondb = stand_ins.put_rondb(machine / "rondb", "21.04.17")
    return [folder, stand_ins.pack(rondb, machine / "rondb.tar.gz")]


def installed(folder: Path, version: str) -> install.Binaries:
    """Install the tarball of another version."""
    top = stand_ins.put_cluster(folder / "other", version=version)
    return install.ensure(str(stand_ins.pack(top, folder / "other.tar.gz")), progress=False)


def test_two_engines_share_one_sysbench(places: list[Path]) -> None:
    """In the order in which they are named, from a folder and from a tarball."""
    first, second = engines.both(",".join(map(str, places)), progress=False)
    assert (first.product, second.product) == ("NDB Cluster 9.7.4", "RonDB 21.04.17")
    assert first.mysqld.is_relative_to(places[0])
    assert first.sysbench == second.sysbench


def test_only_a_release_that_is_not_here_has_to_be_fetched(
    places: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Folders, tarballs and installed releases take nothing of a user who is not root."""
    named = f"8.0.26,{places[1]}"
    assert engines.sources(named) == [{"release": "8.0.26"}, {"tarball": str(places[1])}]
    installed(tmp_path, "8.0.26")
    assert engines.sources("8.0.26,9.7.4") == [{"tarball": "8.0.26"}, {"release": "9.7.4"}]
    (tmp_path / "9.7.4").mkdir()
    monkeypatch.chdir(tmp_path)
    assert {"tarball": "9.7.4"} in engines.sources("8.0.26,9.7.4")


def test_engines_are_found_without_installing_any(places: list[Path], tmp_path: Path) -> None:
    """A folder and an installed release are; a tarball or another release has to be installed."""
    folder, tarball = places
    assert engines.find(f"{folder},{tarball}") is None
    assert engines.find(f"{folder},8.0.26") is None
    installed(tmp_path, "8.0.26")
    first, second = engines.find(f"{folder},8.0.26")
    assert (first.ndb_version, second.ndb_version) == ("9.7.4", "8.0.26")
    assert first.sysbench == second.sysbench


@pytest.mark.parametrize("named", ["/opt/ndb", "/a,/b,/c", "/a,", ""])
def test_one_installation_is_no_comparison(bare_machine: Path, named: str) -> None:
    """Nothing is installed before there are two names."""
    with pytest.raises(LabError, match="needs two installations"):
        engines.both(named, progress=False)
    assert not (bare_machine / "cache").exists()


def test_a_place_that_is_no_installation_is_named(places: list[Path]) -> None:
    """A missing folder and an incomplete one."""
    with pytest.raises(LabError, match="does not exist"):
        engines.both(f"{places[0]},/nowhere", progress=False)
    (places[0] / "bin/ndbmtd").unlink()
    with pytest.raises(LabError, match=r"--engines=.* is not a complete"):
        engines.both(f"{places[1]},{places[0]}", progress=False)


def test_a_version_is_found_wherever_it_is_installed(
    places: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the cache, or where NDB_HOME or PATH has it."""
    assert engines.present("9.7.4") is None
    monkeypatch.setenv("NDB_HOME", str(places[0]))
    present = engines.present("9.7.4")
    assert present
    assert present.mysqld.is_relative_to(places[0])
    engines.check_present("9.7.4")
    assert engines.sources("9.7.4,8.0.26") == [{"tarball": "9.7.4"}, {"release": "8.0.26"}]


@pytest.mark.parametrize(
    ("version", "next_step"),
    [("8.0.26", "./lab install --release 8.0.26"), ("8.0.44", "engine=FILE.tar.gz")],
)
def test_a_version_that_is_not_installed_is_told_how_to_get(
    places: list[Path], tmp_path: Path, version: str, next_step: str
) -> None:
    """With those that are; a release that the lab cannot fetch is downloaded by hand."""
    with pytest.raises(LabError, match=f"{version} is not installed") as caught:
        engines.check_present(version)
    assert caught.value.found == "installed: none"
    installed(tmp_path, "9.7.4")
    with pytest.raises(LabError) as caught:
        engines.check_present(version)
    assert caught.value.found == "installed: 9.7.4"
    assert next_step in caught.value.next_step
