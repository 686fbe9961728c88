"""Contrasts whose truth is known: blocks are drawn, time is counted, nothing is measured."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pandas as pd

from ndblab.design.contrast import ALTERNATION, Contrast, Side
from ndblab.error import MissingData
from ndblab.judging.publication import BUDGETS, Claim
from ndblab.judging.verdict import CONTRADICTED, INCONCLUSIVE, NO_ESTIMATE, REPRODUCED, Comparison
from ndblab.planning.point import Point
from ndblab.statistics import contrasts, sequential
from ndblab.statistics.estimate import Estimate

DEVIATION = 0.05
"""Standard deviation of a block's log ratio."""


@dataclass(frozen=True)
class Found:
    """What the loop needs of a finding."""

    verdict: str
    measured: Estimate = NO_ESTIMATE
    waits: Mapping[str, Mapping[int, float] | None] = field(default_factory=dict)
    why: str = ""


def contrast(name: str, *claims: str, design: str = ALTERNATION) -> Contrast:
    return Contrast(name, design, Side(Point(2, 16)), Side(Point(1, 8)), claims)


def below_one(name: str) -> Claim:
    """A claim that a ratio is less than 1."""
    words = dict.fromkeys(Claim.__dataclass_fields__, "")
    return Claim(
        **words
        | {"id": name, "kind": "shape", "comparison": "less_than", "low": None, "high": 1.0}
        | {"budgets": dict.fromkeys(BUDGETS, "yes")}
    )


class Silent:
    """A board that only remembers what it was told."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def show(self, *_: object) -> None: ...

    def measuring(self, *_: object) -> None: ...

    def say(self, text: str) -> None:
        self.said.append(text)


class World:
    """Contrasts by their true log ratio; each has one claim of its name, that it is below 1.

    It is the writer, the judge and the clock of a loop. Blocks that begin before `bad_until_s` of
    their contrast are disturbed. `steal_pct` is that of the next measurement of a block, by
    contrast and number. With `start_s` a contrast that is past half-way begins another cluster
    start, unless it has one.
    """

    def __init__(
        self, truth: Mapping[str, float], block_s: Mapping[str, float], seed: int = 1
    ) -> None:
        self.truth, self.block_s = truth, block_s
        self.contrasts = [contrast(name, name) for name in truth]
        self.order: list[str] = []
        self.bad_until_s: dict[str, float] = {}
        self.steal_pct: dict[tuple[str, int], float] = {}
        self.now, self.start_s, self.start = 0.0, 0.0, 1
        self._rows: list[dict[str, object]] = []
        self._rng = np.random.default_rng(seed)

    def now_s(self) -> float:
        return self.now

    def measure_block(self, chosen: Contrast, number: int) -> str:
        began_s = self.now
        if self.start_s and chosen.half_way < number and self.starts(chosen.name) == {self.start}:
            self.start += 1
            self.now += self.start_s
        self.now += self.block_s[chosen.name]
        if began_s < self.bad_until_s.get(chosen.name, 0.0):
            return "company: a browser"
        self.order.append(chosen.name)
        others = {"company_pct": 0.0, "company": "", "host_steal_pct": 0.0}
        others["host_steal_pct"] = self.steal_pct.pop((chosen.name, number), 0.0)
        again = {slice_.run_id for slice_ in itertools.chain(*chosen.block(number, 1))}
        self._rows = [row for row in self._rows if row["run_id"] not in again]
        for slice_ in itertools.chain(*chosen.block(number, 1)):
            # Two slices of side A in a block: their mean deviates by `DEVIATION`.
            drawn = self._rng.normal(self.truth[chosen.name], DEVIATION * np.sqrt(2))
            qps = 1000 * np.exp(drawn if slice_.side == "a" else 0.0)
            self._rows.append({**slice_.columns(), **others, "status": "ok", "qps": qps,
                               "start": self.start})  # fmt: skip
        return "ok"

    def starts(self, name: str) -> set[int]:
        return {row["start"] for row in self._rows if row["contrast"] == name}

    def snapshot(self) -> SimpleNamespace:
        names = ["run_id", "contrast", "block", "slot", "side", "of", "start", "status", "qps",
                 "company_pct", "company", "host_steal_pct"]  # fmt: skip
        return SimpleNamespace(slices=pd.DataFrame(self._rows, columns=names))

    def judge(self, data: SimpleNamespace) -> dict[str, Found]:
        return {name: self._judge_one(data.slices, name) for name in self.truth}

    def _judge_one(self, slices: pd.DataFrame, name: str) -> Found:
        try:
            logs = contrasts.log_ratios(slices, name)
        except MissingData:
            return Found(INCONCLUSIVE, waits={name: None})
        ratio = contrasts.ratio(logs)
        outcome = Comparison("", ratio).outcome(below_one(name))
        if outcome == "open":
            return Found(INCONCLUSIVE, ratio, {name: sequential.chances(logs, -np.inf, 0.0)})
        return Found({"for": REPRODUCED, "against": CONTRADICTED}[outcome], ratio)
