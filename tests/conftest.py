"""What all tests share: they may run beside other programs."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest

from ndblab import install
from ndblab.experiments import several_hosts
from ndblab.install.debian import build_dependencies
from ndblab.machine import company, namespaces


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
        build_dependencies.install(packages, tmp_path_factory.mktemp("packages") / "apt.log")
    if why := several_hosts.lacks():
        pytest.skip(why)
