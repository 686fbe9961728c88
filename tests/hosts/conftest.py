"""Three hosts and a stranger, which all tests of several hosts share."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from ndblab import install
from ndblab.install.debian import packages
from ndblab.machine import namespaces
from ndblab.machine.namespaces import Network


@pytest.fixture(scope="session", autouse=True)
def keys(request: pytest.FixtureRequest) -> None:
    """Build what makes the keys of NDB's TLS where an installation is older than the lab's use."""
    if any(item.get_closest_marker("cluster") for item in request.session.items):
        ndb = install.ensure(progress=False)
        if ndb.origin == packages.ORIGIN:
            install.add_tools(ndb, progress=False)


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
