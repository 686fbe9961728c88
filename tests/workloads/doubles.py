"""A cluster that only starts processes, and an installation whose programs are only named."""

from __future__ import annotations

from types import SimpleNamespace

from ndblab.machine.local import LOCAL

CLUSTER = SimpleNamespace(
    spawn_client=lambda argv, env, **streams: LOCAL.spawn(argv, None, env, **streams),
    load_site=SimpleNamespace(machine=LOCAL),
)
BINARIES = SimpleNamespace(
    sysbench="sysbench",
    sysbench_script=lambda name: name,
    sysbench_env={"LUA_PATH": "/a folder/?.lua"},
    sysbench_version="1.0.20",
)
