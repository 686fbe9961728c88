"""A small disk: full, and with space again."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

import small_runs
from campaign import small_disk
from ndblab.cluster import datadir, lease, start_stop
from ndblab.cluster.cluster import Cluster
from ndblab.error import LabError
from ndblab.machine import host
from ndblab.planning import deployment
from small_runs import RUNS

PORT = 14960


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_small_disk_is_full_and_has_space_again(tmp_path: Path):
    """Its content stays; one byte more is refused until there is space."""
    folder = tmp_path / "disk"
    try:
        small_disk.mount(folder, 1 << 20)
    except LabError as error:
        pytest.skip(f"no file system can be mounted here: {error.found}")
    try:
        (folder / "content").write_bytes(b"x" * 8192)
        small_disk.fill(folder)
        with pytest.raises(OSError, match="No space left"):
            (folder / "more").write_bytes(b"x" * 8192)
        small_disk.widen(folder, 1 << 20)
        (folder / "more").write_bytes(b"x" * 8192)
        assert (folder / "content").stat().st_size == 8192
    finally:
        small_disk.unmount(folder)
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("what", ["record", "configuration"])
def test_a_full_disk_under_the_cluster_gives_one_message(what, tmp_path: Path):
    """The cluster's own files are refused with a reason and no traceback."""
    folder = tmp_path / "disk"
    try:
        small_disk.mount(folder, 1 << 20)
    except LabError as error:
        pytest.skip(f"no file system can be mounted here: {error.found}")
    shape = deployment.Shape(1, 1, 1, budget="shared", places=start_stop.places(folder, PORT))
    decided = deployment.make(host.read(), shape)
    programs = SimpleNamespace(ndb_version="9.7.4", mysqld_version="9.7.4")
    writes = {
        "record": lambda: lease.write(folder, {"text": "x" * 8192}),
        "configuration": lambda: datadir.lay_out(Cluster(decided, programs, folder)),
    }
    try:
        small_disk.fill(folder)
        with pytest.raises(LabError, match="The disk is full"):
            writes[what]()
    finally:
        small_disk.unmount(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_full_disk_under_a_dataset_loses_no_whole_run(tmp_path: Path):
    """Its next run is refused with one message; with space again, the sweep goes on."""
    folder = tmp_path / "disk"
    try:
        small_disk.mount(folder, 1 << 20)
    except LabError as error:
        pytest.skip(f"no file system can be mounted here: {error.found}")
    try:
        out = small_runs.opened(folder)
        out.append(RUNS[0], small_runs.tables(RUNS[0]))
        small_disk.fill(folder)
        log = {"log.txt": "x" * 100_000}
        with pytest.raises(LabError, match="The disk is full"):
            out.append(RUNS[1], small_runs.tables(RUNS[1]), log)
        with pytest.raises(LabError, match="The disk is full"):
            out.finish()
        out.close()
        small_disk.widen(folder, 1 << 20)
        with small_runs.opened(folder) as out:
            assert out.done == {RUNS[0]: "ok"}
            out.append(RUNS[1], small_runs.tables(RUNS[1]), log)
            assert len(out.finish().runs) == 2
    finally:
        small_disk.unmount(folder)
