from __future__ import annotations

from pathlib import Path

import pytest

from ndblab.install import build

CAPTURED = Path(__file__).parents[1] / "captured/programs"


def test_progress_is_read_from_ninjas_lines() -> None:
    """Each step line of ninja has the steps done and the total."""
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
