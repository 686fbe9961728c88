"""A full disk, a closed folder or SIGKILL never damages a dataset."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import small_runs
from ndblab import dataset
from ndblab.error import LabError
from small_runs import RUNS, SLICES

DISK_WORK: dict[str, Callable[[dataset.Writer], object]] = {
    "append": lambda out: out.append(RUNS[1], small_runs.tables(RUNS[1]), {"x.txt": "x" * 9999}),
    "add_config": lambda out: out.add_config("my.cnf", "[mysqld]\n" * 999),
    "finish": lambda out: out.finish(),
}


@pytest.mark.parametrize("step", DISK_WORK)
def test_full_disk_keeps_whole_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """A full disk is one clear message; completed runs stay whole and the sweep can be resumed."""
    out = small_runs.opened(tmp_path)
    out.append(RUNS[0], small_runs.tables(RUNS[0]))

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        # SQLite then refuses to grow as it does on a full disk.
        out._journal._db.execute("PRAGMA max_page_count = 1")
        with pytest.raises(LabError, match="disk is full") as caught:
            DISK_WORK[step](out)
    assert caught.value.found == os.strerror(errno.ENOSPC)
    assert caught.value.__cause__.errno == errno.ENOSPC
    assert set(out.snapshot().runs["run_id"]) == {RUNS[0]}
    out.close()
    assert set(dataset.read(out.path).runs["run_id"]) == {RUNS[0]}
    with small_runs.opened(tmp_path) as again:
        assert again.done == {RUNS[0]: "ok"}
        again.append(RUNS[1], small_runs.tables(RUNS[1]))
        assert again.finish().complete


def test_a_folder_without_permission_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of another user is one clear message."""

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "mkdir", denied)
    with pytest.raises(LabError, match="cannot be written"):
        small_runs.opened(tmp_path)


STEPS = ("mkdir", "fsync", "rename", "replace", "rmdir", "unlink")


def killed_at(step: int, work: Callable[[], None]) -> bool:
    """Do the work in a child that dies, without any clean-up, just before its n-th disk step.

    A statement of SQLite is a step, too.
    """
    child = os.fork()
    if child == 0:
        left = step

        def count(*_: object) -> None:
            nonlocal left
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1

        def counting(real: Callable[..., Any]) -> Callable[..., Any]:
            def call(*args: Any, **kwargs: Any) -> Any:
                count()
                return real(*args, **kwargs)

            return call

        def connect(*args: Any, **kwargs: Any) -> sqlite3.Connection:
            connection = sqlite3.Connection(*args, **kwargs)
            connection.set_trace_callback(count)
            return connection

        for name in STEPS:
            setattr(os, name, counting(getattr(os, name)))
        sqlite3.connect = connect
        try:
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def test_append_killed_at_any_step_leaves_whole_runs(tmp_path: Path) -> None:
    """Killed between any two steps of an append, a dataset has the old runs and the new one whole
    or not at all; a run that was being replaced is there, the old or the new."""

    def work(root: Path) -> None:
        with small_runs.opened(root) as out:
            out.append(RUNS[0], small_runs.tables(RUNS[0]))
            out.append(RUNS[1], small_runs.tables(RUNS[1], qps=2.0))

    seen = set()
    for step in range(200):
        root = tmp_path / str(step)
        with small_runs.opened(root) as out:
            out.append(
                RUNS[1],
                small_runs.tables(RUNS[1], status="errors: 1", qps=1.0),
            )
            path = out.path
        killed = killed_at(step, lambda root=root: work(root))
        with small_runs.opened(root) as out:
            assert RUNS[1] in out.done
            data = dataset.read(path)
            assert set(data.runs["run_id"]) == set(out.done)
            assert data.intervals.groupby("run_id").size().eq(2).all()
        seen.add((tuple(out.done), out.done[RUNS[1]]))
        if not killed:
            break
    assert len(seen) >= 3
    assert not killed


def test_finish_killed_at_any_step_loses_nothing(tmp_path: Path) -> None:
    """Killed between any two steps of its sealing, a dataset is unfinished with every run, or
    complete; finishing it again works."""
    for step in range(200):
        root = tmp_path / str(step)
        with small_runs.opened(root) as out:
            out.append(RUNS[0], small_runs.tables(RUNS[0]), {"run.txt": "x"})
            path = out.path
        killed = killed_at(step, lambda root=root: small_runs.opened(root).finish())
        data = dataset.read(path)
        assert set(data.runs["run_id"]) == {RUNS[0]}
        if not data.complete:
            with small_runs.opened(root) as out:
                assert out.finish().complete
        if not killed:
            break
    assert not killed


def test_going_on_killed_on_the_way_loses_nothing(tmp_path: Path) -> None:
    """Killed at any third step, from reopening to sealing again, a dataset is complete,
    or unfinished with its old runs, a repeated one once; going on then works."""
    original = small_runs.written(tmp_path / "original").path
    states = set()
    for step in range(0, 300, 3):
        path = shutil.copytree(original, tmp_path / "copy")
        killed = killed_at(step, lambda path=path: small_runs.gone_on(path))
        data = dataset.read(path)
        assert set(data.runs["run_id"]) == set(RUNS)
        for name in ("intervals", "processes", "ndb_threads"):
            sizes = data.tables[name].groupby("run_id").size().to_dict()
            assert sizes == dict.fromkeys((*RUNS, *data.slices["run_id"]), 2)
        states.add((data.complete, len(data.slices), 2.0 in set(data.runs["qps"])))
        again = small_runs.gone_on(path)
        assert list(again.slices["run_id"]) == [SLICES[0]]
        assert sorted(again.runs["qps"]) == [2.0, 1234.5, 1234.5]
        shutil.rmtree(path)
        if not killed:
            break
    assert not killed
    assert len(states) >= 5


APPENDING = """
import sys
from pathlib import Path
import small_runs
from small_runs import RUNS, SLICES
from ndblab import dataset
out = dataset.Writer.open(Path(sys.argv[1]), "scaling", small_runs.IDENTITY, small_runs.BASE)
for n in range(1, 10_000):
    run_id = f"s01_c0001_r{n}"
    out.append(run_id, small_runs.tables(run_id, repeat=n))
    print(run_id, flush=True)
"""


def test_writer_that_is_killed_can_be_resumed(tmp_path: Path) -> None:
    """After a SIGKILL every run that was reported is there, whole, and the lock is gone."""
    paths = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    child = subprocess.Popen(
        [sys.executable, "-c", APPENDING, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        text=True,
    )
    reported = [child.stdout.readline().strip() for _ in range(5)]
    with pytest.raises(LabError, match="Another lab is writing"):
        small_runs.opened(tmp_path)
    child.send_signal(signal.SIGKILL)
    reported += child.stdout.read().split()
    child.wait()
    child.stdout.close()
    with small_runs.opened(tmp_path) as out:
        assert set(reported) <= set(out.done)
        assert len(out.done) <= len(reported) + 1
        data = out.finish()
    assert data.intervals.groupby("run_id").size().eq(2).all()
