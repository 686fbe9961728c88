"""Datasets of comparisons made up for tests, with known truths; never a measurement."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import made_up_slices
from ndblab import dataset
from ndblab.comparing import choice, made, sides
from ndblab.comparing.made import Load
from ndblab.dataset import SCHEMAS
from ndblab.design.contrast import Contrast
from ndblab.machine import host
from ndblab.planning import profile

ROOT = Path(__file__).resolve().parents[1]
HOST = host.load(ROOT / "data/brief/host.json")
_MORE = {
    "queries": 4000, "reconnects": 0, "latency_avg_ms": 1.0, "latency_p95_ms": 1.0,
    "client_cpu_pct": 5.0, "host_steal_pct": 0.0, "company_pct": 0.0, "company": "",
}  # fmt: skip


def append(
    writer: dataset.Writer, contrast: Contrast, blocks: range, faster: float, seed: int = 1
) -> None:
    """Append blocks in which B has so many times the queries/s of A, within 1 % or so."""
    last = blocks[-1]
    slices = made_up_slices.of(contrast, last, ratio=1 / faster, sd=(0.01, 0, 0), seed=seed)
    slices = slices.assign(**_MORE)[list(SCHEMAS["slices"].columns)]
    processes = made_up_slices.processes(slices, {"a": 60.0, "b": 60.0})
    for run_id, row in slices[slices["block"].isin(blocks)].groupby("run_id", sort=False):
        mine = processes[processes["run_id"] == run_id]
        writer.append(str(run_id), {"slices": row, "processes": mine})


def write(
    folder: Path,
    words: tuple[str, ...] = ("ndb_batch_size=64K",),
    *,
    faster: float = 1.05,
    blocks: int = 6,
    seed: int = 1,
    versions: Mapping[str, str] | None = None,
) -> dataset.Dataset:
    """Write a complete comparison in which B has so many times the queries/s of A.

    Parameters
    ----------
    folder : that has a folder for each experiment.
    """
    parsed = sides.parse(words)
    load = Load("oltp_point_select", 1, 16)
    experiment = made.experiment(parsed, choice.choose(parsed), load)
    size = profile.get("quick", {"servers": [1], "clients": [16]})
    [contrast] = experiment.contrasts(experiment, size, None)
    described = {
        "host": HOST.to_dict(),
        "versions": {"ndb": "9.7.4", "mysqld": "9.7.4", **(versions or {})},
        "plan": {"budget": {"kind": "shared", "reason": "asked for"}},
        "profile": vars(size),
        "overrides": {},
        "git_commit": "0" * 40,
        "asked": dict(experiment.asked),
    }
    identity = {"asked": dict(experiment.asked), "seed": seed, "versions": described["versions"]}
    with dataset.Writer.open(folder, made.NAME, identity, described) as writer:
        append(writer, contrast, range(1, blocks + 1), faster, seed)
        writer.add_config("config.ini", "[ndbd default]\n# <all>\n\nNoOfReplicas=2\n")
        writer.note(starts=1)
        return writer.finish()
