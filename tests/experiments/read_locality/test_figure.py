"""Read locality: ratios, and shares by kind of table. The runs are made up."""

from __future__ import annotations

import numpy as np
import pytest

from drawn import caption, outside, title, written
from experiments.read_locality import made_up
from ndblab import figures
from ndblab.error import LabError

KEY = "read-locality"
KINDS = ("primary-only", "default", "read-backup", "fully-replicated")


def test_each_kind_of_table_has_its_bars_under_each_load() -> None:
    """Shares are in percent; single lookups are all local to their transactions."""
    figure = figures.draw(KEY, made_up.tables(), [], caption())
    _, single, ten = figure.axes
    for ax, local in ((single, dict.fromkeys(KINDS, 1.0)), (ten, made_up.LOCAL)):
        wide = [bar.get_width() for bar in ax.patches if bar.get_width() > 0]
        expected = [100 * share[kind] for share in (made_up.NEAR, local) for kind in KINDS]
        np.testing.assert_allclose(sorted(wide), sorted(expected))
        assert ax.get_xlim() == (0, 100)
        assert ax.get_xlabel() == "Share, %"
    assert all(kind in written(figure) for kind in ("primary replica only", "fully replicated"))
    assert title(figure).startswith("Fully replicated tables read 99 % of bytes near")
    assert outside(figure) == []


def test_each_kind_is_described() -> None:
    """Both shares of each of the eight kinds, after the answer."""
    words = figures.describe(KEY, made_up.tables(), [])
    assert words.startswith(title(figures.draw(KEY, made_up.tables(), [], caption())))
    assert words.count("of rows local") == 8
    assert "Transactions of ten lookups: primary replica only: 25" in words


def test_every_swept_variant_of_the_experiment_is_drawn() -> None:
    """A variant with another name would be left out."""
    swept = {each.name for each in made_up.EXPERIMENT.variants if not each.contrasts_only}
    assert swept == set(KINDS)


def test_runs_without_counters_are_refused() -> None:
    """The message says what is missing."""
    data = made_up.tables()
    data["reads"] = data["reads"].iloc[:0]
    with pytest.raises(LabError, match="nothing to draw"):
        figures.draw(KEY, data, [], caption())
