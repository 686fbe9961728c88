"""A method that overrides another takes every call that the other takes."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator

import pytest

import ndblab
from ndblab.attach.cluster import Attached
from ndblab.cluster.cluster import Cluster


def _overriding() -> Iterator[tuple[Callable, Callable]]:
    """Yield every method of the library that overrides one of the library, and that one."""
    for module in pkgutil.walk_packages(ndblab.__path__, "ndblab."):
        for _, one in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if one.__module__ != module.name:
                continue
            for name, method in vars(one).items():
                if name.startswith("__") or not inspect.isfunction(method):
                    continue
                for base in one.__mro__[1:]:
                    if base.__module__.startswith("ndblab.") and inspect.isfunction(
                        over := vars(base).get(name)
                    ):
                        yield method, over


METHODS = list(_overriding())


def test_methods_that_override_are_found():
    assert (Attached.connect, Cluster.connect) in METHODS


@pytest.mark.parametrize(
    ("method", "over"), METHODS, ids=[method.__qualname__ for method, _ in METHODS]
)
def test_a_method_takes_every_call_of_the_one_that_it_overrides(method, over):
    own, *parameters = inspect.signature(over).parameters.values()
    plain = [one for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
    required = [one for one in plain if one.default is one.empty]
    taken = inspect.signature(method)
    taken.bind(own, *required)
    taken.bind(own, *plain)
    taken.bind(own, **{one.name: one for one in plain})
