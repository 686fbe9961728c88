"""Simulated points, kept on disk: a page, its figures and the terminal ask for the same ones.

In: a model and points. Out: what `capacity.simulation` gives for them. There is a file for all
points of a model, named after everything that they depend on, the code included. Where the cache
cannot be written, nothing is kept.
"""

from __future__ import annotations

import fcntl
import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import metadata
from io import BytesIO, FileIO
from pathlib import Path

import pandas as pd

from ndblab import capacity, install
from ndblab.analysis import estimate
from ndblab.capacity import simulation
from ndblab.capacity.model import Model

_KEYS = ["servers", "clients"]
_LIBRARIES = ("ciw", "numpy", "scipy")


def simulate(
    model: Model,
    points: pd.DataFrame,
    window_s: float | None,
    progress: Callable[[Iterable], Iterable] = iter,
) -> pd.DataFrame:
    """Give `simulation.simulate` of points; those that were simulated before are read."""
    with _file(_name(model, window_s)) as file:
        known = _read(file)
        there = pd.MultiIndex.from_frame(known[_KEYS]) if len(known) else []
        lacking = points[_KEYS].drop_duplicates()
        lacking = lacking[~pd.MultiIndex.from_frame(lacking).isin(there)]
        if len(lacking):
            made = simulation.simulate(model, lacking, window_s, progress=progress)
            known = pd.concat([known, made], ignore_index=True) if len(known) else made
            _write(file, known)
    return points[_KEYS].merge(known, on=_KEYS, how="left")


def _name(model: Model, window_s: float | None) -> str:
    """Name a model by all that its simulated points depend on, other than the point."""
    length = simulation.QUERIES, simulation.QUERIES_PER_SERVER, simulation.QUERIES_PER_CLIENT
    facts = [model, window_s, length, _code()]
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:20]


@cache
def _code() -> str:
    """Sum up what simulates: the lab's own modules and the libraries under them."""
    sources = [Path(str(estimate.__file__)), *sorted(Path(capacity.__path__[0]).glob("*.py"))]
    versions = [metadata.version(name) for name in _LIBRARIES]
    told = b"".join(source.read_bytes() for source in sources)
    return hashlib.sha256(told + repr(versions).encode()).hexdigest()


@contextmanager
def _file(name: str) -> Iterator[BytesIO | FileIO]:
    """Hold a model's file: whoever asks at the same time waits, and finds what was made."""
    folder = install.location() / "simulated"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Without a buffer, which a full disk would leave to fail once more when it is closed.
        file = (folder / f"{name}.csv").open("a+b", buffering=0)
    except OSError:
        yield BytesIO()
        return
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file


def _read(file: BytesIO | FileIO) -> pd.DataFrame:
    file.seek(0)
    data = file.read() or b""
    # What a killed writer, or a full disk, left half-written is simulated anew.
    if not data.endswith(b"\n"):
        return pd.DataFrame()
    return pd.read_csv(BytesIO(data), float_precision="round_trip")


def _write(file: BytesIO | FileIO, known: pd.DataFrame) -> None:
    # What does not fit is no reason to fail: the numbers are there.
    with suppress(OSError):
        file.truncate(0)
        file.write(known.to_csv(index=False).encode())
