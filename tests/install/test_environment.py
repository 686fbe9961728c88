from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def wanted() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    return {re.split(r"[<>=]", line)[0].strip() for group in groups for line in group}


def lab(folder: Path, **variables: str) -> subprocess.CompletedProcess:
    """Run a copy of `./lab` in `folder` with no environment of its own or of the user's."""
    shutil.copy2(ROOT / "lab", folder / "lab")
    inherited = {k: v for k, v in os.environ.items() if k not in ("VIRTUAL_ENV", "CONDA_PREFIX")}
    return subprocess.run(
        [folder / "lab"], env=inherited | variables, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-uv.lock"])
def test_everything_locked_has_hashes_and_names_no_address(name: str) -> None:
    """The locks work with whatever package index the user has, and accept no other file."""
    lock = (ROOT / name).read_text()
    entries = re.findall(r"^[a-z0-9-]+==[^\n]*", lock, re.MULTILINE)
    hashed = re.findall(r"^[a-z0-9-]+==[^\n]*\\\n    --hash=sha256:", lock, re.MULTILINE)
    assert len(entries) == len(hashed) > 0
    assert not re.search(r"https?://|--(extra-)?index-url|--find-links", lock)


def test_every_requirement_of_the_project_is_locked() -> None:
    """What pyproject.toml asks for, requirements.lock has."""
    lock = (ROOT / "requirements.lock").read_text()
    assert wanted() <= set(re.findall(r"^([a-z0-9-]+)==", lock, re.MULTILINE))


def test_conda_users_get_the_same_requirements() -> None:
    """environment.yml lists every package of pyproject.toml, from conda-forge or for pip."""
    listed = re.findall(r"^ +- ([a-z0-9-]+)", (ROOT / "environment.yml").read_text(), re.MULTILINE)
    assert wanted() - {name.removesuffix("-base") for name in listed} == set()


def test_a_checkout_that_cannot_be_written_gives_one_message(tmp_path: Path) -> None:
    """`./lab` in another user's checkout says what to do, not a shell's error."""
    (tmp_path / ".venv.lock").mkdir()  # closed to writing for root too
    done = lab(tmp_path)
    assert done.returncode == 1
    assert done.stderr == (
        f"lab: you cannot write to {tmp_path}; make your own clone of the repository\n"
    )


@pytest.mark.parametrize(
    ("settings", "variables", "index"),
    [
        ("global.index-url='https://all.example'", {}, "https://all.example"),
        (
            ":env:.index-url='https://own.example'\nglobal.index-url='https://all.example'",
            {},
            "https://own.example",
        ),
        ("global.index-url='https://all.example'", {"UV_DEFAULT_INDEX": "https://uv.example"},
         "https://uv.example"),
        ("global.timeout='60'", {}, ""),
    ],
)  # fmt: skip
def test_uv_installs_from_the_index_that_pip_is_configured_for(
    tmp_path: Path, settings: str, variables: dict[str, str], index: str
) -> None:
    """pip's environment precedes its configuration file, and uv's own setting precedes both."""
    for name in ("requirements.lock", "pyproject.toml"):
        (tmp_path / name).touch()
    python, uv = tmp_path / "python", tmp_path / "bin/uv"
    uv.parent.mkdir()
    python.write_text(f"#!/bin/sh\ncat <<'END'\n{settings}\nEND\n")
    uv.write_text(
        f"""#!/bin/sh
[ "$1" = venv ] && mkdir -p {tmp_path}/.venv/bin && ln -s {python} {tmp_path}/.venv/bin && exit
echo "index: $UV_DEFAULT_INDEX"
exit 1
"""
    )
    python.chmod(0o755)
    uv.chmod(0o755)
    done = lab(tmp_path, PATH=f"{uv.parent}:{os.environ['PATH']}", **variables)
    assert f"index: {index}\n" in done.stderr, done.stderr


def test_a_python_that_makes_no_environments_costs_an_ordinary_user_one_line(tmp_path: Path):
    """The line has the packages of the build too, which a fresh Debian lacks as well."""
    for name in ("requirements.lock", "pyproject.toml", "lib"):
        (tmp_path / name).symlink_to(ROOT / name)
    programs = {
        "python3.13": f'case "$*" in *ensurepip*) exit 1 ;; esac\nexec {sys.executable} "$@"',
        "id": "echo 1000",
        "dpkg-query": "echo bison installed; exit 1",
    }
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    for name, body in programs.items():
        (bin_ / name).write_text(f"#!/bin/sh\n{body}\n")
        (bin_ / name).chmod(0o700)
    done = lab(tmp_path, PATH=f"{bin_}:/usr/bin:/bin")
    package = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
    assert done.returncode == 1
    assert f"Type:  sudo apt-get install -y {package} g++ cmake ninja-build pkgconf" in done.stderr
