"""A capacity model fitted to one dataset and compared with another: the tables that are shown.

The two datasets may be the same. Each table is computed on first use, and cached.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import numpy as np
import pandas as pd

from ndblab import dataset as datasets
from ndblab.dataset import Dataset
from ndblab.design.catalogue import find
from ndblab.error import LabError
from ndblab.experiments.capacity import brief_server, choice, comparison, demands, model, network
from ndblab.judging import evidence
from ndblab.measuring import recorded
from ndblab.statistics import summary

EARLIER_SWEEPS = ((30, 0.151), (3, 0.394), (1, 0.472))
"""Points of each earlier sweep, on another host, and how much their means deviated from the
prediction: root mean square, in logarithms of throughput. It includes the drift of a host between
two sweeps, the difference between two clusters, and the model's own error."""
CLIENTS_PER_SERVER = 16
"""For utilisation against servers: enough to saturate one server, and measured with every number of
servers of the recorded sweep."""


@dataclass(frozen=True, eq=False)
class Forecast:
    """A model of the runs with one server in `fitted`, applied to the points of `tested`."""

    fitted: Dataset
    tested: Dataset

    @cached_property
    def shares(self) -> model.Shares:
        """Logical CPUs that each part of the cluster may use."""
        return model.shares(self.fitted.manifest["plan"], evidence.usable_cpus(self.fitted.host))

    @cached_property
    def fitted_runs(self) -> pd.DataFrame:
        """The good runs of one server in the fitted dataset."""
        return summary.good(demands.alone(self.fitted))

    @cached_property
    def demands(self) -> pd.DataFrame:
        """CPU use of the fitted runs: rows of `demands.measured`."""
        return demands.of_one_server(self.fitted)

    @cached_property
    def tested_demands(self) -> pd.DataFrame:
        """CPU use of the runs of the tested dataset: rows of `demands.measured`."""
        return demands.of_runs(self.tested, summary.select(self.tested.runs))

    @cached_property
    def model(self) -> model.Model:
        """The model, fitted to the runs with one server."""
        return model.fit(demands.by_run(self.demands), self.shares)

    @cached_property
    def laws(self) -> pd.DataFrame:
        """The fitted laws: CPU time per query in us, and how it changes with clients per server."""
        rows = {part: dataclasses.asdict(law) for part, law in self.model.laws.items()}
        table = pd.DataFrame.from_dict(rows, orient="index").loc[list(demands.PARTS)]
        return table.replace(np.inf, np.nan).dropna(axis="columns", how="all")

    @cached_property
    def demand_table(self) -> pd.DataFrame:
        """CPU time per query in us, measured with one server: clients down, parts across."""
        wide = self.demands.pivot_table(index="clients", columns="resource", values="demand_us")
        wide = wide.reindex(columns=list(demands.PARTS))
        return wide.assign(all=wide.sum(axis=1))

    @cached_property
    def little(self) -> pd.DataFrame:
        """Little's law checked on every run of both datasets."""
        both = [self.fitted] if self.tested is self.fitted else [self.fitted, self.tested]
        tables = {data.id: demands.little(summary.select(data.runs)) for data in both}
        return pd.concat(tables, names=["dataset"]).reset_index("dataset").reset_index(drop=True)

    @cached_property
    def alone(self) -> pd.DataFrame:
        """Measured means of one server in the fitted dataset: `summary.points`."""
        return summary.points(self.fitted_runs)

    @cached_property
    def points(self) -> pd.DataFrame:
        """Measured means of the tested dataset, without idle servers: `summary.points`."""
        runs = summary.select(self.tested.runs)
        points = summary.points(runs[runs["clients"] >= runs["servers"]])
        return points[points["qps_mean"].notna()].reset_index(drop=True)

    @cached_property
    def several(self) -> pd.DataFrame:
        """Measured means with several servers, which the model was not fitted to.

        LabError if there are none.
        """
        several = self.points[self.points["servers"] > 1].reset_index(drop=True)
        if several.empty:
            raise LabError(
                "There is nothing to compare the model with",
                found=f"no good run of several MySQL servers in {self.tested.id}",
                expected="a sweep over servers",
                next_step="Measure one: ./lab reproduce --experiment multi-server-scaling",
            )
        return several

    @cached_property
    def predicted(self) -> pd.DataFrame:
        """Every measured point, predicted at the speed of the fitted runs: `predict`."""
        return self.predict(self.points)

    def predict(self, points: pd.DataFrame) -> pd.DataFrame:
        """Predict points on the host of the fitted dataset: `model.with_intervals`.

        The intervals allow for the unknown speed of the host: `EARLIER_SWEEPS`. The p95 is by the
        method of `methods`: `choice.with_p95`.
        """
        weights, deviations = np.array(EARLIER_SWEEPS).T
        beyond = float(np.sqrt(np.average(deviations**2, weights=weights)))
        runs = demands.by_run(self.demands)
        table = model.with_intervals(runs, self.shares, points, beyond)
        by = methods()["latency_p95_ms"]
        return choice.with_p95(table, by, self.demands, self.fitted_runs, self.shares)

    @cached_property
    def predictions(self) -> pd.DataFrame:
        """Throughput and p95 predicted for the points of several servers, by every method."""
        points = self.several
        others = comparison.simpler(self.demands, self.fitted_runs, self.shares, points)
        own = model.predict(self.model, points).assign(name=comparison.MODEL)
        return pd.concat([own[list(others)], others], ignore_index=True)

    @cached_property
    def errors(self) -> pd.DataFrame:
        """Errors of each method, point by point: `comparison.errors`."""
        return comparison.errors(self.predictions, self.several)

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        """Errors of each method, summarised: `comparison.verdicts`."""
        return comparison.verdicts(self.errors)

    @cached_property
    def apart(self) -> pd.DataFrame:
        """How far one server in the fitted sweep was from one in the tested: `comparison.errors`.

        The fitted means stand where predictions do: even who knows one server exactly, in another
        hour, is off by this. Empty if the tested dataset has no run of one server.
        """
        means = {f"{metric}_mean": metric for metric in comparison.GOAL_PCT}
        alone = self.alone.rename(columns=means).assign(name=comparison.ONE_SERVER)
        return comparison.errors(alone, self.points[self.points["servers"] == 1])

    @cached_property
    def coverage(self) -> pd.DataFrame:
        """How many runs of several servers are within the 95 % intervals: `comparison.coverage`."""
        runs = summary.good(summary.select(self.tested.runs))
        return comparison.coverage(self.predicted, runs[runs["servers"] > 1])

    @cached_property
    def bounds(self) -> pd.DataFrame:
        """Bounds of one server against clients, and the model's own prediction.

        It has `clients`, `qps_least`, `qps_most`, `qps`, `latency_least_ms`, `latency_most_ms`,
        `latency_avg_ms`, `bottleneck`, `balanced` (number of clients that would just saturate the
        bottleneck if none of them waited).
        """
        most = self.model.clients_per_server[1]
        clients = np.geomspace(1, most, 120).round().astype(int)
        measured = self.alone["clients"].astype(int)
        clients = np.union1d(clients, measured[measured <= most])
        points = pd.DataFrame({"servers": 1, "clients": clients})
        asked = self.model.network(points["servers"], clients)
        least, most_qps = network.bounds(asked, clients)
        return model.predict(self.model, points).assign(
            qps_least=least,
            qps_most=most_qps,
            latency_least_ms=1000 * clients / most_qps,
            latency_most_ms=1000 * clients / least,
            balanced=asked.least_us * asked.bound_qps / network.SECOND_US,
        )

    @cached_property
    def balance(self) -> pd.DataFrame:
        """Where the bounds of one server meet (N*): one row, `clients`, `qps`, `bottleneck`.

        Source: Lazowska and others 1984, "Quantitative System Performance", chapter 5. Empty if
        even the most clients do not saturate the bottleneck.
        """
        reached = self.bounds[self.bounds["clients"] >= self.bounds["balanced"]].head(1)
        facts = {"clients": reached["balanced"], "qps": reached["qps_most"]}
        return pd.DataFrame(facts | {"bottleneck": reached["bottleneck"]}).reset_index(drop=True)

    @cached_property
    def use(self) -> pd.DataFrame:
        """Predicted utilisation against servers, each with `CLIENTS_PER_SERVER` clients."""
        most = max(int(self.points["servers"].max()), 1)
        servers = np.unique(np.geomspace(1, most, 40).round()).astype(int)
        points = pd.DataFrame({"servers": servers, "clients": servers * CLIENTS_PER_SERVER})
        taken = comparison.cpus(self.model, model.predict(self.model, points))
        return comparison.utilisation(taken, self.shares)

    @cached_property
    def measured_use(self) -> pd.DataFrame:
        """Measured utilisation of the points with `CLIENTS_PER_SERVER` clients per server."""
        table = self.tested_demands
        here = table["clients"] == table["servers"] * CLIENTS_PER_SERVER
        return comparison.utilisation(table[here], self.shares)

    @cached_property
    def beyond_laws(self) -> pd.DataFrame:
        """Demands of the tested dataset in excess of the laws: `comparison.beyond_laws`."""
        return comparison.beyond_laws(self.model, self.tested_demands)

    @cached_property
    def brief_predicted(self) -> pd.DataFrame:
        """Predictions for the brief's server."""
        return brief_server.predicted()


def of(fitted: Dataset, tested: Dataset | None = None) -> Forecast:
    """Fit a model to the runs of one server in a dataset, for comparison with another, or itself.

    LabError if no model can be fitted, a cluster is spread over several hosts, or the datasets
    differ in CPU budget or logical CPUs.
    """
    own = Forecast(fitted, fitted if tested is None else tested)
    for data in (own.fitted, own.tested):
        if hosts := data.manifest.get("hosts"):
            raise LabError(
                "The capacity model describes a cluster on one host",
                found=f"{data.id}, measured over {len(hosts)} hosts",
                expected="a sweep on one host",
                next_step=demands.MEASURE,
            )
    kinds = [
        f"budget {data.budget} and {evidence.usable_cpus(data.host):g} logical CPUs"
        for data in (own.fitted, own.tested)
    ]
    if kinds[0] != kinds[1]:
        raise LabError(
            "A model of one cluster cannot be compared with runs of another",
            found=f"{kinds[1]} in {own.tested.id}",
            expected=f"{kinds[0]} as in {fitted.id}",
            next_step="Give a dataset that was measured on the same host with the same budget.",
        )
    own.model  # noqa: B018 - refuses an unfit dataset here, and not on first use of some table
    return own


@functools.cache
def obtain(fitted: str = "recorded", tested: str = "recorded") -> Forecast:
    """Fit the capacity model to one dataset and compare it with another.

    They are folders of datasets, which may be the same; "recorded" stands for the recorded sweeps
    of one MySQL server and of several that are nearest to each other in time. LabError if a dataset
    cannot be read, or no model can be fitted to it.
    """
    one, many = find("capacity-model").reads
    if tested != "recorded":
        data = recorded.obtain(one) if fitted == "recorded" else datasets.read(fitted)
        return of(data, None if tested == fitted else datasets.read(tested))
    ones = recorded.of_sweep(one) if fitted == "recorded" else [datasets.read(fitted)]
    return of(*_nearest(ones, recorded.of_sweep(many)))


@functools.cache
def methods() -> dict[str, str]:
    """Return the method by which the lab predicts each metric: `choice.in_use`.

    It is chosen by the recorded sweep of several servers, predicted from the recorded sweep of one
    and from its own runs of one.
    """
    own = obtain()
    return choice.in_use([own.verdicts, of(own.tested).verdicts])


def _nearest(ones: Sequence[Dataset], others: Sequence[Dataset]) -> tuple[Dataset, Dataset]:
    """Return the recordings, one of each, that began nearest to each other in time.

    The speed of a virtual machine differs from day to day, which a model of one hour cannot know.
    """

    def began(recording: Dataset) -> datetime:
        return datetime.fromisoformat(recording.manifest["started_utc"])

    return min(
        itertools.product(ones, others), key=lambda both: abs(began(both[0]) - began(both[1]))
    )
