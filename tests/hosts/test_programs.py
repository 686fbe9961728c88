"""The programs of this host on another one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from stand_ins import put_cluster, put_sysbench

from ndblab import install
from ndblab.error import LabError
from ndblab.hosts import programs, trees
from ndblab.install import cache, discovery
from ndblab.install.binaries import Binaries
from ndblab.machine.local import LOCAL

ROLES = ("data", "sql", "load")


class OtherHost:
    """A host db2 with a disk of its own, on which programs run."""

    name = "db2"

    def __init__(self, disk: Path, free: int = 10**9) -> None:
        self.disk, self._free = disk, free

    def at(self, path: Path | str) -> Path:
        return self.disk / str(path).lstrip("/")

    def get(self, path: Path) -> str:
        return LOCAL.get(self.at(path))

    def run(self, argv: Sequence[str], *, what: str) -> str:
        if argv[0] == "df":
            return f"Avail\n{self._free}\n"
        own = [str(self.at(word)) if word.startswith("/") else word for word in argv]
        return LOCAL.run(own, what=f"On {self.name}: {what}").replace(str(self.disk), "")

    def send_tree(self, here: Path, there: Path) -> None:
        shutil.rmtree(self.at(there), ignore_errors=True)
        shutil.copytree(here, self.at(there))
        (self.at(there) / trees.STAMP).write_text("content")


@pytest.fixture
def ours(bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> Binaries:
    """NDB Cluster and sysbench in the lab's cache."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    root = install.location() / "ndb-9.7.4-debian"
    put_cluster(root)
    put_sysbench(root / "bin")
    ndb = discovery.in_home(root)
    sysbench = discovery.check_sysbench(root / "bin/sysbench")
    cache.certify(root, ndb=ndb, sysbench=sysbench, files=[ndb.ndbmtd], source={})
    return install.join(ndb, sysbench)


def change(file: Path, **facts: object) -> None:
    """Change what a receipt says."""
    file.write_text(json.dumps({**json.loads(file.read_text()), **facts}))


def test_the_labs_programs_are_copied_to_the_same_path(ours: Binaries, tmp_path: Path):
    """Once; a copy of an older lab's programs is replaced."""
    there = OtherHost(tmp_path / "db2")
    programs.ensure(there, ours, ROLES)
    copied = there.at(ours.basedir)
    assert (copied / "bin/ndbmtd").exists()
    (copied / "untouched").touch()
    programs.ensure(there, ours, ROLES)
    assert (copied / "untouched").exists()
    change(copied / cache.RECEIPT, source={"packages": ["older"]})
    programs.ensure(there, ours, ROLES)
    assert not (copied / "untouched").exists()


def test_what_was_installed_there_is_used_if_it_is_the_same(ours: Binaries, tmp_path: Path):
    """At whatever time; anything else is neither used nor replaced, and the message says how to."""
    there, root = OtherHost(tmp_path / "db2"), ours.basedir
    shutil.copytree(root, there.at(root))
    change(there.at(root / cache.RECEIPT), installed_utc="2024-01-02T03:04:05+00:00")
    programs.ensure(there, ours, ROLES)
    change(there.at(root / cache.RECEIPT), source={"packages": ["older"]})
    with pytest.raises(LabError, match="On db2: another installation") as caught:
        programs.ensure(there, ours, ROLES)
    assert caught.value.found.endswith("sysbench 1.0.20, installed on 2024-01-02 03:04 UTC")
    assert caught.value.expected.startswith("the same as here: NDB Cluster 9.7.4 and sysbench")
    assert caught.value.next_step.endswith(f"ssh db2 rm -r {root}")


def test_a_disk_that_is_too_small_is_refused_before_anything_is_sent(
    ours: Binaries, tmp_path: Path
):
    """With what is free and what it takes."""
    there = OtherHost(tmp_path / "db2", free=10)
    with pytest.raises(LabError, match="On db2: there is too little disk space"):
        programs.ensure(there, ours, ROLES)
    assert not there.at(ours.basedir).exists()


def test_programs_of_the_system_must_be_of_one_version(
    ours: Binaries, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Of those that the host's roles need; a missing or other one is named, with that of here."""
    there, root = OtherHost(tmp_path / "db2"), ours.basedir
    # Not in the lab's cache: nothing is copied.
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    put_cluster(there.at(root), version="8.4.3")
    with pytest.raises(LabError, match="On db2: ndbmtd is of another version") as caught:
        programs.ensure(there, ours, ["data"])
    assert "ndb-8.4.3" in caught.value.found
    assert "as here: MySQL distrib mysql-9.7.4 ndb-9.7.4" in caught.value.expected
    with pytest.raises(LabError, match=r"On db2: .*sysbench does not run") as caught:
        programs.ensure(there, ours, ["load"])
    assert "No such file" in caught.value.found
    assert "as here: sysbench 1.0.20" in caught.value.expected
    assert "on every host" in caught.value.next_step
