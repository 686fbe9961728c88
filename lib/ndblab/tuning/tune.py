"""A search, from the words that the user typed to the answer."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from ndblab import dataset as datasets
from ndblab.cluster import start_stop
from ndblab.comparing import comparison
from ndblab.error import LabError
from ndblab.formatting import count
from ndblab.machine import commands
from ndblab.measuring import manifest, measurement, performing
from ndblab.measuring.clusters import Clusters
from ndblab.measuring.manifest import ROOT
from ndblab.planning import number
from ndblab.planning.point import DEFAULT_WORKLOAD
from ndblab.tuning import answer, figure, trade_off
from ndblab.tuning.executing import GOALS, Executor
from ndblab.tuning.history import History, Record
from ndblab.tuning.prepared import Tuning, prepare
from ndblab.tuning.progress import Progress
from ndblab.tuning.wanted import NAME, limits

PICTURES = ROOT / "out/tune"
MINUTES = 60
"""How long a search takes, by default."""
_GIVE_UP = 3
"""If so many first trials all fail, something other than their configurations is wrong."""


def tune(
    words: Sequence[str],
    *,
    minutes: object = None,
    knob_file: str | None = None,
    goal: str = "throughput",
    keep: str | None = None,
    workload: str | None = None,
    schema: str | None = None,
    writes: bool = False,
    clients: object = None,
    profile: str = "quick",
    overrides: Mapping[str, object] | None = None,
    port: int | str | None = None,
    again: bool = False,
    as_json: bool = False,
    only_plan: bool = False,
    described: str | None = None,
    pictures: Path = PICTURES,
) -> str:
    """Search for the best configuration of this host; return the answer.

    LabError if there is nothing to search, or the baseline does not run; completed blocks are
    saved.

    Parameters
    ----------
    words : the user's configuration, as `sides.parse` takes one side; none for the lab's default.
    minutes : of the search, over all its sessions.
    knob_file : CSV that adds, replaces or removes knobs (`space.table`).
    keep : as `wanted.limits` takes it.
    workload, schema, writes, clients, profile, overrides, port : as `comparison.compare` has them.
    again : repeat a search that is complete.
    only_plan, described : start nothing, and return what would be done, on another host if one is
        described (`dry_run.host_of`).
    """
    limit = number.whole("--minutes", MINUTES if minutes is None else minutes)
    if goal not in GOALS:
        raise LabError(
            "Unknown --goal", found=goal, expected=", ".join(GOALS), next_step="Choose one."
        )
    given = {key: value for key, value in (overrides or {}).items() if value is not None}
    asked = comparison.resolved(workload or DEFAULT_WORKLOAD, schema, writes)
    kept = limits(keep) if keep else ()
    tuning = prepare(
        words, comparison.programs(), asked, limit, knob_file, goal, kept, clients, profile, given,
        port, described,
    )  # fmt: skip
    if only_plan or described:
        return tuning.plan()
    print(tuning.plan(), file=sys.stderr)
    data = measure(tuning, again)
    return _answered(tuning, data, as_json, pictures)


def measure(tuning: Tuning, again: bool = False) -> datasets.Dataset:
    """Carry out a search until its time is over, resuming one that was interrupted.

    Each trial enters the dataset's manifest, under "trials", as soon as it is over; what was found
    is under "answer" in the end. After Ctrl-C, SIGTERM or SIGHUP (SystemExit here, both of them),
    nothing is left running, and whole blocks of the current trial are kept.
    """
    wanted, search = tuning.wanted, tuning.search
    experiment, servers = wanted.base()
    size, given = wanted.size(experiment, servers), wanted.given(servers)
    described, identity = manifest.describe(
        experiment, size, "auto", tuning.machine, tuning.binaries, given
    )
    root = measurement.RUNS
    known = None if again else datasets.complete(root, NAME, identity)
    if known:
        data = datasets.read(known)
        if search.next(records_of(data)) is None:
            print(f"already searched (--again repeats it): {known.name}", file=sys.stderr)
            return data
    opened = (
        datasets.Writer.reopen(known, described)
        if known
        else datasets.Writer.open(root, NAME, identity, described)
    )
    places = start_stop.places(start_stop.home(), wanted.port)
    plans = experiment.plans(size, "auto", tuning.machine, places)
    with commands.exit_on_signals(signal.SIGTERM, signal.SIGHUP), opened as writer:
        clusters = Clusters(
            experiment, size, plans, tuning.binaries, writer, False, machine=tuning.machine
        )
        with contextlib.closing(clusters):
            performing.perform(experiment.sweep(size), writer, clusters.ready, clusters.measure)
            _search(tuning, clusters)
        # Whoever reads the dataset has neither this host's knobs nor its programs.
        writer.note(minutes=tuning.minutes, answer=_told(tuning, writer.snapshot()))
        return writer.finish()


def records_of(data: datasets.Dataset | datasets.Writer) -> list[Record]:
    """Return the trials of a dataset, from its manifest."""
    return [Record.from_dict(known) for known in data.manifest.get("trials", ())]


def _search(tuning: Tuning, clusters: Clusters) -> None:
    wanted, search, writer = tuning.wanted, tuning.search, clusters.writer
    records = records_of(writer)
    if records:
        print(f"resuming after {count(len(records), 'trial')}", file=sys.stderr)
    progress = Progress(wanted.space, search.budget_s, History(records).seconds)
    executor = Executor(
        wanted, tuning.binaries, tuning.machine, clusters, progress.say, progress.trying
    )
    with contextlib.closing(progress):
        while trial := search.next(records):
            try:
                records.append(executor.carry_out(trial))
            except (KeyboardInterrupt, SystemExit):
                over = count(len(records), "trial")
                progress.say(f"saved: {over}, and whole blocks of the one that was under way")
                raise
            writer.note(trials=[record.to_dict() for record in records])
            progress.over(len(records), records[-1], search.stands(History(records)))
            if len(records) >= _GIVE_UP and all(record.failed for record in records):
                raise LabError(
                    "No trial has worked so far",
                    found=records[-1].status,
                    next_step="See `./lab doctor`; the same command with --again starts over.",
                )


def _told(tuning: Tuning, data: datasets.Dataset) -> dict[str, object]:
    """Return what a search found as plain data."""
    wanted, history = tuning.wanted, History(records_of(data))
    outcome = tuning.search.stands(history)
    changes = trade_off.of(data, outcome)
    return {
        "sentence": answer.sentence(outcome, wanted, changes),
        **answer.to_json(outcome, wanted, changes),
        "effects": figure.effects(history, wanted),
    }


def _answered(tuning: Tuning, data: datasets.Dataset, as_json: bool, pictures: Path) -> str:
    wanted, history = tuning.wanted, History(records_of(data))
    outcome = tuning.search.stands(history)
    changes = trade_off.of(data, outcome)
    plain = answer.to_json(outcome, wanted, changes)
    rows, workload = trade_off.table(plain), wanted.load.workload
    written = {
        "Figure": figure.save(data, history, outcome, wanted, pictures),
        "Trade-off": trade_off.save(data, rows, workload, pictures),
    }
    if as_json:
        return json.dumps(plain | {"dataset": str(data.path)}, indent=1)
    lines = [answer.sentence(outcome, wanted, changes), ""]
    lines += answer.details(outcome, wanted)
    lines += ["", *answer.to_paste(outcome, wanted)] if outcome.winner else []
    lines += ["", *(f"{what}: {file}" for what, file in written.items() if file)]
    return "\n".join([*lines, f"Dataset: {data.path}"])
