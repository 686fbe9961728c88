"""Plain Optuna, for comparison with the lab's search: single runs, of which the best one wins.

It searches simulated hosts, and this host (`./lab bench tune --real MINUTES`).
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ndblab import install
from ndblab.benchmarks.planted import PORT, Bench
from ndblab.benchmarks.row import Row
from ndblab.cluster import start_stop
from ndblab.comparing import comparison
from ndblab.error import LabError
from ndblab.experiments.tuned import searched
from ndblab.planning.point import DEFAULT_VARIANT
from ndblab.tuning import prepared
from ndblab.tuning.history import SCREEN, Trial
from ndblab.tuning.prepared import Tuning
from ndblab.tuning.space import Configuration, Space, Value, made
from ndblab.tuning.wanted import Request


def search(
    space: Space,
    seed: int,
    run: Callable[[Configuration], float],
    is_over: Callable[[int], bool],
) -> tuple[Configuration, list[float]]:
    """Return the configuration of the best single run, and what each run gave.

    Optuna has its defaults (TPE). The first run is of the baseline. LabError if none works.

    Parameters
    ----------
    run : measures a configuration once; NaN where it does not work.
    is_over : whether to end after so many runs.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    now = {tunable.word: tunable.current for tunable in space.tunables}

    def changed(values: Mapping[str, Value]) -> Configuration:
        return made({word: value for word, value in values.items() if value != now[word]})

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    study.enqueue_trial(now)
    given: list[float] = []
    while not is_over(len(given)):
        trial = study.ask()
        for tunable in space.tunables:
            trial.suggest_categorical(tunable.word, [tunable.current, *tunable.values])
        given.append(run(changed(trial.params)))
        if math.isnan(given[-1]):
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            study.tell(trial, given[-1])
    if all(map(math.isnan, given)):
        raise LabError("No run has worked", next_step="See `./lab doctor`.")
    return changed(study.best_params), given


def on_this_host(minutes: int, seed: int = 1) -> list[Row]:
    """Search this host from the brief's configuration, and say how to compare what was found.

    Each run has a cluster start of its own. LabError if none works.
    """
    request = Request(("brief",), minutes=minutes)
    asked = comparison.resolved(request.load, request.schema, request.writes)
    tuning = prepared.prepare(request, install.ensure(), asked)
    ends_s = time.monotonic() + 60 * minutes
    runs = _Runs(tuning, ends_s)
    space = tuning.wanted.space
    best, logs = search(space, seed, runs.run, lambda _: time.monotonic() > ends_s)
    best = space.effective(dict(best))
    worked = [value for value in logs if not math.isnan(value)]
    note = f"{len(worked)} of {len(logs)} runs worked; the best one had {space.words(best)}\n"
    note += f"    {_to_compare(tuning, best)}"
    ratio = math.exp(max(worked) - logs[0])
    return [Row("plain Optuna: its best run over the baseline's", (ratio,), note=note)]


@dataclass(frozen=True)
class _Runs:
    """Single runs on this host."""

    tuning: Tuning
    ends_s: float

    def run(self, configuration: Configuration) -> float:
        """Return the logarithm of the queries/s of a run after a cluster start; NaN if it fails."""
        space = self.tuning.wanted.space
        own = space.effective(dict(configuration))
        try:
            qps = self._qps(own)
            told = f"{qps:.0f} queries/s"
        except LabError as failure:
            qps, told = math.nan, failure.what
        left_min = max(0.0, self.ends_s - time.monotonic()) / 60
        print(f"{space.words(own)}: {told}; {left_min:.0f} min left", file=sys.stderr, flush=True)
        return math.log(qps) if qps > 0 else math.nan

    def _qps(self, own: Configuration) -> float:
        wanted, machine = self.tuning.wanted, self.tuning.machine
        point = wanted.point(own, DEFAULT_VARIANT)
        experiment = wanted.experiment([wanted.variant(own, DEFAULT_VARIANT)], [point])
        size = experiment.size(wanted.request.profile, wanted.given(Trial(SCREEN, own, 1, "")))
        places = start_stop.places(start_stop.home(), PORT)
        plans = experiment.plans(size, "auto", machine, places)
        bench = Bench(experiment, size, plans, machine, self.tuning.binaries)
        with bench.clusters() as clusters:
            measured = clusters.measure(clusters.ready(point), point, 1)
        return float(measured.tables["runs"]["qps"].iloc[0])


def _to_compare(tuning: Tuning, best: Configuration) -> str:
    """Return the command that compares Optuna's answer with that of this host's newest search."""
    wanted, known = tuning.wanted, searched.obtain()
    answer = known.manifest["answer"] if known else {}
    alike = answer.get("baseline") == [str(setting) for setting in wanted.baseline]
    found = answer["set"] if alike else []
    values = [(t.word, value) for t in wanted.space.tunables for value in t.values]
    own = made({w: v for w, v in values if wanted.space.typed(((w, v),))[0] in found})
    other = "what `./lab tune` found (A)" if own else "the baseline (A)"
    return f"beside {other}: {wanted.compared(own, best).command}"
