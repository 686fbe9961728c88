"""How figures look: colours, numbers, axes, and nothing of the user's own settings."""

from __future__ import annotations

import matplotlib
import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import small_runs
from drawn import caption, outside
from ndblab import figures
from ndblab.figures import curves, forest, style
from ndblab.figures.quantity import QPS


def test_the_palette_survives_in_grey() -> None:
    """More servers are darker by a visible step, and have another marker."""

    def lightness(servers: int) -> float:
        return float(np.dot(to_rgb(style.colour(servers)), (0.299, 0.587, 0.114)))

    steps = -np.diff([lightness(servers) for servers in (1, 2, 4, 8, 16)])
    assert steps.min() > 0.04
    assert len({style.marker(servers) for servers in (1, 2, 4, 8, 16)}) == 5


def test_ticks_have_all_their_digits_in_thousands_too() -> None:
    """A tick at 1.025 is not labelled 1.02, nor one at 112 500 in thousands 112."""
    ax = Figure().subplots()
    QPS.vertical(ax, 1.05)
    assert ax.yaxis.get_major_formatter()(1.025) == "1.025"
    QPS.vertical(ax, 225_000)
    assert ax.get_ylabel() == "Throughput, thousand queries/s"
    assert ax.yaxis.get_major_formatter()(112_500) == "112.5"


def test_the_settings_of_the_user_do_not_leak_in() -> None:
    """A matplotlibrc with TeX, dark axes and dashed lines leaves figures as they are."""
    runs = small_runs.tables("r1", servers=1, clients=4, qps=900.0)["runs"]

    def drawn() -> bytes:
        figure = figures.draw("6", {"runs": runs}, [], caption())
        assert outside(figure) == []
        return bytes(figure.canvas.buffer_rgba())

    theirs = {
        "text.usetex": True, "axes.facecolor": "black", "lines.linestyle": "--", "font.size": 30,
        "text.color": "red", "axes.grid": False, "axes.formatter.use_locale": True,
    }  # fmt: skip
    plain = drawn()
    with matplotlib.rc_context(theirs):
        assert drawn() == plain
        assert matplotlib.rcParams["axes.facecolor"] == "black"


def test_labels_of_lines_that_end_together_stand_apart() -> None:
    """They keep their order, and move no further than they must."""
    places = curves.spread_out([0.2, 0.5, 0.5, 0.51], 0.1)
    assert np.diff(places).min() > 0.0999
    assert places[0] == 0.2


def test_changes_are_said_as_people_say_them() -> None:
    """Less than double in percent, more than that in times."""
    said = [forest.change(ratio) for ratio in (0.89, 1.13, 1.001, 2.4)]
    assert said == ["11 % less", "13 % more", "1 % or less apart", "2.4 times"]
