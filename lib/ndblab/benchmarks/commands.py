"""What is measured of whole commands, as a user types them: their time and their memory.

In: nothing. Out: rows of the table. What a command leaves behind is removed, except the figures
of the recorded dataset.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

from ndblab import install
from ndblab.benchmarks.row import Row, shown
from ndblab.error import LabError
from ndblab.experiments import recorded
from ndblab.machine import process

PORT = 13860
"""Not the lab's own, so that a cluster in another folder may run beside a benchmark."""

WHOLE_PROCESSES = 5
SAMPLE_EVERY_S = 0.1

_SWEEP = """
import pathlib, sys
import invoke
from ndblab.experiments import catalogue, measurement
measurement.RUNS = pathlib.Path(sys.argv[1])
measurement.measure(catalogue.find(figure=6), "smoke", port=int(sys.argv[2]))
"""


def one_figure() -> list[Row]:
    """Redraw Figure 6 from the recorded dataset, as a user types it."""
    argv = [str(recorded.ROOT / "lab"), "reproduce", "--figure", "6", "--recorded"]
    whole_process_s(argv)
    seconds = [whole_process_s(argv) for _ in shown(range(WHOLE_PROCESSES), "recorded")]
    note = "whole process, after one that is not counted"
    return [Row("reproduce --figure 6 --recorded", tuple(seconds), "s", at_most=7, note=note)]


def everything() -> list[Row]:
    """Redraw all there is from the recorded datasets, as a user types it."""
    argv = [str(recorded.ROOT / "lab"), "reproduce", "--all", "--recorded"]
    whole_process_s(argv)
    seconds = [whole_process_s(argv) for _ in shown(range(WHOLE_PROCESSES), "all")]
    note = "whole process, after one that is not counted and that simulates what is kept"
    return [Row("reproduce --all --recorded", tuple(seconds), "s", at_most=30, note=note)]


def memory() -> list[Row]:
    """Watch the lab's own processes through a short sweep."""
    install.ensure()
    with tempfile.TemporaryDirectory(prefix="ndblab-bench-") as scratch:
        argv = [sys.executable, "-c", _SWEEP, scratch, str(PORT)]
        with subprocess.Popen(argv, stdout=subprocess.DEVNULL) as child:
            try:
                peak_bytes, processes = watched_peak(child)
            except BaseException:
                # Its watcher ends its cluster.
                child.terminate()
                raise
        check_ended(argv[:2], child.returncode, "")
    note = f"profile smoke; sum of the peaks of at most {processes} processes at a time"
    what = "memory of the lab and its watcher in a sweep"
    return [Row(what, (peak_bytes / 1e6,), "MB", at_most=400, note=note)]


def installation() -> list[Row]:
    """Install into an empty cache, and then once more."""
    lacking = len(install.missing_build_packages())
    lab = str(recorded.ROOT / "lab")
    install.location().mkdir(parents=True, exist_ok=True)
    # On the disk where installations go: /tmp may be too small.
    with tempfile.TemporaryDirectory(prefix="bench-", dir=install.location()) as scratch:
        environment = {k: v for k, v in os.environ.items() if k != "NDB_HOME"}
        environment["XDG_CACHE_HOME"] = scratch
        first = whole_process_s([lab, "install"], environment, show=True)
        if not list(Path(scratch).glob("ndblab/ndb-*")):
            raise LabError(
                "Nothing was installed, so that there is nothing to time",
                found="an NDB Cluster on PATH",
                expected="a machine without one",
                next_step="Take it off PATH and try again.",
            )
        again = [whole_process_s([lab, "install"], environment) for _ in range(WHOLE_PROCESSES)]
    note = f"empty cache; {lacking} build packages were missing and came with it"
    return [
        Row("install", (first,), "s", at_most=420, note=note),
        Row("install, once more", tuple(again), "s", at_most=1, note="whole process"),
    ]


def whole_process_s(
    argv: Sequence[str], environment: dict[str, str] | None = None, show: bool = False
) -> float:
    """Time a command from its start to its end; `show` lets its error stream through.

    Raises
    ------
    LabError
        If it fails: the time of a failure is no figure.
    """
    began = time.perf_counter()
    done = subprocess.run(
        argv,
        cwd=recorded.ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=None if show else subprocess.PIPE,
        text=True,
        check=False,
    )
    took = time.perf_counter() - began
    check_ended(argv, done.returncode, done.stderr or "")
    return took


def watched_peak(child: subprocess.Popen) -> tuple[int, int]:
    """Watch a lab until it ends: peak memory of its own processes in bytes, and their number.

    The kernel keeps each process's own peak, so that nothing is missed between two looks; the sum
    is at least the true one. A process seen once is one about to become another program, which
    still shows the memory of its parent.
    """
    peak_bytes = most = 0
    earlier: set[int] = set()
    while child.poll() is None:
        own = own_processes(child.pid)
        settled = [pid for pid in own if pid in earlier]
        peak_bytes = max(peak_bytes, sum(map(_peak_rss_bytes, settled)))
        most, earlier = max(most, len(settled)), set(own)
        try:
            child.wait(SAMPLE_EVERY_S)
        except subprocess.TimeoutExpired:
            continue
    return peak_bytes, most


def own_processes(pid: int) -> list[int]:
    """Give the ids of a lab and its children, without those that belong to its cluster."""
    own = []
    try:
        root = psutil.Process(pid)
        family = [root, *root.children(recursive=True)]
    except psutil.Error:
        return []
    for member in family:
        try:
            if process.MARK not in member.environ():
                own.append(member.pid)
        except psutil.Error:
            continue
    return own


def _peak_rss_bytes(pid: int) -> int:
    try:
        found = re.search(r"^VmHWM:\s+(\d+) kB$", Path(f"/proc/{pid}/status").read_text(), re.M)
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


def check_ended(argv: Sequence[str], code: int, said: str) -> None:
    """Raise a LabError with the end of what a command said, unless it ended well."""
    if code == 0:
        return
    raise LabError(
        f"{' '.join(argv[:5])} failed with exit status {code}",
        found=" / ".join(said.strip().splitlines()[-4:]) or "its message is above",
        expected="a command that works",
        next_step="Type it by hand to see all that it says.",
    )
