"""Whether the loss of a data node's host is felt. The runs are made up, never a measurement."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.availability import made_up as faults
from made_up import Double, verdict


def lost_hosts(gap_s: float, runs: int, **last: object) -> Double:
    """Give runs in which a data node's host loses its power, one of them with this gap."""
    quiet = [faults.run("lose-host", repeat, ends_s=60.0) for repeat in range(1, runs)]
    return faults.dataset(*quiet, faults.run("lose-host", runs, gap_s=gap_s, ends_s=60.0, **last))


@pytest.mark.parametrize(
    ("gap_s", "last", "expected"),
    [
        (8.0, {}, "reproduced"),
        (25.0, {}, "differs here"),
        (8.0, {"lost": 2}, "differs here"),
        (8.0, {"gave_up": 4}, "differs here"),
    ],
)
def test_a_lost_host_is_judged_by_how_long_service_stops(
    gap_s: float, last: dict[str, int], expected: str
) -> None:
    """The source speaks of its own hosts. A lost write or a client that gives up is worse."""
    row = verdict(lost_hosts(gap_s, 5, **last), "A-host-loss")
    assert (row.verdict, row.measured) == (expected, pytest.approx(gap_s, rel=0.1))
    assert "ublished" not in row.reason
    assert "a host for each node" in row.reason
    some = "at most 4" if "gave_up" in last else "none"
    assert f"{some} of 8 clients gave up after one retry" in row.reason


# No deadline: how long an example takes depends on the machine.
@settings(deadline=None, max_examples=12)
@given(
    short_s=st.floats(0.5, 9.5),
    long_s=st.floats(10.5, 40.0),
    runs=st.integers(1, 6),
    namespaces=st.booleans(),
    recovered=st.booleans(),
)
def test_what_leaves_a_lost_host_open_does_so_for_short_and_long_gaps(
    short_s: float, long_s: float, runs: int, namespaces: bool, recovered: bool
) -> None:
    """But for the number of runs: one in which service stopped is enough.

    Namespaces of one machine are not the hosts that the source speaks of.
    """
    words = []
    for gap_s in (short_s, long_s):
        data = lost_hosts(gap_s, runs, status="ok" if recovered else "it did not start again")
        data.manifest |= {"hosts": {"db1": {}}, "namespaces": namespaces}
        words.append(verdict(data, "A-host-loss").verdict)
    against = "differs here" if namespaces else "contradicted"
    if runs < 2 or not recovered:
        assert words == ["inconclusive", "inconclusive"]
    else:
        assert words == ["inconclusive" if runs < 5 else "reproduced", against]
