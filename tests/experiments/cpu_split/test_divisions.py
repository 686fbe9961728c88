"""Divisions of CPUs: what is measured, the law, the picture and the words, in a planted world."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from drawn import outside, title, written
from ndblab import dataset
from ndblab.design import catalogue
from ndblab.error import MissingData
from ndblab.experiments.cpu_split import analysis
from ndblab.experiments.cpu_split.experiment import SHARES_PCT
from ndblab.judging import answers, judge, publication
from ndblab.publishing import drawing
from prose import too_long
from worlds.planted import WORLDS
from worlds.recording import Recording

EXPERIMENT = catalogue.find("cpu-split")
DATA_US = 60.0
"""CPU time of a query in the data nodes of the planted world; 51 us are beside them."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dataset.Dataset:
    """Measure the divisions in the world whose data nodes cost more than its servers."""
    recording = Recording(WORLDS["data-nodes-full"], "cpu-split")
    path = recording.write(tmp_path_factory.mktemp("world"), ["B-split"]).path
    return dataset.read(path, verify=False)


def test_every_division_shares_one_cluster():
    """Quotas change on running nodes; the shares of both sides are all the CPUs."""
    [together] = EXPERIMENT.clusters()
    assert set(together) == {v.name for v in EXPERIMENT.variants}
    divided = [v.quotas for v in EXPERIMENT.variants if v.quotas["sql"] is not None]
    assert [2 * q["ndbmtd"] + q["sql"] for q in divided] == pytest.approx([1.0] * len(SHARES_PCT))
    assert all(q["mysqld"] is None for q in divided)


def test_the_law_is_that_of_the_tighter_side():
    """60 us in data nodes and 40 beside them: 60 % are best, and less or more is proportional."""
    law = analysis.Law(2.0, 60.0, 40.0)
    assert law.best_pct == pytest.approx(60)
    assert law.qps(60) == pytest.approx(20_000)
    assert law.qps(30) == pytest.approx(10_000)
    assert law.qps(80) == pytest.approx(10_000)


def test_the_law_comes_from_the_runs_without_quotas(data: dataset.Dataset):
    """CPU time of a query as planted."""
    law = analysis.law(data.runs, data.processes, 2.0)
    assert law.data_us == pytest.approx(DATA_US, rel=0.05)
    assert law.sql_us == pytest.approx(51, rel=0.05)
    divided = data.runs[data.runs["variant"].astype(str) != "undivided"]
    with pytest.raises(MissingData, match="without quotas"):
        analysis.law(divided, data.processes, 2.0)


def test_measured_throughput_follows_the_law(data: dataset.Dataset):
    """Where nothing but CPUs limits; every share is there, none of the undivided runs."""
    points = analysis.points(data.runs, analysis.law(data.runs, data.processes, 2.0))
    assert set(points["share_pct"]) == set(SHARES_PCT)
    best = points.groupby("share_pct")["of_law"].max()
    assert best.between(0.85, 1.1).all()
    assert points.loc[points["qps"].idxmax(), "share_pct"] == 50


def test_the_answer_names_the_better_share_and_what_the_law_expects(data: dataset.Dataset):
    """A quarter gives half of what half of the CPUs give."""
    table = judge.judge(data, ["B-split"], publication.claims())
    words = str(answers.answer("cpu-split", table, data))
    assert words.startswith("Under CPU quotas, another share than a quarter gave clearly more")
    assert "fewer queries" in words
    assert "the best share for data nodes is 5" in words
    assert "compared with" in words
    assert too_long(words) == []


def swept(data: dataset.Dataset, gain: float) -> dataset.Dataset:
    """Make undivided CPUs, with the fewest clients, so many times as fast as the best division."""
    runs = data.runs.copy()
    kinds, fewest = runs["variant"].astype(str), runs["clients"].min()
    half = runs[kinds == "split-50"]
    at_best = half["clients"] == half.groupby("clients")["qps"].mean().idxmax()
    best = half[at_best].set_index("repeat")["qps"]
    middle = best.index.astype(float).to_numpy().mean()
    for row in runs[kinds == "undivided"].itertuples():
        times = gain * (1 + 0.002 * (row.repeat - middle)) * (1 if row.clients == fewest else 0.5)
        runs.loc[row.Index, "qps"] = times * best[row.repeat]
    return replace(data, tables={**data.tables, "runs": runs})


def test_undivided_cpus_are_compared_with_the_best_division_at_the_best_clients_of_each(
    data: dataset.Dataset,
):
    """Not with a quarter, which gives half as much here; runs are paired by repeat."""
    runs = swept(data, 1.2).runs
    ratio = analysis.undivided_over_best(runs)
    assert ratio.value == pytest.approx(1.2, rel=0.001)
    assert 1.15 < ratio.low < 1.2 < ratio.high < 1.25
    with pytest.raises(MissingData, match="without quotas"):
        analysis.undivided_over_best(runs[runs["variant"].astype(str) != "undivided"])


def test_the_answer_says_what_undivided_cpus_gave_and_in_which_recordings(data: dataset.Dataset):
    """Clear in the newest recording alone, it is not said of the other."""
    table = judge.judge(data, ["B-split"], publication.claims())

    def answered(*gains: float) -> str:
        *earlier, newest = (swept(data, gain) for gain in gains)
        return str(answers.answer("cpu-split", table, replace(newest, earlier=tuple(earlier))))

    gave = "Undivided CPUs gave "
    assert f"{gave}20 % more queries than the best division (" in answered(1.2)
    assert "clear in 1 of 2 recordings (+1 and +20 %)" in answered(1.01, 1.2)
    assert f"{gave}neither clearly fewer nor more queries than the best div" in answered(1.01)
    assert f"{gave}20 % fewer queries than the best division (" in answered(0.8)


def test_a_share_is_told_from_the_percentage_that_it_gains(data: dataset.Dataset):
    """Of two percentages in a sentence, one is called a share."""
    table = judge.judge(data, ["B-split"], publication.claims())
    certain = answers.answer("cpu-split", table, data).certain
    compared = [text for text in certain if text.startswith("a quarter for data nodes gave")]
    assert len(compared) == 2
    assert all(re.search(r"queries than a share of \d+ % \(", text) for text in compared)


def test_the_answer_says_with_how_many_clients_shares_were_compared(data: dataset.Dataset):
    """All with the same number, or each with its own best one."""
    table = judge.judge(data, ["B-split"], publication.claims())
    quarter = data.slices["side"].astype(str) == "a"
    for of_quarter, of_others, words in (
        (64, 64, "shares were compared with 64 clients each"),
        (64, 32, "clients that was best for it, 32 to 64"),
    ):
        slices = data.slices.assign(clients=quarter.map({True: of_quarter, False: of_others}))
        own = replace(data, tables={**data.tables, "slices": slices})
        assert words in str(answers.answer("cpu-split", table, own))


@pytest.mark.parametrize(
    ("gain", "advice"),
    [(1.2, ("Leave CPUs undivided where nothing forces a division",)), (1.01, ()), (0.8, ())],
)
def test_undivided_cpus_are_advised_only_where_they_clearly_gain(
    data: dataset.Dataset, gain: float, advice: tuple[str, ...]
):
    """An open difference supports neither advice."""
    table = judge.judge(data, ["B-split"], publication.claims())
    assert answers.answer("cpu-split", table, swept(data, gain)).advice == advice


def test_the_figure_shows_the_law_beside_every_share(data: dataset.Dataset):
    """A line for each number of clients, and the law, which peaks at its best share."""
    picture, figure = drawing.draw("cpu-split", data)
    answer = "A quarter of the CPUs for data nodes loses to 35 and 50 % and beats 10 and 17 %"
    assert title(figure) == answer
    _, panel = figure.axes
    [law] = [line for line in panel.lines if line.get_linestyle() == ":"]
    peak = max(zip(law.get_ydata(), law.get_xdata(), strict=True))[1]
    assert peak == pytest.approx(54, abs=2)
    assert "utilisation law" in written(figure)
    assert outside(figure) == []
    assert "the utilisation law predicts" in picture.alt


def test_the_reason_names_the_clients_of_all_shares(data: dataset.Dataset):
    """Those of the quarter alone would stand for others."""
    [row] = judge.judge(data, ["B-split"], publication.claims()).itertuples()
    numbers = data.slices["clients"]
    own = f"each share with its own best number of clients, {numbers.min():.0f} to "
    assert f"{own}{numbers.max():.0f}" in row.reason
