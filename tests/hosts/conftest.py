"""What NDB's TLS needs, which all tests of several hosts share."""

from __future__ import annotations

import pytest

from ndblab import install
from ndblab.install import packages


@pytest.fixture(scope="session", autouse=True)
def keys(request: pytest.FixtureRequest) -> None:
    """Build what makes the keys of NDB's TLS where an installation is older than the lab's use."""
    if any(item.get_closest_marker("cluster") for item in request.session.items):
        ndb = install.ensure(progress=False)
        if ndb.origin == packages.ORIGIN:
            install.add_tools(ndb, progress=False)
