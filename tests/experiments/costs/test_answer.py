"""What is said of costs: signs, consequences, and silence where nothing was measured."""

from __future__ import annotations

import pandas as pd
import pytest

from experiments.costs import made_up as world
from ndblab.experiments.costs.experiment import FALLING
from ndblab.judging import answers


def said(data) -> str:
    return str(answers.answer("costs", pd.DataFrame({"verdict": []}), data))


def test_dearer_queries_and_lost_throughput_are_signed():
    """15 servers more, each by 2 % of 100 us in mysqld: 190 us in place of 160."""
    words = said(world.dataset())
    assert words.startswith(
        "With point selects, 64 clients and undivided CPUs, 16 servers did 16 % fewer queries "
        "than one ("
    )
    assert "With 8 clients each, 16 servers did 16 % fewer queries than one (" in words
    assert "by role: +30 % in mysqld" in words
    assert "A query took 19 % more CPU" in words
    assert words.endswith("Add MySQL servers only where CPUs are idle.")


def test_it_is_said_in_how_many_recordings_a_finding_holds():
    """Each recording is judged alone, and one that differs to the other side does not count."""
    both = said(world.dataset(world.dataset()))
    assert " % fewer queries than one (" in both
    assert "), in each of 2 recordings (-16 and -16 %). A query took" in both
    apart = said(world.dataset(world.dataset(dearer=-0.01)))
    disagreed = "Recordings disagree: with point selects, 64 clients and undivided CPUs, 16 servers"
    assert f"{disagreed} did 16 % fewer queries than one (" in apart
    assert "undivided CPUs, 16 servers: a query took 19 % more CPU" in apart


def test_cheaper_queries_are_said_as_clearly():
    """The other side is decided in the same way."""
    words = said(world.dataset(dearer=-0.01))
    assert "A query took 9.4 % less CPU" in words
    assert "more servers save CPU" in words
    assert "more servers cost throughput" not in words


def test_an_idle_server_and_the_published_point_are_named():
    """1.5 % of a CPU each; 100 us here against 61."""
    words = said(world.dataset())
    assert "uses 1.5 % of a CPU" in words
    assert "67 such servers would use up one" in words
    assert "100 \N{MICRO SIGN}s of CPU in one mysqld, 64 % more than the published 61" in words


@pytest.mark.parametrize(
    ("busy_pct", "words"), [(98, "this host's CPUs are the limit"), (40, "CPUs are left")]
)
def test_what_ends_the_rise_follows_from_how_busy_cpus_are(busy_pct: float, words: str):
    """A full host says nothing of the server's own limit, an idle one does."""
    text = said(world.dataset(busy_pct=busy_pct))
    assert "stops gaining at 8 clients, 6." in text
    assert "(published: 32 clients, 2.3 for each CPU that mysqld used)" in text
    assert words in text


def test_before_the_first_interval_contrasts_have_no_consequence():
    """One block has ratios without intervals."""
    text = said(world.dataset(repeats=1, blocks=1))
    assert "Whether more servers cost CPU is open" in text
    assert "A query took 19 % more CPU" in text


def test_a_sweep_without_contrasts_still_answers():
    """With the idle server, the published point and the turn."""
    data = world.dataset()
    data.slices = data.slices.iloc[:0]
    text = said(data)
    assert "16 servers did" not in text
    assert "stops gaining" in text


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (1.2, "Load a server with more clients"),
        (0.8, "Limit clients"),
        (1.0, "change nothing clearly"),
    ],
)
def test_more_clients_have_a_consequence_to_either_side(factor: float, words: str):
    """128 clients instead of 32: a gain, a loss, or nothing clear."""
    data = world.dataset()
    many = (data.slices["contrast"] == FALLING) & (data.slices["side"] == "a")
    data.slices.loc[many, "qps"] *= factor
    assert words in said(data).partition("ne server, 128 clients instead of 32: ")[2]
