"""What the brief published, and whether it adds up."""

from __future__ import annotations

from ndblab.design.experiment import Experiment

EXPERIMENTS = (
    Experiment(
        "the-brief",
        "What did the brief publish, and does it add up?",
        "00_the_brief.ipynb",
        figures=("2", "3"),
        tables=("1", "2"),
        claims=(),
    ),
)
