"""The answer about TPC-C. The datasets are made up, never a measurement."""

from __future__ import annotations

from experiments.tpc_c import made_up
from made_up import CLAIMS, Double
from ndblab.judging import answers, judge

IDS = ["D-linear", "D-2110"]
WRONG = "inconsistent rows, condition 3: new_order of district (1, 1) has 9 rows from 1 to 10"


def answered(**changes) -> answers.Answer:
    dataset = Double(**{**made_up.tables(), **changes})
    return answers.answer("tpc-c", judge.judge(dataset, IDS, CLAIMS), dataset)


def test_partitioning_and_servers_are_certain_once_they_have_intervals() -> None:
    """And that nothing became inconsistent; what one host cannot tell is said."""
    found = answered()
    text = str(found).lower()
    assert found.certain[0].startswith(
        "partitioning tables by warehouse changed throughput by +29 %"
    )
    for each in (
        "cpu for a transaction by -", "a second mysql server changed it by +", "75 % of the scans",
        "1.48 % of the transactions of a point failed, and all rows stayed consistent",
    ):  # fmt: skip
        assert each in text
    assert "what more data nodes gain" in found.untestable


def test_one_block_is_no_finding() -> None:
    """It has a ratio, but no interval."""
    slices = made_up.slices(blocks=1)
    assert "changed" not in str(answered(slices=slices))


def test_inconsistent_rows_come_first() -> None:
    """And nothing is said to be consistent."""
    runs = made_up.runs()
    runs.loc[0, "status"] = WRONG
    found = answered(runs=runs)
    assert found.certain[0] == WRONG
    assert "stayed consistent" not in str(found)
