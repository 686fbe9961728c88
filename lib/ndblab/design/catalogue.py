"""The experiments by name: each a question with its sweep, its notebook, its figures, its claims.

In: a name, or the number of a figure or table. Out: an `Experiment`, which knows the points of its
sweep and the clusters that these need. To add one, add an entry to one of the modules here, and its
notebook; if it judges a claim, a check in `claims.checks` too. Pure.

the_brief   what the brief measured, and what it left open
rondb       what RonDB's evaluation claims, which has the brief's author too
neighbours  what the brief's other neighbours claim
the_lab     the lab's own questions
"""

from __future__ import annotations

from ndblab.design.experiment import Experiment
from ndblab.error import LabError
from ndblab.experiments.read_write import experiment as rondb
from ndblab.experiments.scaling import experiment as the_brief
from ndblab.experiments.the_lab_itself import experiment as the_lab
from ndblab.experiments.transporters import experiment as neighbours

EXPERIMENTS = {
    experiment.name: experiment
    for experiment in sorted(
        (
            *the_brief.EXPERIMENTS,
            *rondb.EXPERIMENTS,
            *neighbours.EXPERIMENTS,
            *the_lab.EXPERIMENTS,
        ),
        key=lambda experiment: experiment.notebook,
    )
}
"""In the order of their notebooks."""
UNRECORDED = {experiment.name: experiment for experiment in the_lab.UNRECORDED}
"""Those without a recorded dataset so far. They are found by name or figure, but are no part of
`--all`, of the report and of the README's verdicts. Their notebooks have no outputs."""


def find(
    name: str | None = None, figure: str | int | None = None, table: str | int | None = None
) -> Experiment:
    """Find an experiment by its name, or by a figure or table of the brief.

    Raises
    ------
    LabError
        If there is none, or the name and the number do not belong together.
    """
    asked = {"experiment": name, "figure": figure, "table": table}
    asked = {what: str(key) for what, key in asked.items() if key is not None}
    if not asked:
        raise LabError(
            "Say what to reproduce",
            expected="--figure 6, --table 1, --all, or --experiment with one of "
            + ", ".join(EXPERIMENTS),
            next_step="Try: ./lab reproduce --figure 6",
        )
    found = []
    for what, key in asked.items():
        every = (*EXPERIMENTS.values(), *UNRECORDED.values())
        known = {k: e for e in every for k in _keys(e)[what]}
        if key not in known:
            raise LabError(
                f"Unknown {what}",
                found=key,
                expected=", ".join(sorted(known, key=_numbers_first)),
                next_step=f"Choose one with --{what}.",
            )
        found.append(known[key])
    if len({experiment.name for experiment in found}) > 1:
        options = [f"--{what} {key}" for what, key in asked.items()]
        raise LabError(
            f"{options[0]} has no such {', '.join(list(asked)[1:])}",
            found=" ".join(options),
            expected=f"a figure or table of {found[0].name}",
            next_step="Drop one of the options.",
        )
    return found[0]


def _numbers_first(key: str) -> tuple[bool, int]:
    """Sort the brief's figures before the lab's own, which keep their order."""
    return (False, int(key)) if key.isdigit() else (True, 0)


def _keys(experiment: Experiment) -> dict[str, tuple[str, ...]]:
    """Return what an experiment can be found by, by option."""
    return {
        "experiment": (experiment.name,),
        "figure": experiment.figures,
        "table": experiment.tables,
    }
