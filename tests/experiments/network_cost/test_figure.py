"""What the network costs, drawn: curves by place, and contrasts. The runs are made up."""

from __future__ import annotations

import re

import pandas as pd
import pytest

import made_up_slices
import small_runs
from drawn import caption, line_like, said, title, written
from ndblab import figures
from ndblab.design import catalogue
from ndblab.error import LabError
from ndblab.experiments.network_cost import experiment as network
from ndblab.experiments.network_cost import figure as network_cost
from ndblab.planning.point import Point

KEY = "network-cost"
EXPERIMENT = catalogue.find(KEY)
QPS = dict(zip(network.KINDS, (1000.0, 900.0, 800.0, 1200.0), strict=True))
OF_NAMESPACES = {"place": pd.Series(["namespaces"])}


def qps(point: Point) -> float:
    return QPS[point.variant, point.transporter] * point.clients / (point.clients + 4)


def tables(repeats: int = 3, blocks: int = 6) -> dict[str, pd.DataFrame]:
    """Make runs of every kind, and slices of every contrast."""
    runs = small_runs.swept(EXPERIMENT, repeats, qps)
    runs["latency_p95_ms"] = 1000 * runs["clients"] / runs["qps"]
    used = (("mysqld", 11, 40.0), ("mysqld", 13, 2.0), ("ndbmtd", 2, 30.0), ("sysbench", 0, 10.0))
    planned = network.contrasts(EXPERIMENT, EXPERIMENT.size("quick"), pd.DataFrame())
    slices = [made_up_slices.of(contrast, blocks, ratio=0.8) for contrast in planned]
    return {
        "runs": runs,
        "processes": pd.concat([small_runs.cpu(name, *used) for name in runs["run_id"]]),
        "slices": pd.concat(slices, ignore_index=True),
    }


def test_every_kind_of_the_sweep_and_every_contrast_has_its_mark() -> None:
    """A variant or a contrast with another name would be left out."""
    assert {(kind.variant, kind.transporter) for kind in network_cost.KINDS} == {*network.KINDS}
    planned = network.contrasts(EXPERIMENT, EXPERIMENT.size("quick"), pd.DataFrame())
    assert [contrast.name for contrast in planned] == list(network_cost.SIDES)
    figure = figures.draw(KEY, tables(), [], caption())
    [compared] = figure.axes
    assert [label.get_text() for label in compared.get_yticklabels()] == [
        *network_cost.SIDES.values()
    ]
    start = "Under CPU quotas, a server on another host gave 20 % fewer queries/s than beside"
    assert re.fullmatch(rf"{start} the data nodes \(\d+ to \d+ %\)", title(figure))


def test_without_contrasts_every_place_has_its_curve() -> None:
    """Throughput against clients, from zero."""
    made = tables()
    made["slices"] = made["slices"].iloc[:0]
    [throughput] = figures.draw(KEY, made, [], caption()).axes
    for qps in QPS.values():
        clients = sorted(set(made["runs"]["clients"]))
        line_like(throughput, [1.02 * qps * n / (n + 4) for n in clients])
    assert throughput.get_ylim()[0] == 0


def test_what_one_cluster_start_says_is_marked() -> None:
    """Only where other contrasts have several starts."""
    assert "Within one cluster start" not in said(figures.draw(KEY, tables(), [], caption()))
    made = tables()
    blocks = made["slices"]["block"]
    several = made["slices"]["contrast"] != "clients"
    made["slices"]["start"] = blocks.where(several, blocks.min())
    words = said(figures.draw(KEY, made, [], caption()))
    assert "Measured in one cluster start only: clients on another host than their server." in words


def test_namespaces_are_not_called_hosts() -> None:
    """Neither in the title, nor in rows, labels and descriptions; and they have no cable."""
    made = tables() | OF_NAMESPACES
    figure = figures.draw(KEY, made, [], caption())
    assert "a server in another namespace gave 20 % fewer queries/s" in title(figure)
    assert "not a cable" in said(figure)
    assert "another host" not in written(figure)
    assert " host" not in figures.describe(KEY, made, [])
    made["slices"] = made["slices"].iloc[:0]
    assert "other namespace, TCP" in written(figures.draw(KEY, made, [], caption()))


def test_hosts_of_a_users_own_have_cables() -> None:
    """What namespaces cannot tell is said of them only."""
    assert "cable" not in said(figures.draw(KEY, tables(), [], caption()))


def test_too_few_blocks_have_no_interval_and_the_caption_says_so() -> None:
    """As after a smoke run."""
    figure = figures.draw(KEY, tables(repeats=1, blocks=1), [], caption())
    assert "has no interval" in said(figure)
    assert title(figure).endswith("fewer queries/s than beside the data nodes (no interval)")


def test_each_place_is_described_at_its_best() -> None:
    """Throughput, latency and CPU time of each, and each ratio with its interval."""
    words = figures.describe(KEY, tables(), [])
    assert words.count("queries/s with 64 clients") == 4
    assert words.count(" to ") >= 4


def test_a_dataset_of_another_question_is_refused() -> None:
    """The message says what is missing."""
    data = tables(repeats=1)
    data["runs"] = data["runs"].assign(variant="other")
    with pytest.raises(LabError, match="nothing to draw"):
        figures.draw(KEY, data, [], caption())
