from __future__ import annotations

from pathlib import Path

import pytest

from ndblab.error import LabError
from ndblab.install import requirements
from ndblab.measuring.measurement import ROOT
from virtual_machine import image


def test_an_ordinary_user_gets_the_one_line_to_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without QEMU nothing is skipped: the error names the packages."""
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "ssh").touch(0o755)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setattr(requirements, "install_packages", lambda *_: pytest.fail("it installs"))
    with pytest.raises(LabError) as caught:
        image.ensure_programs(tmp_path / "log")
    line = "apt-get install -y --no-install-recommends e2fsprogs mmdebstrap openssh-client qemu"
    assert line in str(caught.value)


def test_root_gets_only_the_packages_that_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs on PATH are used as they are."""
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in image.PROGRAMS.keys() - {"mmdebstrap"}:
        (tmp_path / name).touch(0o755)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("ndblab.install.has_debian", lambda: True)
    installed = []
    install_packages = "ndblab.install.requirements.install_packages"
    monkeypatch.setattr(install_packages, lambda names, log: installed.extend(names))
    image.ensure_programs(tmp_path / "log")
    assert installed == ["mmdebstrap"]


@pytest.mark.parametrize(
    ("prefix", "python"), [(ROOT / ".venv", (3, 13)), (Path("/opt/conda"), (3, 11))]
)
def test_an_environment_that_debian_could_not_run_is_refused(
    prefix: Path, python: tuple[int, int]
) -> None:
    """Compiled packages fit one version of Python, and scripts one place."""
    with pytest.raises(LabError, match="cannot use this Python environment"):
        image.require_environment(prefix, python)
