"""Rules that every experiment obeys, checked before anything is measured.

A mistake would otherwise end a measurement midway, or leave it without a result to show.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ndblab import discovery
from ndblab.design import catalogue
from ndblab.design.contrast import ALTERNATION, DUET, RESTARTS, SWITCHED, Contrast
from ndblab.error import LabError
from ndblab.planning.point import DEFAULT_VARIANT
from ndblab.planning.shape import Shape
from ndblab.workloads import registry, sysbench

if TYPE_CHECKING:
    from ndblab.design.experiment import Experiment
    from ndblab.planning.profile import Profile

_IN_ONE_CLUSTER = (ALTERNATION, DUET, RESTARTS, SWITCHED)
_AT_ONCE = ("quotas", "neighbours", "set_global")
"""What the two sides of a duet share, as they run on one cluster at the same time."""
_MEND = "Change it in experiment.py."


def check(experiment: Experiment, size: Profile) -> None:
    """Refuse an experiment that breaks a rule.

    LabError for the first broken rule; it names the offender, and what would be valid.
    """
    for shape in (experiment.shape, *(variant.shape for variant in experiment.variants)):
        _known("field of the shape", shape, [field.name for field in dataclasses.fields(Shape)])
    names = [variant.name for variant in experiment.variants]
    _once("variants", names)
    _storable("variant", names)
    if DEFAULT_VARIANT not in names:
        raise LabError(
            "No variant is the default one",
            found=", ".join(names),
            expected=f"Variant(), whose name is {DEFAULT_VARIANT}",
            next_step=_MEND,
        )
    points = _obtained(experiment, "grid", lambda: experiment.sweep(size).points)
    contrasts = _obtained(experiment, "contrasts", lambda: experiment.planned_contrasts(size))
    _once("contrasts", [contrast.name for contrast in contrasts])
    _storable("contrast", [contrast.name for contrast in contrasts])
    for contrast in contrasts:
        _check_sides(experiment, contrast)
    compared = (side.point for contrast in contrasts for side in contrast.sides)
    for workload in {point.workload for point in (*points, *compared)}:
        _check_workload(workload)
        _check_own_script(experiment, workload)
    if catalogue.is_own(experiment) and experiment.figures:
        from ndblab.figures.entry import entries

        _known("figure", experiment.figures, entries())


def _check_sides(experiment: Experiment, contrast: Contrast) -> None:
    names = [side.point.variant for side in contrast.sides]
    _known(f"variant of contrast {contrast.name}", names, [v.name for v in experiment.variants])
    [together] = [names for names in experiment.clusters() if contrast.a.point.variant in names]
    if contrast.design in _IN_ONE_CLUSTER and not set(names) <= set(together):
        raise LabError(
            f"The sides of the contrast {contrast.name} are not in one cluster",
            found=f"design {contrast.design} of {' and '.join(names)}, which differ in shape, "
            "config_ini, my_cnf or the engine",
            expected="TWINS, or STARTS, in which each side has a cluster of its own",
            next_step=_MEND,
        )
    first, *others = (experiment.variant(name) for name in names)
    differing = [f for f in _AT_ONCE for o in others if getattr(o, f) != getattr(first, f)]
    if contrast.design == DUET and (differing or contrast.a.condition != contrast.b.condition):
        raise LabError(
            f"The sides of the contrast {contrast.name} cannot run at the same time",
            found=f"a duet whose sides differ in {', '.join(differing) or 'their condition'}",
            expected="ALTERNATION, in which they take turns",
            next_step=_MEND,
        )


def _check_workload(name: str) -> None:
    if (
        registry.find(name) is sysbench
        and not (Path(name).is_absolute() or discovery.file(f"{name}.lua"))
        and name not in sysbench.SCRIPTS
    ):
        known = [*sysbench.SCRIPTS, *registry.names()]
        raise LabError(
            "No load generator or script has the name of this workload",
            found=name,
            expected=_alike(name, known) or f"{name}.lua in the experiment's folder",
            next_step=_MEND,
        )


def _check_own_script(experiment: Experiment, name: str) -> None:
    """Refuse a script of the user's own if the lab would run a load of its own in its place."""
    if not catalogue.is_own(experiment):
        return
    script = catalogue.notebook(experiment).parent / f"{name}.lua"
    if script.is_file() and (
        registry.find(name) is not sysbench or discovery.file(script.name) != script
    ):
        raise LabError(
            "The lab has a load of the same name as this script",
            found=script,
            expected="a name of its own",
            next_step="Rename it, also in experiment.py.",
        )


def _storable(what: str, names: Iterable[str]) -> None:
    """Refuse a name that the tables of a dataset cannot store."""
    for name in names:
        if not re.fullmatch(r"[a-z0-9-]+", name):
            raise LabError(
                f"A dataset cannot store the name of this {what}",
                found=name,
                expected="lower-case letters, digits and hyphens",
                next_step=_MEND,
            )


def _known(what: str, names: Iterable[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise LabError(
                f"Unknown {what}",
                found=name,
                expected=_alike(name, known) or ", ".join(known),
                next_step=_MEND,
            )


def _alike(name: str, known: Collection[str]) -> str:
    close = difflib.get_close_matches(name, known, 3)
    return f"perhaps {' or '.join(close)}" if close else ""


def _once(what: str, names: Collection[str]) -> None:
    if twice := sorted({name for name in names if list(names).count(name) > 1}):
        raise LabError(f"Two {what} have the same name", found=", ".join(twice), next_step=_MEND)


def _obtained(experiment: Experiment, part: str, of: Callable[[], Any]) -> Any:
    """Call a function of the experiment, and turn any exception into a LabError."""
    try:
        return of()
    except LabError:
        raise
    except Exception as error:
        raise LabError(
            f"The {part} of {experiment.name} cannot be computed",
            found=f"{type(error).__name__}: {error}",
            next_step=_MEND,
        ) from error
