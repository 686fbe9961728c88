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


@pytest.mark.parametrize("only_lookups", [False, True])
def test_each_kind_of_table_has_its_bars(only_lookups: bool) -> None:
    """Shares are in percent; of transactions, or of single lookups where these alone were run."""
    made, local = made_up.tables(), made_up.LOCAL
    if only_lookups:
        is_lookup = made["runs"]["workload"].astype(str) == "oltp_point_select"
        made["runs"], local = made["runs"][is_lookup], dict.fromkeys(KINDS, 1.0)
    figure = figures.draw(KEY, made, [], caption())
    near_ax, local_ax, _ = figure.axes
    for ax, share in ((near_ax, made_up.NEAR), (local_ax, local)):
        wide = [bar.get_width() for bar in ax.patches]
        np.testing.assert_allclose(wide, [100 * share[kind] for kind in KINDS])
        assert ax.get_xlim()[0] == 0
        assert ax.get_xlabel().startswith("Share of ")
    assert all(kind in written(figure) for kind in ("primary replica only", "fully replicated"))
    assert title(figure).startswith("Fully replicated tables: 99 % of bytes come from the server's")
    assert outside(figure) == []


def test_each_kind_is_described() -> None:
    """Both shares of each of the eight kinds."""
    words = figures.describe(KEY, made_up.tables(), [])
    assert words.count("of rows local") == 8
    assert "Transactions of ten lookups: primary replica only: 25" in words


def test_every_swept_variant_of_the_experiment_is_drawn() -> None:
    """A variant with another name would be left out."""
    swept = {variant.name for variant in made_up.EXPERIMENT.variants if not variant.contrasts_only}
    assert swept == set(KINDS)


def test_runs_without_counters_are_refused() -> None:
    """The message says what is missing."""
    data = made_up.tables()
    data["reads"] = data["reads"].iloc[:0]
    with pytest.raises(LabError, match="nothing to draw"):
        figures.draw(KEY, data, [], caption())


def test_each_row_of_throughput_names_what_is_compared() -> None:
    """A row that points to the one above says nothing in a list that is sorted or read alone."""
    words = figures.describe(KEY, {**made_up.tables(), "slices": made_up.slices()}, [])
    assert "Read backup over primary only, with location domains" in words
    assert "The same" not in words
