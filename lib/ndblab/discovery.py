"""Finds experiments: one folder each, those of the lab and any folder of the user's own.

The names of its modules say what a folder holds: `experiment` what is measured, `load` a load
generator, `tables` the tables that only its datasets have, `checks` of claims, `answer` in words,
`figure`, `tools` that it needs. Nothing is registered, and the engine imports an experiment only
through here.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import pkgutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from ndblab.error import LabError

PACKAGE = "ndblab.experiments"
OWN = "NDBLAB_EXPERIMENTS"
"""Environment variable with the user's own folders; programs that the lab starts inherit it."""
T = TypeVar("T")


def add(folder: str | Path) -> str:
    """Add a folder of the user's own; return the name of its package.

    LabError if it holds no experiment, or has the name of one of the lab's.
    """
    place = Path(folder).resolve()
    if not (place / "experiment.py").is_file():
        raise LabError(
            "This folder is no experiment",
            found=f"{place} without experiment.py",
            expected="a folder with experiment.py and a notebook",
            next_step=f"Write one with ./lab new {place.name or 'mine'}",
        )
    if not place.name.isidentifier() or place.name in names():
        raise LabError(
            "A folder of this name cannot be an experiment of its own",
            found=place.name,
            expected="letters, digits and underscores, and no name of the lab's own folders",
            next_step="Rename the folder.",
        )
    known = _own()
    if place not in known:
        os.environ[OWN] = os.pathsep.join(map(str, (*known, place)))
        modules.cache_clear()
    return place.name


def folder(module: ModuleType) -> Path:
    """Return the folder of a module that was found."""
    return Path(str(module.__file__)).parent


def file(name: str) -> Path | None:
    """Return the file of this name that an experiment's folder holds, such as a script."""
    places = (*map(_root().joinpath, names()), *_own())
    return next((place / name for place in places if (place / name).is_file()), None)


@functools.cache
def modules(part: str) -> tuple[ModuleType, ...]:
    """Import the modules of this name, of every folder that has one.

    LabError if a module of the user's own cannot be imported.
    """
    imported = [_imported(f"{PACKAGE}.{name}.{part}") for name in names() if _has(name, part)]
    for place in _own():
        _make_package(place)
        if (place / f"{part}.py").is_file():
            imported.append(_imported(f"{PACKAGE}.{place.name}.{part}", place / f"{part}.py"))
    return tuple(imported)


def named(known: dict[str, T], *names: str) -> Callable[[T], T]:
    """Return a decorator by which a function in such a module becomes `known` by these names."""

    def enter(function: T) -> T:
        known.update(dict.fromkeys(names, function))
        return function

    return enter


@functools.cache
def names() -> tuple[str, ...]:
    """Return the names of the folders of the lab's own experiments."""
    return tuple(sorted(name for _, name, _ in pkgutil.iter_modules([str(_root())])))


def _root() -> Path:
    return Path(__file__).with_name("experiments")


def _has(name: str, part: str) -> bool:
    place = _root() / name / part
    return place.with_suffix(".py").is_file() or (place / "__init__.py").is_file()


def _own() -> tuple[Path, ...]:
    return tuple(Path(place) for place in os.environ.get(OWN, "").split(os.pathsep) if place)


def _make_package(place: Path) -> None:
    """Make a package of a folder, so that its modules can import each other."""
    name = f"{PACKAGE}.{place.name}"
    if name not in sys.modules:
        package = ModuleType(name)
        package.__path__ = [str(place)]
        sys.modules[name] = package


def _imported(name: str, own: Path | None = None) -> ModuleType:
    try:
        return importlib.import_module(name)
    # Whatever the user's own module does wrong, it is said in one message.
    except Exception as error:
        if own is None or isinstance(error, LabError):
            raise
        raise LabError(
            f"{own} cannot be imported",
            found=f"{type(error).__name__}: {error}",
            next_step="Mend the file; its first lines should import only what it uses.",
        ) from error
