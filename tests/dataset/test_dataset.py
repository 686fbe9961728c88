from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import small_runs
from ndblab import dataset
from ndblab.dataset import schema, table
from ndblab.dataset.folder import sha256
from ndblab.error import LabError

RUNS = ("s01_c0001_r1", "s01_c0002_r1", "s01_c0004_r1")


def opened(root: Path, **changes: Any) -> dataset.Writer:
    identity = small_runs.IDENTITY | changes
    return dataset.Writer.open(root, "scaling", identity, small_runs.BASE)


def written(root: Path, **changes: Any) -> dataset.Dataset:
    with opened(root, **changes) as out:
        for minute, run_id in enumerate(RUNS):
            started_utc = f"2021-09-30T12:{9 - minute:02d}:00Z"
            out.append(
                run_id,
                small_runs.tables(run_id, started_utc=started_utc),
                {f"{run_id}.sysbench.txt": "[ 1s ] ...\n"},
            )
        out.add_config("config.ini", "[ndbd default]\n")
        return out.finish(timings={"install_s": 0.0})


def damaged(
    folder: Path, name: str, change: Callable[[bytes], bytes], *, seal: bool = False
) -> Path:
    """Change one file; with `seal`, as somebody would who also mends the sha256."""
    file = folder / name
    file.write_bytes(change(file.read_bytes()))
    if seal:
        manifest = json.loads((folder / "manifest.json").read_text())
        manifest["files"][name] = sha256(file.read_bytes())
        (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def test_what_was_appended_is_read_back(tmp_path: Path) -> None:
    """A finished dataset holds every table, log and config as given, in the order of measuring."""
    data = written(tmp_path)
    assert data.complete
    assert list(data.runs["run_id"]) == list(reversed(RUNS))
    expected = small_runs.tables(RUNS[0])
    for name in ("intervals", "processes", "ndb_threads"):
        found = data.tables[name]
        mine = found[found["run_id"] == RUNS[0]].reset_index(drop=True)
        pd.testing.assert_frame_equal(mine, expected[name], check_dtype=False)
    assert (data.path / "logs" / f"{RUNS[1]}.sysbench.txt").read_text() == "[ 1s ] ...\n"
    assert (data.path / "config" / "config.ini").read_text() == "[ndbd default]\n"
    assert not (data.path / "parts").exists()


def test_manifest_says_where_the_numbers_come_from(tmp_path: Path) -> None:
    """The manifest of a finished dataset has identity, times and the sha256 of every other file."""
    data = written(tmp_path)
    assert data.manifest["schema_version"] == dataset.VERSION
    assert data.manifest["identity"] == small_runs.IDENTITY
    assert data.manifest["timings"] == {"install_s": 0.0}
    assert data.manifest["started_utc"] <= data.manifest["finished_utc"]
    assert data.budget == "scaled"
    files = {str(f.relative_to(data.path)) for f in data.path.rglob("*") if f.is_file()}
    assert set(data.manifest["files"]) == files - {"manifest.json"}


def checked(run_id: str) -> dict[str, pd.DataFrame]:
    """The tables of a run of checked writes, one of which a replica holds only half of."""
    return {
        **small_runs.tables(run_id),
        "history": pd.DataFrame(
            {
                "run_id": run_id, "client": 1, "seq": [0, 1], "kind": ["write", "read"],
                "first_server": 1, "server": [1, 2], "t_s": [0.012, 1.5], "latency_ms": [1.25, 3.5],
                "outcome": "ok", "attempts": [1, 2], "error": [0, 2013],
            }
        ),
        "copies": pd.DataFrame(
            {
                "run_id": run_id, "replica": [2, 3], "client": 1, "seq": 0,
                "first_value": ["a", "a"], "second_value": ["a", float("nan")],
            }
        ),
        "counters": pd.DataFrame({"run_id": run_id, "replica": [2, 3], "client": 1, "writes": 1}),
    }  # fmt: skip


def test_tables_of_checked_writes_are_read_back(tmp_path: Path) -> None:
    """Every operation and every copy comes back, complete or not; what is missing stays missing."""
    with opened(tmp_path) as out:
        for run_id in RUNS[:2]:
            out.append(run_id, checked(run_id))
        out.append(RUNS[2], small_runs.tables(RUNS[2]))
        unfinished = dataset.read(out.path)
        data = out.finish()
    for each in (unfinished, data):
        for name in ("history", "copies", "counters"):
            found = each.tables[name]
            assert set(found["run_id"]) == set(RUNS[:2])
            mine = found[found["run_id"] == RUNS[1]].reset_index(drop=True)
            expected = checked(RUNS[1])[name]
            pd.testing.assert_frame_equal(mine, expected, check_dtype=False)
    assert list(data.copies["second_value"].isna()) == [False, True] * 2
    assert data.history is data.tables["history"]


def test_datasets_without_checked_writes_have_them_empty(tmp_path: Path) -> None:
    """No file is there for them, and asking is no error."""
    data = written(tmp_path)
    assert not list(data.path.glob("*.gz"))
    assert len(data.history) == len(data.copies) == len(data.counters) == 0
    assert "outcome" in data.history.columns


def test_equal_tables_give_equal_files(tmp_path: Path) -> None:
    """A compressed file has no time of its own: its sha256 is that of its content."""
    sums = []
    for folder in ("one", "other"):
        with opened(tmp_path / folder) as out:
            out.append(RUNS[0], checked(RUNS[0]))
            sums.append(out.finish().manifest["files"]["history.csv.gz"])
    assert sums[0] == sums[1]


def test_a_damaged_compressed_table_is_told(tmp_path: Path) -> None:
    """Cut off or changed, verified or not, one message names the file."""
    with opened(tmp_path) as out:
        out.append(RUNS[0], checked(RUNS[0]))
        path = out.finish().path
    damaged(path, "copies.csv.gz", lambda d: d[:-9])
    with pytest.raises(LabError, match=r"copies\.csv\.gz is not the file"):
        dataset.read(path)
    with pytest.raises(LabError, match=r"copies\.csv\.gz cannot be unpacked"):
        dataset.read(path, verify=False).copies  # noqa: B018


def test_same_measurement_again_is_another_dataset(tmp_path: Path) -> None:
    """Measuring the same thing again counts up and leaves the first dataset as it was."""
    first = written(tmp_path)
    before = (first.path / "manifest.json").read_bytes()
    second = written(tmp_path)
    assert first.id.startswith("scaling-2cpu-scaled-smoke-")
    assert (first.id[:-1], first.id[-1], second.id[-1]) == (second.id[:-1], "1", "2")
    assert (first.path / "manifest.json").read_bytes() == before


def test_another_identity_is_another_dataset(tmp_path: Path) -> None:
    """An unfinished dataset is resumed by its own identity only."""
    with opened(tmp_path) as out:
        out.append(RUNS[0], small_runs.tables(RUNS[0]))
    with opened(tmp_path, seed=2) as out:
        assert out.done == {}


def test_unfinished_dataset_is_resumed_and_can_be_read(tmp_path: Path) -> None:
    """What was appended before a stop is there afterwards, for the next writer and for a reader."""
    with opened(tmp_path) as out:
        out.append(RUNS[0], small_runs.tables(RUNS[0]))
        out.append(RUNS[1], small_runs.tables(RUNS[1], status="errors: 12"))
        path = out.path
    data = dataset.read(path)
    assert not data.complete
    assert set(data.runs["run_id"]) == set(RUNS[:2])
    with opened(tmp_path) as out:
        assert out.path == path
        assert out.done == {RUNS[0]: "ok", RUNS[1]: "errors: 12"}
        assert len(out.manifest["resumed"]) == 1


def test_repeated_run_takes_the_place_of_the_failed_one(tmp_path: Path) -> None:
    """A run appended again replaces its earlier row and all its other rows."""
    with opened(tmp_path) as out:
        out.append(RUNS[0], small_runs.tables(RUNS[0], status="mysqld 3 died: signal 9"))
        out.append(RUNS[0], small_runs.tables(RUNS[0], qps=99.5))
        data = out.finish()
    assert list(data.runs["status"]) == ["ok"]
    assert list(data.runs["qps"]) == [99.5]
    assert len(data.intervals) == 2


def test_failed_run_may_lack_its_numbers(tmp_path: Path) -> None:
    """A failed run stays as a row with its reason and empty numbers, in one line."""
    runs = small_runs.tables(RUNS[0], status='sysbench exited 1: "a", b\nc')["runs"]
    runs[["qps", "queries", "errors", "latency_p95_ms", "duration_s"]] = float("nan")
    with opened(tmp_path) as out:
        out.append(RUNS[0], {"runs": runs, "intervals": pd.DataFrame({"run_id": []})})
        data = out.finish()
    assert data.runs["status"].item() == 'sysbench exited 1: "a", b c'
    assert data.runs["qps"].isna().all()
    assert len(data.intervals) == len(data.ndb_threads) == 0


def test_counts_are_written_as_whole_numbers(tmp_path: Path) -> None:
    """A count of queries is a whole number in the file, whatever it is in memory."""
    data = written(tmp_path)
    assert b",2473,0,0," in (data.path / "runs.csv").read_bytes()


@pytest.mark.parametrize(
    ("column", "value"),
    [("qps", -1.0), ("status", ""), ("transporter", "rdma"), ("qps", float("nan")),
     ("host_steal_pct", 101.0), ("started_utc", "yesterday"), ("servers", 0)],
)  # fmt: skip
def test_nothing_bad_is_written(tmp_path: Path, column: str, value: object) -> None:
    """A value that breaks the schema is refused before anything reaches the folder."""
    with opened(tmp_path) as out:
        with pytest.raises(LabError, match=column if value == value else "breaks its schema"):
            out.append(RUNS[0], small_runs.tables(RUNS[0], **{column: value}))
        assert out.done == {}
        assert list((out.path / "parts").iterdir()) == []


def test_fractions_are_not_cut_off(tmp_path: Path) -> None:
    """A fraction where a whole number belongs is refused, not rounded."""
    with opened(tmp_path) as out, pytest.raises(LabError, match="wrong type"):
        out.append(RUNS[0], small_runs.tables(RUNS[0], clients=1.5))


def test_tables_of_two_runs_are_no_run(tmp_path: Path) -> None:
    """Rows of another run are not smuggled in under this one's name."""
    tables = small_runs.tables(RUNS[0])
    tables["intervals"] = small_runs.tables(RUNS[1])["intervals"]
    with opened(tmp_path) as out, pytest.raises(LabError, match="not those of one run"):
        out.append(RUNS[0], tables)


def test_finished_dataset_is_closed(tmp_path: Path) -> None:
    """Nothing is appended to a complete dataset."""
    with opened(tmp_path) as out:
        out.append(RUNS[0], small_runs.tables(RUNS[0]))
        out.finish()
        with pytest.raises(LabError, match="closed"):
            out.append(RUNS[1], small_runs.tables(RUNS[1]))


def test_empty_dataset_is_not_finished(tmp_path: Path) -> None:
    """A sweep without a single run makes no complete dataset."""
    with opened(tmp_path) as out, pytest.raises(LabError, match="without any run"):
        out.finish()


def without_qps(data: bytes) -> bytes:
    return b"\n".join(
        b",".join(v for i, v in enumerate(line.split(b",")) if i != 13) if line else b""
        for line in data.split(b"\n")
    )


FAULTS: dict[str, tuple[str, Callable[[bytes], bytes], tuple[str, ...]]] = {
    "missing column": ("runs.csv", without_qps, ("runs.csv lacks a column", "qps")),
    "other unit": (
        "runs.csv",
        lambda d: d.replace(b"latency_p95_ms", b"latency_p95_us"),
        ("another unit", "latency_p95_us", "latency_p95_ms"),
    ),
    "unknown column": (
        "intervals.csv",
        lambda d: d.replace(b",qps,", b",qps,", 1).replace(b"per_s\n", b"per_s,x\n", 1),
        ("other columns", "x"),
    ),
    "cut last line": ("processes.csv", lambda d: d[:-7], ("last line", "cut off", "line 7")),
    "short line": (
        "intervals.csv",
        lambda d: d.replace(b",1200.25", b"", 1),
        ("Line 2", "number of values", "6", "7"),
    ),
    "no number": (
        "intervals.csv",
        lambda d: d.replace(b"1200.25", b"fast", 1),
        ("Line 2", "column qps", "'fast'", "a number"),
    ),
    "no whole number": (
        "processes.csv",
        lambda d: d.replace(b"300000000", b"3.5", 1),
        ("Line 2", "column rss_bytes", "'3.5'", "a whole number"),
    ),
    "negative": (
        "intervals.csv",
        lambda d: d.replace(b"1200.25", b"-1200.25", 1),
        ("Line 2", "column qps", "-1200.25", "from 0 up"),
    ),
    "infinite": (
        "intervals.csv",
        lambda d: d.replace(b"1268.75", b"inf", 1),
        ("Line 3", "column qps", "inf"),
    ),
    "more than all": (
        "ndb_threads.csv",
        lambda d: d.replace(b",96,", b",196,", 1),
        ("Line 2", "column os_idle_pct", "196"),
    ),
    "unknown role": (
        "processes.csv",
        lambda d: d.replace(b"mysqld", b"postgres", 1),
        ("Line 2", "column role", "'postgres'", "mysqld"),
    ),
    "run twice": (
        "runs.csv",
        lambda d: d.replace(RUNS[0].encode(), RUNS[1].encode()),
        ("column run_id", "no other line"),
    ),
    "run unknown": (
        "intervals.csv",
        lambda d: d.replace(RUNS[0].encode(), b"s09_c0009_r1"),
        ("runs.csv has not", "s09_c0009_r1"),
    ),
    "nothing": ("runs.csv", lambda d: b"", ("lacks a column", "no header")),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_of_a_table_is_told(tmp_path: Path, fault: str) -> None:
    """A damaged table gives one message with its file, line, column, value and what was due."""
    name, change, words = FAULTS[fault]
    folder = damaged(written(tmp_path).path, name, change, seal=True)
    with pytest.raises(LabError) as caught:
        dataset.read(folder)
    message = str(caught.value)
    assert all(word in message for word in (name, *words)), message
    assert "next:" in message


@pytest.mark.parametrize("fault", ["cut last line", "other unit", "negative", "run unknown"])
def test_fault_of_an_unfinished_run_is_told_with_its_file(tmp_path: Path, fault: str) -> None:
    """A damaged table of one run is named by that run's own file."""
    name, change, _ = FAULTS[fault]
    with opened(tmp_path) as out:
        for run_id in RUNS:
            out.append(run_id, small_runs.tables(run_id))
    damaged(out.path / "parts" / RUNS[0], name, change)
    with pytest.raises(LabError, match=RUNS[0] if fault != "run unknown" else "s09_c0009_r1"):
        dataset.read(out.path)


def test_run_in_another_folder_than_its_own_is_told(tmp_path: Path) -> None:
    """A run whose folder was renamed by hand is not taken for another one."""
    with opened(tmp_path) as out:
        out.append(RUNS[0], small_runs.tables(RUNS[0]))
    (out.path / "parts" / RUNS[0]).rename(out.path / "parts" / RUNS[1])
    with pytest.raises(LabError, match="folders are named after"):
        dataset.read(out.path)


def test_changed_number_is_noticed(tmp_path: Path) -> None:
    """A number changed by hand is found by the file's sha256, in tables, configs and logs."""
    data = written(tmp_path)
    damaged(data.path, "intervals.csv", lambda d: d.replace(b"1200.25", b"1300.25", 1))
    with pytest.raises(LabError, match=r"intervals\.csv is not the file that was measured"):
        dataset.read(data.path)
    assert dataset.read(data.path, verify=False).intervals["qps"].max() == 1300.25


def test_changed_or_missing_config_is_noticed(tmp_path: Path) -> None:
    """The exact inputs are sealed as well as the numbers."""
    data = written(tmp_path)
    damaged(data.path, "config/config.ini", lambda d: d + b"NoOfReplicas=1\n")
    with pytest.raises(LabError, match=r"config\.ini is not the file"):
        dataset.read(data.path)
    (data.path / "config" / "config.ini").unlink()
    with pytest.raises(LabError, match=r"config\.ini cannot be read"):
        dataset.read(data.path)


def test_what_was_noted_of_a_sweep_survives_its_interruption(tmp_path: Path) -> None:
    """What only the first start of a cluster could tell is there when the sweep goes on."""
    with dataset.Writer.open(tmp_path, "scaling", small_runs.IDENTITY, small_runs.BASE) as writer:
        writer.note(filled={"rows": 7})
        writer.append("s01_c0001_r1", small_runs.tables())
    with dataset.Writer.open(tmp_path, "scaling", small_runs.IDENTITY, small_runs.BASE) as writer:
        assert writer.finish().manifest["filled"] == {"rows": 7}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema_version": 99}, ("another schema version", "found:    99", "Update the lab")),
        ({"schema_version": 0}, ("another schema version", "found:    0", "Measure it again")),
        ({"schema_version": None}, ("another schema version", "none")),
        ({"plan": {}}, ("lacks", "plan.budget.kind")),
    ],
)
def test_manifest_of_another_kind_is_refused(
    tmp_path: Path, change: dict[str, Any], words: tuple[str, ...]
) -> None:
    """A dataset of another schema version, or without a budget, is refused by name."""
    folder = written(tmp_path).path

    def changed(text: bytes) -> bytes:
        return json.dumps(json.loads(text) | change).encode()

    damaged(folder, "manifest.json", changed)
    with pytest.raises(LabError) as caught:
        dataset.read(folder)
    assert all(word in str(caught.value) for word in words), caught.value


def test_no_dataset_is_told(tmp_path: Path) -> None:
    """A path that is no dataset, or a broken manifest, is one clear message."""
    with pytest.raises(LabError, match="no dataset here"):
        dataset.read(tmp_path / "nothing")
    with pytest.raises(LabError, match="no dataset here"):
        dataset.read(tmp_path)
    (tmp_path / "manifest.json").write_text('{"schema_ver')
    with pytest.raises(LabError, match="is damaged"):
        dataset.read(tmp_path)


@given(cut=st.integers(min_value=0, max_value=3000), flip=st.integers(0, 255))
@settings(max_examples=60, deadline=None)
def test_no_damage_of_a_table_escapes(
    tmp_path_factory: pytest.TempPathFactory, cut: int, flip: int
) -> None:
    """Any one byte changed, or any end cut off, gives a LabError and nothing else."""
    frame = small_runs.tables()["runs"]
    whole = table.render("runs", frame, "runs.csv")
    at = cut % len(whole)
    for data in (whole[:at], whole[:at] + bytes([flip]) + whole[at + 1 :]):
        try:
            table.parse("runs", data, "runs.csv")
        except LabError:
            continue
        # some changes give another, equally possible table: the sha256 finds those
        assert data != whole[:at] or len(data) == whole.index(b"\n") + 1


def other_than(data: dataset.Dataset, **changes: Any) -> dataset.Dataset:
    return dataset.Dataset(data.path, {**data.manifest, **changes}, data.tables)


@pytest.mark.parametrize(
    ("changes", "key", "values"),
    [
        ({"plan": {"budget": {"kind": "pinned"}}}, "budget", ("scaled", "pinned")),
        ({"experiment": "latency"}, "experiment", ("scaling", "latency")),
        (
            {"identity": small_runs.IDENTITY | {"host": {"logical_cpus": 64}}},
            "host.cpu_model",
            ("Test CPU", "None"),
        ),
        (
            {
                "identity": small_runs.IDENTITY
                | {"versions": small_runs.IDENTITY["versions"] | {"ndb": "8.0.26"}}
            },
            "versions.ndb",
            ("9.7.4", "8.0.26"),
        ),
        (
            {"identity": small_runs.IDENTITY | {"profile": {"name": "smoke", "duration_s": 9}}},
            "profile.duration_s",
            ("3", "9"),
        ),
    ],
)
def test_datasets_that_differ_are_never_mixed(
    tmp_path: Path, changes: dict[str, Any], key: str, values: tuple[str, str]
) -> None:
    """Two datasets of another host, budget, version or profile are refused: key and both values."""
    data = written(tmp_path)
    with pytest.raises(LabError) as caught:
        dataset.same([data, data, other_than(data, **changes)])
    message = str(caught.value)
    assert f"differ in {key} " in message
    assert all(value in message for value in values)


def test_equal_datasets_may_be_joined(tmp_path: Path) -> None:
    """Two measurements of the same thing may stand in one figure."""
    dataset.same([written(tmp_path), written(tmp_path)])


def test_second_writer_is_refused(tmp_path: Path) -> None:
    """Two labs cannot write one dataset; the second is told, and may when the first is done."""
    with opened(tmp_path):
        with pytest.raises(LabError, match="Another lab is writing"):
            opened(tmp_path)
        with opened(tmp_path, seed=2):
            pass
    opened(tmp_path).close()


DISK_WORK: dict[str, Callable[[dataset.Writer], object]] = {
    "append": lambda out: out.append(RUNS[1], small_runs.tables(RUNS[1])),
    "add_config": lambda out: out.add_config("my.cnf", "[mysqld]\n"),
    "finish": lambda out: out.finish(),
}


@pytest.mark.parametrize("step", DISK_WORK)
def test_full_disk_keeps_whole_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """A full disk is one clear message; the runs before it stay whole and it can go on there."""
    out = opened(tmp_path)
    out.append(RUNS[0], small_runs.tables(RUNS[0]))

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(LabError, match="disk is full"):
            DISK_WORK[step](out)
    out.close()
    assert set(dataset.read(out.path).runs["run_id"]) == {RUNS[0]}
    with opened(tmp_path) as again:
        assert again.done == {RUNS[0]: "ok"}
        again.append(RUNS[1], small_runs.tables(RUNS[1]))
        assert again.finish().complete


def test_folder_that_may_not_be_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of somebody else's is one clear message."""

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "mkdir", denied)
    with pytest.raises(LabError, match="cannot be written"):
        opened(tmp_path)


STEPS = ("mkdir", "fsync", "rename", "replace", "rmdir", "unlink")


def killed_at(step: int, work: Callable[[], None]) -> bool:
    """Do the work in a child that dies, without any clean-up, just before its n-th disk step."""
    child = os.fork()
    if child == 0:
        left = step

        def counting(real: Callable[..., Any]) -> Callable[..., Any]:
            def call(*args: Any, **kwargs: Any) -> Any:
                nonlocal left
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                left -= 1
                return real(*args, **kwargs)

            return call

        for name in STEPS:
            setattr(os, name, counting(getattr(os, name)))
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
        with opened(root) as out:
            out.append(RUNS[0], small_runs.tables(RUNS[0]))
            out.append(RUNS[1], small_runs.tables(RUNS[1], qps=2.0))

    seen = set()
    for step in range(200):
        root = tmp_path / str(step)
        with opened(root) as out:
            out.append(RUNS[1], small_runs.tables(RUNS[1], status="errors: 1", qps=1.0))
            path = out.path
        killed = killed_at(step, lambda root=root: work(root))
        with opened(root) as out:
            assert RUNS[1] in out.done
            assert not [p for p in (path / "parts").iterdir() if p.name.startswith(".")]
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
        with opened(root) as out:
            out.append(RUNS[0], small_runs.tables(RUNS[0]), {"run.txt": "x"})
            path = out.path
        killed = killed_at(step, lambda root=root: opened(root).finish())
        data = dataset.read(path)
        assert set(data.runs["run_id"]) == {RUNS[0]}
        if not data.complete:
            with opened(root) as out:
                assert out.finish().complete
        if not killed:
            break
    assert not killed


APPENDING = """
import sys
from pathlib import Path
import small_runs
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
        opened(tmp_path)
    child.send_signal(signal.SIGKILL)
    reported += child.stdout.read().split()
    child.wait()
    child.stdout.close()
    with opened(tmp_path) as out:
        assert set(reported) <= set(out.done)
        assert len(out.done) <= len(reported) + 1
        data = out.finish()
    assert data.intervals.groupby("run_id").size().eq(2).all()


def test_identity_does_not_depend_on_order() -> None:
    """The same identity has the same hash whatever the order of its keys."""
    reordered = dict(reversed(list(small_runs.IDENTITY.items())))
    assert dataset.identity_hash(reordered) == dataset.identity_hash(small_runs.IDENTITY)


def test_names_with_folders_are_refused(tmp_path: Path) -> None:
    """A config or log cannot be written outside its folder."""
    with opened(tmp_path) as out:
        with pytest.raises(LabError, match="plain name"):
            out.add_config("../my.cnf", "")
        with pytest.raises(LabError, match="plain name"):
            out.append(RUNS[0], small_runs.tables(RUNS[0]), {"a/b.txt": ""})


def test_every_column_with_a_unit_ends_in_it() -> None:
    """Each number that is not a count, an id or a load has its unit in its name."""
    units = ("_s", "_ms", "_pct", "_bytes", "qps", "_per_s")
    bare = {*schema.COUNTS, "clients", "servers", "repeat", "node_id", "thr_no", "host_load_1min"}
    bare |= {"client", "seq", "first_server", "server", "attempts", "error", "replica", "writes"}
    for declared in dataset.SCHEMAS.values():
        numbers = {name for name, column in declared.columns.items() if column.dtype != "str"}
        assert all(name.endswith(units) for name in numbers - bare)
