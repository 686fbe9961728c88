"""The search: which trial is next, given all that came before. Pure.

In order: the baseline (measured before the first trial), what rules of thumb say, a screening, a
race of configurations that may be best, then the confirmation of at most three finalists, and what
can be left out of the best one. Each part has its share of the time. Every configuration is
measured against the baseline itself: no ratio is the product of others.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ndblab.design.contrast import TWINS
from ndblab.statistics import sequential
from ndblab.tuning import ablation, outcome, screening
from ndblab.tuning.history import (
    ABLATE,
    CONFIRM,
    EXPERT,
    PENDING,
    RACE,
    SCREEN,
    SEARCH,
    History,
    Record,
    Trial,
)
from ndblab.tuning.space import BASELINE, TOGETHER, Configuration, Space
from ndblab.tuning.wanted import Limit

SCREENED, CONFIRMED, ABLATED = 0.30, 0.40, 0.12
"""Shares of the time: the screening ends after the first; the second is kept for the confirmation,
including the third, its last part, for what can be left out."""
CHANGED = 4
"""In the race, one of so many trials changes one knob of the best configuration so far."""
DRAWS = 20
"""The race is over after so many draws of configurations that have all failed before."""
PROVED = 3
"""The race ends with so many trials of what it would propose, as far as that was not tried: effects
that depend on each other mislead a regression in which they add up."""
FINALISTS = 3
LOOKS = sequential.LOOKS[1]
"""Fewest blocks that a finalist should have: up to the second look."""
PRECISE = 0.25
"""Half width of an interval, as a part of the gain, at which the gain is known well enough."""


@dataclass
class Search:
    """A search in a space, within a time that all its trials share."""

    space: Space
    budget_s: float
    seed: int = 1
    limits: tuple[Limit, ...] = ()

    @property
    def least_s(self) -> float:
        """Seconds below which nothing can be confirmed: few trials, and a first look at one."""
        return sequential.LOOKS[0] * self.space.block_s[self.space.dear] + 4 * min(
            self.space.block_s.values()
        )

    @property
    def search_s(self) -> float:
        """Seconds after which the confirmation begins."""
        first_look_s = 1.15 * sequential.LOOKS[0] * self.space.block_s[self.space.dear]
        return self.budget_s - max(CONFIRMED * self.budget_s, min(first_look_s, self.budget_s))

    @property
    def half_width(self) -> float:
        """Half the interval that a finalist probably ends with, as a logarithm; a prediction."""
        space, finalists = self.space, self._finalists
        room_s = self.budget_s * (1 - ABLATED) - self.search_s
        blocks = int(room_s / (finalists * space.block_s[space.dear]))
        looks = [look for look in sequential.LOOKS if look <= max(blocks, sequential.LOOKS[0])]
        confidence = 1 - outcome.ERROR / finalists
        return sequential.half_width(space.sd[space.dear], looks[-1], 1, confidence)

    def next(self, records: Sequence[Record]) -> Trial | None:
        """Return the next trial; None when the time is over, or nothing is left to find out."""
        history = History(records)
        parts = (self._expert, self._screen, self._race, self._confirm, self._ablate, self._exclude)
        return next(filter(None, (part(history) for part in parts)), None)

    def together(self, records: Sequence[Record]) -> list[Trial]:
        """Return the next trials, none when the search is over; several share a baseline's start.

        Those are trials of the search that would need such starts anyway.
        """
        trials, known = [], list(records)
        while len(trials) < TOGETHER and (trial := self.next(known)):
            joint = trial.design == TWINS in self.space.turns and trial.stage in (SCREEN, RACE)
            if trials and not joint:
                break
            trials.append(trial)
            if not joint:
                break
            before, block_s = History(known), self.space.block_s[TWINS]
            gains = before.gains(RACE, trial.configuration)
            known.append(Record(trial, tuple(gains), block_s, PENDING))
        return trials

    def stands(self, history: History) -> outcome.Outcome:
        """Return what may be believed so far."""
        judged = outcome.judge(history, self.finalists(history), self.limits)
        if judged.winner is None:
            return judged
        whole = judged.winner.configuration
        doubt = ablation.unsettled(self.space, history, whole, self.limits)
        return replace(judged, doubtful=doubt)

    def finalists(self, history: History) -> list[outcome.Finalist]:
        """Return what to confirm: the best of the search, without settings that add nothing.

        What is found after the choice does not change it: blocks that narrow down what may have
        been missed, and finalists that are rejected.
        """
        best = {f.configuration: f for f in self._best(history.of((EXPERT, SCREEN, RACE)))}
        for record in history.of((CONFIRM,)).contrasts:
            # What has been confirmed stays, whatever a longer search then prefers.
            own = record.trial.configuration
            best.setdefault(own, outcome.Finalist(own, math.nan))
        return list(best.values())

    @property
    def _finalists(self) -> int:
        room_s = self.budget_s - self.search_s
        fit = room_s // (LOOKS * self.space.block_s[self.space.dear])
        return int(min(FINALISTS, max(1, fit)))

    def _best(self, search: History) -> list[outcome.Finalist]:
        """Return the configurations with which the search would end, the best first.

        First come the values that seem best together, then the configurations with the highest
        gains, shrunk towards zero by the deviation of their design, without settings that have no
        clear effect. Effects need not add up: what was tried and clearly lost is left out, and if
        none was tried, the configuration with the highest gain comes first, as it was.
        """
        failed, known = self._infeasible(search), screening.effects(self.space, search)
        gains = {
            record.trial.configuration: float(np.mean(record.gains))
            for record in search.contrasts
            if record.gains and record.trial.configuration not in failed
        }
        tried = screening.gaining(self.space, search, failed)
        falls_short = partial(screening.falls_short, self.space, search)
        best: dict[Configuration, None] = {}
        own = screening.best(self.space, known)
        if own and own not in failed and not (tried and falls_short(own, tried[0])):
            best[own] = None
        for record in tried:
            whole = record.trial.configuration
            own = self.space.effective({w: v for w, v in whole if known[w, v].worth})
            if own in failed or falls_short(own, record):
                own = whole
            if own:
                best[own] = None
        chosen = list(best)[: self._finalists]
        if tried and chosen and not gains.keys() & set(chosen):
            chosen = [tried[0].trial.configuration, *chosen][: self._finalists]
        expected = {own: sum(known[pair].mean for pair in own) for own in chosen} | gains
        return [outcome.Finalist(own, expected[own]) for own in chosen]

    def _trial(
        self,
        history: History,
        stage: str,
        own: Configuration,
        until_s: float,
        against: Configuration = BASELINE,
    ) -> Trial | None:
        """Return a trial of one more block than there is, if it can end in time."""
        design = self.space.dear if stage == CONFIRM else self.space.design(own, against)
        blocks = len(history.gains(stage, own, against)) + 1
        fits = history.seconds + self._block_s(history, design) <= until_s
        return Trial(stage, own, blocks, design, against) if fits else None

    def _block_s(self, history: History, design: str) -> float:
        """Return the seconds of a block: as expected, or as measured if that is more."""
        return float(np.fmax(self.space.block_s[design], history.block_s(design)))

    def _infeasible(self, history: History) -> dict[Configuration, str]:
        return history.failures() | outcome.rejected(history, self.limits)

    def _expert(self, history: History) -> Trial | None:
        own = self.space.expert
        wanted = own and history.wants(EXPERT, own)
        return self._trial(history, EXPERT, own, self.search_s) if wanted else None

    def _screen(self, history: History) -> Trial | None:
        until_s = min(self.search_s, max(SCREENED * self.budget_s, self.search_s / 2))
        untried = filter(partial(history.wants, SCREEN), screening.rows(self.space, self.seed))
        own = next(untried, None) or self._changed(history)
        return self._trial(history, SCREEN, own, until_s) if own else None

    def _changed(self, history: History) -> Configuration | None:
        """Return a configuration not tried yet that differs from the best so far in one knob."""
        failed = self._infeasible(history)
        near = screening.changed(self.space, history.of(SEARCH), failed)
        return next(filter(partial(history.wants, RACE), near), None)

    def _race(self, history: History) -> Trial | None:
        """Try what is best under a draw from the posterior of effects (Thompson sampling).

        This spends blocks where something may still be gained, and each informs about all settings
        in it. In between, single knobs of the best configuration so far are changed. The last
        trials are those of finalists that were never tried.
        """
        proved_s = PROVED * self._block_s(history, self.space.dear)
        if history.seconds + proved_s + self._block_s(history, self.space.dear) > self.search_s:
            for finalist in self.finalists(history):
                own = finalist.configuration
                if not (len(history.gains(RACE, own)) or history.pending(own)):
                    return self._trial(history, RACE, own, self.search_s)
        number = len(history.of((RACE,)).records) + 1
        if number % CHANGED == 0 and (own := self._changed(history)):
            return self._trial(history, RACE, own, self.search_s)
        searched, failed = history.of(SEARCH), self._infeasible(history)
        rng = np.random.default_rng([self.seed, len(searched.records)])
        for _ in range(DRAWS):
            own = screening.drawn(self.space, searched, failed, rng)
            if own and own not in failed and not history.pending(own):
                return self._trial(history, RACE, own, self.search_s)
        return None

    def _confirm(self, history: History) -> Trial | None:
        candidates = self.finalists(history)
        if not candidates:
            return None
        judged = outcome.judge(history, candidates, self.limits)
        winner = judged.winner
        until_s = self.budget_s
        if winner and len(winner.configuration) > 1:
            until_s -= ABLATED * self.budget_s
        alive = [finalist for finalist in judged.finalists if finalist.open]
        if winner:
            # A rival without an interval may still be better.
            rivals = [e for e in alive if e != winner and not e.log_high < winner.log_gain]
            if not rivals and winner.half_width <= max(screening.WORTH, PRECISE * winner.log_gain):
                return None
            alive = [winner, *rivals]
        else:
            confidence = 1 - outcome.ERROR / len(candidates)
            alive = [finalist for finalist in alive if self._may_win(history, finalist, confidence)]
        # The one with the fewest blocks; ties are in random order.
        random.Random(self.seed).shuffle(alive)
        if not alive:
            return None
        least = min(alive, key=lambda finalist: finalist.blocks)
        return self._trial(history, CONFIRM, least.configuration, until_s)

    def _may_win(self, history: History, finalist: outcome.Finalist, confidence: float) -> bool:
        """Return whether a look in the time left may confirm a finalist."""
        gains = history.gains(CONFIRM, finalist.configuration)
        left_s = self.budget_s - history.seconds
        most = len(gains) + left_s // self._block_s(history, self.space.dear)
        return outcome.may_win(gains, most, confidence)

    def _ablate(self, history: History) -> Trial | None:
        winner = self.stands(history).winner
        if winner is None:
            return None
        whole = winner.configuration
        doubt = ablation.doubtful(self.space, history, whole)
        fewer = ablation.reduced(self.space, history, whole, doubt, self.limits)
        if fewer is None:
            return None
        return self._trial(history, ABLATE, fewer, self.budget_s, whole)

    def _exclude(self, history: History) -> Trial | None:
        """Narrow down what may have been missed, if nothing was found.

        First come designs whose noise is not known, if the time suffices to measure it, then the
        configuration with the highest limit: the excluded gain is the highest of all limits.
        """
        stands = self.stands(history)
        if stands.winner:
            return None
        limits = outcome.upper_limits(history, stands.finalists)
        failed = dict(stands.infeasible)
        means = {
            record.trial.configuration: float(np.mean(record.gains))
            for record in history.of((*SEARCH, CONFIRM)).contrasts
            if record.gains and record.trial.configuration not in failed
        }
        for own in sorted(means, key=lambda own: (-limits.get(own, math.inf), -means[own])):
            stage, design, lacking = outcome.narrowed(self.space, history, own)
            if history.seconds + lacking * self._block_s(history, design) <= self.budget_s:
                return self._trial(history, stage, own, self.budget_s)
            if own in limits:
                return None
        return None
