"""What a search of `./lab tune` confirmed, read from its dataset."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from ndblab import dataset as datasets
from ndblab.dataset import Dataset
from ndblab.dataset.manifest import COMPLETE
from ndblab.dataset.sealed import MANIFEST
from ndblab.error import LabError
from ndblab.measuring import measurement
from ndblab.statistics.estimate import Estimate
from ndblab.tuning.wanted import NAME, OF_THE_BRIEF

NEWEST = "newest"
COMMAND = "./lab tune brief"
LEAST_MINUTES = 60
"""The shortest planned search that is recorded."""
AGAIN = "measured_again.csv"
"""The file beside recorded searches that has their gains on another day."""
_DIRTY = "-dirty"
_QUICK, RECORDED = "quick", "recorded"


def obtain(folder: str = NEWEST, host: str = "this") -> Dataset | None:
    """Return a search: that of a folder, or the newest complete one; None where there is none.

    `host` says where the newest one was made: "this" host, or "recorded" for those of this
    repository that count (`why_not`). LabError if the folder has none, or one that is not over.
    """
    if folder == NEWEST:
        known = _of_host(host)
        return datasets.read(next(iter(known))) if known else None
    data = datasets.read(Path(folder))
    if data.experiment != NAME or "answer" not in data.manifest:
        raise LabError(
            "This is no search that is over",
            found=f"a dataset of {data.experiment} in {folder}",
            expected="one of ./lab tune",
            next_step=f"Run: {COMMAND}",
        )
    return data


def every(host: str = "this") -> pd.DataFrame:
    """Return what each search of a host confirmed (`obtain` says which count), the newest first.

    Returns
    -------
    `began` (UTC), `settings` that were confirmed together, their `gain, %` with its interval
    (`95 % low`, `95 % high`; NaN where nothing was confirmed).
    """
    rows = []
    for manifest in _of_host(host).values():
        answer = manifest["answer"]
        gains = [None] * 3
        for finalist in answer["finalists"]:
            if finalist["configuration"] == answer["winner"]:
                gains = list(finalist["confirmed"].values())
        began = manifest["started_utc"][:16].replace("T", " ")
        rows.append((began, ", ".join(answer["set"]) or "none", *map(_percent, gains)))
    return pd.DataFrame(rows, columns=["began", "settings", "gain, %", "95 % low", "95 % high"])


def why_not(manifest: Mapping[str, Any]) -> str:
    """Return why a search is not recorded in this repository; empty if it is, whatever it found.

    Rule of 2026-11-27, written before any was recorded: it is complete, in one sitting, of an hour
    or more, in the usual profile, by committed code, for throughput, over the brief's
    configuration. No trial, gain or sentence is looked at.
    """
    answer = manifest.get("answer")
    if manifest["status"] != COMPLETE or answer is None:
        return "it is not complete"
    if manifest.get("resumed"):
        return "it was interrupted, or went on with more minutes"
    if manifest.get("minutes", 0) < LEAST_MINUTES:
        return f"it was to last less than {LEAST_MINUTES} minutes"
    if manifest["profile"]["name"] != _QUICK:
        return f"its profile is {manifest['profile']['name']}"
    if str(manifest["git_commit"]).endswith(_DIRTY):
        return "the code that measured it was never committed"
    if answer["goal"] != "throughput" or set(answer["baseline"]) != set(OF_THE_BRIEF):
        return "it is not for throughput over the brief's configuration"
    return ""


def _of_host(host: str) -> dict[Path, Mapping[str, Any]]:
    """Return the manifests of searches that are over and count, the newest first."""
    known = _over(measurement.RUNS)
    if host == RECORDED:
        known = {k: m for k, m in _over(measurement.RECORDED).items() if not why_not(m)}
    return dict(sorted(known.items(), key=lambda item: item[1]["started_utc"], reverse=True))


def _over(root: Path) -> dict[Path, Mapping[str, Any]]:
    """Return the manifests of searches that are over, by folder."""
    files = sorted((root / NAME).glob(f"*/{MANIFEST}"))
    known = {file.parent: json.loads(file.read_text()) for file in files}
    return {k: m for k, m in known.items() if m.get("answer") and m["status"] == COMPLETE}


def measured_again(data: Dataset) -> dict[int, Estimate]:
    """Return the gain of a recorded search measured again, by how many hours later.

    By `compare`, as twins in four blocks (docs/tune.md); empty where nobody did.
    """
    file = data.path.parent / AGAIN
    if not file.exists():
        return {}
    table = pd.read_csv(file)
    mine = table[table["dataset"] == data.id]
    return {
        row.hours_later: Estimate(row.gain_ratio, row.low, row.high) for row in mine.itertuples()
    }


def shows_trade_off(data: Dataset) -> bool:
    """Return whether a finalist has a block, and the search noted what else it changes."""
    return any(finalist.get("beside") for finalist in data.manifest["answer"]["finalists"])


def finalists(data: Dataset) -> pd.DataFrame:
    """Return what was confirmed, as changes in percent; above 0 is better.

    Returns
    -------
    A row for each finalist: its number, settings, the confirmed gain with its interval, what the
    search had seen, blocks, and why it is out.
    """
    rows = [
        {
            "finalist": number,
            "settings": ", ".join(finalist["configuration"]),
            **dict(zip(("gain, %", "95 % low", "95 % high"),
                       map(_percent, finalist["confirmed"].values()), strict=True)),
            "gain in the search, %": _percent(finalist["searched"]),
            "blocks": finalist["blocks"],
            "ruled out": finalist["rejected"],
        }
        for number, finalist in enumerate(data.manifest["answer"]["finalists"], 1)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def effects(data: Dataset) -> pd.DataFrame:
    """Return what single settings did in the search, in percent: a guide, not a finding."""
    rows = [
        {"setting": effect["name"], "gain, %": _percent(effect["ratio"]),
         "95 % low": _percent(effect["low"]), "95 % high": _percent(effect["high"])}
        for effect in data.manifest["answer"]["effects"]
    ]  # fmt: skip
    return pd.DataFrame(rows)


def _percent(ratio: float | None) -> float:
    return float("nan") if ratio is None else 100 * (ratio - 1)
