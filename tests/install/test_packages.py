"""NDB Cluster from Debian's packages: what is asked for before it begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from ndblab import install
from ndblab.error import LabError
from ndblab.install import requirements


def test_an_ordinary_user_without_build_packages_gets_the_line_before_anything_is_fetched(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only root can install them; nothing is in the cache yet."""
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setattr(install, "has_debian", lambda: True)
    monkeypatch.setattr(requirements, "missing_packages", lambda: ["bison", "cmake"])
    monkeypatch.setattr(requirements, "package_manager", lambda: requirements.DEBIAN)
    with pytest.raises(LabError, match="Installing NDB Cluster needs") as caught:
        install.ensure(progress=False)
    line = "sudo apt-get install -y --no-install-recommends bison cmake"
    assert line in str(caught.value.next_step)
    assert not (bare_machine / "cache").exists()
