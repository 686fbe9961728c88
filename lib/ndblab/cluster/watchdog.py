"""The watchdog of a cluster: ends it if the lab that started it dies.

The lab holds a pipe to its standard input. The word "done" means that the lab has stopped the
cluster itself; the end of the pipe without it means that the lab has died.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ndblab.machine import Process


def start(cluster_dir: Path, lock_fd: int) -> Process:
    """Start a watchdog over a cluster; `communicate(b"done")` dismisses it.

    This process alone holds the pipe, and the kernel closes it even on SIGKILL. The watchdog shares
    the cluster's lock, so that no other lab starts one there while it cleans up.
    """
    from ndblab.machine.local import LOCAL

    return LOCAL.spawn(
        [sys.executable, "-m", "ndblab.cluster.watchdog", str(cluster_dir)],
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(lock_fd,),
    )


def watch(cluster_dir: Path) -> None:
    """Wait for the end of standard input, then clean up unless the lab has done so."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if sys.stdin.buffer.read() != b"done":
        from ndblab.machine.cleanup import clean

        clean(cluster_dir)


if __name__ == "__main__":
    watch(Path(sys.argv[1]))
