"""An action: a load that is one program which ends by itself, such as a dump.

If the program fails, or does not end in time, the run failed, with the program's own message;
nothing is repeated.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pandas as pd

from ndblab.machine.commands import error_lines, exit_reason
from ndblab.workloads.load_generator import OK, Command, Report, spawned

if TYPE_CHECKING:
    from ndblab.cluster.cluster import Cluster
    from ndblab.machine import Process

LOG = "action.txt"


@dataclass(frozen=True)
class Ended:
    """How an action ended.

    `status` is "ok", or in one line why its run does not count. `began` is by `time.monotonic`.
    `output` and `errors` are what it printed; `tables` and `metrics` are those of its run.
    """

    status: str
    began: float
    lasted_s: float
    output: str = ""
    errors: str = ""
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)

    def failed(self, why: str) -> Ended:
        """Return the same, except that it does not count."""
        return replace(self, status=why)

    @property
    def report(self) -> Report:
        """The report of its run, which has no intervals."""
        return Report(
            status=self.status,
            began=self.began,
            lasted_s=self.lasted_s,
            warmup_s=0,
            metrics={"errors": 0, **self.metrics} if self.status == OK else {},
            intervals=pd.DataFrame(),
            logs={LOG: self.output + self.errors},
            tables=self.tables if self.status == OK else {},
            whole=True,
        )


Checked = Callable[[Ended], Ended]
"""Given an action that ended well, adds its tables and metrics, or says why it failed after all."""


@contextmanager
def running(
    cluster: Cluster, command: Command, timeout_s: float, checked: Checked, watched: bool = False
) -> Iterator[Action]:
    """Run an action for the length of a `with` block at most.

    If it is `watched`, the CPU of its process is sampled; not that of a pipeline, whose processes
    end at different times.
    """
    began = time.monotonic()
    with spawned(cluster, command) as child:
        yield Action(child, began, timeout_s, checked, watched)


class Action:
    """An action that is running: a `Load`."""

    def __init__(
        self, child: Process, began: float, timeout_s: float, checked: Checked, watched: bool
    ) -> None:
        self._child, self._began, self._timeout_s = child, began, timeout_s
        self._checked = checked
        self.pids = (child.pid,) if watched else ()

    def wait_began(self, timeout_s: float) -> list[float | None]:
        """Return when the action began: it works from its start."""
        return [self._began]

    def finish(self) -> Report:
        """Wait until the action ends, and return its report."""
        return self.end().report

    def end(self) -> Ended:
        """Wait until the action ends, and return how it did."""
        try:
            output, errors = self._child.communicate(timeout=self._timeout_s)
        except subprocess.TimeoutExpired:
            return Ended(f"not ended after {self._timeout_s:.0f} s", self._began, self._lasted_s())
        ended = Ended(OK, self._began, self._lasted_s(), output, errors)
        if code := self._child.returncode:
            said = error_lines(errors, most=1) or "no message"
            return ended.failed(f"{exit_reason(code)}: {said}")
        return self._checked(ended)

    def _lasted_s(self) -> float:
        return round(time.monotonic() - self._began, 3)
