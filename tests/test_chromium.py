from __future__ import annotations

from pathlib import Path

import pytest

import chromium
from ndblab.error import LabError
from ndblab.install import requirements


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without a browser; returns the only folder on PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_a_browser_on_path_is_used(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If there is a browser of the family, no other one is installed."""
    browser = bare / "google-chrome"
    browser.touch(0o755)
    monkeypatch.setattr(requirements, "install_packages", lambda *_: pytest.fail("it installs"))
    assert chromium.ensure(bare / "log") == browser


def test_an_ordinary_user_gets_the_command_to_type(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without root nothing is installed, and the error says what to type."""
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setattr(requirements, "install_packages", lambda *_: pytest.fail("it installs"))
    monkeypatch.setattr(requirements, "package_manager", lambda: requirements.DEBIAN)
    with pytest.raises(LabError) as caught:
        chromium.ensure(bare / "log")
    assert "sudo apt-get install -y --no-install-recommends chromium" in str(caught.value)


def test_root_on_debian_gets_debians_own(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package of the release is installed and then found."""
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("ndblab.install.apt.find_mirror", lambda: "http://mirror.example/debian")

    def install(packages: list[str], log: Path) -> None:
        assert packages == ["chromium"]
        (bare / "chromium").touch(0o755)

    monkeypatch.setattr(requirements, "install_packages", install)
    assert chromium.ensure(bare / "log") == bare / "chromium"


def test_root_elsewhere_installs_nothing(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where apt is not Debian's, a package of this name may be something else."""
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(requirements, "install_packages", lambda *_: pytest.fail("it installs"))
    with pytest.raises(LabError, match="There is no browser"):
        chromium.ensure(bare / "log")
