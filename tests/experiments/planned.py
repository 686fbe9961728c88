"""The contrasts that an experiment plans."""

from __future__ import annotations

import pandas as pd

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
