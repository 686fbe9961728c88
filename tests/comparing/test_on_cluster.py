"""Two sides compared for real."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import OWN_PORT
from ndblab import dataset
from ndblab.comparing import comparison
from ndblab.machine import host
from ndblab.measuring import measurement


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the datasets go; the cluster is in a folder of its own."""
    monkeypatch.setenv("NDBLAB_CLUSTER_DIR", str(tmp_path / "cluster"))
    monkeypatch.setattr(measurement, "RUNS", tmp_path / "runs")
    return tmp_path / "runs"


def compare(*words: str, **options: object) -> tuple[str, int]:
    """Compare briefly: with small tables and short slices."""
    return comparison.compare(words, profile="smoke", port=OWN_PORT, **options)


@pytest.mark.slow
@pytest.mark.cluster
def test_a_planted_difference_is_found_on_a_real_cluster(runs: Path) -> None:
    """Data nodes with a tenth of the CPUs against half; the same command then only reads."""
    if host.read().cpu_controller.kind not in ("cgroup1", "cgroup2"):
        pytest.skip("no CPU quotas here")
    words = ("data_nodes=10%", "data_nodes=50%")
    text, status = compare(*words, minutes=4)
    assert status == 0, text
    assert "% faster (" in text
    assert "1 cluster start" in text
    [folder] = (runs / "compare").glob("compare-*")
    blocks = dataset.read(folder).slices["block"].max()
    again, status = compare(*words, minutes=4, as_json=True)
    assert '"outcome": "faster"' in again
    assert dataset.read(folder).slices["block"].max() == blocks


@pytest.mark.slow
@pytest.mark.cluster
def test_a_setting_is_switched_and_read_back_on_a_real_cluster(runs: Path) -> None:
    """Under one cluster start, by either side in turn; what was shown is in the dataset."""
    compare("ndb_batch_size=64K", minutes=1)
    [folder] = (runs / "compare").glob("compare-*")
    data = dataset.read(folder)
    shown = [seen["ndb_batch_size"] for seen in data.manifest["set_global"]]
    assert shown == ["65536", "32768"]
    assert set(data.slices["start"]) == {1}
    assert set(data.slices["variant"]) == {"default", "b"}
