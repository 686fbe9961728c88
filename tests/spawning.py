"""A double of a cluster, for the tests of load generators."""

from __future__ import annotations

import subprocess
from types import SimpleNamespace

from ndblab.machine.local import LOCAL


class Cluster:
    """A cluster that only starts clients, all on this host; its nodes are alive."""

    machine = LOCAL
    load_site = SimpleNamespace(machine=LOCAL)

    def spawn_client(self, argv, env, **streams) -> subprocess.Popen:
        return LOCAL.spawn(argv, None, env, **streams)

    def check_alive(self) -> None:
        pass
