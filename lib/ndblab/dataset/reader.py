"""The reader of datasets: it checks everything before it returns anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from ndblab.dataset import overrun, sealed
from ndblab.dataset.journal import Journal
from ndblab.dataset.manifest import COMPLETE, read_manifest
from ndblab.dataset.schema import REQUIRED, ROW_PER_RUN, SCHEMAS, damaged, file_name
from ndblab.machine import host
from ndblab.planning import workload

_SAMPLED = ("processes", "ndb_threads")
# The other tables hold no run that these lack; the rest is read on first use.
_READ_FIRST = dict.fromkeys((*ROW_PER_RUN, *REQUIRED))


class Tables(Mapping[str, pd.DataFrame]):
    """The tables of a dataset by name; those not given are read on first use."""

    def __init__(
        self, tables: Mapping[str, pd.DataFrame], read: Callable[[str], pd.DataFrame]
    ) -> None:
        self._tables, self._read = dict(tables), read

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in self._tables:
            self._tables[name] = self._read(name)
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(SCHEMAS)

    def __len__(self) -> int:
        return len(SCHEMAS)


@dataclass(frozen=True, eq=False)
class Dataset:
    """One dataset, read and checked; its tables are shared, so copy one before changing it.

    `earlier` has other recordings of its experiment that count beside it, the newest last.
    """

    path: Path
    manifest: Mapping[str, Any]
    tables: Mapping[str, pd.DataFrame] = field(repr=False)
    earlier: tuple[Dataset, ...] = field(default=(), repr=False)

    @property
    def id(self) -> str:
        """Return the dataset's unique name."""
        return str(self.manifest["dataset_id"])

    @property
    def experiment(self) -> str:
        """Return the experiment's name in the catalogue."""
        return str(self.manifest["experiment"])

    @property
    def host(self) -> Mapping[str, Any]:
        """Return the description of the host it was measured on."""
        return self.manifest["host"]

    def describe_host(self, in_short: bool = False) -> str:
        """Describe in words the host it was measured on.

        Of a cluster over several hosts it describes all, and says whether NDB's own links were
        encrypted, if that was recorded.
        """
        several, of_one = self.manifest.get("hosts", {}), self.manifest.get("namespaces")
        machine = host.from_dict(dict(self.host))
        described = machine.in_short() if in_short else machine.describe()
        if not several:
            return described
        kind = "network namespaces of one machine" if of_one else "hosts"
        if not in_short:
            names = ", ".join(f"{name} ({', '.join(of['roles'])})" for name, of in several.items())
            kind += ", which share its CPUs" if of_one else ""
            whose = "" if of_one else "the smallest of the data nodes': "
            described = f"{names}; {whose}{described}"
        links = {True: "; NDB's links encrypted", False: "; NDB's links plain text", None: ""}
        return f"{len(several)} {kind}: {described}{links[self.manifest.get('links_encrypted')]}"

    @property
    def budget(self) -> str:
        """Return how the CPUs were divided: "pinned", "scaled" or "shared"."""
        return str(self.manifest["plan"]["budget"]["kind"])

    @property
    def failed(self) -> int:
        """Return the number of runs that did not end as they should."""
        return int((~self.runs["status"].map(workload.is_good).astype(bool)).sum())

    @property
    def overran(self) -> int:
        """Return the number of runs that took longer than asked, and are averaged all the same."""
        return int(self.runs["status"].map(workload.overran).astype(bool).sum())

    def describe_runs(self) -> str:
        """Say how many runs failed, and how many overran if any did."""
        overran = f", {self.overran} overran" if self.overran else ""
        return f"{self.failed or 'none'} failed{overran}"

    @property
    def complete(self) -> bool:
        """Return whether the sweep was finished."""
        return self.manifest["status"] == COMPLETE

    def logs(self) -> dict[str, bytes]:
        """Read the raw logs, by file name."""
        return self._archived(sealed.LOGS)

    def configs(self) -> dict[str, bytes]:
        """Read the configuration exactly as it ran, by file name."""
        return self._archived(sealed.CONFIG)

    def _archived(self, inside: str) -> dict[str, bytes]:
        if self.complete:
            return sealed.read_archived(self.path, self.manifest, inside)
        with Journal(self.path) as journal:
            return journal.files(inside)

    def __getattr__(self, name: str) -> pd.DataFrame:
        """Return a table by its name: `runs`, `intervals`, ... (`schema.SCHEMAS`)."""
        if name not in SCHEMAS:
            raise AttributeError(f"a dataset has no {name}")
        return self.tables[name]


def read(path: Path | str, *, verify: bool = True) -> Dataset:
    """Read a dataset, complete or not, and check all of it.

    LabError on the first fault, naming file, line and column.

    Parameters
    ----------
    verify : also compare every file with its sha256 in the manifest.
    """
    folder = Path(path)
    manifest = read_manifest(folder)
    if manifest["status"] == COMPLETE:
        tables = {
            name: sealed.read_table(folder, name, manifest, verify=verify) for name in _READ_FIRST
        }
        if verify:
            sealed.verify(folder, manifest, besides=_READ_FIRST)
    else:
        # All at once: the journal disappears when the dataset is completed.
        with Journal(folder) as journal:
            tables = journal.tables()
    for name in tables:
        _check_runs_known(folder, name, tables)

    def later(name: str) -> pd.DataFrame:
        """Read a table on first use; its bytes were verified with those of all other files."""
        frame = sealed.read_table(folder, name, manifest, verify=False)
        _check_runs_known(folder, name, {**tables, name: frame})
        return frame

    # Older versions of the lab did not judge the runs that took longer than asked.
    runs, asked_s = tables["runs"], manifest["profile"].get("duration_s")
    if asked_s and (late := overrun.judged(runs, tables["intervals"], asked_s)):
        tables["runs"] = overrun.marked(runs, late)
        for name in _SAMPLED:
            tables[name] = overrun.within(tables[name], late)
    return Dataset(folder, manifest, Tables(tables, later))


def _check_runs_known(folder: Path, name: str, tables: Mapping[str, pd.DataFrame]) -> None:
    known = set().union(*(tables[rows]["run_id"] for rows in ROW_PER_RUN))
    if unknown := sorted(set(tables[name]["run_id"].unique()) - known):
        file = folder / file_name(name)
        raise damaged(
            f"{file} contains runs that runs.csv lacks",
            ", ".join(unknown[:5]),
            "runs of runs.csv and slices of slices.csv only",
        )
