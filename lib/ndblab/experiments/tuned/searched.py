"""What a search of `./lab tune` confirmed, read from its dataset."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from ndblab import dataset as datasets
from ndblab.dataset import Dataset
from ndblab.dataset.manifest import COMPLETE
from ndblab.error import LabError
from ndblab.measuring import measurement
from ndblab.tuning.wanted import NAME

NEWEST = "newest"
COMMAND = "./lab tune brief"


def obtain(folder: str = NEWEST) -> Dataset | None:
    """Return a search: that of a folder, or the newest complete one; None where there is none.

    Raises
    ------
    LabError
        If the folder has none, or one that is not over.
    """
    if folder == NEWEST:
        known = [place.parent for place in (measurement.RUNS / NAME).glob("*/manifest.json")]
        over = {
            place: manifest["started_utc"]
            for place in known
            if (manifest := json.loads((place / "manifest.json").read_text())).get("answer")
            and manifest["status"] == COMPLETE
        }
        return datasets.read(max(over, key=over.__getitem__)) if over else None
    data = datasets.read(Path(folder))
    if data.experiment != NAME or "answer" not in data.manifest:
        raise LabError(
            "This is no search that is over",
            found=f"a dataset of {data.experiment} in {folder}",
            expected="one of ./lab tune",
            next_step=f"Run: {COMMAND}",
        )
    return data


def shows_trade_off(data: Dataset) -> bool:
    """Return whether a finalist has a block, and the search noted what else it changes."""
    return any(each.get("beside") for each in data.manifest["answer"]["finalists"])


def finalists(data: Dataset) -> pd.DataFrame:
    """Return what was confirmed, as changes in percent; above 0 is better.

    Returns
    -------
    A row for each finalist: settings, the confirmed gain with its interval, what the search had
    seen, blocks, and why it is out.
    """
    rows = [
        {
            "settings": ", ".join(each["configuration"]),
            **dict(zip(("gain, %", "95 % low", "95 % high"),
                       map(_percent, each["confirmed"].values()), strict=True)),
            "gain in the search, %": _percent(each["searched"]),
            "blocks": each["blocks"],
            "ruled out": each["rejected"],
        }
        for each in data.manifest["answer"]["finalists"]
    ]  # fmt: skip
    return pd.DataFrame(rows)


def effects(data: Dataset) -> pd.DataFrame:
    """Return what single settings did in the search, in percent: a guide, and no finding."""
    rows = [
        {"setting": each["name"], "gain, %": _percent(each["ratio"]),
         "95 % low": _percent(each["low"]), "95 % high": _percent(each["high"])}
        for each in data.manifest["answer"]["effects"]
    ]  # fmt: skip
    return pd.DataFrame(rows)


def _percent(ratio: float | None) -> float:
    return float("nan") if ratio is None else 100 * (ratio - 1)
