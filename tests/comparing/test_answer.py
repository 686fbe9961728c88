"""The answer of a comparison in words and as data."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from ndblab.comparing import answer, sides
from ndblab.comparing.judged import Judged
from ndblab.statistics.estimate import Estimate

FASTER = Judged(
    "faster", Estimate(1.041, 1.02, 1.062), Estimate(0.995, 0.97, 1.02),
    Estimate(0.98, 0.965, 0.99), {"a": 0, "b": 0}, (), 9, 14.2, 9, {"a": 1000.0, "b": 1041.0},
)  # fmt: skip


def test_the_answer_is_one_line_with_every_interval() -> None:
    """What is open is not called unchanged."""
    assert answer.sentence(FASTER) == (
        "B is 4.1 % faster (+2.0 to +6.2 %). On another day, expect -8.6 to +20 %. "
        "p95 open (-3.0 to +2.0 %). CPU per query 2.0 % less (-3.5 to -1.0 %). "
        "14 minutes, 9 blocks, 9 cluster starts."
    )


def test_without_a_whole_block_no_time_is_told() -> None:
    """The slices that exist do not show how long it took."""
    nothing = Estimate(math.nan)
    none = replace(
        FASTER, outcome="undecided", throughput=nothing, p95=nothing, cpu=nothing, blocks=0,
        minutes=0.0,
    )  # fmt: skip
    assert answer.sentence(none) == "Undecided: there is no whole block yet."


def test_a_load_that_filled_the_memory_is_told_what_to_add() -> None:
    """The first statement that failed would not show what to add."""
    nothing = Estimate(math.nan)
    status = (
        "sysbench exited 1: mysql_drv_query() returned error 1114 (The table 'sbtest5' is full) "
        "for query 'INSERT INTO sbtest5 (id, k, c, pad) VALUES (0, 8667, 'x', 'y')'"
    )
    full = replace(FASTER, outcome="undecided", throughput=nothing, blocks=0, void=status)
    assert answer.headline(full) == (
        "Undecided: there is no whole block yet, as the load filled the data nodes' memory: give "
        "both sides more, such as DataMemory=2G."
    )


def test_an_attached_cluster_was_not_started_for_the_answer() -> None:
    """So no start is counted."""
    assert answer.sentence(replace(FASTER, starts=0)).endswith(" 14 minutes, 9 blocks.")


@pytest.mark.parametrize(
    ("number", "words"), [(1, "1 slice, which is"), (2, "2 slices, which are")]
)
def test_slices_that_others_disturbed_are_counted(number: int, words: str) -> None:
    """One slice is worded in the singular."""
    assert f"disturbed {words} left out." in answer.sentence(replace(FASTER, disturbed=number))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"outcome": "slower", "throughput": Estimate(0.9, 0.85, 0.95)}, "B is 10.0 % slower"),
        (
            {"outcome": "equivalent", "throughput": Estimate(1.0, 0.99, 1.01)},
            "B and A are equivalent within 2 % (-1.0 to +1.0 %)",
        ),
        (
            {"outcome": "undecided", "throughput": Estimate(1.01, 0.97, 1.05)},
            "Undecided: B +1.0 % (-3.0 to +5.0 %)",
        ),
        ({"outcome": "undecided", "throughput": Estimate(math.nan)}, "no whole block yet"),
        ({"blocks": 6, "minutes": 2.6}, "3 minutes, 6 blocks"),
        (
            {
                "throughput": Estimate(math.nan),
                "void": "the load reported too late",
            },
            "no whole block yet: the load reported too late.",
        ),
        ({"p95": Estimate(1.0, 0.99, 1.01)}, "p95 unchanged (-1.0 to +1.0 %)"),
        ({"errors": {"a": 0, "b": 9}}, "Loads that ended with errors: 0 of A, 9 of B."),
        ({"worse": ("p95", "errors")}, "So B is worse by p95 and errors, whatever its throughput."),
        (
            {"outcome": "slower", "throughput": Estimate(0.9, 0.85, 0.95), "worse": ("p95",)},
            "B is worse by p95, too.",
        ),
    ],
)
def test_each_outcome_has_its_words(changes: dict[str, object], words: str) -> None:
    """And nothing is claimed that is not known."""
    assert words in answer.sentence(replace(FASTER, **changes))


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (
            ["ndb_batch_size=64K"],
            ["[mysqld]", "ndb_batch_size=65536", "SET PERSIST ndb_batch_size = 65536;",
             "nothing is restarted; new sessions have it"],
        ),
        (["long_query_time=0.5"], ["long_query_time=0.5", "SET PERSIST long_query_time = 0.5;"]),
        (
            ["SpinMethod=CostBasedSpinning"],
            ["config.ini  [ndbd default]", "SpinMethod=CostBasedSpinning", "rolling restart"],
        ),
        (["shm:ShmSize=2M", "UseShm=off"], ["[shm default]", "ShmSize=2097152", "UseShm=0",
                                            "all nodes are stopped"]),
        (["log_bin=on"], ["log-bin=binlog", "MySQL servers are restarted"]),
        (["log_bin=on", "log_bin=off"], ["[mysqld]\n    skip-log-bin\n"]),
        (["ThreadConfig=main,tc"], ["# without NumCPUs", "--initial"]),
        (["READ_BACKUP=0"], ["COMMENT='NDB_TABLE=READ_BACKUP=0'"]),
        (["servers=1", "servers=2"], ["  servers=2"]),
        (["UseShm=off", "tls=off", "tls=on"], ["key signed by ndb_sign_keys", "all nodes"]),
    ],
)  # fmt: skip
def test_the_difference_can_be_pasted(words: list[str], lines: list[str]) -> None:
    """It comes with what must be restarted for it."""
    text = answer.to_paste(sides.parse(words))
    assert [line for line in lines if line not in text] == []


def test_what_a_side_gives_up_is_told() -> None:
    """That is a setting that A has and B has not."""
    parsed = sides.Sides(sides.parse(["UseShm=off"]).b, ())
    assert "without UseShm=OFF" in answer.to_paste(parsed)


def test_json_has_the_same_as_plain_data() -> None:
    """For programs: null where nothing is known."""
    parsed = sides.parse(["ndb_batch_size=64K"])
    result = replace(FASTER, p95=Estimate(math.nan))
    text = json.dumps(answer.to_json(result, parsed, "alternation", 0.02, "/data", ""))
    plain = json.loads(text)
    assert plain["outcome"] == "faster"
    assert plain["throughput"] == {"value": 1.041, "low": 1.02, "high": 1.062}
    assert plain["p95"]["low"] is None
    assert plain["b"] == ["ndb_batch_size=65536"]
    assert plain["exit_status"] == 0
