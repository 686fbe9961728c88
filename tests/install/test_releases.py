"""Releases of the vendor: which one is chosen, and what is installed of it.

The machines of these tests have no apt, as Fedora and Oracle Linux. The vendor, its key and its
tarballs are made in the tests.
"""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import stand_ins
import vendor

from ndblab import install
from ndblab.error import LabError
from ndblab.install import engines, releases, requirements

FEDORA = 'NAME="Fedora Linux"\nID=fedora\nVERSION_ID=41\nPLATFORM_ID="platform:f41"\n'


def known(version: str, glibc: str = "2.12", architecture: str = "x86_64") -> releases.Release:
    name = f"mysql-cluster-{version}-linux-glibc{glibc}-{architecture}.tar.gz"
    return releases.Release(version, architecture, glibc, name)


BRIEFS, NEWER = known("8.0.26"), known("9.1.0", "2.28")


@pytest.fixture(scope="module")
def signer() -> Iterator[vendor.Signer]:
    with vendor.signer("Vendor <vendor@example>") as made:
        yield made


@pytest.fixture(scope="module")
def stranger() -> Iterator[vendor.Signer]:
    with vendor.signer("Stranger <stranger@example>") as made:
        yield made


@pytest.fixture
def machine(
    bare_machine: Path,
    server: vendor.Server,
    signer: vendor.Signer,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """A machine of Fedora with sysbench, and a vendor that has two signed releases."""
    tools = Path(os.environ["PATH"])
    stand_ins.put_sysbench(tools)
    (tools / "gpgv").symlink_to(shutil.which("gpgv", path="/usr/bin:/bin"))
    data, keys = bare_machine / "releases.csv", bare_machine / "keys.asc"
    data.write_text("version,architecture,glibc,file,source\n")
    keys.write_text(f"The vendor's key.\n\n{signer.keys}")
    os_release = bare_machine / "os-release"
    os_release.write_text(FEDORA)
    monkeypatch.setattr(releases, "DATA", data)
    monkeypatch.setattr(releases, "KEYS", keys)
    monkeypatch.setattr(releases, "here", lambda: ("x86_64", "2.40"))
    monkeypatch.setattr(requirements, "_OS_RELEASE", os_release)
    monkeypatch.setattr(requirements, "_can_load", lambda library: True)
    for name, ending in (("TARBALLS", ""), ("SIGNATURES", ".asc")):
        places = ("archives/{series}", "Downloads/{series}")
        templates = tuple(f"{server.url}/{place}/{{file}}{ending}" for place in places)
        monkeypatch.setattr(releases, name, templates)
    for release in (BRIEFS, NEWER):
        with data.open("a") as stream:
            row = (release.version, release.architecture, release.glibc, release.file, "a test")
            stream.write(",".join(row) + "\n")
        top = stand_ins.put_cluster(bare_machine / release.version, version=release.version)
        publish(server, signer, release, top)
    return bare_machine


def publish(
    server: vendor.Server,
    signer: vendor.Signer,
    release: releases.Release,
    top: Path,
    folder: str = "archives",
) -> None:
    """Put a tarball and its signature on the server."""
    packed = stand_ins.pack(top, top.with_suffix(".tar.gz"), release.file.removesuffix(".tar.gz"))
    place = f"/{folder}/{'.'.join(release.version.split('.')[:2])}/{release.file}"
    server.files[place] = packed.read_bytes()
    server.files[f"{place}.asc"] = signer.sign(packed)
    packed.unlink()


def installed(machine: Path) -> list[str]:
    """List what looks like an installation or like half of one."""
    folders = (machine / "cache/ndblab").glob("*")
    return sorted(p.name for p in folders if p.name.startswith(("ndb-", "tarball.partial")))


def downloaded(machine: Path) -> list[str]:
    return [p.name for p in (machine / "cache/ndblab/downloads").rglob("*") if p.is_file()]


def test_without_a_debian_archive_the_newest_release_is_installed(machine: Path) -> None:
    """By the default command; the next start finds it, and the download is gone."""
    binaries = install.ensure(progress=False)
    assert (binaries.ndb_version, binaries.origin) == ("9.1.0", "cache:tarball")
    assert install.find() == binaries
    assert downloaded(machine) == []


def test_ubuntu_has_apt_but_no_debian_archive(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own archive is not taken for Debian's: the release is installed there, too."""
    tools = Path(os.environ["PATH"])
    line = "Ubuntu|24.04|http://mirror.example/ubuntu/"
    stand_ins.put_program(tools / "apt-get", f"#!/bin/sh\necho '{line}'\n")
    stand_ins.put_program(tools / "dpkg-deb", "#!/bin/sh\nexit 1\n")
    assert install.ensure(progress=False).ndb_version == "9.1.0"


def test_two_releases_are_installed_beside_each_other(machine: Path, server: vendor.Server) -> None:
    """The one asked for last is used; asking again downloads nothing."""
    newer = install.ensure(release="newest", progress=False)
    briefs = install.ensure(release="8.0.26", progress=False)
    assert (briefs.ndb_version, newer.ndb_version) == ("8.0.26", "9.1.0")
    assert install.find() == briefs
    server.asked.clear()
    assert install.ensure(release="9.1.0", progress=False) == newer == install.find()
    assert server.asked == []


def test_a_comparison_of_engines_takes_releases_by_version(
    machine: Path, server: vendor.Server
) -> None:
    """What is missing is installed, what is there is used, and the usual one stays in use."""
    usual = install.ensure(release="9.1.0", progress=False)
    server.asked.clear()
    first, second = engines.both("8.0.26,9.1.0", progress=False)
    assert (first.product, second.product) == ("NDB Cluster 8.0.26", "NDB Cluster 9.1.0")
    assert second.mysqld == usual.mysqld != first.mysqld
    assert not any(NEWER.file in path for path, _ in server.asked)
    assert install.find() == usual


def test_a_release_that_has_moved_is_found_in_its_other_place(
    machine: Path, server: vendor.Server
) -> None:
    """The newest of a series is not in the archive yet."""
    server.files = {path.replace("archives", "Downloads"): c for path, c in server.files.items()}
    assert install.ensure(release="8.0.26", progress=False).ndb_version == "8.0.26"


def test_gpg_checks_where_there_is_no_gpgv(machine: Path) -> None:
    """Some distributions have only the one."""
    tools = Path(os.environ["PATH"])
    (tools / "gpgv").unlink()
    (tools / "gpg").symlink_to(shutil.which("gpg", path="/usr/bin:/bin"))
    assert install.ensure(release="8.0.26", progress=False).ndb_version == "8.0.26"


def test_a_signature_of_another_key_installs_nothing(
    machine: Path, server: vendor.Server, stranger: vendor.Signer
) -> None:
    """The message names that key; the download is deleted."""
    publish(server, stranger, BRIEFS, machine / BRIEFS.version)
    with pytest.raises(LabError, match="is not signed by its vendor") as caught:
        install.ensure(release="8.0.26", progress=False)
    assert stranger.fingerprint[-16:] in str(caught.value.found)
    assert installed(machine) == downloaded(machine) == []


def test_a_tarball_that_was_changed_installs_nothing(machine: Path, server: vendor.Server) -> None:
    """The signature is the vendor's, but of another file."""
    place = f"/archives/8.0/{BRIEFS.file}"
    server.files[place] += b"changed"
    with pytest.raises(LabError, match="is not the file that its vendor signed"):
        install.ensure(release="8.0.26", progress=False)
    assert installed(machine) == downloaded(machine) == []


def test_a_download_that_is_cut_is_resumed(machine: Path, server: vendor.Server) -> None:
    """A server that goes away leaves a part; the next command fetches the rest of it."""
    server.cuts, server.stays_up = [100], False
    with pytest.raises(LabError, match=r"8\.0\.26 cannot be fetched from its vendor") as caught:
        install.ensure(release="8.0.26", progress=False)
    assert "503" in caught.value.found
    assert "resumes" in caught.value.next_step
    assert installed(machine) == []
    assert downloaded(machine) == [f"{BRIEFS.file}.part"]
    server.is_down = False
    server.asked.clear()
    assert install.ensure(release="8.0.26", progress=False).ndb_version == "8.0.26"
    tarballs = [span for path, span in server.asked if path.endswith(".gz")]
    assert tarballs == ["bytes=100-"]


def test_a_page_is_no_signature(machine: Path, server: vendor.Server) -> None:
    """A server that answers everything is found out before the tarball is downloaded."""
    place = f"/archives/8.0/{BRIEFS.file}"
    server.files[f"{place}.asc"] = b"<html>Welcome!</html>"
    with pytest.raises(LabError, match="cannot be fetched") as caught:
        install.ensure(release="8.0.26", progress=False)
    assert "no signature there" in caught.value.found
    assert not any(path.endswith(".gz") for path, _ in server.asked)


def test_programs_of_another_architecture_are_refused(
    machine: Path, server: vendor.Server, signer: vendor.Signer
) -> None:
    """The vendor signed it, but nothing of it runs here: nothing of it stays installed."""
    top = machine / BRIEFS.version
    # The header of an executable for ARM, or for x86 where this is ARM.
    other = 62 if platform.machine() == "aarch64" else 183
    header = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + bytes([2, 0, other, 0, 1, 0, 0, 0])
    (top / "bin/mysqld").write_bytes(header.ljust(64, b"\0"))
    publish(server, signer, BRIEFS, top)
    with pytest.raises(LabError, match="mysqld does not run") as caught:
        install.ensure(release="8.0.26", progress=False)
    assert "another kind of machine" in caught.value.found
    assert platform.machine() in caught.value.next_step
    assert installed(machine) == []
    assert install.find() is None


def test_an_unknown_release_lists_the_known_ones(machine: Path, server: vendor.Server) -> None:
    """Before anything is asked of a server or written to the cache."""
    with pytest.raises(LabError, match=r"knows no release 8\.0\.99") as caught:
        install.ensure(release="8.0.99", progress=False)
    assert "8.0.26, 9.1.0, or newest" in caught.value.expected
    assert server.asked == []
    assert not (machine / "cache").exists()


def test_what_is_missing_is_said_at_once_and_with_one_line(
    machine: Path, server: vendor.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No gpgv, no library, no sysbench: one message, before anything is downloaded."""
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setattr(requirements, "_can_load", lambda library: library != "libaio.so.1")
    tools = Path(os.environ["PATH"])
    for name in ("gpgv", "sysbench"):
        (tools / name).unlink()
    with pytest.raises(LabError, match=r"Installing NDB Cluster 9\.1\.0 needs") as caught:
        install.ensure(progress=False)
    assert caught.value.found == (
        "sysbench: the load generator\n            gpgv: to check the vendor's signature\n"
        "            libaio.so.1: a library of NDB Cluster"
    )
    assert "Type once: sudo dnf install -y sysbench gnupg2 libaio" in caught.value.next_step
    assert server.asked == []
    assert installed(machine) == []


def test_an_own_cluster_without_sysbench_gets_the_line_for_sysbench(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found in NDB_HOME, say, so that nothing else has to be installed."""
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setenv("NDB_HOME", str(machine / BRIEFS.version))
    (Path(os.environ["PATH"]) / "sysbench").unlink()
    with pytest.raises(LabError) as caught:
        install.ensure(progress=False)
    assert caught.value.found == "sysbench: the load generator"
    assert "Type once: sudo dnf install -y sysbench" in caught.value.next_step


def test_a_tarball_and_a_release_exclude_each_other(machine: Path) -> None:
    """It is not guessed which of them is meant."""
    with pytest.raises(LabError, match="exclude each other"):
        install.ensure("ndb.tar.gz", release="8.0.26", progress=False)


RELEASES = [NEWER, known("8.0.33"), BRIEFS, known("9.1.0", "2.28", "aarch64")]


@pytest.mark.parametrize(
    ("wanted", "architecture", "glibc", "chosen"),
    [
        ("newest", "x86_64", "2.36", "9.1.0"),
        ("newest", "x86_64", "2.17", "8.0.33"),
        ("newest", "aarch64", "2.34", "9.1.0"),
        ("8.0.26", "x86_64", "2.36", "8.0.26"),
    ],
)
def test_the_newest_that_runs_here_is_chosen(
    wanted: str, architecture: str, glibc: str, chosen: str
) -> None:
    """By architecture and C library, unless a version is given."""
    release = releases.fitting(RELEASES, wanted, architecture, glibc)
    assert (release.version, release.architecture) == (chosen, architecture)


@pytest.mark.parametrize(
    ("wanted", "architecture", "glibc", "found", "expected", "others"),
    [
        ("9.1.0", "x86_64", "2.17", "glibc 2.17", "glibc 2.28 or newer", "8.0.26, 8.0.33"),
        ("newest", "x86_64", "2.5", "glibc 2.5", "glibc 2.12 or newer", ""),
        ("newest", "x86_64", None, "another C library", "glibc 2.12 or newer", ""),
        ("8.0.26", "aarch64", "2.36", "aarch64", "x86_64", "9.1.0"),
        ("newest", "riscv64", "2.36", "riscv64", "aarch64 or x86_64", ""),
    ],
)
def test_a_release_that_does_not_run_here_is_refused(
    wanted: str, architecture: str, glibc: str | None, found: str, expected: str, others: str
) -> None:
    """The message says why, and which releases would run."""
    with pytest.raises(LabError) as caught:
        releases.fitting(RELEASES, wanted, architecture, glibc)
    assert (caught.value.found, caught.value.expected) == (found, expected)
    assert (f"Give another release: {others}." in caught.value.next_step) == bool(others)
    assert "--tarball" in caught.value.next_step


def test_the_lab_knows_the_release_of_the_brief() -> None:
    """And all that it knows is complete: name, place and source of each."""
    for release in releases.known():
        named = f"-{release.version}-linux-glibc{release.glibc}-{release.architecture}.tar."
        assert named in release.file
        for url in release.addresses((*releases.TARBALLS, *releases.SIGNATURES)):
            assert url.startswith(("https://cdn.mysql.com/", "https://downloads.mysql.com/"))
    rows = releases.DATA.read_text().splitlines()[1:]
    assert len(rows) == len(set(rows))
    assert all(row.split(",", 4)[4] for row in rows)
    assert releases.fitting(releases.known(), "8.0.26", "x86_64", "2.28").glibc == "2.12"
