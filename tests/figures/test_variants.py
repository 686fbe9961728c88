"""SHM against TCP, and spinning: ratios of paired runs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import small_runs
from drawn import caption, outside, said, written
from ndblab import figures
from ndblab.error import LabError
from ndblab.judging.publication import Anchor

SIDES = (("tcp", "default"), ("shm", "default"), ("shm", "shm-spin"), ("shm", "all-spin"))
FACTORS = dict(zip(SIDES, (1.0, 1.25, 1.5, 1.0), strict=True))
WORKLOADS = ("oltp_point_select", "oltp_read_write")


def anchor(series: str, value: float, exactness: str = "stated", bound: str = "") -> Anchor:
    return Anchor("x", series, 0, 0, value, "ratio", exactness, bound, "T-top", "colocated-7.6")


PUBLISHED = [
    anchor("low concurrency", 1.0, "about"),
    anchor("top performance", 1.1),
    anchor("very high concurrency", 1.4, "bound", "lower"),
    anchor("mysqld and data nodes on one host", 1.2, "about"),
]


def runs(repeats: int = 4, workloads: tuple[str, ...] = WORKLOADS) -> dict[str, pd.DataFrame]:
    """Make runs whose repeats differ threefold, but whose ratios within a repeat hardly do."""
    rows = []
    for workload in workloads:
        for clients in (1, 8, 64):
            for repeat in range(1, repeats + 1):
                for transporter, variant in SIDES:
                    wobble = 1 + 0.004 * ((repeat + len(variant)) % 3)
                    qps = 500.0 * 3**repeat * FACTORS[transporter, variant] * wobble
                    name = f"c{clients}_r{repeat}_{transporter}_{workload}_{variant}"
                    kind = {"transporter": transporter, "variant": variant, "workload": workload}
                    rows.append(
                        small_runs.tables(name, clients=clients, repeat=repeat, qps=qps, **kind)
                    )
    return {"runs": pd.concat([row["runs"] for row in rows], ignore_index=True)}


def ratios(key: str, tables: dict[str, pd.DataFrame]) -> list[np.ndarray]:
    ax = figures.draw(key, tables, PUBLISHED, caption()).axes[0]
    lines = [line for line in ax.lines if line.get_marker() in ("o", "s")]
    return [np.asarray(line.get_ydata()) for line in lines]


def test_a_ratio_is_of_paired_runs() -> None:
    """A machine that triples between repeats does not blur a ratio that holds in each of them."""
    for line in ratios("shm-vs-tcp", runs()):
        np.testing.assert_allclose(line, 1.25, rtol=0.01)
    words = figures.describe("shm-vs-tcp", runs(), PUBLISHED)
    assert "1.25 (1.25 to 1.25) at 8 clients" in words


def test_a_run_without_its_pair_is_left_out() -> None:
    """A failed run takes its partner out of the ratio, and no other repeat fills in."""
    tables = runs(workloads=WORKLOADS[:1])
    lost = tables["runs"]["run_id"] == "c8_r1_tcp_oltp_point_select_default"
    tables["runs"].loc[lost, "status"] = "mysqld 2 died: signal 9"
    figure = figures.draw("shm-vs-tcp", tables, PUBLISHED, caption())
    assert "3 to 4 pairs per point" in said(figure)
    np.testing.assert_allclose(ratios("shm-vs-tcp", tables)[0], 1.25, rtol=0.01)


def test_workloads_and_kinds_have_lines_of_their_own() -> None:
    """Point selects and read/write are never averaged together, nor are kinds of spinning."""
    assert len(ratios("shm-vs-tcp", runs())) == 2
    assert len(ratios("spinning", runs())) == 4
    means = sorted(float(line.mean()) for line in ratios("spinning", runs()))
    np.testing.assert_allclose(means, [0.8, 0.8, 1.2, 1.2], rtol=0.01)


def test_published_ratios_stand_beside_as_they_were_stated() -> None:
    """Each published ratio is drawn and named in a panel that is not the measured one."""
    figure = figures.draw("shm-vs-tcp", runs(), PUBLISHED, caption())
    beside = figure.axes[1]
    marks = [line for line in beside.lines if line.get_marker() in ("*", "_")]
    assert [float(np.atleast_1d(line.get_ydata())[0]) for line in marks] == [1.0, 1.1, 1.4, 1.2]
    assert "at least 1.4" in written(figure)
    assert "about 1.2" in written(figure)
    assert "1.4 ratio" not in written(figure)


def test_the_quota_is_said() -> None:
    """Under quotas, and only there, the caption says that spinning consumes them."""
    scaled, pinned = (
        figures.draw("spinning", runs(), [], caption(budget)) for budget in ("scaled", "pinned")
    )
    assert "consumes CPU quota" in said(scaled)
    assert "quota" not in said(pinned)


@pytest.mark.parametrize("key", ["shm-vs-tcp", "spinning"])
def test_no_text_leaves_the_figure(key: str) -> None:
    """Legends, slanted names and the caption stay inside the picture."""
    assert outside(figures.draw(key, runs(), PUBLISHED, caption())) == []


def test_a_dataset_of_one_side_is_refused() -> None:
    """Without a partner there is no ratio, and the message says what was expected."""
    tables = runs()
    tables["runs"] = tables["runs"][tables["runs"]["transporter"] == "shm"]
    with pytest.raises(LabError, match="no pair of runs"):
        figures.draw("shm-vs-tcp", tables, [], caption())
