"""The board: what a user sees while claims are being decided."""

from __future__ import annotations

import io
import re

import pytest

from measuring.deciding.simulated import Found, below_one, contrast
from ndblab.judging.verdict import INCONCLUSIVE, NOT_TESTABLE, ONE_START, REPRODUCED
from ndblab.measuring.deciding.board import Board, bar
from ndblab.measuring.deciding.choice import Standing
from ndblab.statistics.estimate import Estimate

OVERLOAD = contrast("overload", "F6-overload", "P-tc")
BEFORE = Found(INCONCLUSIVE, Estimate(0.93, 0.81, 1.06), {"overload": {9: 0.8}})
AFTER = Found(REPRODUCED, Estimate(0.84, 0.8, 0.88))
UNKNOWN = Found(INCONCLUSIVE, waits={"overload": {}})


class Terminal(io.StringIO):
    """What a terminal of 80 columns would show."""

    def isatty(self) -> bool:
        return True

    @property
    def screen(self) -> list[str]:
        lines: list[str] = []
        for up, text in re.findall(r"\x1b\[(\d+)F\x1b\[J|([^\n\x1b]*)\n", self.getvalue()):
            lines = lines[: -int(up)] if up else [*lines, text]
        return lines


def board(stream: io.StringIO) -> Board:
    claims = {name: below_one(name) for name in OVERLOAD.claims}
    return Board((OVERLOAD,), claims, stream)


def standing(blocks: int, **findings: Found) -> Standing:
    named = {name.replace("_", "-"): finding for name, finding in findings.items()}
    return Standing(named, {"overload": blocks}, {"overload": 30.0})


def test_a_terminal_shows_each_claim_once_and_redraws_it():
    """With value, interval, blocks and a bar; messages stay above it; 80 columns suffice."""
    terminal = Terminal()
    shown = board(terminal)
    shown.show(standing(6, F6_overload=BEFORE, P_tc=UNKNOWN, F1_max=Found(NOT_TESTABLE)), 300)
    shown.measuring(OVERLOAD, 7, 290)
    shown.say("chromium uses 31 % of the CPUs: measured again")
    shown.show(standing(9, F6_overload=AFTER, P_tc=UNKNOWN, F1_max=Found(NOT_TESTABLE)), 200)
    first, head, *lines = terminal.screen
    assert first.startswith("chromium")
    assert head == "1 of 2 claims decided; 3 min left"
    assert re.search(r"F6-overload +reproduced +0\.840 \(0\.800 to 0\.880\) +9 +-", lines[0])
    assert re.search(r"P-tc +open +9$", lines[1])
    assert len(lines) == 3
    assert max(map(len, terminal.screen)) <= 80


def test_elsewhere_each_decision_is_one_line():
    """A log of a measurement has neither tables nor control characters."""
    out = io.StringIO()
    shown = board(out)
    shown.show(standing(6, F6_overload=BEFORE, P_tc=UNKNOWN), 300)
    shown.measuring(OVERLOAD, 7, 290)
    shown.show(standing(9, F6_overload=AFTER, P_tc=UNKNOWN), 200)
    shown.show(standing(13, F6_overload=AFTER, P_tc=UNKNOWN), 100)
    decision = "decided after 9 blocks: F6-overload reproduced, 0.840 (0.800 to 0.880)\n"
    assert out.getvalue() == decision


GO_ON = "Go on: ./lab reproduce --figure 6 --minutes 5"
LACKING = Found(INCONCLUSIVE, AFTER.measured, {"overload": None}, f"{ONE_START}, within which")


@pytest.mark.parametrize(
    ("known", "lines"),
    [
        (
            standing(6, F6_overload=BEFORE, P_tc=UNKNOWN),
            [
                "open, probably decided after 2 min more: F6-overload",
                "open, and how long it would take is not known: P-tc",
                GO_ON,
            ],
        ),
        (
            standing(9, F6_overload=LACKING),
            ["open, to be judged by a second cluster start after 2 min more: F6-overload", GO_ON],
        ),
        (standing(6, F6_overload=AFTER), []),
    ],
    ids=["open", "one start", "decided"],
)
def test_the_end_says_what_is_open_and_how_to_go_on(known: Standing, lines: list[str]):
    """Three blocks of 30 s are about 2 minutes; the command has at least 5. It is silent if all is
    decided, and `compare` says the command below its answer, once."""
    for command in ("./lab reproduce --figure 6", ""):
        out = io.StringIO()
        shown = board(out)
        shown.show(known, 0)
        shown.end(command)
        assert out.getvalue().splitlines() == (lines if command else lines[:-1])


def test_claims_beyond_the_screen_are_counted():
    """The open ones are shown."""
    shown = board(io.StringIO())
    shown.show(standing(9, F6_overload=AFTER, P_tc=UNKNOWN), 0)
    _, line, rest, _ = shown.lines(1)
    assert line.startswith("P-tc")
    assert rest == "and 1 more"


@pytest.mark.parametrize(
    ("measured", "drawn"),
    [
        (Estimate(0.84, 0.80, 0.88), "  -o-   |"),
        (Estimate(1.0, 0.90, 1.10), "     ---|---"),
        (Estimate(0.5), "o       |"),
        (Estimate(3.0, 2.0, 4.0), "        |       o"),
    ],
)
def test_a_bar_shows_on_which_side_of_the_bound_an_interval_is(measured, drawn):
    """On a scale of the claim's own; what is off it is at its end."""
    assert bar(measured, below_one("x")) == drawn
