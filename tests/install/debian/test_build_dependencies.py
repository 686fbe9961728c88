from __future__ import annotations

from pathlib import Path

import pytest

from ndblab.error import LabError
from ndblab.install.debian import build_dependencies

CAPTURED = Path(__file__).parents[2] / "captured/apt"


def test_a_fresh_machine_lacks_every_build_package() -> None:
    """Packages unknown to dpkg are missing."""
    status = (CAPTURED / "dpkg-query-fresh.txt").read_text()
    assert build_dependencies.missing_packages(status, build_dependencies.BUILD_PACKAGES) == list(
        build_dependencies.BUILD_PACKAGES
    )


def test_a_ready_machine_lacks_nothing() -> None:
    """If all build packages are installed, none is missing."""
    status = (CAPTURED / "dpkg-query-ready.txt").read_text()
    assert build_dependencies.missing_packages(status, build_dependencies.BUILD_PACKAGES) == []


def test_a_removed_package_is_missing() -> None:
    """A package of which only the configuration is left is not installed."""
    assert build_dependencies.missing_packages("bison config-files\n", ["bison"]) == ["bison"]


def test_an_ordinary_user_gets_the_command_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without root, the error contains the command that installs what is missing."""
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(LabError) as caught:
        build_dependencies.require_root_for(["bison", "cmake"])
    assert "sudo apt-get install -y --no-install-recommends bison cmake" in str(caught.value)
    build_dependencies.require_root_for([])
