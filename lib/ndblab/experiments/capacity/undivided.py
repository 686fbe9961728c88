"""What one MySQL server and several do on CPUs that no quota divides: datasets of `costs`.

Numbers of servers are compared within one dataset only, as hosts and hours differ in speed. It
measures nothing.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from ndblab import dataset as datasets
from ndblab.dataset import Dataset
from ndblab.dataset.manifest import COMPLETE, read_manifest
from ndblab.dataset.sealed import MANIFEST
from ndblab.error import LabError, MissingData
from ndblab.formatting import count, listed, plain
from ndblab.judging import evidence
from ndblab.machine import host
from ndblab.measuring import measurement
from ndblab.statistics import cpu_use, summary

NAME = "costs"
"""The experiment that measures one MySQL server and several without quotas."""
COMMAND = f"./lab reproduce --experiment {NAME}"
_BUDGET, _TRIAL = "shared", "smoke"


@dataclass(frozen=True, eq=False)
class Undivided:
    """The throughput of each number of MySQL servers in a dataset of `costs`."""

    data: Dataset

    @cached_property
    def tops(self) -> pd.DataFrame:
        """Best throughput of each number of servers, the fewest first: `summary.peaks`."""
        return summary.peaks(summary.points(summary.select(self.data.runs)))

    @property
    def best(self) -> Any:
        """The fewest servers whose best throughput is within 3 % of the best: a row of `tops`."""
        enough = self.tops["qps_mean"] >= (1 - summary.FLAT) * self.tops["qps_mean"].max()
        return next(self.tops[enough].itertuples())

    @property
    def cpus(self) -> float:
        """Logical CPUs that the lab could use on its host."""
        return evidence.usable_cpus(self.data.host)

    @cached_property
    def data_nodes_share(self) -> float:
        """The data nodes' part of the CPU time of a query: median over runs of several servers.

        NaN if it was not recorded.
        """
        runs = summary.good(summary.select(self.data.runs))
        several = runs[runs["servers"] > 1]
        if several.empty:
            return math.nan
        with contextlib.suppress(MissingData):
            us = cpu_use.serving_us_by_role(several, self.data.processes)
            return float((us["ndbmtd_us"] / us.sum(axis=1, skipna=False)).median())
        return math.nan

    def beats(self, divided_qps: float | None) -> bool:
        """Return whether its best is no less than a division is predicted to do there, if known."""
        return divided_qps is None or bool(self.best.qps_mean >= divided_qps)

    def advice(self, divided_qps: float | None = None) -> dict[str, str]:
        """Advise for its own host, in facts by name.

        Parameters
        ----------
        divided_qps : predicted for the best division of the same host; None if that is unknown.
        """
        best = self.best
        advice = f"{count(best.servers, 'MySQL server')} with {count(best.knee_clients, 'client')}"
        advice += ", and CPUs that are not divided"
        why = f". The fewest servers within 3 % of the best are advised{self._agreement}"
        if best.servers == self.tops["servers"].max():
            why += "; more servers were not measured"
        if divided_qps is not None:
            divided = f". The division below is predicted to do {plain(divided_qps)}"
            if self.beats(divided_qps):
                why += divided
            else:
                advice, why = "the division below", divided
        return {"advice": advice, "because": f"{self._words}{why}", "measured on": self._source}

    def advice_elsewhere(self, known: bool) -> dict[str, str]:
        """Advise for a host where nothing was measured without quotas, in facts by name.

        `known` says whether this dataset is of as many CPUs, and so worth telling.
        """
        facts = {"advice": f"first measure there whether dividing the CPUs pays: {COMMAND}"}
        return facts | ({"another host": f"{self._words}: {self._source}"} if known else {})

    @property
    def _words(self) -> str:
        """Say what each number of servers did at best."""
        first, *others = self.tops.itertuples()
        rates = [f"{count(first.servers, 'server')} did {plain(first.qps_mean)} queries/s at best"]
        rates += [f"{top.servers} did {plain(top.qps_mean)}" for top in others]
        return f"without quotas {listed(rates)}"

    @property
    def _agreement(self) -> str:
        """Say in how many recordings the same number of servers is best; empty if there is one."""
        alike = [Undivided(data).best.servers == self.best.servers for data in self.data.earlier]
        same = f"the same number in {1 + sum(alike)} of {1 + len(alike)} recordings"
        return f", {same}" if alike else ""

    @property
    def _source(self) -> str:
        machine = host.from_dict(dict(self.data.host))
        return f"{machine.describe()}, dataset {self.data.id}"


def same_host(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two descriptions may be of one host; a newer kernel makes no other of it."""
    a, b = (host.from_dict(dict(known)).fingerprint | {"kernel": ""} for known in (one, other))
    return a == b


def measured_on(described: Mapping[str, Any]) -> Dataset | None:
    """Return the newest dataset of `costs` in data/runs that was measured on a host.

    It must be complete, of a single host and of undivided CPUs, and no short trial; None if there
    is no such dataset.
    """
    known = []
    for file in (measurement.RUNS / NAME).glob(f"*/{MANIFEST}"):
        # One that cannot be read is passed over.
        with contextlib.suppress(LabError):
            manifest = read_manifest(file.parent)
            if (
                manifest["status"] == COMPLETE
                and manifest["plan"]["budget"]["kind"] == _BUDGET
                and manifest["profile"]["name"] != _TRIAL
                and not manifest.get("hosts")
                and same_host(manifest["host"], described)
            ):
                known.append((manifest["started_utc"], file.parent))
    return datasets.read(max(known)[1]) if known else None


def trial(servers: int, clients: int) -> list[str]:
    """Return the lines that end with the command that tries one server against several."""
    many = max(int(servers), 2)
    command = f"./lab compare servers=1 servers={many} --clients {max(int(clients), many)}"
    return ["Try it on that host, on CPUs that are not divided:", f"  {command}"]
