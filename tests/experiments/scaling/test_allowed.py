"""Figure 6 under quotas: what these alone allow, and that title and answer say the same."""

from __future__ import annotations

import re
from itertools import product
from types import SimpleNamespace

import pandas as pd
import pytest

import small_runs
from drawn import caption, outside, said, title, written
from ndblab import figures
from ndblab.error import MissingData
from ndblab.experiments.scaling import allowed
from ndblab.judging import answers

MYSQLD_US, SYSBENCH_US, NDBMTD_US = 150.0, 25.0, 50.0
SERVERS = (1, 2, 4, 8, 16)


def tables(of_most: float = 1.0, step: float = 0.01) -> dict[str, pd.DataFrame]:
    """Make runs that reach 90 % of a server's quota; 16 servers give `of_most` of what 8 do."""
    runs, used = [], []
    for servers, clients, repeat in product(SERVERS, (16, 64), (1, 2, 3)):
        gain = of_most if servers == 16 else 1.0
        qps = 1400 * min(servers, 4) * gain * (1 + step * (repeat - 2) * (servers == 16))
        name = f"s{servers:02}_c{clients:04}_r{repeat}"
        one = small_runs.tables(name, servers=servers, clients=clients, repeat=repeat, qps=qps)
        runs.append(one["runs"])
        server_pct = qps * MYSQLD_US / 1e4 / servers
        servers_used = [("mysqld", 11 + n, server_pct) for n in range(servers)]
        used.append(small_runs.cpu(
            name, *servers_used, ("ndbmtd", 2, qps * NDBMTD_US / 1e4),
            ("sysbench", 0, qps * SYSBENCH_US / 1e4)))  # fmt: skip
    return {"runs": pd.concat(runs, ignore_index=True), "processes": pd.concat(used)}


def first_answer(data: dict[str, pd.DataFrame]) -> str:
    """Give what the answer says first, without any verdict."""
    slices = pd.DataFrame(columns=["contrast", "status", "start"])
    dataset = SimpleNamespace(**data, slices=slices, manifest={}, budget="scaled", earlier=())
    verdicts = pd.DataFrame({"id": [], "verdict": []})
    return answers.answer("multi-server-scaling", verdicts, dataset).certain[0]


def test_quotas_allow_their_cpu_over_that_of_a_query():
    """Each server has 30 of 256 CPUs until all have used up 192, clients included."""
    data = tables()
    most = allowed.by_quotas(data["runs"], data["processes"], 2.0)
    one = 2e6 * 30 / 256 / MYSQLD_US
    assert list(most.loc[[1, 2, 4]]) == pytest.approx([one, 2 * one, 4 * one])
    side = 2e6 * 192 / 256 / (MYSQLD_US + SYSBENCH_US)
    assert list(most.loc[[8, 16]]) == pytest.approx([side, side])


def test_data_nodes_have_a_quota_too():
    """Where a query is dear in them, their 64 of 256 CPUs end it first."""
    data = tables()
    dear = data["processes"].assign(
        cpu_pct=data["processes"]["cpu_pct"].where(data["processes"]["role"] != "ndbmtd", 300)
    )
    most = allowed.by_quotas(data["runs"], dear, 2.0)
    least_us = 1e4 * 300 / data["runs"]["qps"].max()
    assert most[16] == pytest.approx(2e6 * 64 / 256 / least_us, rel=0.02)


def test_servers_whose_runs_all_failed_have_a_panel():
    """What quotas allow them needs no run of theirs."""
    data = tables()
    data["runs"].loc[data["runs"]["servers"] == 16, "status"] = "errors: 12"
    figure = figures.draw("6", data, [], caption())
    assert len(re.findall(r"quotas \d", written(figure))) == len(SERVERS)


def test_figure_6_shows_what_quotas_allow_where_there_are_quotas():
    """A labelled line in each panel, and how far the most servers stay below it."""
    data = tables()
    figure = figures.draw("6", data, [], caption())
    assert len(re.findall(r"quotas \d", written(figure))) == len(SERVERS)
    same = "16 servers gave neither clearly fewer nor more queries/s than 8 at equal clients ("
    assert title(figure).startswith(f"Under CPU quotas, {same}")
    assert title(figures.draw("6", data, [], caption("pinned"))).startswith(same)
    assert "16 servers stayed 35 % below that" in said(figure)
    assert outside(figure) == []
    assert "quotas" not in written(figures.draw("6", data, [], caption("pinned")))
    only_runs = figures.draw("6", {"runs": data["runs"]}, [], caption())
    assert "quotas alone" not in said(only_runs)


def test_no_recorded_cpu_says_nothing_about_quotas():
    """The line is left out rather than made up."""
    data = tables()
    with pytest.raises(MissingData):
        allowed.by_quotas(data["runs"], data["processes"].iloc[:0], 2.0)
    data["processes"] = data["processes"].iloc[:0]
    assert "quotas alone" not in said(figures.draw("6", data, [], caption()))


@pytest.mark.parametrize("of_most", [0.7, 0.93, 1.07, 1.5])
def test_title_and_answer_say_the_same_about_the_last_doubling(of_most: float):
    """Fewer or more queries/s with 16 servers than with 8, by as much, whichever is best."""
    data = tables(of_most)
    figure = title(figures.draw("6", data, [], caption()))
    answer = first_answer(data)
    word, other = ("fewer", "more") if of_most < 1 else ("more", "fewer")
    [step] = re.findall(r"16 servers gave .*", figure)
    assert word in step
    assert word in answer
    assert other not in step + answer


def test_a_step_that_noise_hides_is_called_so():
    """Neither the title nor the answer gives it a direction without saying that it is unclear."""
    data = tables(1.01, step=0.2)
    drawn = title(figures.draw("6", data, [], caption()))
    assert "gave neither clearly fewer nor more queries/s than 8" in drawn
    assert "did neither clearly fewer nor more queries than 8" in first_answer(data)
