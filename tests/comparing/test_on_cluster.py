"""Two sides compared for real."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pymysql
import pytest

import waiting
from campaign import checks
from conftest import OWN_PORT
from ndblab import dataset
from ndblab.cluster import variables
from ndblab.cluster.cluster import Cluster
from ndblab.comparing import comparison, knobs
from ndblab.comparing.request import Request
from ndblab.design.contrast import TURN_ORDERS
from ndblab.machine import host
from ndblab.measuring import measurement

ROOT = Path(__file__).resolve().parents[2]
FIXED = (1238, 1231)
"""Errors for what a running server cannot change: a variable that only a start sets, or a value
that another such variable rules out."""


@pytest.fixture
def runs(cluster_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where the datasets go; the cluster is in a folder of its own."""
    monkeypatch.setattr(measurement, "RUNS", tmp_path / "runs")
    return tmp_path / "runs"


def compare(*words: str, **options: object) -> tuple[str, int]:
    """Compare briefly: with small tables and short slices."""
    return comparison.compare(Request(words, profile="smoke", port=OWN_PORT, **options))


@pytest.mark.slow
@pytest.mark.cluster
def test_a_planted_difference_is_found_on_a_real_cluster(runs: Path) -> None:
    """Data nodes with a tenth of the CPUs against half; the same command then only reads."""
    if host.read().cpu_controller.kind not in ("cgroup1", "cgroup2"):
        pytest.skip("no CPU quotas here")
    words = ("data_nodes=10%", "data_nodes=50%")
    text, status = compare(*words, minutes=4)
    assert status == 0, text
    assert "% faster (" in text
    assert "1 cluster start" in text
    [folder] = (runs / "compare").glob("compare-*")
    blocks = dataset.read(folder).slices["block"].max()
    again, status = compare(*words, minutes=4, as_json=True)
    assert '"outcome": "faster"' in again
    assert dataset.read(folder).slices["block"].max() == blocks


@pytest.mark.slow
@pytest.mark.cluster
def test_two_servers_of_a_real_cluster_are_restarted_for_each_block(runs: Path) -> None:
    """Both show their side's setting; one cluster start serves all blocks."""
    compare("performance_schema=on", minutes=2)
    [folder] = (runs / "compare").glob("compare-*")
    data = dataset.read(folder)
    assert data.manifest["shown"] == {"default": {}, "b": {"performance_schema": "ON"}}
    assert data.manifest["starts"] == 1
    assert data.manifest["restarts"] >= 2
    by_block = data.slices.groupby(["block", "side"])["start"].nunique()
    assert set(by_block) == {1}


@pytest.mark.cluster
def test_a_real_mysqld_takes_its_variables_as_the_table_says(cluster: Cluster) -> None:
    """What can be set while it runs, and what takes a restart."""
    with contextlib.closing(cluster.connect()) as connection:
        cursor = connection.cursor()
        cursor.execute("SHOW GLOBAL VARIABLES")
        shown = dict(cursor.fetchall())
        wrong = []
        for knob in (k for k in knobs.known() if k.file == knobs.MY_CNF):
            fixed = False
            try:
                value = variables.literal(shown[knob.name])
                cursor.execute(f"SET GLOBAL {knob.name} = %s", (value,))
            except pymysql.Error as error:
                fixed = error.args[0] in FIXED
                wrong += [] if fixed else [(knob.name, error.args)]
            wrong += [knob.name] if fixed != (knob.change == knobs.MYSQLD) else []
    assert wrong == []


PROGRAM = """
import math, pathlib, signal, sys
import tasks
from invoke import Program
from ndblab.machine import interference
from ndblab.measuring import measurement
interference.LIMIT_PCT = interference.STEAL_LIMIT_PCT = math.inf
# A shell that runs tests in the background has them ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
measurement.RUNS = pathlib.Path(sys.argv[1])
Program(namespace=tasks.namespace).run(["lab", *sys.argv[2:]])
"""


def slices(runs: Path) -> pd.DataFrame:
    """Return what the only comparison saved, as other programs read it; empty before it begins."""
    saved = [dataset.read(folder).slices for folder in (runs / "compare").glob("compare-*")]
    return saved[0].set_index("run_id") if saved else pd.DataFrame(columns=["block"])


def ended_within_a_block(argv: list[str], runs: Path, block: int, number: int) -> tuple[int, str]:
    """End a comparison, as a terminal does, when it has saved a slice after this block."""
    with subprocess.Popen(
        argv, cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as lab:
        waiting.until(
            lambda: lab.poll() is not None or (slices(runs)["block"] > block).any(),
            180, "a slice of the next block", poll_s=1,
        )  # fmt: skip
        os.killpg(lab.pid, number)
        _, said = lab.communicate(timeout=60)
    return lab.returncode, said


@pytest.mark.slow
@pytest.mark.cluster
def test_a_comparison_that_is_ended_keeps_its_blocks_and_goes_on(runs: Path, cluster_folder: Path):
    """After Ctrl-C, then after SIGTERM: one message, no process; whole blocks follow whole ones."""
    before = checks.orphaned_segments()
    words = ("--side", "performance_schema=on", "--profile", "smoke", "--minutes", "3")
    argv = [sys.executable, "-c", PROGRAM, str(runs), "compare", *words, f"--base-port={OWN_PORT}"]
    saved: pd.DataFrame | None = None
    for block, number, status in ((1, signal.SIGINT, 130), (2, signal.SIGTERM, 143)):
        code, said = ended_within_a_block(argv, runs, block, number)
        assert code == status, said
        assert "run the same command again to resume" in said
        assert "Traceback" not in said
        assert not any(checks.leaks(cluster_folder, OWN_PORT, before).values())
        now = slices(runs)
        whole = now[now["block"] <= block]
        assert list(whole.groupby("block").size()) == [4 * TURN_ORDERS] * block
        assert set(whole["status"]) == {"ok"}
        if saved is not None:
            pd.testing.assert_frame_equal(now.loc[saved.index], saved)
        saved = whole
