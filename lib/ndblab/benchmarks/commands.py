"""Whole commands, as a user types them, and cluster starts: their time and their memory.

What a command leaves behind is removed, except the figures of the recorded datasets.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

from ndblab import install
from ndblab.benchmarks import reading
from ndblab.benchmarks.row import Row, shown
from ndblab.cluster import datadir, start_stop
from ndblab.design import catalogue
from ndblab.error import LabError
from ndblab.machine.local import MARK
from ndblab.measuring import measurement, recorded
from ndblab.planning import profile

PORT = 13860
"""Not the lab's own port, so that a cluster in another folder can run during a benchmark."""

WHOLE_PROCESSES = 5
STARTED_SERVERS, STARTS = (1, 2, 4, 8, 16), 3
LARGE_ROWS = 5_000_000
SAMPLE_EVERY_S = 0.1

_SWEEP = """
import pathlib, sys
from ndblab.design import catalogue
from ndblab.measuring import measurement
from ndblab.measuring.request import Request
measurement.RUNS = pathlib.Path(sys.argv[1])
measurement.measure(catalogue.find(figure=6), Request("smoke", port=int(sys.argv[2])))
"""


def redrawing(*which: str, goal_s: float) -> list[Row]:
    """Redraw one experiment or all from the recorded datasets; the first time fills the cache."""
    argv = [str(recorded.ROOT / "lab"), "reproduce", *which, "--recorded"]
    whole_process_s(argv)
    taken = [whole_process_s(argv) for _ in shown(range(WHOLE_PROCESSES), " ".join(which))]
    what, note = f"reproduce {' '.join(which)} --recorded", "whole process, the first not counted"
    return [Row(what, tuple(taken), "s", at_most=goal_s, note=note)]


def start() -> list[Row]:
    """Time the start of clusters of 1 to 16 servers, until they are ready."""
    binaries = install.ensure()
    template = start_stop.home() / f"{datadir.TEMPLATE}-{binaries.ndb_version}"
    copied = "existed" if template.exists() else "was made by the first start"
    seconds: dict[int, list[float]] = {servers: [] for servers in STARTED_SERVERS}
    for servers in shown([*STARTED_SERVERS] * STARTS, "start"):
        size = profile.get("quick", {"servers": servers})
        plan = measurement.plan_for(catalogue.find(figure=6), size, "auto", PORT)[1]
        began = time.perf_counter()
        with start_stop.running(plan, binaries, progress=False):
            seconds[servers].append(time.perf_counter() - began)
    rows = [
        Row(
            f"start of 2 data nodes and {servers} mysqld",
            tuple(values),
            "s",
            at_most=25 if servers == STARTED_SERVERS[-1] else None,
        )
        for servers, values in seconds.items()
    ]
    pairs = [(servers, value) for servers, values in seconds.items() for value in values]
    growth, fixed = statistics.linear_regression(*zip(*pairs, strict=True))
    note = f"least squares over {len(pairs)} starts: {fixed:.1f} s and this for each server; the "
    note += f"data folder that is copied {copied}"
    return [*rows, Row("start, each further mysqld", (growth,), "s", note=note)]


def memory() -> list[Row]:
    """Measure the memory of the lab's own processes in a short sweep."""
    install.ensure()
    with tempfile.TemporaryDirectory(prefix="ndblab-bench-") as scratch:
        argv = [sys.executable, "-c", _SWEEP, scratch, str(PORT)]
        with subprocess.Popen(argv, stdout=subprocess.DEVNULL) as child:
            try:
                peak_bytes, processes = watched_peak(child)
            except BaseException:
                # The child's watchdog ends its cluster.
                child.terminate()
                raise
        check_ended(argv[:2], child.returncode, "")
    note = f"profile smoke; sum of the peaks of at most {processes} processes at a time"
    what = "memory of the lab and its watchdog in a sweep"
    return [Row(what, (peak_bytes / 1e6,), "MB", at_most=400, note=note)]


def large() -> list[Row]:
    """Read, judge and draw a dataset of the brief's own size: 5 million rows."""
    argv = [str(recorded.ROOT / "lab"), "reproduce", "--figure", "6", "--dataset"]
    with tempfile.TemporaryDirectory(prefix="ndblab-bench-") as scratch:
        folder = reading.tiled(Path(scratch), LARGE_ROWS)
        argv += [str(folder)]
        began = time.perf_counter()
        try:
            with subprocess.Popen(argv, cwd=scratch, stdout=subprocess.DEVNULL) as child:
                peak_bytes, processes = watched_peak(child)
            took_s = time.perf_counter() - began
        finally:
            # Nobody measured what they show.
            shutil.rmtree(recorded.ROOT / "out" / folder.name, ignore_errors=True)
        check_ended(argv, child.returncode, "")
    note = f"Figure 6's recorded dataset tiled in time to {LARGE_ROWS / 1e6:g} million rows"
    peak = f"sum of the peaks of at most {processes} processes at a time"
    return [
        Row("reproduce from 5 million rows", (took_s,), "s", at_most=20, note=note),
        Row("its memory", (peak_bytes / 1e6,), "MB", at_most=1000, note=peak),
    ]


def installation() -> list[Row]:
    """Install into an empty cache, and then again."""
    missing = len(install.requirements.missing_packages())
    lab = str(recorded.ROOT / "lab")
    install.location().mkdir(parents=True, exist_ok=True)
    # On the disk where installations go: /tmp may be too small.
    with tempfile.TemporaryDirectory(prefix="bench-", dir=install.location()) as scratch:
        environment = {k: v for k, v in os.environ.items() if k != "NDB_HOME"}
        environment["XDG_CACHE_HOME"] = scratch
        first = whole_process_s([lab, "install"], environment, show=True)
        if not list(Path(scratch).glob("ndblab/ndb-*")):
            raise LabError(
                "Nothing was installed, so there is nothing to time",
                found="an NDB Cluster on PATH",
                expected="a machine without one",
                next_step="Remove it from PATH and try again.",
            )
        again = [whole_process_s([lab, "install"], environment) for _ in range(WHOLE_PROCESSES)]
    note = f"empty cache; includes {missing} build packages that were missing"
    return [
        Row("install", (first,), "s", at_most=420, note=note),
        Row("install, again", tuple(again), "s", at_most=1, note="whole process"),
    ]


def whole_process_s(
    argv: Sequence[str], environment: dict[str, str] | None = None, show: bool = False
) -> float:
    """Time a command from start to end; with `show` its error stream is visible.

    LabError if it fails: the time of a failed command means nothing.
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
    """Watch a lab until it ends; return its own processes' peak memory in bytes, and their number.

    The kernel records each process's own peak, so nothing is missed between two samples; the sum
    is an upper bound. A process seen only once may be between fork and exec, when it still shows
    the memory of its parent, and is left out.
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
    """Return the ids of a lab and its children, without those that belong to its cluster."""
    own = []
    with contextlib.suppress(psutil.Error):
        root = psutil.Process(pid)
        for member in [root, *root.children(recursive=True)]:
            with contextlib.suppress(psutil.Error):
                if MARK not in member.environ():
                    own.append(member.pid)
    return own


def _peak_rss_bytes(pid: int) -> int:
    with contextlib.suppress(OSError):
        status = Path(f"/proc/{pid}/status").read_text()
        if match := re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE):
            return int(match[1]) * 1024
    return 0


def check_ended(argv: Sequence[str], code: int, output: str) -> None:
    """Raise a LabError with the last lines of a command's output, unless it succeeded."""
    if code == 0:
        return
    raise LabError(
        f"{' '.join(argv[:5])} failed with exit status {code}",
        found=" / ".join(output.strip().splitlines()[-4:]) or "its message is above",
        expected="exit status 0",
        next_step="Run it by hand to see its whole output.",
    )
