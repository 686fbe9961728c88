"""The watcher of a cluster: ends it when the lab that started it is gone.

In: a cluster's folder, and on standard input a pipe that the lab holds. The word "done" says that
the lab stopped the cluster itself; the end of the pipe without it says that the lab has died.
Out: no process, no control group, no socket of that cluster.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path


def watch(cluster_dir: Path) -> None:
    """Wait for the end of standard input, then clean up unless told that all is done."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if sys.stdin.buffer.read() != b"done":
        from ndblab.cluster import lifecycle

        lifecycle.clean(cluster_dir)


if __name__ == "__main__":
    watch(Path(sys.argv[1]))
