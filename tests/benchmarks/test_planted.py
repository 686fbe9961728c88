"""Comparisons whose truth is known: resampled ones, and the file of those on a cluster."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import made_up_comparison
from ndblab import benchmarks
from ndblab.benchmarks import planted, planted_on_cluster, resampled, trials
from ndblab.benchmarks.trials import EQUAL, OF_SQL, OF_TWINS, PLANTED, Trials
from ndblab.comparing.judged import EQUIVALENT, FASTER, SLOWER, UNDECIDED
from ndblab.design.contrast import ALTERNATION, RESTARTS, SWITCHED, TWINS, Contrast
from ndblab.error import LabError
from ndblab.machine import host
from ndblab.measuring import recorded
from worlds.recording import BINARIES


@pytest.fixture(scope="module")
def pools() -> list[np.ndarray]:
    """The recorded contrasts of slices in turn."""
    return resampled.pools(ALTERNATION)


def test_equal_sides_of_recorded_noise_are_rarely_told_apart(pools: list) -> None:
    """Of 60 at most 7 (3 are promised); `./lab bench compare` makes a thousand."""
    rng = np.random.default_rng(3)
    judged = resampled.judge(pools, [1.0] * 60, 20, 20.0, rng)
    assert set(judged["outcome"]) <= {FASTER, SLOWER, EQUIVALENT, UNDECIDED}
    assert judged["outcome"].isin([FASTER, SLOWER]).sum() <= 7


def test_a_planted_difference_gets_its_sign(pools: list) -> None:
    """A fifth more or less is right in most of a few minutes, and never the other way round."""
    rng = np.random.default_rng(5)
    judged = resampled.judge(pools, [1.2, 1 / 1.2] * 10, 13, 20.0, rng)
    marks = [trials.mark(*pair) for pair in zip(judged["truth"], judged["outcome"], strict=True)]
    assert trials.WRONG not in marks
    assert marks.count(trials.RIGHT) > 10


def test_under_one_load_a_small_difference_is_told_in_minutes() -> None:
    """5 % within 9 blocks of 27 s, in most of 20; slices in turn need 10 minutes for half."""
    rng = np.random.default_rng(7)
    judged = resampled.judge(resampled.pools(SWITCHED), [1.05, 1 / 1.05] * 10, 9, 27.0, rng)
    marks = [trials.mark(*pair) for pair in zip(judged["truth"], judged["outcome"], strict=True)]
    assert trials.WRONG not in marks
    assert marks.count(trials.RIGHT) >= 15
    assert judged["minutes"].max() <= 9 * 27 / 60


def test_resampled_sides_are_equal_on_the_whole(pools: list) -> None:
    """Nothing is left of the difference that a recorded contrast had; the planted one is there."""
    rng = np.random.default_rng(3)
    for pool in pools[:5]:
        assert pool.mean() == pytest.approx(0, abs=1e-9)
        assert np.log(1.05) == pytest.approx(
            np.mean([resampled.redrawn(pool, 100, 1.05, rng).mean() for _ in range(200)]), abs=0.01
        )


def test_clients_in_turn_are_resampled_from_comparisons_on_a_cluster() -> None:
    """A restart parts the halves of a block, so it has one value; equal sides stay equal."""
    rng = np.random.default_rng(3)
    for design, halves in ((ALTERNATION, 2), (RESTARTS, 1)):
        pools = resampled.pools_of_file(design, halves)
        assert all(pool.shape[1] == halves for pool in pools)
        judged = resampled.judge(pools, [1.0] * 60, 13, 27.0, rng)
        assert judged["outcome"].isin([FASTER, SLOWER]).sum() <= 7


def test_resampled_comparisons_take_as_long_as_blocks_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """As docs/compare.md says of each design: 30 blocks of 29 s, 20 of 41 s."""
    monkeypatch.setattr(resampled, "EQUAL_TRIALS", 1)
    monkeypatch.setattr(resampled, "PLANTED_TRIALS", 0)
    notes = {row.what: row.note for row in resampled.compare()}
    equal = "resampled, equal: told apart"
    assert "of at most 14.5 min" in notes[f"clients in turn, {equal}"]
    assert "of at most 13.7 min" in notes[f"restarts, clients in turn, {equal}"]


def line(
    kind: str,
    number: int,
    ratio: float,
    truth: float = 1.0,
    outcome: str = "",
    design: str = SWITCHED,
) -> dict:
    """A line of the file; all numbers are made up."""
    return {
        "kind": kind,
        "number": number,
        "truth": truth,
        "outcome": outcome,
        "ratio": ratio,
        "minutes": 1.0,
        "blocks": 4,
        "design": design,
    }


def test_a_cut_run_goes_on_with_what_the_file_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Comparisons of another host or limit do not count; twins have no limit."""
    file = tmp_path / "out" / "compare.csv"
    mine, other = Trials(file, "a host", "9.7.4"), Trials(file, "another", "9.7.4")
    assert mine.missing(PLANTED, SWITCHED, 2) == range(1, 3)
    mine.append(line(PLANTED, 1, 1.04, 1.05, FASTER))
    mine.append(line(OF_TWINS, 1, 1.01, design=TWINS))
    other.append(line(PLANTED, 1, 0.9, 0.95, SLOWER))
    assert mine.missing(PLANTED, SWITCHED, 2) == range(2, 3)
    assert mine.missing(PLANTED, RESTARTS, 2) == range(1, 3)
    monkeypatch.setitem(trials.MINUTES, PLANTED, 4)
    assert list(mine.missing(PLANTED, SWITCHED, 1)) == [1]
    assert list(mine.missing(OF_TWINS, TWINS, 1)) == []


def test_the_table_counts_right_and_wrong(tmp_path: Path) -> None:
    """An open comparison is not a right one; equal twins have a mean and a deviation."""
    comparisons = Trials(tmp_path / "compare.csv", "a host", "9.7.4")
    for number, outcome in enumerate([FASTER, FASTER, UNDECIDED, SLOWER], 1):
        comparisons.append(line(PLANTED, number, 1.05, 1.05, outcome))
    comparisons.append(line(PLANTED, 1, 1.05, 1.05, FASTER, TWINS))
    comparisons.append(line(EQUAL, 1, 1.0, 1.0, EQUIVALENT))
    comparisons.append(line(EQUAL, 2, 1.03, 1.0, FASTER))
    comparisons.append(line(OF_SQL, 1, 0.98))
    for number, ratio in enumerate([1.01, 1.0, 0.99], 1):
        comparisons.append(line(OF_TWINS, number, ratio, design=TWINS))
    rows = {row.what: row for row in comparisons.table()}
    right = rows["switched, by CPU quotas, 5 %: told right"]
    assert right.median == 50
    assert "4 comparisons of at most 3 min" in right.note
    assert "wrong 25.0 %, open 25.0 %" in right.note
    assert "at most 12 min" in rows["twins, by CPU quotas, 5 %: told right"].note
    assert rows["switched, by CPU quotas, equal: told apart"].median == 50
    assert "at most 5 min" in rows["switched, by CPU quotas, equal: told apart"].note
    assert rows["point selects of a .sql file, over sysbench's script"].met
    assert rows["equal twins, sd of log ratio"].median == pytest.approx(0.01, rel=0.01)
    assert rows["equal twins, mean off 1"].met


def test_an_empty_file_has_an_empty_table(tmp_path: Path) -> None:
    """Before the first comparison there is nothing to say."""
    comparisons = Trials(tmp_path / "none.csv", "a host", "9.7.4")
    assert comparisons.table() == []
    assert isinstance(comparisons.known(), pd.DataFrame)


@pytest.mark.parametrize("real", ["x", 0])
def test_the_number_of_real_comparisons_is_checked_first(real: object) -> None:
    """Before anything is installed or started."""
    with pytest.raises(LabError, match="--real"):
        benchmarks.run("compare", real=real)


@pytest.mark.parametrize("only", ["large", None])
def test_only_comparisons_and_searches_are_made_for_real(only: str | None) -> None:
    """Elsewhere the option would be without effect."""
    with pytest.raises(LabError, match="Only the benchmarks compare and tune"):
        benchmarks.run(only, real=3)


def shares(bench: planted.Bench, truth: float, block: int) -> dict[str, float]:
    """The quota of the server, or of servers and clients, that a side of a block loads."""
    quotas = {}
    contrast = bench.between(truth, block)
    exchanged = {"mysqld.1": "mysqld.2", "mysqld.2": "mysqld.1"}
    for side, own in (("a", contrast.a), ("b", contrast.b)):
        variant = bench.experiment.variant(own.point.variant)
        [server] = bench.experiment.usable_servers(bench.plans[own.point.variant], own.point)
        # The lab exchanges the options of servers for every other block of restarts.
        turned = contrast.design == RESTARTS and block % 2 == 0
        name = exchanged[server.name] if turned else server.name
        quotas[side] = variant.quotas.get(name) or variant.quotas["sql"]
    return quotas


@pytest.mark.parametrize("design", [SWITCHED, ALTERNATION, RESTARTS, TWINS])
@pytest.mark.parametrize("truth", planted.TRUTHS)
@pytest.mark.parametrize("block", [1, 2])
def test_each_planted_truth_limits_one_side_only(design: str, truth: float, block: int) -> None:
    """Whichever server it has in this block; the other side always has the whole share."""
    bench = planted.bench(PLANTED, design, a_host(), BINARIES)
    assert bench.contrast.turns == (design != SWITCHED)
    share = shares(bench, truth, block)
    assert share["b"] / share["a"] == pytest.approx(truth)
    assert max(share.values()) in (planted.SHARE, planted.SERVER_SHARE)


def test_sides_of_an_alternation_exchange_their_servers() -> None:
    """What differs between two servers is no difference of the sides."""
    bench = planted.bench(EQUAL, ALTERNATION, a_host(), BINARIES)
    used = [
        bench.experiment.usable_servers(bench.plans[point.variant], point)[0].name
        for point in (bench.between(1.0, block).a.point for block in (1, 2))
    ]
    assert sorted(used) == ["mysqld.1", "mysqld.2"]


def test_a_file_of_sql_is_compared_with_the_script_of_sysbench() -> None:
    """The same statement, compiled."""
    contrast = planted.bench(OF_SQL, ALTERNATION, a_host(), BINARIES).between(1.0, 1)
    assert contrast.b is not None
    assert contrast.a.point.workload == "oltp_point_select"
    assert contrast.b.point.workload.startswith("own_sql_")


def a_host() -> host.Host:
    """The host of a recorded dataset."""
    return host.from_dict(dict(recorded.obtain("multi-server-scaling").host))


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> list[Contrast]:
    """Blocks that are made up, B 5 % faster; the list has the contrasts that were measured."""
    asked = []

    def measure(contrast, number, clusters, writer, seed, say) -> str:
        asked.append(contrast)
        made_up_comparison.append(writer, contrast, range(number, number + 1), 1.05)
        return "ok"

    monkeypatch.setattr(planted_on_cluster.blocks, "measure", measure)
    return asked


def test_a_planted_comparison_is_measured_and_judged(made_up: list[Contrast]) -> None:
    """With variants that differ in the quota of servers and clients, up to the deciding look."""
    bench = planted.bench(PLANTED, SWITCHED, a_host(), BINARIES)
    clusters = SimpleNamespace(ready=lambda point: None)
    row = planted_on_cluster._compare(bench, PLANTED, 1, clusters)
    assert (row["truth"], row["outcome"], row["blocks"]) == (1.05, FASTER, 4)
    halves = [block.split("/") for block in str(row["logs"]).split()]
    assert len(halves) == 4
    mean = np.mean([[float(half) for half in block] for block in halves])
    assert mean == pytest.approx(math.log(float(row["ratio"])), abs=1e-4)
    quotas = [bench.experiment.variant(side.point.variant).quotas["sql"]
              for side in (made_up[0].a, made_up[0].b)]  # fmt: skip
    assert quotas[1] / quotas[0] == pytest.approx(1.05)


def test_a_start_of_equal_twins_has_one_block(made_up: list[Contrast]) -> None:
    """Of the start's own number, as every other one exchanges their places."""
    bench = planted.bench(OF_TWINS, TWINS, a_host(), BINARIES)
    row = planted_on_cluster._compare(bench, OF_TWINS, 3, SimpleNamespace())
    assert (row["kind"], row["number"], row["blocks"]) == (OF_TWINS, 3, 1)
    assert made_up[0].design == TWINS


def test_a_comparison_without_a_whole_block_is_made_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With other clusters; the last failure ends the command, and says that it goes on."""
    closed, tries = [], []

    def measure(clusters: object) -> dict:
        tries.append(clusters)
        if len(tries) < planted_on_cluster.ATTEMPTS:
            raise LabError("A node has ended")
        return {"kind": EQUAL}

    clusters = SimpleNamespace(close=lambda: closed.append(1))
    assert planted_on_cluster._tried(measure, clusters) == {"kind": EQUAL}
    assert len(closed) == planted_on_cluster.ATTEMPTS - 1
    monkeypatch.setattr(planted_on_cluster.blocks, "measure", lambda *a: "disturbed")
    bench = planted.bench(OF_TWINS, TWINS, a_host(), BINARIES)
    with pytest.raises(LabError, match="no whole block") as caught:
        planted_on_cluster._compare(bench, OF_TWINS, 1, SimpleNamespace())
    assert "goes on" in str(caught.value.next_step)
