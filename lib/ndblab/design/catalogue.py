"""The experiments by name, found in their folders: a question, its notebook, its figures."""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Mapping
from pathlib import Path

from ndblab import discovery
from ndblab.design.experiment import Experiment
from ndblab.error import LabError

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOKS = ROOT / "notebooks"
_EXPLAINING = ("analysis.py", "answer.py", "checks.py", "figure.py")
"""Modules that only explain what was measured."""


def every() -> dict[str, Experiment]:
    """Return the lab's experiments by name, in the order of their notebooks; not the user's own."""
    return {experiment.name: experiment for experiment, own in _known().values() if own is None}


def find(
    name: str | None = None, figure: str | int | None = None, table: str | int | None = None
) -> Experiment:
    """Find an experiment by its name, its folder (`./mine`), or a figure or table of the brief.

    LabError if there is none, or the name and the number do not belong together.
    """
    if name and ("/" in name or name == "."):
        package = discovery.add(name)
        _known.cache_clear()
        name = _of_package(package, name).name
    asked = {"experiment": name, "figure": figure, "table": table}
    asked = {what: str(key) for what, key in asked.items() if key is not None}
    if not asked:
        raise LabError(
            "Say what to reproduce",
            expected="--figure 6, --table 1, --all, or --experiment with one of "
            + ", ".join(every()),
            next_step="Try: ./lab reproduce --figure 6",
        )
    experiments = []
    for what, key in asked.items():
        known = {k: e for e, _ in _known().values() for k in _keys(e)[what]}
        if key not in known:
            # The brief's figures come before the lab's own, which keep their order.
            ordered = sorted(known, key=lambda key: int(key) if key.isdigit() else math.inf)
            raise LabError(
                f"Unknown {what}",
                found=key,
                expected=", ".join(ordered),
                next_step=f"Choose one with --{what}.",
            )
        experiments.append(known[key])
    if len({experiment.name for experiment in experiments}) > 1:
        options = [f"--{what} {key}" for what, key in asked.items()]
        raise LabError(
            f"{options[0]} has no such {', '.join(list(asked)[1:])}",
            found=" ".join(options),
            expected=f"a figure or table of {experiments[0].name}",
            next_step="Drop one of the options.",
        )
    return experiments[0]


def chosen(
    name: str | None = None,
    figure: str | int | None = None,
    table: str | int | None = None,
    all: bool = False,
) -> list[Experiment]:
    """Find the named experiment, as `find` does, and with `all` every other one too."""
    named = any(key is not None for key in (name, figure, table)) or not all
    first = [find(name, figure, table)] if named else []
    others = every().values() if all else ()
    return [*first, *(other for other in others if other not in first)]


def is_own(experiment: Experiment) -> bool:
    """Return whether an experiment is the user's own, in a folder outside the library."""
    return _known().get(experiment.name, (experiment, None))[1] is not None


def notebook(experiment: Experiment) -> Path:
    """Return the file of an experiment's notebook: in its folder if it is the user's own."""
    _, own = _known().get(experiment.name, (experiment, None))
    return (own or NOTEBOOKS) / experiment.notebook


def own_files(experiment: Experiment) -> dict[str, str]:
    """Return hashes of the files that decide what the user's own experiment measures.

    Empty for the lab's experiments.
    """
    _, own = _known().get(experiment.name, (experiment, None))
    files = sorted([*own.glob("*.py"), *own.glob("*.lua")]) if own else []
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()[:12]
        for file in files
        if file.name not in _EXPLAINING
    }


@functools.cache
def _known() -> Mapping[str, tuple[Experiment, Path | None]]:
    """Return every experiment by name, with its folder if that is the user's own."""
    lab = Path(discovery.__file__).with_name("experiments")
    known: list[tuple[Experiment, Path | None]] = []
    for module in discovery.modules("experiment"):
        folder = discovery.folder(module)
        own = None if folder.parent == lab else folder
        known += [(experiment, own) for experiment in module.EXPERIMENTS]
    known.sort(key=lambda pair: (pair[1] is not None, pair[0].notebook))
    return {experiment.name: (experiment, own) for experiment, own in known}


def _of_package(package: str, name: str) -> Experiment:
    mine = [e for e, own in _known().values() if own is not None and own.name == package]
    if len(mine) != 1:
        raise LabError(
            f"{name}/experiment.py does not say which experiment it is",
            found=f"{len(mine)} in EXPERIMENTS",
            expected="EXPERIMENTS = (Experiment(...),)",
            next_step="See one that ./lab new writes.",
        )
    return mine[0]


def _keys(experiment: Experiment) -> dict[str, tuple[str, ...]]:
    """Return, for each option, the values that find an experiment."""
    return {
        "experiment": (experiment.name,),
        "figure": experiment.figures,
        "table": experiment.tables,
    }
