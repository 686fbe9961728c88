"""Injections: what is drawn, and where it is placed."""

from __future__ import annotations

import json

import pytest

from campaign import injection
from campaign.injection import KINDS, Injection, draw
from ndblab.error import LabError

CALLS = {"ndblab.cluster.lease.write": 2, "ndblab.dataset.writer.Writer.append": 1, "os.fsync": 30}


def test_an_injection_depends_on_its_seed_and_number_only():
    """The K-th can be repeated alone; another seed gives other injections."""
    campaign = [draw(1, number) for number in range(1, 50)]
    assert draw(1, 17) == campaign[16]
    assert campaign != [draw(2, number) for number in range(1, 50)]


def test_two_hundred_injections_are_of_every_kind():
    """Every kind, node, disk, load, signal and budget is drawn, at calls and at moments."""
    drawn = [draw(1, number) for number in range(1, 201)]
    assert {each.kind for each in drawn} == set(KINDS)
    assert {(e.role, e.node) for e in drawn if e.role} == set(injection.NODES)
    assert {e.disk for e in drawn} == {"", "runs", "cluster"}
    assert {e.load for e in drawn} == {"", "sysbench", "client"}
    assert {e.signal for e in drawn} == {"", "SIGKILL", "SIGTERM", "SIGINT"}
    assert {e.budget for e in drawn} == {"shared", "scaled"}
    assert {len(e.position) for e in drawn} == {0, 1, 3}
    assert any(e.watchdog for e in drawn)


def test_a_thousand_injections_cut_every_link_and_every_host():
    """Both data nodes in both roles, with the arbitrator on either side; short cuts and long."""
    drawn = [draw(1, number) for number in range(1, 1001)]
    ends = {kind: {e.ends for e in drawn if e.kind == kind} for kind in injection.ON_NETWORK}
    assert len(ends["partition"]) == 4
    assert len(ends["partition-server"]) == 4
    assert len(ends["one-way-loss"]) == len(ends["host-lost"]) == 2
    assert ends["ssh-cut"] == {(f"{role}.{node}",) for role, node in injection.NODES}
    assert {e.loses_lab for e in drawn if e.kind == "ssh-cut"} == {False, True}


def test_faults_that_leave_the_lab_alive_share_clusters():
    """Each has its place in one group, of its own kind of cluster and not too large."""
    drawn = [draw(1, number) for number in range(1, 201)]
    groups = injection.together(drawn)
    assert sorted(e.number for group in groups for e in group) == [e.number for e in drawn]
    assert max(map(len, groups)) == injection.TOGETHER
    for group in groups:
        assert len({each.shares for each in group}) == 1
        assert len(group) == 1 or group[0].shares


def test_faults_that_end_a_measurement_share_the_next_start():
    """Not where a watchdog is killed too; those of one disk or load are among themselves."""
    drawn = [draw(1, number) for number in range(1, 1001)]
    for group in injection.together(drawn):
        if group[0].in_turn:
            assert len(group) <= injection.IN_TURN
            assert len({(e.disk, e.load, e.budget, e.repeats) for e in group}) == 1
            assert not any(e.watchdog for e in group)
    apart = {e.kind for e in drawn if not e.shares}
    assert apart == {"lab-killed", "load-stopped", "ssh-cut"}


def test_every_call_of_every_failpoint_can_be_drawn():
    """Calls are drawn by package first: a busy function does not crowd out the others."""
    drawn = [draw(1, number).placed(CALLS, 20) for number in range(1, 3000)]
    placed = {(e.failpoint, e.call) for e in drawn if e.failpoint}
    assert placed == {(name, 1 + n) for name, count in CALLS.items() for n in range(count)}


@pytest.mark.parametrize(
    ("position", "where"),
    [
        ((0.0, 0.9, 0.99), {"failpoint": "ndblab.cluster.lease.write", "call": 2}),
        ((0.99, 0.0, 0.5), {"failpoint": "os.fsync", "call": 16}),
        ((0.25,), {"moment_s": 5.0}),
    ],
)
def test_an_injection_is_placed_by_an_undisturbed_measurement(position, where):
    """Fractions become a call that this host makes, or a moment at which it still measures."""
    placed = Injection(1, "lab-killed", position=position).placed(CALLS, 20)
    assert placed == Injection(1, "lab-killed", position=position, **where)


def test_one_kind_can_be_chosen_without_changing_any_injection():
    """The numbers are those of the whole campaign."""
    numbers = injection.numbers(1, 1, 5, "disk-full")
    assert len(numbers) == 5
    assert {draw(1, number).kind for number in numbers} == {"disk-full"}
    assert injection.numbers(1, 7, 3) == [7, 8, 9]
    with pytest.raises(LabError) as error:
        injection.numbers(1, 1, 5, "disk-ful")
    assert "disk-full" in error.value.expected


@pytest.mark.parametrize("kind", KINDS)
def test_every_injection_can_be_described(kind: str):
    """The log says what was injected, where and when."""
    one = draw(1, injection.numbers(1, 1, 1, kind)[0]).placed(CALLS, 20)
    assert one.words().startswith(f"{kind}: ")
    assert json.loads(json.dumps(one.to_dict()))["kind"] == kind
