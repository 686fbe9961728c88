from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from ndblab.install import build
from ndblab.install.progress import Phases
from ndblab.machine import commands, host

CAPTURED = Path(__file__).parents[1] / "captured/programs"


def test_progress_is_read_from_ninjas_lines() -> None:
    lines = (CAPTURED / "ninja.txt").read_text().splitlines()
    steps = [step for line in lines if (step := build.parse_progress(line))]
    assert steps[-1] == (645, 645)
    assert build.parse_progress("ninja: Entering directory `build'") is None


def test_cmake_builds_a_cluster_for_release() -> None:
    """The build includes NDB and is optimised; each setting is given once."""
    arguments = build.cmake_arguments()
    assert {"-DWITH_NDB=ON", "-DCMAKE_BUILD_TYPE=Release"} <= set(arguments)
    assert len(arguments) == len(set(arguments))


@pytest.mark.parametrize(
    ("cpus", "free_bytes", "jobs"),
    [(2, 20_000_000_000, 3), (64, 4_000_000_000, 5), (2, 100_000_000, 1)],
)
def test_compilers_fit_into_cpus_and_memory(cpus: int, free_bytes: int, jobs: int) -> None:
    """A machine with little memory runs fewer compilers, but at least one."""
    assert build.parallel_jobs(cpus, free_bytes) == jobs


def test_built_programs_are_copied_with_the_library_that_they_need(tmp_path: Path) -> None:
    """Under their own names, in place of older ones, and nothing else remains."""
    made = tmp_path / "mysql/build"
    for file in (
        "runtime_output_directory/flexAsynch",
        "library_output_directory/libndbclient.so.6",
    ):
        (made / file).parent.mkdir(parents=True)
        (made / file).write_text("new")
    target = tmp_path / "sbin"
    target.mkdir()
    (target / "flexAsynch").write_text("old")
    copied = build.Build(tmp_path / "mysql").copy(["flexAsynch"], target)
    assert sorted(copied) == sorted(target.iterdir())
    assert {file.name: file.read_text() for file in copied} == {
        "flexAsynch": "new", "libndbclient.so.6": "new",
    }  # fmt: skip


def fail_first(monkeypatch: pytest.MonkeyPatch, program: str) -> list[list[str]]:
    """Let the first run of a program fail; returns the lines of all, as they come."""
    lines: list[list[str]] = []

    def run(argv: list[str | Path], **_: object) -> str:
        is_first = all(line[0] != argv[0] for line in lines)
        lines.append([str(word) for word in argv])
        if argv[0] == program and is_first:
            raise commands.ChildFailed("the compiler refuses")
        return ""

    monkeypatch.setattr(commands, "run", run)
    return lines


@pytest.mark.parametrize("program", ["cmake", "ninja"])
def test_a_source_that_cannot_be_built_in_the_short_way_is_built_in_its_own(
    program: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """After a failure, CMake forgets the shortened build, and everything is built again."""
    lines = fail_first(monkeypatch, program)
    made = build.Build(tmp_path / "mysql")
    (tmp_path / "mysql/source").mkdir()
    made.prepare([tmp_path / "mysql-source_10.0_amd64.deb"], Phases(show=False))
    made.make(["ndbmtd"], Phases(show=False))
    configured = [line for line in lines if line[0] == "cmake"]
    assert any("shorter_build" in word for word in configured[0])
    assert configured[-1][-1] == "-DCMAKE_PROJECT_MySQL_INCLUDE="
    assert lines[-1][0] == "ninja"


def test_what_is_compiled_together_is_not_what_a_data_node_runs_per_transaction() -> None:
    """Blocks, scheduler, transporters, NDB API and character sets keep -O3 and their files."""
    text = (Path(build.__file__).parent / "shorter_build.cmake").read_text()
    changed = text.partition("set(NDBLAB_HEADERS")[0]
    hot = ("ndbblocks", "ndbkernel", "ndbsched_mt", "ndbtransport", "ndbapi", "strings", "zlib")
    assert [name for name in hot if name in changed] == []


@pytest.mark.parametrize(
    ("cpu_limit", "left_bytes", "option"),
    [(0.5, 20_000_000_000, "-j2"), (None, 800_000_000, "-j1")],
)
def test_a_container_runs_as_many_compilers_as_its_limits_allow(
    cpu_limit: float | None,
    left_bytes: int,
    option: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Not as many as the machine has CPUs and memory for: the kernel would kill them."""
    here = dataclasses.replace(host.read(), cpu_limit=cpu_limit, memory_available_bytes=left_bytes)
    monkeypatch.setattr(host, "read", lambda: here)
    lines = fail_first(monkeypatch, "nothing")
    build.Build(tmp_path / "mysql").make(["ndbmtd"], Phases(show=False))
    assert option in lines[-1]
