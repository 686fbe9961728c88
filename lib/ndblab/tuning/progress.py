"""What a search shows while it runs: time left, what is tried against what, what is known."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, TextIO

from tqdm import tqdm

from ndblab.formatting import count, listed
from ndblab.tuning import answer
from ndblab.tuning.history import ABLATE, Record, Trial

if TYPE_CHECKING:
    from ndblab.tuning.outcome import Outcome
    from ndblab.tuning.space import Space

_LONGEST = 46


class Progress:
    """A bar of the seconds that a search has, with a line above it for each trial that is over."""

    def __init__(
        self, space: Space, budget_s: float, spent_s: float = 0.0, stream: TextIO | None = None
    ) -> None:
        self.space, self._stream = space, stream or sys.stderr
        self._best = 0.0
        self._bar = tqdm(
            total=round(budget_s), initial=round(min(spent_s, budget_s)), unit="s",
            dynamic_ncols=True, smoothing=0, file=self._stream,
            bar_format="{desc} {percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}",
        )  # fmt: skip

    def trying(self, trial: Trial, block: int, others: int = 0) -> None:
        """Show what is being measured, and how many others beside it."""
        more = f" and {others} more" if others else ""
        self._bar.set_description_str(f"{trial.stage} {self._named(trial)}{more}, block {block}")

    def over(self, number: int, record: Record, stands: Outcome) -> None:
        """Say what a trial found, and what is known after it."""
        trial = record.trial
        text = f"{number:>3} {trial.stage:<7} {self._named(trial)}: "
        if record.infeasible:
            text += f"infeasible, {record.status}"
        elif record.gains:
            mean = sum(record.gains) / len(record.gains)
            text += f"{answer.change(mean)}, {count(len(record.gains), 'block')}"
            if not trial.against:
                self._best = max(self._best, mean)
        else:
            text += record.status
        self.say(text)
        self._bar.set_postfix_str(known(stands, self._best))
        self._bar.update(min(round(record.seconds), max(0, self._bar.total - self._bar.n)))

    def say(self, text: str) -> None:
        """Write a line above the bar."""
        self._bar.write(text, file=self._stream)

    def close(self) -> None:
        """Leave the bar as it stands."""
        self._bar.close()

    def _named(self, trial: Trial) -> str:
        own, against = trial.configuration, trial.against
        if trial.stage == ABLATE:
            left = listed(word for word, _ in against if word not in dict(own))
            return f"without {left}, against the confirmed one"
        words = self.space.words(own)
        words = words if len(words) <= _LONGEST else f"{words[:_LONGEST]}..."
        return f"{words} against the baseline"


def known(stands: Outcome, best: float) -> str:
    """Say in a few words what is known so far.

    Parameters
    ----------
    best : the largest log gain of a trial over the baseline. What the search expects of settings
        that it has not tried together is no result, and is not shown.
    """
    if stands.winner:
        low = math.exp(stands.winner.log_low)
        return f"confirmed: at least {100 * (low - 1):+.1f} %"
    confirming = [finalist for finalist in stands.finalists if finalist.blocks]
    if confirming:
        gain = max(finalist.log_gain for finalist in confirming)
        return f"best finalist {answer.change(gain)}, not confirmed"
    if stands.finalists and best > 0:
        return f"best trial {answer.change(best)}, not confirmed"
    return "nothing better so far"
