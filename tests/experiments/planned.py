"""The contrasts that an experiment plans."""

from __future__ import annotations

import pandas as pd

from ndblab.design import time_needed
from ndblab.design.contrast import Contrast
from ndblab.design.experiment import Experiment


def contrasts(
    experiment: Experiment, profile: str = "quick", points: pd.DataFrame | None = None, **size
) -> dict[str, Contrast]:
    """Return the contrasts of a profile by name; `points` are those of its sweep, if it is over."""
    points = pd.DataFrame() if points is None else points
    made = experiment.contrasts(experiment, experiment.size(profile, size), points)
    by_name = {contrast.name: contrast for contrast in made}
    assert len(by_name) == len(made)
    return by_name


def least_s(experiment: Experiment, profile: str, blocks: int) -> float:
    """Return how long a profile's sweep takes, with so many blocks of each contrast."""
    size = experiment.size(profile)
    planned = contrasts(experiment, profile).values()
    blocks_s = sum(time_needed.block_s(contrast, experiment, size) for contrast in planned)
    return time_needed.sweep_s(experiment, size) + blocks * blocks_s
