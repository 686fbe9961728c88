from __future__ import annotations

from pathlib import Path

import pytest

from ndblab.install import cache
from ndblab.install.binaries import NDB_PROGRAMS, Ndb


def installed(root: Path) -> Ndb:
    (root / "bin").mkdir(parents=True)
    programs = {name: root / "bin" / name for name in NDB_PROGRAMS}
    for program in programs.values():
        program.write_text("a program")
    return Ndb(**programs, ndb_version="9.7.4", mysqld_version="9.7.4", origin="X", basedir=root)


@pytest.fixture
def ndb(tmp_path: Path) -> Ndb:
    return installed(tmp_path / "ndb-9.7.4-debian")


def certify(ndb: Ndb) -> Path:
    cache.certify(
        ndb.basedir,
        ndb=ndb,
        sysbench=None,
        files=[ndb.mysqld, ndb.ndbmtd],
        source={"sha256": "00"},
    )
    return ndb.basedir


def test_without_a_receipt_nothing_is_installed(ndb: Ndb) -> None:
    """An interrupted installation does not count, even with all its files."""
    assert cache.receipt(ndb.basedir) is None


def test_a_changed_or_missing_file_invalidates_the_receipt(ndb: Ndb) -> None:
    root = certify(ndb)
    ndb.mysqld.write_text("shorter")
    assert cache.receipt(root) is None
    ndb.mysqld.unlink()
    assert cache.receipt(root) is None


def test_a_moved_installation_is_not_used(ndb: Ndb, tmp_path: Path) -> None:
    """Programs bound to an absolute path do not work elsewhere."""
    moved = certify(ndb).rename(tmp_path / "elsewhere")
    assert cache.receipt(moved) is None


def test_an_installation_is_found_through_a_link_to_its_cache(ndb: Ndb, tmp_path: Path) -> None:
    root = certify(ndb)
    (tmp_path / "link").symlink_to(root.parent)
    receipt = cache.receipt(tmp_path / "link" / root.name)
    assert receipt is not None
    assert receipt.ndb is not None
    assert receipt.ndb.mysqld.is_file()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 99}', "null"])
def test_a_damaged_receipt_is_none(ndb: Ndb, text: str) -> None:
    (certify(ndb) / cache.RECEIPT).write_text(text)
    assert cache.receipt(ndb.basedir) is None
