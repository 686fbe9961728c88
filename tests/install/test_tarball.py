from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
import stand_ins
from vendor import Server

from ndblab import install
from ndblab.error import LabError


@pytest.fixture
def tarball(tmp_path: Path) -> Path:
    return stand_ins.pack(stand_ins.put_cluster(tmp_path / "top"), tmp_path / "ndb.tar.gz")


@pytest.fixture
def url(server: Server, tarball: Path) -> str:
    """Where the tarball is published."""
    server.files[f"/{tarball.name}"] = tarball.read_bytes()
    return f"{server.url}/{tarball.name}"


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def leftovers(machine: Path) -> list[str]:
    names = (path.name for path in (machine / "cache/ndblab").iterdir())
    return sorted(name for name in names if name != "install.lock")


def test_a_tarball_is_installed_and_found_again(machine: Path, tarball: Path) -> None:
    binaries = install.ensure(str(tarball), progress=False)
    assert binaries.origin == "cache:tarball"
    assert binaries.ndbmtd.is_relative_to(machine / "cache/ndblab")
    assert binaries.ndbmtd.is_file()
    assert install.find() == binaries


def test_a_tarball_of_rondb_is_installed(machine: Path, tmp_path: Path) -> None:
    """Its name and folder are RonDB's, its programs report RonDB's versions, and so does the lab.

    Names as RonDB's create_rondb_tarball.sh makes them, version lines as in test_binaries.
    """
    name = "rondb-21.04.17-linux-glibc2.17-x86_64"
    top = stand_ins.put_rondb(tmp_path / "rondb", "21.04.17", mysqld_version="21.04.17-cluster")
    packed = stand_ins.pack(top, tmp_path / f"{name}.tar.gz", name)
    binaries = install.ensure(str(packed), progress=False)
    assert binaries.product == "RonDB 21.04.17"
    assert (binaries.ndb_version, binaries.mysqld_version) == ("21.4.17", "8.0.23")
    assert install.find() == binaries


def test_two_engines_are_installed_beside_each_other(
    machine: Path, tarball: Path, tmp_path: Path
) -> None:
    """The one installed last is used; installing the other again only chooses it, unchanged."""
    top = stand_ins.put_rondb(tmp_path / "rondb", "22.10.4")
    ours = install.ensure(str(tarball), progress=False)
    before = ours.mysqld.stat().st_ctime_ns
    theirs = install.ensure(str(stand_ins.pack(top, tmp_path / "rondb.tar.gz")), progress=False)
    assert (ours.product, theirs.product) == ("NDB Cluster 9.7.4", "RonDB 22.10.4")
    assert install.find() == theirs
    assert install.ensure(str(tarball), progress=False) == ours == install.find()
    assert ours.mysqld.stat().st_ctime_ns == before


def test_a_tarball_is_downloaded_and_verified(machine: Path, tarball: Path, url: str) -> None:
    """A tarball with the right checksum is downloaded and installed, and then deleted."""
    binaries = install.ensure(url, sha256(tarball).upper(), progress=False)
    assert binaries.ndb_version == "9.7.4"
    assert not list((machine / "cache/ndblab/downloads").iterdir())


@pytest.mark.parametrize("remote", [False, True])
def test_a_wrong_checksum_installs_nothing(
    machine: Path, tarball: Path, url: str, remote: bool
) -> None:
    """A tarball with another checksum is refused before it is unpacked."""
    with pytest.raises(LabError):
        install.ensure(url if remote else str(tarball), "0" * 64, progress=False)
    assert install.find() is None


@pytest.mark.parametrize(
    ("tarball", "checksum", "message"),
    [
        ("https://mirror.example/ndb.tar.gz", None, "needs a checksum"),
        ("https://mirror.example/ndb.tar.gz", "abc", "not a SHA-256"),
        ("/nowhere/ndb.tar.gz", None, "does not exist"),
    ],
)
def test_a_request_that_cannot_be_verified_is_refused(
    machine: Path, tarball: str, checksum: str | None, message: str
) -> None:
    """Missing or malformed checksums and missing files are reported before anything is done."""
    with pytest.raises(LabError, match=message):
        install.ensure(tarball, checksum, progress=False)
    assert not (machine / "cache").exists()


def test_a_tarball_of_something_else_is_refused(machine: Path, tmp_path: Path) -> None:
    """A tarball without a data node is refused, naming what is missing, and leaves nothing."""
    top = stand_ins.put_cluster(tmp_path / "server")
    (top / "bin/ndbmtd").unlink()
    with pytest.raises(LabError, match="does not contain an NDB Cluster") as caught:
        install.ensure(str(stand_ins.pack(top, tmp_path / "s.tar.gz")), progress=False)
    assert caught.value.found == "no bin/ndbmtd"
    assert leftovers(machine) == []


def test_a_truncated_tarball_is_refused(machine: Path, tarball: Path) -> None:
    """A truncated tarball is an error, not half an installation; the log it names stays."""
    tarball.write_bytes(tarball.read_bytes()[:-200])
    with pytest.raises(LabError, match="cannot be unpacked") as caught:
        install.ensure(str(tarball), progress=False)
    assert leftovers(machine) == ["tarball.log"]
    assert str(machine / "cache/ndblab/tarball.log") in caught.value.next_step


def test_a_machine_without_debian_gets_advice(bare_machine: Path) -> None:
    """Where nothing is installed or packaged by Debian, the error lists what to do."""
    with pytest.raises(LabError) as caught:
        install.ensure(progress=False)
    assert "NDB_HOME" in str(caught.value)
    assert "--tarball" in str(caught.value)
