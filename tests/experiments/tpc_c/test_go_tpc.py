"""go-tpc: where it is found, how it is built, and what is said if it cannot be."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from stand_ins import put_program

from ndblab.error import LabError
from ndblab.experiments.tpc_c import go_tpc
from ndblab.install import requirements

SAYS = '#!/bin/sh\necho "Git Commit Hash: x"\necho "Release version: {}"\n'
GO = (
    """#!/bin/sh
while [ "$1" != -o ]; do shift; done
grep -q go-tpc go.mod && grep -q h1: go.sum && [ "$GOTOOLCHAIN" = local ] || exit 1
mkdir -p "$GOMODCACHE"
cat >"$2" <<'END'
"""
    + SAYS.format("v1.0.12")
    + 'END\nchmod +x "$2"\n'
)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without Go, and with an empty cache; the folder is on its PATH."""
    folder = tmp_path / "path"
    for name in ("sh", "grep", "mkdir", "cat", "chmod"):
        folder.mkdir(exist_ok=True)
        (folder / name).symlink_to(shutil.which(name))
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


def test_without_go_the_message_says_what_to_install(machine: Path) -> None:
    """In one line, too, for whoever leaves TPC-C out."""
    assert go_tpc.find() is None
    assert "golang-go" in go_tpc.lacks()
    with pytest.raises(LabError, match="go-tpc is missing") as caught:
        go_tpc.ensure(progress=False)
    assert "golang-go" in caught.value.next_step


@pytest.mark.parametrize(
    ("program", "line"),
    [
        ("dnf", "sudo dnf install -y golang)"),
        ("zypper", "sudo zypper install -y go)"),
        (None, "(Install with this machine's package manager: go)"),
    ],
)
def test_go_is_named_as_this_distribution_names_it(
    machine: Path, monkeypatch: pytest.MonkeyPatch, program: str | None, line: str
) -> None:
    """Debian's command is of no use to others."""
    here = requirements.PackageManager(program, "another")
    monkeypatch.setattr(requirements, "package_manager", lambda: here)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert go_tpc.lacks().endswith(line)


def test_the_one_on_path_goes_first_with_its_own_version(machine: Path) -> None:
    """The digits of its file tell two builds of a version apart."""
    program = put_program(machine / "go-tpc", SAYS.format("v9.9.9"))
    found = go_tpc.find()
    assert found is not None
    assert found.program == program
    assert found.version.startswith("v9.9.9 (")
    assert go_tpc.lacks() == ""


def test_it_is_built_once_and_nothing_else_is_left(machine: Path) -> None:
    """From pinned modules, with the Go that is there."""
    put_program(machine / "go", GO)
    assert go_tpc.lacks() == ""
    built = go_tpc.ensure(progress=False)
    assert built.version.startswith("v1.0.12 (")
    left = {place.name for place in (machine.parent / "cache/ndblab").iterdir()}
    assert left == {"go-tpc-v1.0.12", "go-tpc.log", "install.lock"}
    (machine / "go").unlink()
    assert go_tpc.ensure(progress=False) == built


def test_a_build_that_fails_shows_its_last_lines(machine: Path) -> None:
    """And leaves no program."""
    put_program(machine / "go", "#!/bin/sh\necho 'error: checksum mismatch'\nexit 1\n")
    with pytest.raises(LabError, match="cannot be built") as caught:
        go_tpc.ensure(progress=False)
    assert "checksum mismatch" in str(caught.value)
    assert go_tpc.find() is None
