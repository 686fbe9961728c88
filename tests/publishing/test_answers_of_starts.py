"""What recorded answers say of the runs and cluster starts that they rest on."""

from __future__ import annotations

import pytest

from ndblab.judging import answers, judge, publication
from ndblab.measuring import recorded

CLAIMS = (
    "A-node-loss",
    "A-online",
    "A-separate",
    "B-load-redo",
    "M-zstd",
    "R-nosql",
)


@pytest.mark.parametrize(
    ("experiment", "words"),
    [
        ("dump", "in one cluster start"),
        ("availability", "; 71 to 397 acknowledged writes were lost"),
        ("api-ceiling", "64 clients and equal CPU time, clients' included, the NDB API did 5.85 "),
        ("api-ceiling", "; with 4 clients 2.24 and 2.59 times"),
        ("multi-server-scaling", "clear in 1 of 3 recordings (-11, -6, -1.1 %)"),
    ],
)
def test_a_finding_names_what_it_rests_on(experiment: str, words: str) -> None:
    """What no verdict stands behind is said of its runs, its start, or the quotas alone."""
    data = recorded.obtain(experiment)
    table = judge.judge(data, CLAIMS, publication.claims())
    assert words in str(answers.answer(experiment, table, data))
