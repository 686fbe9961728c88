from __future__ import annotations

import re
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
