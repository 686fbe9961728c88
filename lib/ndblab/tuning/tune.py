"""A search, from the words that the user typed to the answer."""

from __future__ import annotations

import contextlib
import json
import signal
import sys

from ndblab import dataset as datasets
from ndblab.cluster import start_stop
from ndblab.comparing import comparison
from ndblab.error import LabError
from ndblab.formatting import count
from ndblab.machine import commands
from ndblab.measuring import feasible, manifest, measurement, performing
from ndblab.measuring.clusters import Clusters
from ndblab.measuring.manifest import ROOT
from ndblab.tuning import answer, figure, trade_off
from ndblab.tuning.executing import Executor
from ndblab.tuning.history import History, Record
from ndblab.tuning.prepared import Tuning, prepare
from ndblab.tuning.progress import Progress
from ndblab.tuning.wanted import NAME, Request

PICTURES = ROOT / "out/tune"
_GIVE_UP = 3
"""If so many first trials all fail, something other than their configurations is wrong."""


def tune(request: Request) -> str:
    """Search for the best configuration of this host; return the answer, or only the plan.

    LabError if there is nothing to search, or the baseline does not run; completed blocks are
    saved.
    """
    asked = comparison.resolved(request.load, request.schema, request.writes)
    is_plan = bool(request.only_plan or request.described)
    tuning = prepare(request, feasible.programs(is_plan), asked)
    if is_plan:
        return tuning.plan()
    print(tuning.plan(), file=sys.stderr)
    return _answered(tuning, measure(tuning))


def measure(tuning: Tuning) -> datasets.Dataset:
    """Carry out a search until its time is over, resuming one that was interrupted.

    Each trial enters the dataset's manifest, under "trials", as soon as it is over; what was found
    is under "answer" in the end. After Ctrl-C, SIGTERM or SIGHUP (SystemExit here, both of them),
    nothing is left running, and whole blocks of the current trial are kept.
    """
    wanted, search = tuning.wanted, tuning.search
    experiment, size, given = wanted.base()
    described, identity = manifest.describe(
        experiment, size, "auto", tuning.machine, tuning.binaries, given
    )
    root = measurement.RUNS
    known = None if wanted.request.again else datasets.complete(root, NAME, identity)
    if known:
        data = datasets.read(known)
        if search.next(records_of(data)) is None:
            print(f"already searched (--again repeats it): {known.name}", file=sys.stderr)
            return data
    opened = (
        datasets.Writer.reopen(known, described)
        if known
        else datasets.Writer.open(root, NAME, identity, described, measurement.RECORDED)
    )
    places = start_stop.places(start_stop.home(), wanted.request.port)
    plans = experiment.plans(size, "auto", tuning.machine, places)
    with commands.exit_on_signals(signal.SIGTERM, signal.SIGHUP), opened as writer:
        clusters = Clusters(
            experiment, size, plans, tuning.binaries, writer, False, machine=tuning.machine
        )
        with contextlib.closing(clusters):
            performing.perform(experiment.sweep(size), clusters)
            _search(tuning, clusters)
        # Whoever reads the dataset has neither this host's knobs nor its programs.
        writer.note(minutes=wanted.request.limit, answer=_told(tuning, writer.snapshot()))
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
    executor = Executor(wanted, clusters, progress.say, progress.trying)
    with contextlib.closing(progress):
        while trials := search.together(records):
            try:
                tried = executor.carry_out(trials)
            except (KeyboardInterrupt, SystemExit):
                over = count(len(records), "trial")
                progress.say(f"saved: {over}, and whole blocks of what was under way")
                raise
            for record in tried:
                records.append(record)
                progress.over(len(records), record, search.stands(History(records)))
            writer.note(trials=[record.to_dict() for record in records])
            if len(records) >= _GIVE_UP and all(record.failed for record in records):
                raise LabError(
                    "No trial has worked so far",
                    found=records[-1].status,
                    next_step=f"See `./lab doctor`. To start over, remove {writer.path} first.",
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


def _answered(tuning: Tuning, data: datasets.Dataset) -> str:
    wanted, history = tuning.wanted, History(records_of(data))
    outcome = tuning.search.stands(history)
    changes = trade_off.of(data, outcome)
    plain = answer.to_json(outcome, wanted, changes)
    rows, workload = trade_off.table(plain), wanted.load.workload
    written = {
        "Figure": figure.save(data, history, outcome, wanted, PICTURES),
        "Trade-off": trade_off.save(data, rows, workload, PICTURES),
    }
    if wanted.request.as_json:
        return json.dumps(plain | {"dataset": str(data.path)}, indent=1)
    lines = [answer.sentence(outcome, wanted, changes), ""]
    lines += answer.details(outcome, wanted)
    if outcome.winner:
        lines += ["", *answer.to_paste(outcome, wanted), "", *answer.to_check(outcome, wanted)]
    lines += ["", *(f"{what}: {file}" for what, file in written.items() if file)]
    return "\n".join([*lines, f"Dataset: {data.path}"])
