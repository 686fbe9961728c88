"""A capacity model, fitted to one dataset and held against another: tables, figures, words.

In: the two datasets, which may be one. Out: a `Forecast`. Each of its tables is computed when it is
first asked for, and kept.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ndblab.analysis import summary
from ndblab.capacity import baselines, demand, model, network, prediction_errors, simulation
from ndblab.capacity.forecast import brief_server, fitting, simulation_cache, utilisation
from ndblab.error import LabError

if TYPE_CHECKING:
    from ndblab.dataset import Dataset

CLIENTS_PER_SERVER = 16
"""At which utilisation is shown against servers: enough to use one server up, and measured with any
number of servers of the recorded sweep."""


@dataclass(frozen=True, eq=False)
class Forecast:
    """A model of the runs with one server in `fitted`, asked for the points of `tested`."""

    fitted: Dataset
    tested: Dataset

    @cached_property
    def shares(self) -> model.Shares:
        """Logical CPUs that each part of the cluster may use."""
        return fitting.shares(self.fitted)

    @cached_property
    def demands(self) -> pd.DataFrame:
        """What the runs of the fitted dataset used: rows of `demand.measured`."""
        return fitting.demands(self.fitted)

    @cached_property
    def tested_demands(self) -> pd.DataFrame:
        """What the runs of the tested dataset used: rows of `demand.measured`."""
        return self.demands if self.tested is self.fitted else fitting.used(self.tested)

    @cached_property
    def model(self) -> model.Model:
        """The model, fitted to the runs with one server."""
        return model.fit(self.demands, self.shares)

    @cached_property
    def laws(self) -> pd.DataFrame:
        """The fitted laws: CPU time a query in us, and how it changes with clients a server."""
        rows = {part: dataclasses.asdict(law) for part, law in self.model.laws.items()}
        table = pd.DataFrame.from_dict(rows, orient="index").loc[utilisation.in_order(rows)]
        return table.replace(np.inf, np.nan).dropna(axis="columns", how="all")

    @cached_property
    def demand_table(self) -> pd.DataFrame:
        """CPU time a query in us that was measured with one server: clients down, parts across."""
        alone = model.one_server(self.demands)
        wide = alone.pivot_table(index="clients", columns="resource", values="demand_us")
        wide = wide[utilisation.in_order(wide)]
        return wide.assign(all=wide.sum(axis=1))

    @cached_property
    def little(self) -> pd.DataFrame:
        """Little's law on every run of both datasets, with the dataset of each."""
        both = [self.fitted] if self.tested is self.fitted else [self.fitted, self.tested]
        tables = {data.id: demand.little(summary.select(data.runs)) for data in both}
        return pd.concat(tables, names=["dataset"]).reset_index("dataset").reset_index(drop=True)

    @cached_property
    def alone(self) -> pd.DataFrame:
        """Measured means of one server in the fitted dataset: `summary.points`."""
        return summary.points(fitting.good(fitting.alone(self.fitted)))

    @cached_property
    def points(self) -> pd.DataFrame:
        """Measured means of the tested dataset, none with idle servers: `summary.points`."""
        runs = summary.select(self.tested.runs)
        points = summary.points(runs[runs["clients"] >= runs["servers"]])
        return points[points["qps_mean"].notna()].reset_index(drop=True)

    @cached_property
    def several(self) -> pd.DataFrame:
        """Those of several servers, which the model has not seen.

        Raises
        ------
        LabError
            If there is none.
        """
        several = self.points[self.points["servers"] > 1].reset_index(drop=True)
        if several.empty:
            raise LabError(
                "There is nothing to hold the model against",
                found=f"no good run of several MySQL servers in {self.tested.id}",
                expected="a sweep over servers",
                next_step="Measure one: ./lab reproduce --experiment multi-server-scaling",
            )
        return several

    @cached_property
    def predicted(self) -> pd.DataFrame:
        """Every measured point, predicted: `model.with_intervals`."""
        return self.predict(_places(self.points))

    @cached_property
    def _drawn(self) -> model.Drawn:
        return model.drawn(self.demands, self.shares)

    def predict(self, points: pd.DataFrame) -> pd.DataFrame:
        """Predict points on the host of the fitted dataset: `model.with_intervals`."""
        return model.with_intervals(self._drawn, points)

    @cached_property
    def simulated(self) -> pd.DataFrame:
        """Every measured point, simulated for its p95: `kept.simulate`."""
        return self.simulate(self.model, _places(self.points))

    def simulate(self, own: model.Model, points: pd.DataFrame) -> pd.DataFrame:
        """Simulate points under the quota that the fitted runs show, with a progress bar."""
        return simulation_cache.simulate(own, points, self.window_s(own), progress=shown)

    def window_s(self, own: model.Model) -> float | None:
        """Window of the quota that the fitted runs show under: `simulation.window_s`."""
        runs = fitting.good(fitting.alone(self.fitted))
        return simulation.window_s(runs, own.shares.server_cpus)

    @cached_property
    def throughput(self) -> pd.DataFrame:
        """Predictions of throughput for the points of several servers, the model's and simpler."""
        points = _places(self.several)
        runs = fitting.good(fitting.alone(self.fitted))
        own = model.predict(self.model, points).assign(
            name=prediction_errors.MODEL, latency_p95_ms=np.nan
        )
        others = baselines.predict(self.demands, runs, self.shares, points)
        columns = ["name", "servers", "clients", "qps", "latency_p95_ms"]
        return pd.concat([own[columns], others[columns]], ignore_index=True)

    @cached_property
    def predictions(self) -> pd.DataFrame:
        """Predictions of throughput and p95 for the points of several servers."""
        own, others = (self.throughput["name"] == prediction_errors.MODEL), self.throughput
        keys = ["servers", "clients"]
        p95 = self.simulate(self.model, _places(self.several))[[*keys, "latency_p95_ms"]]
        mine = others[own].drop(columns="latency_p95_ms").merge(p95, on=keys)
        return pd.concat([mine, others[~own]], ignore_index=True)

    @cached_property
    def errors(self) -> pd.DataFrame:
        """Errors of each way to predict, point by point: `trial.errors`."""
        return prediction_errors.errors(self.predictions, self.several)

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        """Errors of each way to predict, summed up: `trial.verdicts`."""
        return prediction_errors.verdicts(self.errors)

    @cached_property
    def throughput_verdicts(self) -> pd.DataFrame:
        """Errors of throughput alone, summed up; it needs no simulation."""
        errors = prediction_errors.errors(self.throughput, self.several)
        return prediction_errors.verdicts(errors[errors["metric"] == "qps"])

    @cached_property
    def bounds(self) -> pd.DataFrame:
        """Bounds on throughput and mean latency of one server against clients, and the model.

        Columns `clients`, `qps_least`, `qps_most`, `qps`, `latency_least_ms`, `latency_most_ms`,
        `latency_avg_ms`, `bottleneck`, `balanced` (clients that would just use the bottleneck up
        if none of them waited).
        """
        most = self.model.clients_per_server[1]
        clients = np.unique(np.geomspace(1, most, 120).round()).astype(int)
        points = pd.DataFrame({"servers": 1, "clients": clients})
        predicted = model.predict(self.model, points)
        asked = self.model.network(points["servers"].to_numpy(), clients)
        low, high = network.bounds(asked, clients)
        return points.assign(
            qps_least=low,
            qps_most=high,
            qps=predicted["qps"],
            latency_least_ms=1000 * clients / high,
            latency_most_ms=1000 * clients / low,
            latency_avg_ms=predicted["latency_avg_ms"],
            bottleneck=predicted["bottleneck"],
            balanced=asked.least_us * asked.bound_qps / network.SECOND_US,
        )

    @cached_property
    def balance(self) -> pd.DataFrame:
        """Where the bounds of one server meet (N*): one row, `clients`, `qps`, `bottleneck`.

        Source: Lazowska and others 1984, "Quantitative System Performance", chapter 5. Empty where
        the bottleneck is not used up by as many clients as were measured.
        """
        reached = self.bounds[self.bounds["clients"] >= self.bounds["balanced"]].head(1)
        facts = {"clients": reached["balanced"], "qps": reached["qps_most"]}
        return pd.DataFrame({**facts, "bottleneck": reached["bottleneck"]}).reset_index(drop=True)

    @cached_property
    def use(self) -> pd.DataFrame:
        """Predicted utilisation against servers, with as many clients for each of them."""
        most = max(int(self.points["servers"].max()), 1)
        servers = np.unique(np.geomspace(1, most, 40).round()).astype(int)
        points = pd.DataFrame({"servers": servers, "clients": servers * CLIENTS_PER_SERVER})
        taken = utilisation.cpus(self.model, model.predict(self.model, points))
        return utilisation.utilisation(taken, self.shares)

    @cached_property
    def measured_use(self) -> pd.DataFrame:
        """Measured utilisation where each server had as many clients."""
        table = self.tested_demands
        here = table["clients"] == table["servers"] * CLIENTS_PER_SERVER
        return utilisation.utilisation(table[here], self.shares)

    @cached_property
    def against_laws(self) -> pd.DataFrame:
        """Measured demands of the tested dataset against the laws: `use.against_laws`."""
        return utilisation.against_laws(self.model, self.tested_demands)

    @cached_property
    def brief_predicted(self) -> pd.DataFrame:
        """The brief's own server, predicted."""
        return brief_server.predicted()

    @cached_property
    def brief_simulated(self) -> pd.DataFrame:
        """The brief's own server, simulated where its p95 was published."""
        return brief_server.simulated(shown)


def of(fitted: Dataset, tested: Dataset | None = None) -> Forecast:
    """Fit a model to the runs of one server in a dataset, to be held against another.

    Parameters
    ----------
    tested : where the measured points come from; None for the fitted dataset itself.

    Raises
    ------
    LabError
        If the dataset cannot be fitted to, or the two are not of one host and budget.
    """
    made = Forecast(fitted, fitted if tested is None else tested)
    fitting.check_alike(made.fitted, made.tested)
    made.model  # noqa: B018 - what cannot be fitted to is refused here, not in some later table
    return made


def shown(points: Iterable) -> Iterable:
    """Show on a terminal how far a simulation is."""
    from tqdm import tqdm

    return tqdm(points, desc="simulating", unit="point", leave=False, disable=None)


def _places(points: pd.DataFrame) -> pd.DataFrame:
    return points[["servers", "clients"]].reset_index(drop=True)
