from __future__ import annotations

from pathlib import Path

import pytest

from ndblab.error import LabError
from ndblab.install.debian import build_dependencies, chromium


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any browser; its PATH is the folder given."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_a_browser_on_path_is_taken_as_it_is(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has a browser of the family gets no other one installed."""
    browser = bare / "google-chrome"
    browser.touch(0o755)
    monkeypatch.setattr(build_dependencies, "install", lambda *_: pytest.fail("it installs"))
    assert chromium.ensure(bare / "log") == browser


def test_an_ordinary_user_is_given_the_one_line(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without root nothing is installed, and the message says what to type."""
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setattr(build_dependencies, "install", lambda *_: pytest.fail("it installs"))
    with pytest.raises(LabError) as caught:
        chromium.ensure(bare / "log")
    assert "sudo apt-get install -y --no-install-recommends chromium" in str(caught.value)


def test_root_on_debian_gets_debians_own(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The release's own package is installed, once, and then found."""
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("ndblab.install.debian.apt.mirror", lambda: "http://mirror.example/debian")

    def install(packages: list[str], log: Path) -> None:
        assert packages == ["chromium"]
        (bare / "chromium").touch(0o755)

    monkeypatch.setattr(build_dependencies, "install", install)
    assert chromium.ensure(bare / "log") == bare / "chromium"


def test_root_elsewhere_installs_nothing(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where apt is not Debian's, a package of that name is not trusted to be the browser."""
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(build_dependencies, "install", lambda *_: pytest.fail("it installs"))
    with pytest.raises(LabError, match="No browser is here"):
        chromium.ensure(bare / "log")
