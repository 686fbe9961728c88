"""A capacity model, fitted to one dataset and compared with another: the tables that are shown.

In: the two datasets, which may be the same. Out: a `Forecast`. Each of its tables is computed on
first use, and cached.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ndblab.error import LabError
from ndblab.experiments.capacity import (
    baselines,
    bounds,
    brief_server,
    calibration,
    demands,
    errors,
    history,
    model,
    simulation,
    utilisation,
)
from ndblab.judging import evidence
from ndblab.statistics import summary

if TYPE_CHECKING:
    from ndblab.dataset import Dataset

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
        runs = demands.alone(self.fitted)
        return summary.good(runs)

    @cached_property
    def demands(self) -> pd.DataFrame:
        """CPU use of the fitted runs: rows of `demands.measured`."""
        return demands.of_one_server(self.fitted)

    @cached_property
    def tested_demands(self) -> pd.DataFrame:
        """CPU use of the runs of the tested dataset: rows of `demands.measured`."""
        return demands.of_dataset(self.tested)

    @cached_property
    def model(self) -> model.Model:
        """The model, fitted to the runs with one server."""
        return model.fit(self.demands, self.shares)

    @cached_property
    def laws(self) -> pd.DataFrame:
        """The fitted laws: CPU time per query in us, and how it changes with clients per server."""
        rows = {part: dataclasses.asdict(law) for part, law in self.model.laws.items()}
        table = pd.DataFrame.from_dict(rows, orient="index").loc[utilisation.in_order(rows)]
        return table.replace(np.inf, np.nan).dropna(axis="columns", how="all")

    @cached_property
    def demand_table(self) -> pd.DataFrame:
        """CPU time per query in us, measured with one server: clients down, parts across."""
        wide = self.demands.pivot_table(index="clients", columns="resource", values="demand_us")
        wide = wide[utilisation.in_order(wide)]
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

        Raises
        ------
        LabError
            If there are none.
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
        return self.predict(_places(self.points))

    @cached_property
    def _bootstrap(self) -> model.Bootstrap:
        return model.bootstrap(self.demands, self.shares)

    def predict(self, points: pd.DataFrame) -> pd.DataFrame:
        """Predict points on the host of the fitted dataset: `model.with_intervals`.

        The intervals allow for a speed of the host that is not known: `history.deviation`.
        """
        return self._predict(points, errors.MODEL)

    def _predict(self, points: pd.DataFrame, method: str) -> pd.DataFrame:
        return model.with_intervals(self._bootstrap, points, history.deviation(method))

    @cached_property
    def speed(self) -> float:
        """Speed of one server in the tested dataset, 1 in the fitted one; NaN if not measured."""
        if self.tested is self.fitted:
            return np.nan
        return calibration.speed(model.predict(self.model, _places(self.points)), self.points)

    @cached_property
    def calibrated(self) -> pd.DataFrame:
        """Every measured point, predicted at `speed`; the columns of `predicted`."""
        table = self._predict(_places(self.points), calibration.CALIBRATED)
        return calibration.at(table, self.speed)

    @cached_property
    def background(self) -> pd.DataFrame:
        """CPU use of the background threads of both datasets: `calibration.background`."""
        tables = {data.id: calibration.background(data) for data in (self.fitted, self.tested)}
        return pd.concat(tables, names=["dataset"]).reset_index("dataset").reset_index(drop=True)

    @cached_property
    def simulated(self) -> pd.DataFrame:
        """Every measured point, simulated for its p95: `simulation.cached`."""
        return self.simulate(self.model, _places(self.points))

    def simulate(self, own: model.Model, points: pd.DataFrame) -> pd.DataFrame:
        """Simulate points under the quota window of the fitted runs, with a progress bar."""
        return simulation.cached(own, points, self.window_s(own), progress=with_bar)

    def window_s(self, own: model.Model) -> float | None:
        """Estimate the quota's window from the fitted runs: `model.quota_window_s`."""
        return model.quota_window_s(self.fitted_runs, own.shares.server_cpus)

    @cached_property
    def throughput(self) -> pd.DataFrame:
        """Throughput predicted for the points of several servers, by model and baselines."""
        points = _places(self.several)
        own = model.predict(self.model, points).assign(name=errors.MODEL, latency_p95_ms=np.nan)
        others = baselines.predict(self.demands, self.fitted_runs, self.shares, points)
        return self._every_method(own[list(others)], others)

    @cached_property
    def predictions(self) -> pd.DataFrame:
        """Throughput and p95 predicted for the points of several servers, by every method."""
        by_name = dict(list(self.throughput.groupby("name")))
        keys = ["servers", "clients"]
        p95 = self.simulate(self.model, _places(self.several))[[*keys, "latency_p95_ms"]]
        own = by_name[errors.MODEL].drop(columns="latency_p95_ms").merge(p95, on=keys)
        return self._every_method(own, pd.concat([by_name[name] for name in baselines.NAMES]))

    def _every_method(self, own: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
        """Join the predictions of all methods; the calibrated one needs a speed."""
        tables = [own, others]
        if np.isfinite(self.speed):
            mine = calibration.at(own, self.speed).assign(name=calibration.CALIBRATED)
            tables.insert(1, mine)
        return pd.concat(tables, ignore_index=True)

    @cached_property
    def errors(self) -> pd.DataFrame:
        """Errors of each method, point by point: `errors.errors`."""
        return errors.errors(self.predictions, self.several)

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        """Errors of each method, summarised: `errors.verdicts`."""
        return errors.verdicts(self.errors)

    @cached_property
    def throughput_verdicts(self) -> pd.DataFrame:
        """Errors of throughput alone, summarised; this needs no simulation."""
        table = errors.errors(self.throughput, self.several)
        return errors.verdicts(table[table["metric"] == "qps"])

    @cached_property
    def coverage(self) -> pd.DataFrame:
        """How many runs of several servers are within the 95 % intervals: `errors.coverage`."""
        runs = summary.good(summary.select(self.tested.runs))
        tables = {errors.MODEL: self.predicted}
        if np.isfinite(self.speed):
            tables[calibration.CALIBRATED] = self.calibrated
        return errors.coverage(tables, runs[runs["servers"] > 1])

    @cached_property
    def bounds(self) -> pd.DataFrame:
        """Bounds of one server against clients: `bounds.of_one_server`."""
        return bounds.of_one_server(self.model)

    @cached_property
    def balance(self) -> pd.DataFrame:
        """Where the bounds of one server meet: `bounds.balance`."""
        return bounds.balance(self.bounds)

    @cached_property
    def use(self) -> pd.DataFrame:
        """Predicted utilisation against servers, each with `CLIENTS_PER_SERVER` clients."""
        most = max(int(self.points["servers"].max()), 1)
        servers = np.unique(np.geomspace(1, most, 40).round()).astype(int)
        points = pd.DataFrame({"servers": servers, "clients": servers * CLIENTS_PER_SERVER})
        taken = utilisation.cpus(self.model, model.predict(self.model, points))
        return utilisation.utilisation(taken, self.shares)

    @cached_property
    def measured_use(self) -> pd.DataFrame:
        """Measured utilisation of the points with `CLIENTS_PER_SERVER` clients per server."""
        table = self.tested_demands
        here = table["clients"] == table["servers"] * CLIENTS_PER_SERVER
        return utilisation.utilisation(table[here], self.shares)

    @cached_property
    def against_laws(self) -> pd.DataFrame:
        """Demands of the tested dataset compared with the laws: `utilisation.against_laws`."""
        return utilisation.against_laws(self.model, self.tested_demands)

    @cached_property
    def brief_predicted(self) -> pd.DataFrame:
        """Predictions for the brief's server."""
        return brief_server.predicted()

    @cached_property
    def brief_simulated(self) -> pd.DataFrame:
        """Simulations of the brief's server, at the points with a published p95."""
        return brief_server.simulated(with_bar)


def of(fitted: Dataset, tested: Dataset | None = None) -> Forecast:
    """Fit a model to the runs of one server in a dataset, for comparison with another.

    Parameters
    ----------
    tested : the dataset with the measured points; None for the fitted dataset itself.

    Raises
    ------
    LabError
        If no model can be fitted, or the datasets differ in CPU budget or logical CPUs.
    """
    own = Forecast(fitted, fitted if tested is None else tested)
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


def with_bar(points: Iterable) -> Iterable:
    """Show the progress of a simulation on a terminal."""
    from tqdm import tqdm

    return tqdm(points, desc="simulating", unit="point", leave=False, disable=None)


def _places(points: pd.DataFrame) -> pd.DataFrame:
    return points[["servers", "clients"]].reset_index(drop=True)
