"""Queries per second by clients, one line a variant."""

import seaborn.objects as so

from ndblab.figures.entry import Entry


def paint(figure, tables, anchors, caption):
    """Draw the mean and the range of the runs of each point; return notes for the caption."""
    plot = so.Plot(tables["runs"], x="clients", y="qps", color="variant", marker="variant")
    plot = plot.add(so.Line(pointsize=5), so.Agg()).add(so.Range(), so.Est(errorbar=("pi", 100)))
    plot.scale(x="log").label(x="Clients", y="Queries/s").on(figure).plot()
    return ["Lines: means; bars: all runs of a point."]


def describe(tables, anchors):
    """Return what the figure shows, in words."""
    best = tables["runs"].groupby("variant", observed=True)["qps"].max()
    return [f"{name}: at most {qps:.0f} queries/s." for name, qps in best.items()]


FIGURES = {"@NAME@": Entry("@QUESTION@", paint, describe)}
