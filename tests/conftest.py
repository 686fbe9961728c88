"""What all tests share: they may run beside other programs."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ndblab import install
from ndblab.hosts import connected, namespaces
from ndblab.hosts.namespaces import Network
from ndblab.install import requirements
from ndblab.machine import interference as company


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave tests in a virtual machine to `-m hosts`: emulated, they take an hour or more."""
    if "hosts" not in config.getoption("-m"):
        left_out = [item for item in items if item.get_closest_marker("hosts")]
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


@pytest.fixture(autouse=True)
def company_is_tolerated(monkeypatch: pytest.MonkeyPatch):
    """Measure as on a quiet host, whatever else this one does; tests of company set a limit."""
    monkeypatch.setattr(company, "LIMIT_PCT", math.inf)
    monkeypatch.setattr(company, "STEAL_LIMIT_PCT", math.inf)


@pytest.fixture(scope="session")
def namespaces_usable(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Install what network namespaces need, where the tests may; without it, skip the test."""
    # Where systemd runs, a package would start a server of its own.
    may_install = os.geteuid() == 0 and not Path("/run/systemd/system").exists()
    if may_install and install.has_debian() and (packages := namespaces.missing()):
        requirements.install_packages(packages, tmp_path_factory.mktemp("packages") / "apt.log")
    if why := connected.lacks():
        pytest.skip(why)


@pytest.fixture
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment with an empty cache, no NDB_HOME, and a PATH without any database."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "tar", "gzip", "setpriv", "rm"):
        place = next(p for p in (Path("/usr/bin"), Path("/bin")) if (p / name).exists())
        (tools / name).symlink_to(place / name)
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("NDB_HOME", raising=False)
    return tmp_path


@pytest.fixture(scope="session")
def network(namespaces_usable: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    """Hosts a, b and c, whose names `ssh` knows.

    OpenSSH's client takes the user's folder from /etc/passwd, not from HOME: a script named `ssh`
    that names the settings is first on PATH instead.
    """
    folder = tmp_path_factory.mktemp("network")
    with namespaces.network("abc", folder / "hosts") as made, pytest.MonkeyPatch.context() as patch:
        script = folder / "ssh"
        script.write_text(f'#!/bin/sh\nexec {namespaces.program("ssh")} -F {made.settings} "$@"\n')
        script.chmod(0o755)
        patch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        yield made
