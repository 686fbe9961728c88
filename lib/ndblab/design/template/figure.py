"""Queries per second by clients, one line a variant; the answer is the title."""

import seaborn.objects as so

from ndblab.figures.entry import Entry
from ndblab.figures.sheet import Head


def paint(figure, tables, anchors, caption):
    """Draw the mean and the range of the runs of each point."""
    plot = so.Plot(tables["runs"], x="clients", y="qps", color="variant", marker="variant")
    plot = plot.add(so.Line(pointsize=5), so.Agg()).add(so.Range(), so.Est(errorbar=("pi", 100)))
    plot.scale(x="log").label(x="Clients", y="Queries/s").on(figure).plot()
    return Head(describe(tables, anchors)[0], ["Lines: means; bars: all runs of a point."])


def describe(tables, anchors):
    """Return what the figure shows, in words, the answer first."""
    best = tables["runs"].groupby("variant", observed=True)["qps"].max()
    return [f"Best: {', '.join(f'{name} {qps:.0f}' for name, qps in best.items())} queries/s."]


FIGURES = {"@NAME@": Entry("@QUESTION@", paint, describe)}
