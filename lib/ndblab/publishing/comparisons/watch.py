"""The upgrade gate: the present side against a baseline, with the history of such comparisons.

A baseline is a folder. `baseline.toml` and `now.toml` are sides as `./lab compare` reads them.
"""

from __future__ import annotations

import json
import math
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ndblab import dataset as datasets
from ndblab import install
from ndblab.comparing import answer, comparison, files, judged
from ndblab.comparing.request import Request
from ndblab.comparing.sides import BRIEF, Alike, Sides
from ndblab.design import catalogue
from ndblab.error import LabError, writing
from ndblab.install import engines
from ndblab.machine import host
from ndblab.measuring.deciding.choice import next_look
from ndblab.measuring.manifest import ROOT
from ndblab.publishing.comparisons import history, notebook, pages
from ndblab.publishing.comparisons.history import Entry
from ndblab.statistics import sequential
from ndblab.statistics.estimate import Estimate, from_logs

BASELINES = ROOT / "data/baselines"
ENGINE = "engine"
_SIDE, _COMPARED, _NOW, _LOAD, _HISTORY, _PAGE = (
    "baseline.toml", "compared.toml", "now.toml", "load.toml", "history.csv", "trend.html",
)  # fmt: skip
_BLOCK_S = 60
"""Assumed length of a block until one has been measured: a little less than the longest take."""
Side = dict[str, str]
"""Settings by name, as a TOML file has them."""


@dataclass(frozen=True)
class Baseline:
    """A stored side with its engine, and the load that it is compared under."""

    folder: Path

    @classmethod
    def of(cls, name: str) -> Baseline:
        """Return the baseline of this name, or the one in this folder of the user's."""
        return cls(Path(name) if "/" in name else BASELINES / name)

    @property
    def name(self) -> str:
        return self.folder.resolve().name

    @property
    def side(self) -> Side:
        """Return its settings, with the engine; LabError if there is no such baseline."""
        if not (self.folder / _SIDE).is_file():
            raise LabError(
                f"There is no baseline {self.name}",
                found=f"no {_SIDE} in {self.folder}",
                expected=", ".join(sorted(p.parent.name for p in BASELINES.glob(f"*/{_SIDE}")))
                or "one that was saved",
                next_step=f"Save it: ./lab watch --save {self.name}",
            )
        return dict(files.read(self.folder / _SIDE)[0])

    @property
    def stored(self) -> list[str]:
        """Return the text of its side and of its load, as far as it has been saved."""
        files_of_it = (self.folder / _SIDE, self.folder / _LOAD)
        return [file.read_text() for file in files_of_it if file.is_file()]

    @property
    def load(self) -> dict[str, Any]:
        """Return the options of its comparisons, and the release that it was saved with."""
        file = self.folder / _LOAD
        return tomllib.loads(file.read_text()) if file.exists() else {}

    @property
    def entries(self) -> list[Entry]:
        """Return its comparisons so far."""
        file = self.folder / _HISTORY
        if not file.exists():
            return []
        read = {"str": str, "float": float, "int": int}
        kinds = {field.name: read[field.type] for field in fields(Entry)}
        return [Entry(**row) for row in pd.read_csv(file, converters=kinds).to_dict("records")]

    def append(self, entry: Entry) -> None:
        """Write one more comparison to its history."""
        file, table = self.folder / _HISTORY, pd.DataFrame([asdict(entry)])
        with writing(file):
            table.to_csv(file, mode="a", header=not file.exists(), index=False, na_rep="nan")

    def write(self, name: str, values: Mapping[str, object]) -> Path:
        """Write one of its TOML files."""
        lines = [f"{json.dumps(key)} = {json.dumps(value)}" for key, value in values.items()]
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text("\n".join([*lines, ""]))
        return self.folder / name


def save(name: str, words: Sequence[str], load: Mapping[str, object]) -> str:
    """Store a side as a baseline; a side that names no engine gets the installed one.

    LabError if the programs refuse a setting, or the folder cannot be written.

    Parameters
    ----------
    words : settings, a folder, a TOML file or brief, as for a side of `./lab compare`.
    load : options of a `Request` by name; None where they were not given.
    """
    side, binaries = _side(words), install.ensure()
    typed = [f"{key}={value}" for key, value in side.items() if key != ENGINE]
    # Checked now: after an upgrade, it would be too late to save it again.
    asked = _request(typed or [BRIEF], load)
    workload = comparison.resolved(asked.load, asked.schema, asked.writes)
    asked.common(Sides((), ()), workload.name, host.read().usable_cpus)
    catalogue.find(figure=6).size(asked.profile, asked.given)
    # A side that has what is the default is checked, too.
    with suppress(Alike):
        comparison.prepare(asked, binaries, workload)
    baseline = Baseline.of(name)
    given = {key: value for key, value in load.items() if value is not None}
    before = baseline.stored
    file = baseline.write(_SIDE, {ENGINE: str(binaries.basedir), **side})
    baseline.write(_LOAD, {"ndb": binaries.ndb_version, **given})
    history_file = baseline.folder / _HISTORY
    if history_file.is_file() and before != baseline.stored:
        # Its comparisons were with another side or under another load.
        with writing(history_file):
            history_file.replace(history_file.with_name(f"before-{_HISTORY}"))
    return f"{file}\nCompare with it: ./lab watch --baseline {name}"


def compare(
    name: str,
    words: Sequence[str],
    minutes: object = None,
    port: int | str | None = None,
    as_json: bool = False,
) -> tuple[str, int]:
    """Compare the present side with a baseline; return the answer and the exit status of `compare`.

    LabError if the baseline or its engine is not there, or the sides cannot be compared.

    Parameters
    ----------
    words : the present side, as for `save`; if empty, the baseline's settings with the installed
        programs.
    as_json : answer in the JSON of `compare`, plus the baseline, what changed since earlier
        comparisons, and the page with the trend; the outcome is "alike" if nothing differs.
    """
    baseline = Baseline.of(name)
    saved, load, binaries = baseline.side, baseline.load, install.ensure()
    first = _first(saved, load.pop("ndb", ""), name, binaries)
    now = _side(words) if words else {k: v for k, v in saved.items() if k != ENGINE}
    now = _own(now, binaries)
    nothing = f"Nothing differs from the baseline {baseline.name}: {binaries.product}.", 0
    if as_json:
        plain = {"outcome": "alike", "baseline": baseline.name, "exit_status": 0}
        nothing = json.dumps(plain, indent=1), 0
    if first == now:
        return nothing
    sides = [str(baseline.write(_COMPARED, first)), str(baseline.write(_NOW, now))]
    typed = shlex.join(["./lab", "watch", "--baseline", name, *words])
    asked = _request(
        sides, load, minutes=minutes, port=port, again=True, as_json=True, of_another=typed
    )
    try:
        text, status = comparison.compare(asked, notebook=notebook.write_if_possible)
    except Alike:
        # One side names a setting that the other has by default.
        return nothing
    return _watched(baseline, json.loads(text), asked.band, typed, as_json), status


def _watched(
    baseline: Baseline, result: dict[str, Any], band: float, typed: str, as_json: bool
) -> str:
    """Add a comparison to its baseline's history, draw the trend, and return the answer.

    Parameters
    ----------
    result : the JSON of `./lab compare`.
    typed : the command that measures it once more.
    """
    data = datasets.read(result["dataset"])
    entry = history.entry(data, band)
    baseline.append(entry)
    change = trend([one for one in baseline.entries if one.host == entry.host])
    lead = " ".join([entry.sentence, change]).strip()
    a, b, under = history.question(data.manifest)
    known = history.History(a, b, under, tuple(baseline.entries))
    page = pages.write_trend(baseline.folder / _PAGE, baseline.name, lead, known, band)
    longer = ""
    if entry.outcome == judged.UNDECIDED and next_look(judged.judge(data, band).blocks):
        minutes = math.ceil(judged.judge(data, band).minutes)
        longer = f"{typed} --minutes {minutes + judged.more_minutes(data, band, _BLOCK_S)}"
    if as_json:
        watched = {"go_on": longer, "baseline": baseline.name, "change": change, "trend": str(page)}
        return json.dumps(result | watched, indent=1)
    lines = [f"A: {a}", f"B: {b}", "", lead, ""]
    if longer:
        lines.append(f"Measure it anew, for longer: {longer}")
    return "\n".join([*lines, f"Trend: {page}", f"Dataset: {data.path}"])


def _first(saved: Side, saved_with: str, name: str, binaries: install.Binaries) -> Side:
    """Return side A: the saved settings, without the engine if it is the installed one.

    LabError if another release has replaced that engine.
    """
    if saved.get(ENGINE) != str(binaries.basedir):
        return _own(saved, binaries)
    if saved_with != binaries.ndb_version:
        raise LabError(
            f"The engine of the baseline {Baseline.of(name).name} is no longer there",
            found=f"{binaries.ndb_version} in {binaries.basedir}",
            expected=saved_with,
            next_step=f"Save it with a folder or release of its own: ./lab watch --save "
            f"{name} engine={saved_with}",
        )
    return {key: value for key, value in saved.items() if key != ENGINE}


def _own(side: Side, binaries: install.Binaries) -> Side:
    """Return a side without its engine, if that is the installed one by another name."""
    there = engines.present(side[ENGINE]) if ENGINE in side else None
    if there is None or there.basedir != binaries.basedir:
        return side
    return {key: value for key, value in side.items() if key != ENGINE}


def trend(entries: Sequence[Entry]) -> str:
    """Say whether the last comparison differs from those before it, since the last change.

    They differ if the last interval does not overlap that of the mean of those before. Both are
    95 % intervals, so equal comparisons differ less than once in a hundred times.
    """
    if not entries or not entries[-1].estimate.bounded:
        return ""
    # A comparison that was ended before it had an interval says nothing about the others.
    entries = [entry for entry in entries if entry.estimate.bounded]
    first = 0
    for place in range(1, len(entries)):
        before, when = _before(entries[first:place])
        last = entries[place].estimate
        changed = before.bounded and (last.low > before.high or last.high < before.low)
        if place == len(entries) - 1:
            mean = answer.percent(before.value)
            if changed:
                return f"This has changed: it was {mean} % {when}."
            return f"No change: it was {mean} % {when}."
        first = place if changed else first
    return ""


def _before(entries: Sequence[Entry]) -> tuple[Estimate, str]:
    """Return the mean ratio of comparisons, or the last one if they are too few; say which."""
    mean = sequential.interval(np.log([entry.ratio for entry in entries]))
    if not mean.bounded:
        return entries[-1].estimate, "the time before"
    return from_logs(mean), f"on average of the {len(entries)} times before"


def _request(words: Sequence[str], load: Mapping[str, Any], **options: Any) -> Request:
    """Return the request for a comparison under a baseline's load."""
    given = {key: value for key, value in load.items() if value is not None}
    overrides = {key: given.pop(key) for key in ("tables", "table_size", "seed") if key in given}
    return Request(tuple(words), overrides=overrides, **given, **options)


def _side(words: Sequence[str]) -> Side:
    """Return the settings that the words of a side stand for."""
    side: Side = {}
    for word in words:
        if word == BRIEF:
            continue
        name, equals, value = word.partition("=")
        if equals and not Path(word).exists():
            side[name] = value
        else:
            side |= dict(files.read(Path(word))[0])
    return side
