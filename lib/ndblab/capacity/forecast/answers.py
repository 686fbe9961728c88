"""What `./lab predict` and `./lab size` print.

In: a `Forecast`, and what a user asks of it. Out: text, with everything marked that goes beyond
what was measured.
"""

from __future__ import annotations

import dataclasses
import math
import textwrap

import pandas as pd

from ndblab.analysis import formatting
from ndblab.capacity import advice, model
from ndblab.capacity.forecast import fitting
from ndblab.capacity.forecast.comparison import Forecast
from ndblab.machine import host
from ndblab.planning import deployment, number, profile

MOST_CPUS = 100_000
MOST_SIMULATED = 4096
"""Clients beyond which a percentile is not simulated: it would take minutes."""
_SHOWN = 3
_USED = "utilisation_"


def predict(own: Forecast, servers: object, clients: object, cpus: object = None) -> str:
    """Say what throughput and latency a point should give, what limits it, and how sure that is.

    Parameters
    ----------
    servers, clients : whole numbers, or text that is one.
    cpus : logical CPUs of another host, every part of the cluster keeping its share of them; None
        for as many as the dataset's host has.

    Raises
    ------
    LabError
        If a value is not usable.
    """
    many = number.whole("--servers", servers, most=deployment.MAX_SERVERS)
    together = number.whole("--clients", clients, most=profile.MOST_CLIENTS)
    host_cpus = own.shares.host_cpus if cpus is None else number.positive("--cpus", cpus, MOST_CPUS)
    asked = own.model
    if host_cpus != own.shares.host_cpus:
        asked = dataclasses.replace(asked, shares=own.shares.scaled(host_cpus))
    point = pd.DataFrame({"servers": [many], "clients": [together]})
    row = model.predict(asked, point).iloc[0]
    low, high = _interval(own, point, float(row["qps"]))
    used = row[[name for name in row.index if name.startswith(_USED)]].astype(float)
    busiest = [
        f"{name.removeprefix(_USED)} {formatting.plain(100 * value)} %"
        for name, value in used.nlargest(_SHOWN).items()
    ]
    facts = {
        "throughput": f"{_number(row['qps'])} queries/s ({_number(low)} to {_number(high)} in 95 % "
        "of runs)",
        "mean latency": f"{_number(row['latency_avg_ms'])} ms",
        "p95 latency": _p95(own, asked, point),
        "bottleneck": f"{row['bottleneck']}, used up at {_number(row['bound_qps'])} queries/s",
        "busiest": f"{', '.join(busiest)} of what queries can have",
    }
    title = (
        f"{formatting.count(many, 'MySQL server')}, {formatting.count(together, 'client')}, "
        f"{formatting.count(_tidy(host_cpus), 'logical CPU')}"
    )
    beyond = _beyond(own, many, host_cpus, str(row["extrapolated"]))
    if together < many:
        beyond.append(f"{many - together} of the servers have no client and are idle")
    return _written(title, facts, beyond, own)


def size(own: Forecast, cpus: object) -> str:
    """Recommend servers, clients for each and CPUs for each side of a host, with the reason.

    Parameters
    ----------
    cpus : logical CPUs of the host.

    Raises
    ------
    LabError
        If it is not usable.
    """
    host_cpus = number.positive("--cpus", cpus, MOST_CPUS)
    told = advice.advise(own.model, host_cpus)
    clients = told.servers * told.clients_per_server
    facts = {
        "MySQL servers": str(told.servers),
        "clients a server": f"{told.clients_per_server}, {clients} in all",
        "data nodes": f"{_number(told.data_node_cpus)} logical CPUs for both together",
        "SQL side": f"{_number(told.sql_cpus)} logical CPUs for all MySQL servers and the clients",
        "should give": f"{_number(told.qps)} queries/s at {_number(told.latency_avg_ms)} ms on "
        "average",
        "bottleneck": told.bottleneck,
        "because": told.reason,
    }
    beyond = _beyond(own, told.servers, host_cpus, "")
    title = f"For {formatting.count(_tidy(host_cpus), 'logical CPU')}"
    return _written(title, facts, beyond, own)


def _interval(own: Forecast, point: pd.DataFrame, qps: float) -> tuple[float, float]:
    """Give the ends of the interval of a prediction.

    On a host of another size it is as wide, relative to the value, as where the runs were made: how
    much runs differ is known, how right the scaling is, is not.
    """
    row = own.predict(point).iloc[0]
    return qps * row["qps_low"] / row["qps"], qps * row["qps_high"] / row["qps"]


def _p95(own: Forecast, asked: model.Model, point: pd.DataFrame) -> str:
    if point["clients"].max() > MOST_SIMULATED:
        return f"not simulated for more than {MOST_SIMULATED} clients"
    row = own.simulate(asked, point).iloc[0]
    value, low, high = (_number(row[f"latency_p95_ms{end}"]) for end in ("", "_low", "_high"))
    return f"{value} ms ({low} to {high}), simulated"


def _beyond(own: Forecast, servers: int, host_cpus: float, clients: str) -> list[str]:
    """Say in which ways an answer goes beyond what was measured."""
    said = [clients] if clients else []
    if host_cpus != own.shares.host_cpus:
        there = formatting.count(_tidy(own.shares.host_cpus), "logical CPU")
        said.append(
            f"{_tidy(host_cpus)} logical CPUs; measured on {there}. Every part keeps its share of "
            "the host, CPUs are taken to be alike, and the interval tells how much runs differ, "
            "not how right the scaling is"
        )
    most = int(own.points["servers"].max())
    if servers > most:
        said.append(f"{formatting.count(servers, 'server')}; measured with up to {most}")
    return said


def _written(title: str, facts: dict[str, str], beyond: list[str], own: Forecast) -> str:
    width = max(map(len, facts))
    lines = [title, ""]
    for name, text in facts.items():
        lines += _folded(f"  {name:<{width}}  ", text)
    for text in beyond:
        lines += ["", *_folded("Beyond the data: ", f"{text}.")]
    runs = fitting.alone(own.fitted)
    good = fitting.good(runs)
    machine = host.from_dict(dict(own.fitted.host)).describe()
    fitted = (
        f"{formatting.count(len(good), 'run')} of one server with {good['clients'].min()} to "
        f"{good['clients'].max()} clients, dataset {own.fitted.id}, CPU budget "
        f"{own.fitted.budget}, {machine}."
    )
    lines += ["", *_folded("Fitted to ", fitted)]
    if lost := fitting.lost(runs):
        lines += _folded("", f"{lost}.")
    return "\n".join(lines)


def _folded(start: str, text: str) -> list[str]:
    return textwrap.wrap(
        text,
        100,
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _tidy(number: float) -> float | int:
    return int(number) if float(number).is_integer() else number


def _number(value: float) -> str:
    return formatting.plain(float(value)) if math.isfinite(value) else "unknown"
