"""What all tests of several hosts share: NDB's keys, and a cluster over three hosts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hosts.named import described
from ndblab import install
from ndblab.cluster import datadir, start_stop
from ndblab.cluster.cluster import Cluster
from ndblab.hosts import connected, roles, spread
from ndblab.hosts.namespaces import Network
from ndblab.install import packages
from ndblab.planning.shape import Places, Shape


@pytest.fixture(scope="session", autouse=True)
def keys(request: pytest.FixtureRequest) -> None:
    """Build what makes the keys of NDB's TLS where an installation is older than the lab's use."""
    if any(item.get_closest_marker("cluster") for item in request.session.items):
        ndb = install.ensure(progress=False)
        if ndb.origin == packages.ORIGIN:
            install.add_tools(ndb, progress=False)


@pytest.fixture(scope="module")
def cluster(
    request: pytest.FixtureRequest, network: Network, template: Path, tmp_path_factory
) -> Iterator[Cluster]:
    """Two servers: a arbitrates, b and c have a data node and a server each, of a template.

    Each file of tests has a cluster of its own, from its `PORT` on.
    """
    folder, ours = tmp_path_factory.mktemp("over"), install.ensure(progress=False)
    placed = roles.read(described(folder, a="", b="", c=""))
    with connected.connected(placed, ours) as there:
        for name in "bc":
            datadir.copy(template, folder / name / template.name)
        places = Places(str(folder / "lab"), str(folder / "lab"), request.module.PORT)
        plan = spread.make(there.hosts, Shape(2, 1000, 8, places=places))
        with start_stop.running(plan, ours, progress=False, sites=there.sites) as running:
            yield running
