"""Which contrast is measured next."""

from __future__ import annotations

import dataclasses
import math

from measuring.deciding.simulated import Found, contrast
from ndblab.judging.verdict import INCONCLUSIVE, NOT_TESTABLE, REPRODUCED, RULED_OUT, UNKNOWN
from ndblab.measuring.deciding import choice
from ndblab.measuring.deciding.choice import Standing
from ndblab.statistics.sequential import LOOKS

Z = contrast("z", "c5")
X, Y = contrast("x", "c1", "c2", "c3"), contrast("y", "c4")
BLOCK_S = {"x": 20.0, "y": 15.0}


def waiting(**units: float | None) -> Found:
    """Wait for contrasts, each surely decided by this number of blocks; None: not known yet."""
    sure = {
        name: None if needed is None else {look: 1.0 for look in LOOKS if look >= needed}
        for name, needed in units.items()
    }
    return Found(INCONCLUSIVE, waits=sure)


def likely(**chances: dict[int, float]) -> Found:
    """Wait for contrasts, whose looks decide with these chances."""
    return Found(INCONCLUSIVE, waits=chances)


def chosen(findings: dict, blocks: tuple[int, int], left_s: float = 1000) -> str | None:
    done = dict(zip("xy", blocks, strict=True))
    contrast = choice.choose([X, Y], Standing(findings, done, BLOCK_S), left_s)
    return contrast and contrast.name


def test_first_looks_begin_with_the_most_claims_per_second():
    """80 s for three claims come before 60 s for one, and those before 80 s for one."""
    y = {"c4": waiting(y=None)}
    assert chosen({**{c: waiting(x=None) for c in ("c1", "c2", "c3")}, **y}, (0, 0)) == "x"
    assert chosen({"c1": waiting(x=None), **y}, (0, 0)) == "y"


def test_a_first_look_that_seldom_decides_waits_for_one_that_does_more_often():
    """80 s of x at a chance of 0.5 for one claim, 60 s of y at 0.5 or at 0.2."""
    findings = {"c1": waiting(x=None), "c4": waiting(y=None)}
    for chance, first in ((0.5, "y"), (0.2, "x")):
        both = [X, dataclasses.replace(Y, first_look=chance)]
        standing = Standing(findings, {"x": 0, "y": 0}, BLOCK_S)
        contrast = choice.choose(both, standing, 1000)
        assert contrast
        assert contrast.name == first


def test_contrasts_come_half_way_before_the_cluster_is_started_anew():
    """One more start then serves them all; one that has no time for its first look waits."""
    findings = {"c1": waiting(x=None), "c4": waiting(y=None)}
    assert chosen(findings, (2, 0)) == "y"
    assert chosen(findings, (2, 2)) == "y"
    assert chosen(findings, (2, 0), left_s=90) == "x"


def test_the_look_that_decides_most_per_second_comes_first():
    """60 s for the first look of y, as likely as not, against 40 s, 100 s and 180 s of x."""
    y = {"c4": waiting(y=None)}
    assert chosen({"c1": waiting(x=6), **y}, (4, 0)) == "x"
    assert chosen({"c1": waiting(x=9), **y}, (4, 0)) == "x"
    assert chosen({"c1": waiting(x=13), **y}, (4, 0)) == "y"
    assert chosen({"c1": likely(x={6: 0.4, 9: 0.8}), **y}, (4, 0)) == "x"
    assert chosen({"c1": likely(x={6: 0.3, 9: 0.8}), **y}, (4, 0)) == "y"


def test_a_small_chance_of_many_claims_is_worth_a_good_one_of_few():
    """40 s of x against 30 s of y."""
    small = {name: likely(x={6: 0.4}) for name in ("c1", "c2", "c3")}
    assert chosen({**small, "c4": likely(y={6: 0.8})}, (4, 4)) == "x"
    assert chosen({**small, "c4": likely(y={6: 1.0})}, (4, 4)) == "y"


def test_a_first_look_that_takes_too_long_gives_way():
    """80 s of x do not fit 70 s, 60 s of y do; nor do looks that come later count."""
    assert chosen({"c1": waiting(x=None), "c4": waiting(y=None)}, (0, 0), 70) == "y"
    far = {"c1": likely(x={6: 0.1, 9: 1.0}), "c4": likely(y={6: 0.1})}
    assert [chosen(far, (4, 4), left_s) for left_s in (100, 99)] == ["x", "y"]


def test_three_claims_in_two_minutes_come_before_one_in_one_and_a_half():
    """What counts is claims per minute: x has 5 blocks of 20 s to go, y 5 of 15 s."""
    y = {"c4": waiting(y=9)}
    assert chosen({**{c: waiting(x=9) for c in ("c1", "c2", "c3")}, **y}, (4, 4)) == "x"
    assert chosen({"c1": waiting(x=9), **y}, (4, 4)) == "y"


def test_what_cannot_be_decided_in_time_comes_last_nearest_first():
    soon, late = {"c4": waiting(y=45)}, {"c1": waiting(x=100)}
    assert chosen({"c1": waiting(x=9), **soon}, (6, 6), 120) == "x"
    assert chosen({**late, **soon}, (6, 6), 120) == "y"
    assert chosen({"c1": waiting(x=math.inf), **soon}, (6, 6), 120) == "y"


def test_a_claim_without_an_interval_yet_waits_for_the_next_look():
    """Its contrast has blocks enough, but one of them lacks what this claim needs."""
    assert chosen({"c1": waiting(x=None), "c4": waiting(y=45)}, (4, 6)) == "x"


def test_a_claim_that_waits_for_two_contrasts_counts_half_for_each():
    both = {"c1": waiting(x=9, y=9)}
    assert chosen({**both, "c4": waiting(y=20)}, (6, 6)) == "y"
    assert chosen({**both, "c2": waiting(x=9)}, (6, 6)) == "x"


def test_nothing_is_chosen_without_time_or_open_claims():
    assert chosen({"c1": Found(REPRODUCED), "c4": Found(NOT_TESTABLE)}, (0, 0)) is None
    assert chosen({"c1": waiting(x=9)}, (6, 6), 19) is None
    assert chosen({"c1": waiting(x=None)}, (100, 4)) is None


def test_a_claim_that_waits_for_nothing_gets_one_look():
    """Its check may crash however much is measured."""
    findings = {"c1": Found(UNKNOWN)}
    assert chosen(findings, (0, 0)) == "x"
    assert chosen(findings, (4, 0)) is None


def test_the_time_a_claim_still_takes_is_that_of_all_its_contrasts():
    standing = Standing({}, {"x": 4, "y": 6}, BLOCK_S)
    both = {"x": {6: 0.3, 9: 0.6}, "y": {9: 0.7}}
    assert standing.more_s(both) == 5 * 20 + 3 * 15
    assert Standing({}, {"x": 0}, BLOCK_S).more_s({"x": None}) == 4 * 20
    assert standing.more_s({"x": None}) == 2 * 20
    assert standing.more_s({"x": {100: 0.5}}) == math.inf
    assert standing.more_s({}) == math.inf


def test_contrasts_without_open_claims_take_turns_up_to_their_own_number_of_blocks():
    """Those with open claims go first."""
    x, y = (dataclasses.replace(contrast(name), blocks=5) for name in "xy")

    def next_one(done: dict[str, int], findings: dict) -> str | None:
        standing = Standing(findings, {"z": 4, **done}, {**BLOCK_S, "z": 1.0})
        contrast = choice.choose([x, y, Z], standing, 1000)
        return contrast and contrast.name

    assert next_one({"x": 2, "y": 2}, {"c5": waiting(z=None)}) == "z"
    assert next_one({"x": 2, "y": 2}, {}) == "x"
    assert next_one({"x": 3, "y": 2}, {}) == "y"
    assert next_one({"x": 5, "y": 5}, {}) is None
    assert {choice.stop_at(own, Standing({}, {"x": 2, "z": 2}, {})) for own in (x, Z)} == {3}
    waited_for = {"c5": waiting(z=None)}
    stops = [choice.stop_at(Z, Standing(waited_for, {"z": done}, {})) for done in (0, 1, 2, 4)]
    assert stops == [1, 2, 4, 6]


def test_time_for_blocks_that_no_claim_waits_for_is_kept_back():
    """Claims have what is left; then, and with too little time for both, those blocks follow."""
    own = dataclasses.replace(contrast("own"), claims=(), blocks=4)
    open_claim = {"c1": waiting(x=9)}

    def chosen(left_s: float, own_blocks: int = 0) -> str | None:
        blocks, block_s = {"x": 6, "own": own_blocks}, {"x": 20.0, "own": 20.0}
        contrast = choice.choose([X, own], Standing(open_claim, blocks, block_s), left_s)
        return contrast and contrast.name

    assert chosen(101) == "x"
    assert chosen(99) == "own"
    assert chosen(99, 1) == "x"
    assert chosen(99, 4) == "x"


def test_no_block_is_measured_for_what_is_ruled_out():
    """Neither forced values nor those of another machine need blocks, whatever they wait for."""
    for word in RULED_OUT:
        findings = {c: Found(word, waits={"x": None}) for c in ("c1", "c2", "c3")}
        assert chosen(findings, (0, 0)) is None
        assert chosen({**findings, "c4": waiting(y=None)}, (0, 0)) == "y"
