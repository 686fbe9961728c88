"""The brief's open question: what other splits and parameters would gain.

A search chooses its variants while it measures. So `./lab tune` measures, and this experiment reads
what it confirmed.
"""

from __future__ import annotations

from ndblab.design.experiment import Experiment

EXPERIMENTS = (
    Experiment(
        "tuned",
        "Which configuration does a search find that is better than the brief's?",
        "25_tuned.ipynb",
        figures=("trade-off",),
        claims=(),
    ),
)
