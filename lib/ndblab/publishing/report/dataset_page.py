"""A dataset's page: its facts, its runs, and its files to download.

It changes no byte of what was measured; large tables are compressed, configs also shown.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ndblab.dataset import Dataset, sealed
from ndblab.dataset.column import PACKINGS
from ndblab.dataset.schema import SCHEMAS, file_name
from ndblab.dataset.sealed import ARCHIVE, CONFIG, MANIFEST, read_bytes, sha256
from ndblab.error import LabError
from ndblab.formatting import exact
from ndblab.publishing.report import page
from ndblab.publishing.report.section import Section
from ndblab.statistics import ratio_tables

if TYPE_CHECKING:
    import pandas as pd

LARGE_BYTES = 20_000
MOST_BYTES = 200_000
"""Larger files stay in the dataset's folder, so that a site can be mailed."""
_PREVIEW_ROWS = 3
_RUN_COLUMNS = {
    "run_id": "Run", "status": "Status", "servers": "Servers", "clients": "Clients",
    "transporter": "Transporter", "workload": "Workload", "variant": "Variant",
    "qps": "Queries/s", "latency_p95_ms": "p95, ms", "started_utc": "Started",
}  # fmt: skip


@dataclass(frozen=True)
class Download:
    """A file of the dataset; sizes in bytes, `sha256` of the file as measured.

    `place` is where it is in the site; empty if it is too large for the site.
    """

    name: str
    place: str
    raw_bytes: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Table:
    """A table of the dataset: what it is, and its first rows."""

    download: Download
    what: str
    frame: pd.DataFrame

    @property
    def name(self) -> str:
        return self.download.name.partition(".")[0]

    @property
    def preview(self) -> list[tuple]:
        rows = self.frame.head(_PREVIEW_ROWS).itertuples(index=False, name=None)
        return [tuple("" if value != value else value for value in row) for row in rows]


def facts(dataset: Dataset) -> dict[str, str]:
    """Describe in a few words where a dataset comes from."""
    manifest = dataset.manifest
    return {
        "host": dataset.describe_host(),
        "software": ", ".join(f"{name} {value}" for name, value in manifest["versions"].items()),
        "budget": dataset.budget,
        "measured": page.times(manifest["started_utc"], manifest["finished_utc"]),
        "runs": f"{len(dataset.runs)}, {dataset.describe_runs()}",
    }


def write(site: Path, section: Section) -> list[Table]:
    """Write the folder of a section's dataset; return its tables.

    LabError if the dataset is not complete, or a file is not the one that was measured.
    """
    dataset = section.dataset
    assert dataset is not None
    assert section.dataset_page is not None
    if not dataset.complete:
        raise LabError(
            f"The dataset {dataset.id} is not complete",
            found=dataset.manifest["status"],
            expected="complete",
            next_step="Measure it to its end, or leave it out of the report.",
        )
    folder = (site / section.dataset_page).parent
    folder.mkdir(parents=True, exist_ok=True)
    configs, logs = dataset.configs(), dataset.logs()
    others = sorted(dataset.manifest["files"].keys() - {ARCHIVE})
    tables = [
        Table(_verified(dataset, file, folder), SCHEMAS[name].about, dataset.tables[name])
        for name, file in ((name, file_name(name)) for name in SCHEMAS)
        if file in others
    ]
    tabled = {table.download.name for table in tables}
    shown = {key: value for key, value in dataset.manifest.items() if key != "files"}
    runs, slices = dataset.runs, dataset.slices
    manifest = read_bytes(dataset.path / MANIFEST)
    (folder / MANIFEST).write_bytes(manifest)
    page.write(
        site,
        section.dataset_page,
        "dataset.html.j2",
        section=section,
        facts=facts(dataset),
        details=_details(dataset.manifest),
        tables=tables,
        configs=[
            (_place(f"{CONFIG}{name}", content, folder), content.decode("utf-8", "replace"))
            for name, content in configs.items()
        ],
        others=[_verified(dataset, name, folder) for name in others if name not in tabled],
        logs=_archive(dataset, configs, logs, folder),
        log_count=len(logs),
        runs=runs[list(_RUN_COLUMNS)].rename(columns=_RUN_COLUMNS),
        contrasts=None if slices.empty else ratio_tables.of_contrasts(slices),
        manifest_text=json.dumps(shown, indent=1, ensure_ascii=False),
        manifest_bytes=len(manifest),
    )
    return tables


def _verified(dataset: Dataset, name: str, folder: Path) -> Download:
    content = sealed.read_verified(dataset.path, name, dataset.manifest)
    return _place(name, content, folder)


def _place(name: str, content: bytes, folder: Path) -> Download:
    large = len(content) > LARGE_BYTES and Path(name).suffix not in PACKINGS[1:]
    place = f"{name}.gz" if large else name
    # No time in the header, so that the same table gives the same file.
    written = gzip.compress(content, compresslevel=9, mtime=0) if large else content
    if len(written) > MOST_BYTES:
        place = ""
    else:
        file = folder / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(written)
    return Download(name, place, len(content), len(written), sha256(content))


def _archive(
    dataset: Dataset, configs: Mapping[str, bytes], logs: Mapping[str, bytes], folder: Path
) -> Download | None:
    if not (configs or logs):
        return None
    packed = read_bytes(dataset.path / ARCHIVE)
    (folder / ARCHIVE).write_bytes(packed)
    raw_bytes = sum(map(len, (*configs.values(), *logs.values())))
    return Download(ARCHIVE, ARCHIVE, raw_bytes, len(packed), sha256(packed))


def _details(manifest: Any) -> list[tuple[str, str]]:
    """Return plan and profile as pairs; what the manifest lacks is left out."""
    plan, profile = manifest["plan"], manifest["profile"]
    memory, timings = plan.get("memory") or {}, manifest.get("timings") or {}
    changed = [f"{name} {value}" for name, value in (manifest.get("overrides") or {}).items()]
    details = {
        "CPU budget": f"{plan['budget']['kind']}: {plan['budget'].get('reason', '')}",
        "Periods of CPU quotas": _periods(plan, manifest.get("lengthened_us") or {}),
        "Data nodes": _nodes(plan.get("data_nodes")),
        "MySQL servers": _nodes(plan.get("servers")),
        "Threads of a data node": _threads(plan.get("threads")),
        "DataMemory of a data node": memory.get("data_bytes") and page.size(memory["data_bytes"]),
        "DataMemory used by the rows": _filled(manifest.get("filled")),
        "Rows": "table_size" in profile
        and f"{profile['tables']} tables of {exact(profile['table_size'])} rows",
        "A run": "duration_s" in profile
        and f"{profile['duration_s']} s after {profile.get('warmup_s', 0)} s of warm-up, "
        f"seed {profile.get('seed')}",
        "Profile": " with ".join([profile["name"], *filter(None, [", ".join(changed)])]),
        "Distribution": manifest["host"].get("distribution"),
        "Start of the cluster": timings.get("cluster_start_s")
        and f"{timings['cluster_start_s']} s",
        "Git commit of the lab": manifest.get("git_commit"),
    }
    return [(name, str(value)) for name, value in details.items() if value]


def _nodes(nodes: Any) -> str | None:
    if not nodes:
        return None
    shares = {json.dumps(node.get("share"), sort_keys=True) for node in nodes}
    quota = (nodes[0].get("share") or {}).get("quota_cpus")
    limit = f", {page.number(quota)} CPUs each" if quota and len(shares) == 1 else ""
    return f"{len(nodes)}{limit}"


def _periods(plan: Any, lengthened_us: Any) -> str:
    """Say whether periods differ, and which the kernel has lengthened for slow CPUs."""
    lengthened = [
        f"{node} from {set_us / 1000:g} ms to {now_us / 1000:g} ms"
        for node, (set_us, now_us) in lengthened_us.items()
    ]
    parts = ["of a different length for each node"] if plan.get("staggered") else []
    parts += [f"lengthened by the kernel: {', '.join(lengthened)}"] if lengthened else []
    return "; ".join(parts)


def _threads(threads: Any) -> str:
    counts = {k: n for k, n in (threads or {}).items() if isinstance(n, int) and n}
    counts.pop("automatic_cpus", None)
    return ", ".join(f"{count} {kind}" for kind, count in counts.items())


def _filled(filled: Any) -> str | None:
    if not filled or not filled.get("data_memory_bytes"):
        return None
    used = filled["data_memory_bytes"].items()
    nodes = ", ".join(f"{page.size(value)} on node {node}" for node, value in used)
    return f"{nodes}, for {exact(filled['rows'])} rows"
