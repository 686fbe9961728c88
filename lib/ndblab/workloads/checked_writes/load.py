"""The load of checked writes: the program `client`, run beside a cluster.

In: a cluster, the MySQL servers that are asked, a number of clients, a seed. Out: when the load
began, and at its end a table with a row for each operation. It judges none of them.
"""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ndblab.cluster import node_log
from ndblab.error import LabError
from ndblab.machine import commands
from ndblab.workloads.checked_writes import client

if TYPE_CHECKING:
    import pandas as pd

    from ndblab.cluster.lifecycle import Cluster
    from ndblab.planning.deployment import Node

BEGIN_TIMEOUT_S = 60
END_TIMEOUT_S = client.ATTEMPTS * (client.CONNECT_TIMEOUT_S + client.ANSWER_TIMEOUT_S) + 20
"""All attempts of an operation that wait for as long as they may, and the time to print."""


class Load:
    """A load that runs: `began` is when, by `time.monotonic`."""

    def __init__(self, child: subprocess.Popen, log: Path) -> None:
        self._child, self._log = child, log
        self.pid = child.pid
        with self._within(BEGIN_TIMEOUT_S):
            word, _, when = child.stdout.readline().partition(" ")
        if word != "began":
            raise self._failed("The load did not begin")
        self.began = float(when)

    def stop(self) -> pd.DataFrame:
        """End the load and give its rows; `t_s` is seconds since it began.

        Raises
        ------
        LabError
            If it does not end, or ended before.
        """
        import pandas as pd

        with contextlib.suppress(OSError):
            self._child.stdin.close()
        with self._within(END_TIMEOUT_S):
            text = self._child.stdout.read()
            code = self._child.wait()
        if code != 0:
            raise self._failed("The load did not end as it was told")
        return pd.read_csv(io.StringIO(text), names=list(client.Row._fields))

    @contextlib.contextmanager
    def _within(self, timeout_s: float) -> Iterator[None]:
        """Kill the load if a `with` block lasts longer; that ends what waits for its output."""
        timer = threading.Timer(timeout_s, self._child.kill)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _failed(self, what: str) -> LabError:
        self._child.kill()
        said = node_log.tail(self._log.read_text(errors="replace")) or "nothing said"
        return LabError(
            what,
            found=f"{commands.exit_reason(self._child.wait())}: {said}",
            expected="a load that runs until it is told to stop",
            next_step=f"See {self._log}.",
        )


@contextlib.contextmanager
def running(cluster: Cluster, servers: Sequence[Node], clients: int, seed: int) -> Iterator[Load]:
    """Run a load for the length of a `with` block, its clients dealt over these MySQL servers.

    Raises
    ------
    LabError
        If it does not begin.
    """
    log = cluster.folder / "logs" / "client.out"
    with log.open("ab") as complaints:
        child = cluster.spawn_client(
            argv(servers, clients, seed),
            {"PYTHONPATH": str(Path(__file__).parents[3])},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            text=True,
        )
    try:
        yield Load(child, log)
    finally:
        child.kill()
        child.wait()
        for stream in (child.stdin, child.stdout):
            with contextlib.suppress(OSError):
                stream.close()


def argv(servers: Sequence[Node], clients: int, seed: int) -> list[str]:
    """Give the command of a load."""
    program = [sys.executable, "-m", "ndblab.workloads.checked_writes.client"]
    return [*program, f"--clients={clients}", f"--seed={seed}", *(node.socket for node in servers)]
