"""The manifest of a dataset: where its numbers come from, and what names it.

While a dataset is unfinished, its manifest is in its journal.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ndblab.dataset import journal
from ndblab.dataset.schema import VERSION, damaged
from ndblab.dataset.sealed import MANIFEST
from ndblab.error import LabError

COMPLETE, UNFINISHED = "complete", "unfinished"
FAILED_LOADS = "failed_loads"
"""How many loads of each side of a contrast ended with errors, by its name and side."""

_NEEDED = ("dataset_id", "experiment", "status", "identity", "host", "versions", "plan", "profile")
_OTHER_FOLDER = "Give the folder of a dataset, the one that holds manifest.json."


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read a dataset's manifest and check that this lab understands it."""
    file = folder / MANIFEST
    try:
        manifest = json.loads(journal.read(folder, MANIFEST) or file.read_bytes())
    except FileNotFoundError as error:
        raise LabError(
            "This is not a dataset",
            found=f"{folder}, " + ("without a manifest" if folder.is_dir() else "not a folder"),
            expected=f"a folder with {MANIFEST}",
            next_step=_OTHER_FOLDER,
        ) from error
    except OSError as error:
        raise LabError(
            f"{file} cannot be read", found=error.strerror, next_step=_OTHER_FOLDER
        ) from error
    except ValueError as error:
        raise damaged(f"{file} is damaged", error) from error
    version = manifest.get("schema_version") if isinstance(manifest, dict) else None
    if version != VERSION:
        newer = isinstance(version, int) and version > VERSION
        raise LabError(
            f"{file} has another schema version",
            found="none" if version is None else version,
            expected=VERSION,
            next_step="Update the lab." if newer else "Measure it again with this lab.",
        )
    missing = [key for key in _NEEDED if key not in manifest]
    plan = manifest.get("plan")
    if not missing and not (isinstance(plan, dict) and "kind" in (plan.get("budget") or {})):
        missing = ["plan.budget.kind"]
    if missing:
        present = ", ".join(sorted(manifest))
        raise damaged(f"{file} lacks required entries", present, ", ".join(missing))
    return manifest


def complete_in(root: Path, folders: str = "*") -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the complete datasets below a root, each with its manifest; others are passed over."""
    for file in root.glob(f"{folders}/{MANIFEST}"):
        with suppress(LabError):
            manifest = read_manifest(file.parent)
            if manifest["status"] == COMPLETE:
                yield file.parent, manifest


def complete(root: Path | str, experiment: str, identity: Mapping[str, Any]) -> Path | None:
    """Find the newest complete dataset of an identity below a root.

    None if the newest was gone on with and interrupted: that one is resumed first.
    """
    digest = identity_hash(identity)
    newest = ("", Path(), False)
    for file in (Path(root) / experiment).glob(f"*/{MANIFEST}"):
        with suppress(LabError):
            manifest = read_manifest(file.parent)
            same = identity_hash(manifest["identity"]) == digest
            if same:
                whole = manifest["status"] == COMPLETE
                newest = max(newest, (manifest["started_utc"], file.parent, whole))
    return newest[1] if newest[2] else None


def new_manifest(
    dataset_id: str, experiment: str, identity: Mapping[str, Any], base: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the manifest of a dataset without any run."""
    return {
        "schema_version": VERSION,
        "dataset_id": dataset_id,
        "experiment": experiment,
        "status": UNFINISHED,
        "identity": dict(identity),
        "overrides": {},
        "git_commit": None,
        **base,
        "started_utc": now_utc(),
        "finished_utc": None,
        "timings": {},
        "files": {},
    }


def identity_hash(identity: Mapping[str, Any]) -> str:
    """Return the sha256 of an identity; the order of its keys does not matter."""
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def stem(experiment: str, identity: Mapping[str, Any], base: Mapping[str, Any]) -> str:
    """Name datasets of one identity: experiment, size of the host, CPU budget, profile, hash."""
    cpus = base["host"].get("cpus")
    host = f"{len(cpus)}cpu" if isinstance(cpus, list | tuple) else "host"
    budget, profile = base["plan"]["budget"]["kind"], base["profile"]["name"]
    words = (experiment, host, budget, profile, identity_hash(identity)[:8])
    return "-".join(re.sub(r"[^a-z0-9_]+", "_", w.lower()).strip("_") or "x" for w in words)


def to_json(manifest: Mapping[str, Any]) -> bytes:
    """Render a manifest as the bytes of its file."""
    return (json.dumps(manifest, indent=1, ensure_ascii=False) + "\n").encode()


def now_utc() -> str:
    """Return the current time as manifests have it."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
