"""The control beside a long run: what it writes, and what the host's speed says of claims."""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from drawn import caption
from experiments.stability.made_up import with_control
from experiments.stability.test_checks import long_run
from made_up import verdict
from ndblab import figures
from ndblab.experiments.stability import control
from ndblab.judging import answers
from ndblab.machine.local import LOCAL

# Of a control on a virtual machine; the last line was cut when it ended.
WRITTEN = "100.9 512340 0.010021\n101.9 512340 0.011300\n102.9 512340 0.0101"


def test_seconds_are_read_and_a_cut_line_is_left_out():
    """They count from when the control began."""
    seconds = control.parse(WRITTEN, 100.0)
    assert list(seconds["t_s"]) == [0.9, 1.9]
    assert list(seconds["cpu_s"]) == [0.010021, 0.0113]
    assert list(control.speed(seconds)) == pytest.approx([51_126_634, 45_339_823], rel=1e-6)


def test_what_a_python_says_when_it_fails_is_no_second():
    """The run then has a status that says so."""
    seconds = control.parse("Traceback (most recent call last):\nOSError: [Errno 22] x\n", 0.0)
    assert seconds.empty
    assert "reported nothing" in control.status({"control": seconds}, 1e6)
    assert control.status({"control": control.parse(WRITTEN, 0.0)}, 1e6) == "ok"


def cluster_in(folder: Path, machine: object = LOCAL, *roles: str) -> SimpleNamespace:
    """A cluster whose processes of these roles are on this machine."""
    pids = [(role, 2, 1, "") for role in roles]
    site = SimpleNamespace(machine=machine)
    return SimpleNamespace(
        machine=LOCAL, folder=folder, pids=lambda: pids, site=lambda host: site
    )  # fmt: skip


def test_a_control_elsewhere_says_nothing_of_the_data_nodes(tmp_path: Path):
    """So none runs: where they are on another host, or nobody knows where."""
    for machine, role in ((object(), "ndbmtd"), (LOCAL, "mysqld")):
        cluster = cluster_in(tmp_path, machine, role)
        begun = control.read(cluster, None)
        assert begun is None
        assert control.tables(begun, cluster, None) == {}


def test_the_seconds_are_those_of_the_run():
    """A control begins before the clients connect: 10 s before a run of 180 s here."""
    fast = [0.005] * 10 + [0.01] * 180
    rows = {"run_id": "r", "t_s": range(1, 191), "steps": 1000, "cpu_s": fast}
    speed = control.of_run(pd.DataFrame(rows), pd.Series({"run_id": "r", "duration_s": 180.0}))
    assert len(speed) == 180
    assert speed.nunique() == 1
    assert (speed.index[0], speed.index[-1]) == (1, 180)


def test_a_control_that_ended_early_does_not_vouch_for_the_run():
    """Whatever the claim, the rest of the hour might have been the host's."""
    data = with_control(long_run(spread=0.03), 0.01)
    data.control = data.control.head(20)
    row = verdict(data, "F1-stable")
    assert row.verdict == "not testable here"
    assert "too few seconds" in row.reason


def test_the_program_works_a_little_every_second(tmp_path: Path):
    """About 1 % of a CPU, and it ends with its run."""
    cluster = cluster_in(tmp_path, LOCAL, "ndbmtd")
    begun = control.read(cluster, None)
    time.sleep(3.5)
    seconds = control.tables(begun, cluster, None)["control"]
    assert isinstance(begun.process, subprocess.Popen)
    assert begun.process.poll() is not None
    assert len(seconds) >= 2
    assert seconds["steps"].nunique() == 1
    assert seconds["cpu_s"].between(0.002, 0.1).all()


@pytest.mark.parametrize(("spread", "word"), [(0.01, "contradicted"), (0.03, "not testable here")])
def test_a_band_of_seconds_is_not_the_clusters_if_the_host_has_it(spread: float, word: str):
    """Throughput varies by 6 % either way: NDB's where the host varies by 2 %, not by 6 %."""
    data = with_control(long_run(spread=0.03), spread)
    row = verdict(data, "F1-stable")
    assert row.verdict in (word, "differs here" if word == "contradicted" else word)
    assert "the control beside the run" in row.reason


def test_a_steady_run_is_reproduced_beside_a_steady_control():
    """The other way round: the condition looks at the host, not at throughput."""
    row = verdict(with_control(long_run(spread=0.008), 0.01), "F1-stable")
    assert row.verdict == "reproduced"


@pytest.mark.parametrize(
    ("claim", "loss", "words"),
    [
        ("F1-drift", 0.05, "changed its speed by -5.13 % an hour (-3 to 3 wanted)"),
        ("W-warmup", 0.2, "of windows of 120 s (0.95 or more wanted)"),
    ],
)
def test_a_claim_on_the_whole_run_asks_the_same_of_the_control(claim: str, loss: float, words: str):
    """A host that gets slower explains throughput that falls as much."""
    row = verdict(with_control(long_run(loss=loss), 0.0, loss=loss), claim)
    assert row.verdict == "not testable here"
    assert words in row.reason


def test_a_drift_is_the_clusters_where_only_the_seconds_of_the_host_vary():
    """The control varies by a tenth from second to second, and does not drift."""
    row = verdict(with_control(long_run(loss=0.2), 0.05), "F1-drift")
    assert row.verdict in ("contradicted", "differs here")


def test_the_answer_says_how_much_of_the_spread_is_the_hosts():
    """The reader sees both ranges, of throughput and of the host's speed."""
    data = with_control(long_run(spread=0.03), 0.01)
    table = pd.DataFrame([verdict(data, "F1-stable")])
    said = " ".join(answers.answer("stability", table, data).certain)
    found = re.search(r"host's own speed differed from its mean by (\S+) to (\S+) % in 95 %", said)
    assert found is not None
    assert [float(end) for end in found.groups()] == pytest.approx([-2, 2], abs=0.2)


def test_the_figure_shows_the_control_where_one_ran():
    """A panel more, which the words describe."""
    data = with_control(long_run(spread=0.03), 0.01)
    axes = figures.draw("1", data.tables, [], caption()).axes
    assert axes[-1].get_xlabel().startswith("Time after the warm-up")
    assert [ax.get_ylabel().split(",")[0] for ax in axes][-1] == "Host's speed"
