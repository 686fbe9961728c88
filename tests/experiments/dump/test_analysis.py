"""Time and size of dumps. The runs are made up."""

from __future__ import annotations

import pytest

import small_runs
from experiments.dump import made_up
from ndblab.error import MissingData
from ndblab.experiments.dump import analysis as dumps
from ndblab.machine import interference as company


def test_kinds_are_averaged_with_what_compression_saves():
    """The uncompressed dump comes first; a single dump has no interval."""
    tables = small_runs.together(
        made_up.dump("zstd", 1, seconds=4, written_bytes=500_000),
        made_up.dump("zstd", 2, seconds=6, written_bytes=500_000),
        made_up.dump("none", 1, seconds=5, written_bytes=1_000_000),
    )
    means = dumps.by_compression(dumps.of(tables["runs"], tables["dumps"]))
    assert list(means["compression"]) == ["none", "zstd"]
    none, zstd = means.itertuples()
    assert (zstd.dumps, zstd.duration_s, zstd.ratio) == (2, 5, 2)
    assert zstd.low < 5 < zstd.high
    assert none.low != none.low
    assert none.mb_per_s == pytest.approx(1 / 5)


def test_failed_and_disturbed_dumps_are_left_out(monkeypatch):
    """A dump that other programs slowed down is none of this kind."""
    monkeypatch.setattr(company, "LIMIT_PCT", 5)
    tables = small_runs.together(
        made_up.dump("zstd", 1), made_up.dump("zstd", 2, status="exit status 2: lost"),
        made_up.dump("zstd", 3),
    )  # fmt: skip
    tables["runs"].loc[2, "company_pct"] = 50
    assert list(dumps.of(tables["runs"], tables["dumps"])["run_id"]) == [
        tables["runs"].loc[0, "run_id"]
    ]
    with pytest.raises(MissingData, match=r"no good dump: .* beside 1 of 2"):
        dumps.of(tables["runs"].iloc[1:], tables["dumps"])
