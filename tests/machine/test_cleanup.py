"""What is left of a cluster is removed, by whoever comes after it."""

from __future__ import annotations

from pathlib import Path

from ndblab.machine import cleanup
from ndblab.machine.local import LOCAL


def test_facts_are_added_to_the_record(tmp_path: Path):
    """What is known already stays; a damaged record counts as none."""
    cleanup.add_to_record(tmp_path, {"lab": "here", "servers": 1})
    cleanup.add_to_record(tmp_path, {"servers": 2})
    assert cleanup.record(tmp_path) == {"lab": "here", "servers": 2}
    (tmp_path / cleanup.RECORD).write_text("{")
    assert cleanup.record(tmp_path) == {}


def test_processes_sockets_and_the_folder_are_gone(tmp_path: Path):
    """Sockets in a folder of their own as well, if the record names it."""
    folder, sockets = tmp_path / "cluster", tmp_path / "sockets"
    for made in (folder / "ndb.1", sockets):
        made.mkdir(parents=True)
    (sockets / "mysql.1.sock").touch()
    cleanup.add_to_record(folder, {"socket_dir": str(sockets)})
    child = LOCAL.spawn(["sleep", "600"], folder)
    cleanup.clear(folder)
    assert child.poll() is not None
    assert list(tmp_path.iterdir()) == []


def test_cleaning_keeps_what_the_next_start_uses(tmp_path: Path):
    """The folder itself, with data and configuration."""
    (tmp_path / "config.ini").touch()
    (tmp_path / "mysql.1.sock").touch()
    cleanup.clean(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["config.ini"]
