"""How figures look: colours, numbers, axes."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest
import seaborn
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from ndblab.figures import style
from ndblab.figures.quantity import QPS


def test_the_palette_survives_in_grey() -> None:
    """More servers are darker by a visible step, and have another marker."""

    def lightness(servers: int) -> float:
        return float(np.dot(to_rgb(style.colour(servers)), (0.299, 0.587, 0.114)))

    steps = -np.diff([lightness(servers) for servers in (1, 2, 4, 8, 16)])
    assert steps.min() > 0.04
    assert len({style.marker(servers) for servers in (1, 2, 4, 8, 16)}) == 5


def test_thousands_are_thousands() -> None:
    """An axis that counts in thousands has 230 where the value is 230 000."""
    ax = Figure().subplots()
    QPS.vertical(ax, 230_000)
    assert ax.get_ylabel() == "Throughput, thousand queries/s"
    assert ax.yaxis.get_major_formatter()(230_000) == "230"


def test_ticks_have_all_their_digits() -> None:
    """A tick at 1.025 is not labelled 1.02, nor one at 112 500 in thousands 112."""
    ax = Figure().subplots()
    QPS.vertical(ax, 1.05)
    assert ax.yaxis.get_major_formatter()(1.025) == "1.025"
    QPS.vertical(ax, 225_000)
    assert ax.yaxis.get_major_formatter()(112_500) == "112.5"


def test_the_theme_is_seaborns() -> None:
    """Figures look as seaborn draws them for papers: grid, ticks, labels and patches."""
    theme = {**seaborn.axes_style("whitegrid"), **seaborn.plotting_context("paper")}
    ours = {**matplotlib.rcParamsDefault, **style.RC}
    for key in (
        "axes.axisbelow", "axes.facecolor", "axes.grid", "axes.labelsize", "axes.linewidth",
        "grid.linestyle", "legend.title_fontsize", "lines.solid_capstyle", "patch.force_edgecolor",
        "patch.linewidth", "xtick.bottom", "xtick.direction", "xtick.labelsize", "xtick.major.size",
        "ytick.direction", "ytick.labelsize", "ytick.left", "ytick.major.size",
    ):  # fmt: skip
        assert ours[key] == (
            pytest.approx(theme[key]) if isinstance(theme[key], float) else theme[key]
        ), key
