from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def wanted() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    return {re.split(r"[<>=]", line)[0].strip() for group in groups for line in group}


def test_every_requirement_of_the_project_is_locked_with_hashes() -> None:
    """What pyproject.toml asks for, requirements.lock has, and all of it with hashes."""
    lock = (ROOT / "requirements.lock").read_text()
    entries = re.findall(r"^([a-z0-9-]+)==[^\n]*\\\n    --hash=sha256:", lock, re.MULTILINE)
    assert len(entries) == len(re.findall(r"^[a-z0-9-]+==", lock, re.MULTILINE))
    assert wanted() <= set(entries)


def test_the_lock_names_no_address() -> None:
    """The lock works with whatever package index the user has."""
    lock = (ROOT / "requirements.lock").read_text()
    assert not re.search(r"https?://|--index|--find-links", lock)


def test_conda_users_get_the_same_requirements() -> None:
    """environment.yml lists every package of pyproject.toml."""
    listed = re.findall(r"^  - ([a-z0-9-]+)", (ROOT / "environment.yml").read_text(), re.MULTILINE)
    assert wanted() - {name.removesuffix("-base") for name in listed} == set()


def test_a_checkout_that_cannot_be_written_is_told_in_our_words(tmp_path: Path) -> None:
    """`./lab` in somebody else's checkout says what to do instead of a shell's complaint."""
    shutil.copy2(ROOT / "lab", tmp_path / "lab")
    (tmp_path / ".venv.lock").mkdir()  # closed to writing for root too
    environment = {k: v for k, v in os.environ.items() if k not in ("VIRTUAL_ENV", "CONDA_PREFIX")}
    done = subprocess.run(
        [tmp_path / "lab"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == (
        f"lab: {tmp_path} is not writable for you; clone the repository for yourself\n"
    )
