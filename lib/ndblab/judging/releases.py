"""The releases of RonDB that claims compare, and whether a dataset has measured them."""

from __future__ import annotations

from collections.abc import Mapping

from ndblab.install.binaries import product, rondb_series

NEEDED = {"rondb-2021-07": ((21, 4), (21, 10)), "rondb-2024-05": ((21, 4), (22, 10))}
"""By source, the series of the first and of the second release."""


def in_words(source: str) -> str:
    """Return the releases that a source compares: "RonDB 21.04 and 21.10"."""
    return "RonDB " + " and ".join(f"{year}.{month:02d}" for year, month in NEEDED[source])


def are_measured(source: str, versions: Mapping[str, str]) -> bool:
    """Return whether a dataset compares the releases of a source.

    Parameters
    ----------
    versions : from its manifest; the names of the second engine's begin with "second_".
    """
    series = tuple(rondb_series(versions.get(name, "")) for name in ("ndb", "second_ndb"))
    return series == NEEDED[source]


def engines(versions: Mapping[str, str]) -> tuple[str, str]:
    """Name the two engines of a dataset, by the versions of its manifest."""
    first, second = (versions.get(name, "") for name in ("ndb", "second_ndb"))
    return product(first), product(second)
