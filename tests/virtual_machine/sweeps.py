"""Small sweeps in the virtual machine: to their end, or begun and left to go on.

In: the machine, a user, a CPU budget. Out: where the processes of the cluster were, and what is
left of them.
"""

from __future__ import annotations

import json
import time

from virtual_machine.machine import VirtualMachine

SMALL = "--figure 6 --profile smoke --servers 2 --clients 2 --table-size 100"
SWEEP_S, START_S, COMMAND_S, SCOPE_END_S, POLL_S = 1800, 900, 300, 30, 5
"""An emulated machine takes minutes to start a cluster; these only end what hangs."""
Placements = dict[str, list[list[str]]]
"""CPUs, memory policy and cpu.max in which each process was seen."""


def swept(machine: VirtualMachine, user: str, budget: str) -> Placements:
    """Measure a small sweep, without contrasts, and return every placement of each process."""
    seen = f"/tmp/{user}-{budget}.json"
    watch = f".venv/bin/python tests/virtual_machine/placement.py {seen}"
    lab = f"./lab reproduce {SMALL} --budget {budget} --minutes 1 --again"
    print(machine.run(f"{watch} {lab}", user, SWEEP_S))
    placements = json.loads(machine.run(f"cat {seen}", user))
    print(json.dumps(placements, indent=1))
    return placements


def lengthened_us(machine: VirtualMachine, user: str) -> dict[str, list[int]]:
    """Return what the newest dataset says of periods of CPU quotas: set, and found.

    They are under the names of `placement.name`: a data node has its node id there, one above its
    number in the plan, since node id 1 is the management node's.
    """
    newest = machine.run("ls -t data/runs/*/*/manifest.json | head -1", user).strip()
    manifest = json.loads(machine.run(f"cat {newest}", user))
    found = {}
    for node, pair in manifest["lengthened_us"].items():
        role, number = node.split(".")
        found[f"{role} {int(number) + (role == 'ndbmtd')}"] = pair
    return found


def begin(machine: VirtualMachine, user: str, budget: str) -> str:
    """Begin a small sweep of a user who stays logged in, and return once its load runs.

    Returns
    -------
    The file in the machine that has what the command prints.
    """
    printed = f"/tmp/begun-{user}-{budget}.txt"
    lab = f"./lab reproduce {SMALL} --budget {budget} --again"
    machine.run(f"nohup {lab} >{printed} 2>&1 </dev/null &", user)
    loaded = "pgrep -x sysbench"
    if budget == "scaled":
        # Limits are set once sysbench has filled the tables.
        group = "$(find /sys/fs/cgroup -type d -name 'ndblab-*')/sql/clients"
        loaded = f"test -d {group} && {loaded}"
    until_s = time.monotonic() + START_S
    while not machine.run(f"({loaded}) || true", user):
        assert time.monotonic() < until_s, machine.run(f"cat {printed}", user)
        time.sleep(POLL_S)
    return printed


def left(machine: VirtualMachine, user: str) -> str:
    """List what a cluster has left: processes, control groups, scopes, memory segments."""
    return machine.run(
        "ps -C ndb_mgmd,ndbmtd,mysqld,sysbench -o comm=; "
        "find /sys/fs/cgroup -type d -name 'ndblab-*'; "
        "[ $(id -u) -eq 0 ] || "
        "systemctl --user list-units --plain --no-legend --type=scope 'run-*'; "
        "tail -n +2 /proc/sysvipc/shm",
        user,
    )


def nothing_is_left(machine: VirtualMachine, user: str) -> bool:
    """Whether nothing is left soon; systemd removes an empty scope a moment after its end."""
    until_s = time.monotonic() + SCOPE_END_S
    while found := left(machine, user):
        if time.monotonic() > until_s:
            print(found)
            return False
        time.sleep(POLL_S)
    return True
