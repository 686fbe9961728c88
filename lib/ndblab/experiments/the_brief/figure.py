"""Figures 2 and 3 of the brief, drawn from a plan."""

from __future__ import annotations

from ndblab.experiments.the_brief import figure_2_cluster_box, figure_3_cpu_allocation
from ndblab.figures.entry import PLAN, Entry

FIGURES = {
    "2": Entry(
        "What runs where, and how is it connected?",
        figure_2_cluster_box.paint, figure_2_cluster_box.describe, (), PLAN, 6.5,
    ),
    "3": Entry(
        "Which logical CPUs does each process get?",
        figure_3_cpu_allocation.paint, figure_3_cpu_allocation.describe, (), PLAN,
    ),
}  # fmt: skip
