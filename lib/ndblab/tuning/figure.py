"""The forest of a search: confirmed gains on top, then what each setting did in the search."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ndblab.comparing import figure as comparing
from ndblab.comparing.sides import Setting
from ndblab.figures import forest, sheet
from ndblab.figures.sheet import Head
from ndblab.formatting import count
from ndblab.tuning import answer, screening
from ndblab.tuning.history import CONFIRM, SEARCH, History

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ndblab.dataset import Dataset
    from ndblab.tuning.outcome import Outcome
    from ndblab.tuning.wanted import Wanted

_MOST = 14
_LONGEST = 44
_LABELS = {
    "throughput": "queries/s over the baseline's",
    "p95": "p95 of the baseline over its own",
    "cpu": "CPU time per query: the baseline's over its own",
}


def draw(data: Dataset, history: History, outcome: Outcome, wanted: Wanted) -> Figure:
    """Draw finalists with their blocks, and the effects of single settings in the search."""
    rows, blocks = [], []
    for number, finalist in enumerate(outcome.finalists, 1):
        if finalist.blocks:
            # Truncated, long names would look alike: the text lists them in this order.
            name = f"finalist {number}: {wanted.space.words(finalist.configuration)}"
            if len(name) > _LONGEST:
                name = f"finalist {number}: {count(len(finalist.configuration), 'setting')}"
            rows.append({"name": name, **_bounds(*finalist.ratio)})
            gains = history.gains(CONFIRM, finalist.configuration)
            blocks.append(pd.DataFrame({"name": name, "ratio": np.exp(gains)}))
    rows += effects(history, wanted)
    notes = (
        f"Baseline: {', '.join(map(str, wanted.baseline)) or 'the default'}.",
        "Finalists: new starts alone; intervals hold together with 95 %. Circles: starts.",
        "Below: a regression on all trials of the search, 95 % each, wider if they fit it badly.",
        "It guides, and is no proof.",
    )
    with sheet.page(1.7 + 0.26 * len(rows)) as figure:
        forest.draw(
            figure.subplots(), pd.DataFrame(rows), _LABELS[wanted.request.goal],
            each=pd.concat(blocks, ignore_index=True) if blocks else None,
        )  # fmt: skip
        head = Head(f"{answer.headline(outcome, wanted)}.", notes)
        sheet.sign(figure, head, comparing.source(data, wanted.load.workload))
    return figure


def save(
    data: Dataset, history: History, outcome: Outcome, wanted: Wanted, folder: Path
) -> Path | None:
    """Write the forest as a picture, and return its file; None if there is nothing to draw."""
    if not effects(history, wanted):
        return None
    return comparing.write(draw(data, history, outcome, wanted), folder / f"{data.id}.png")


def effects(history: History, wanted: Wanted) -> list[Mapping[str, object]]:
    """Return the effects that the search knows most about, the clearest first.

    Returns
    -------
    `name`, `ratio`, `low` and `high` of each setting; a ratio above 1 is better.
    """
    search = history.of(SEARCH)
    seen = {pair for record in search.contrasts for pair in record.trial.configuration}
    known = screening.reported(wanted.space, search)
    order = sorted(
        (pair for pair in known if pair in seen),
        key=lambda pair: -abs(known[pair].mean) / known[pair].deviation,
    )
    rows = []
    for word, value in order[:_MOST]:
        mean, wide = known[word, value].mean, 1.96 * known[word, value].deviation
        name = str(Setting(wanted.space.tunable(word).knob, value))
        rows.append({"name": name, **_bounds(*map(math.exp, (mean, mean - wide, mean + wide)))})
    return rows


def _bounds(value: float, low: float, high: float) -> dict[str, float]:
    return {"ratio": value, "low": low, "high": high}
