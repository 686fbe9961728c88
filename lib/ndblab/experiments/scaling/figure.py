"""Figures 4 to 9 of the brief, and the split of threads."""

from __future__ import annotations

from functools import partial

from ndblab.experiments.scaling import (
    figure_4_one_server,
    figure_8_seconds,
    figures_5_9_threads,
    figures_6_7_clients,
)
from ndblab.figures import variants
from ndblab.figures.entry import Entry

FIGURES = {
    "4": Entry(
        "What limits one MySQL server, and how much CPU does it use?",
        figure_4_one_server.paint, figure_4_one_server.describe, ("runs", "processes"),
        one_workload=True,
    ),
    "5": Entry(
        "Which NDB thread is busiest under one MySQL server?",
        partial(figures_5_9_threads.paint, False), partial(figures_5_9_threads.describe, False),
        ("runs", "ndb_threads", "slices"), one_workload=True,
    ),
    "6": Entry(
        "How far does doubling the MySQL servers raise throughput?",
        partial(figures_6_7_clients.paint, figures_6_7_clients.SIX),
        partial(figures_6_7_clients.describe, figures_6_7_clients.SIX), ("runs",),
        one_workload=True,
    ),
    "7": Entry(
        "Can twice the MySQL servers serve twice the clients at the same latency?",
        partial(figures_6_7_clients.paint, figures_6_7_clients.SEVEN),
        partial(figures_6_7_clients.describe, figures_6_7_clients.SEVEN), ("runs",),
        one_workload=True,
    ),
    "8": Entry(
        "How steady are throughput and latency, second by second?",
        figure_8_seconds.paint, figure_8_seconds.describe, ("runs", "intervals"),
        one_workload=True, height_in=6.6,
    ),
    "9": Entry(
        "Which NDB thread is the bottleneck at peak throughput?",
        partial(figures_5_9_threads.paint, True), partial(figures_5_9_threads.describe, True),
        ("runs", "ndb_threads", "slices"), one_workload=True,
    ),
    "thread-balance": variants.entry("Do balanced NDB threads raise throughput?", variants.THREADS),
}  # fmt: skip
