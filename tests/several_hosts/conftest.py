"""Three hosts and a stranger, which all tests of several hosts share."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from several_hosts import namespaces
from several_hosts.namespaces import Network


@pytest.fixture(scope="session")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    """Hosts a, b and c, whose names `ssh` knows."""
    folder = tmp_path_factory.mktemp("network")
    if why := namespaces.why_not(folder / "apt.log"):
        pytest.skip(why)
    with namespaces.network("abc", folder / "hosts") as made, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{made.programs}:{os.environ['PATH']}")
        yield made
